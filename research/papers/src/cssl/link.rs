//! The link of a node in a sorted list that threads change without latching it (CSSL §3.2): the reference
//! to the next node, and the state of this one, in one word.
//!
//! # Thread safety
//! 1. A node is inserted by one exchange of its predecessor's link, which fails if anything about that
//!    link changed since it was read: another node was inserted there, or the predecessor was removed.
//! 2. A node is removed by becoming *dead*: a bit of its own link. From then on the link never changes, so
//!    nothing can be inserted after a removed node. Unlinking the node is one exchange of its
//!    predecessor's link, by any thread.
//! 3. A thread that changes a node's value or marks it dead *claims* it meanwhile: another bit. Two claims
//!    of one node exclude each other; everything else, including the exchanges of rule 1, proceeds during
//!    a claim.
//! 4. A node that index layers refer to is *placed*, a third bit, which is set while the node is alive. A
//!    dead node that isn't placed belongs to the thread that unlinked it; a placed one, to the thread that
//!    replaces those layers.
//!
//! # Orderings
//! - Links are followed with acquire loads and exchanged with release: a thread that finds a node sees its
//!   content.
//! - A claim is taken with acquire and released with release: the next one sees the value.
//! - A node dies with release: a thread that sees it dead also sees what its killer wrote before (lanes
//!   that no longer name the key).
//!
//! `tests/loom` checks them, and that each rule is needed.

#[cfg(not(loom))]
use latchless_core::sync::BitsWord;
use latchless_core::sync::{Atom, AtomicU64, Backoff, Ordering, Origin, perturb};

/// A link. See the file's head.
#[derive(Debug)]
#[repr(transparent)]
pub struct Link<A = AtomicU64> {
    word: A,
}

/// A link as of the moment when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen(u64);

const DEAD: u64 = 1;
const CLAIMED: u64 = 2;
const PLACED: u64 = 4;
const FLAG_BITS: u32 = 3;

/// The number of nodes that links of 32 bits can distinguish, the end of the list not counted.
pub const LINKED_NODES_MAX: u32 = (1 << (u32::BITS - FLAG_BITS)) - 1;

/// The end of the list, where the number of a next node would be.
const END: u32 = LINKED_NODES_MAX;

impl Seen {
    /// A link to this node, or to the list's end.
    #[inline(always)]
    pub fn to(next: Option<u32>) -> Self {
        Self(u64::from(next.unwrap_or(END)) << FLAG_BITS)
    }

    /// The number of the next node, if there is one.
    #[inline(always)]
    pub fn next(self) -> Option<u32> {
        let next = (self.0 >> FLAG_BITS) as u32;
        (next != END).then_some(next)
    }

    /// Returns whether the node of the link is removed.
    #[inline(always)]
    pub fn is_dead(self) -> bool {
        self.0 & DEAD != 0
    }

    /// Returns whether index layers refer to the node of the link.
    #[inline(always)]
    pub fn is_placed(self) -> bool {
        self.0 & PLACED != 0
    }

    /// Returns whether the node of the link is claimed.
    #[inline(always)]
    pub fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }

    /// Returns the same state of the node with another successor.
    #[inline(always)]
    fn and_next(self, next: Option<u32>) -> Self {
        Self(self.0 & ((1 << FLAG_BITS) - 1) | Self::to(next).0)
    }
}

impl<A: Atom> Link<A> {
    /// Creates a link in this state.
    pub fn new(said: Seen) -> Self {
        Self { word: A::new(said.0) }
    }

    /// The link that a node's word is.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn of<W: BitsWord<Atom = A>>(word: &W) -> &Self {
        // SAFETY: a link is a transparent wrapper of its atomic.
        unsafe { &*core::ptr::from_ref(word.atom()).cast() }
    }

    /// Reads the link. A thread that goes on to the next node sees its content.
    #[inline(always)]
    pub fn follow(&self) -> Seen {
        perturb();
        Seen(self.word.load(Ordering::Acquire))
    }

    /// Sets the link of a node that isn't reachable yet. `placed`: layers will refer to it.
    #[inline(always)]
    pub fn begin(&self, next: Option<u32>, placed: bool) {
        let flags = if placed { PLACED } else { 0 };
        self.word.store(Seen::to(next).0 | flags, Ordering::Relaxed);
    }

    /// Changes the successor if the link is still as `seen`, which must be of a living node: inserts a
    /// node whose own link leads to the seen successor, or unlinks the dead node that was seen next.
    ///
    /// # Errors
    /// The link's current state, if it is no longer as seen.
    #[inline(always)]
    pub fn lead_to(&self, seen: Seen, next: Option<u32>) -> Result<Seen, Seen> {
        debug_assert!(!seen.is_dead(), "the link of a node that is out never changes");
        perturb();
        let wanted = seen.and_next(next);
        match self.word.compare_exchange(seen.0, wanted.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(wanted),
            Err(found) => Err(Seen(found)),
        }
    }

    /// Claims the node; nothing if it is out. Waits while another has it claimed. `origin`: where the node
    /// was made.
    ///
    /// # Panics
    /// When a thread had it claimed at a fork, and this is the child.
    #[inline(always)]
    pub fn claim(&self, origin: &Origin) -> Option<Claim<'_, A>> {
        let mut backoff = Backoff::default();
        let mut seen = self.follow();
        loop {
            if seen.is_dead() {
                return None;
            }
            if seen.is_claimed() {
                backoff.wait_at(origin);
                seen = self.follow();
                continue;
            }
            let wanted = seen.0 | CLAIMED;
            match self.word.compare_exchange(seen.0, wanted, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(Claim { link: self, dies: false }),
                Err(found) => seen = Seen(found),
            }
        }
    }

    /// Marks the node as placed, because layers will refer to it; `false` if it is removed.
    #[inline(always)]
    pub fn place(&self) -> bool {
        let mut seen = self.follow();
        while !seen.is_dead() {
            if seen.is_placed() {
                return true;
            }
            let wanted = seen.0 | PLACED;
            match self.word.compare_exchange(seen.0, wanted, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(found) => seen = Seen(found),
            }
        }
        false
    }

    /// Clears the mark, because layers don't refer to the node after all; `false` if it is removed.
    pub fn displace(&self) -> bool {
        let mut seen = self.follow();
        while !seen.is_dead() {
            let wanted = seen.0 & !PLACED;
            match self.word.compare_exchange(seen.0, wanted, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(found) => seen = Seen(found),
            }
        }
        false
    }
}

/// A node that is claimed. Dropping it lets others claim it.
#[derive(Debug)]
#[must_use = "a claim that is dropped at once protects nothing"]
pub struct Claim<'a, A: Atom = AtomicU64> {
    link: &'a Link<A>,
    dies: bool,
}

impl<A: Atom> Claim<'_, A> {
    /// Marks the node as dead. Returns the final state of its link.
    #[inline(always)]
    pub fn mark_dead(mut self) -> Seen {
        self.dies = true;
        let link = self.link;
        drop(self);
        link.follow()
    }
}

impl<A: Atom> Drop for Claim<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        perturb();
        // The bits of a claimed node that is alive are known, so one subtraction changes both: claimed
        // becomes neither, or claimed becomes dead.
        let amount = if self.dies { CLAIMED - DEAD } else { CLAIMED };
        self.link.word.fetch_sub(amount, Ordering::AcqRel);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use latchless_core::sync::AtomicU32;

    fn goes_through_its_life<A: Atom>() {
        let link = Link::<A>::new(Seen::to(None));
        let seen = link.follow();
        assert!(seen.next().is_none() && !seen.is_dead() && !seen.is_placed() && !seen.is_claimed());
        let seen = link.lead_to(seen, Some(7)).unwrap();
        assert_eq!((seen.next(), link.follow()), (Some(7), seen));
        assert_eq!(link.lead_to(Seen::to(None), Some(8)), Err(seen), "what was seen is out of date");
        assert!(link.place() && link.place() && link.follow().is_placed());
        assert!(link.displace() && !link.follow().is_placed() && link.place());
        let claim = link.claim(&Origin::here()).unwrap();
        assert!(link.follow().is_claimed());
        let behind = link.lead_to(link.follow(), Some(9)).unwrap();
        assert!(behind.is_claimed() && behind.is_placed(), "nodes come in behind one that is claimed");
        drop(claim);
        assert!(!link.follow().is_claimed());
        let dead = link.claim(&Origin::here()).unwrap().mark_dead();
        assert!(dead.is_dead() && dead.is_placed() && !dead.is_claimed());
        assert_eq!(dead.next(), Some(9));
        assert!(link.claim(&Origin::here()).is_none() && !link.place() && !link.displace());
    }

    #[test]
    fn a_link_goes_through_its_life() {
        goes_through_its_life::<AtomicU32>();
        goes_through_its_life::<AtomicU64>();
    }

    #[test]
    fn the_last_number_is_no_end() {
        assert_eq!(Seen::to(Some(LINKED_NODES_MAX - 1)).next(), Some(LINKED_NODES_MAX - 1));
        assert_eq!(Seen::to(None).next(), None);
    }

    #[test]
    fn one_of_many_kills() {
        let link = Link::<AtomicU64>::new(Seen::to(None));
        let killers = std::thread::scope(|scope| {
            let tries: Vec<_> =
                (0..4).map(|_| scope.spawn(|| link.claim(&Origin::here()).map(Claim::mark_dead))).collect();
            tries.into_iter().filter_map(|thread| thread.join().unwrap()).count()
        });
        assert_eq!(killers, 1);
    }
}
