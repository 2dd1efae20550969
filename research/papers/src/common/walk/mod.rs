//! Descents in steps, and many of them at once, round robin (Vu 2023, §3.1.2).
//!
//! A [`Walk`] leads from the root to an *anchor*, the place where a request is served: a leaf, or an entry
//! of a data list. It proceeds in steps, and each step ends by prefetching the memory that the next one
//! reads. A thread with one walk waits for it; a thread with many advances another one meanwhile
//! ([`Walks`], over which `batch::interleave` works).
//!
//! The end of a walk is a hint: the structure may change between two steps and after the last one. A
//! thread that serves a request at an anchor must be able to check that it is still the right one.

mod kernel;

pub use kernel::KernelWalk;

/// What a request does at its anchor; it determines what a walk prefetches last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aim {
    /// Read one entry.
    #[default]
    Look,
    /// Put an entry in, or remove one.
    Change,
    /// Read that many entries from there on.
    Run(usize),
}

/// How far a step of a walk has progressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<A> {
    /// On the way: the next step reads the memory that was just prefetched.
    On,
    /// To the anchor; or to nowhere, because others changed the structure under the walk.
    Landed(Option<A>),
}

/// An index that can be descended step by step.
///
/// ```
/// use latchless_papers::common::walk::{Aim, Step, Walk};
///
/// /// Blocks of a hundred keys below one root.
/// struct Blocks(u64);
///
/// impl Walk for Blocks {
///     type Key = u64;
///     type Place = Option<u64>;
///     type Anchor = u64;
///
///     fn enter(&self, _: u64, _: Aim) -> Option<u64> {
///         None
///     }
///
///     fn step(&self, place: &mut Option<u64>, key: u64) -> Step<u64> {
///         match *place {
///             None => {
///                 *place = Some((key / 100).min(self.0 - 1));
///                 Step::On
///             }
///             Some(block) => Step::Landed(Some(block)),
///         }
///     }
/// }
///
/// let blocks = Blocks(5);
/// let mut place = blocks.enter(234, Aim::Look);
/// assert_eq!(blocks.step(&mut place, 234), Step::On);
/// assert_eq!(blocks.step(&mut place, 234), Step::Landed(Some(2)));
/// ```
pub trait Walk: Sized + Sync {
    /// The target of a walk: a key, as its lane.
    type Key: Copy;
    /// The position of a walk between two steps.
    type Place: Copy;
    /// The end of a walk.
    type Anchor: Copy;

    /// Returns the start of the walk for a request for `key`.
    fn enter(&self, key: Self::Key, aim: Aim) -> Self::Place;

    /// Takes one step: reads what the previous step prefetched, and prefetches what the next one will
    /// read. Must not be called after the walk has ended.
    fn step(&self, place: &mut Self::Place, key: Self::Key) -> Step<Self::Anchor>;

    /// Leads walks to their ends, together. An index that chooses its search kernel at run time does so
    /// here, once for all steps: see [`KernelWalk`].
    #[inline(never)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}

/// The walks that take part in a round, and the use of their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounds {
    /// Unfinished walks; requests are served at the ends of their walks.
    #[default]
    Unfinished,
    /// All walks, including finished ones; requests are served from the root. The paper's Algorithms 3 and
    /// 4.
    Naive,
}

/// Walks that proceed together: places, keys, and the end of each. Kept between batches, so that memory is
/// allocated once.
#[derive(Debug)]
pub struct Walks<K, P, A> {
    places: Vec<P>,
    keys: Vec<K>,
    anchors: Vec<Option<A>>,
    /// Walks that aren't done, in their order.
    unfinished: Vec<u16>,
}

/// The walks of an index.
pub type WalksOf<W> = Walks<<W as Walk>::Key, <W as Walk>::Place, <W as Walk>::Anchor>;

impl<K, P, A> Default for Walks<K, P, A> {
    fn default() -> Self {
        Self { places: Vec::new(), keys: Vec::new(), anchors: Vec::new(), unfinished: Vec::new() }
    }
}

impl<K: Copy, P: Copy, A: Copy> Walks<K, P, A> {
    /// The most walks that go together.
    pub const MAX: usize = 1024;

    /// Leads `len` requests, at most [`Walks::MAX`], to their anchors, which are in the requests' order;
    /// `None` if another thread changed the structure under a walk.
    ///
    /// ```
    /// use latchless_core::mem::touch::NoTrace;
    /// use latchless_papers::spiderman::tree::{OlcOptions, OlcTree, PageWalk};
    /// use latchless_papers::common::walk::{Aim, Rounds, Walks};
    /// use latchless_papers::spiderman::Prefetch;
    ///
    /// let options =
    ///     OlcOptions { page_bytes: 4096, limit_bytes: None, huge_pages: true, references: u32::MAX };
    /// let tree = OlcTree::<NoTrace>::new(options)?;
    /// (0..1000u64).try_for_each(|key| tree.put(key, 2 * key).map(|_| ()))?;
    /// let keys = [7, 500, 1000];
    /// let walk = PageWalk::new(&tree, Prefetch::BEST, true);
    /// let mut walks = Walks::default();
    /// let anchors = walks.lead(&walk, Rounds::Unfinished, 3, |at| (keys[at], Aim::Look));
    /// let values: Vec<_> =
    ///     keys.iter().zip(anchors).map(|(&key, anchor)| tree.get_from(anchor.unwrap(), key)).collect();
    /// assert_eq!(values, [Some(14), Some(1000), None]);
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    #[inline(always)]
    pub fn lead(
        &mut self,
        walk: &impl Walk<Key = K, Place = P, Anchor = A>,
        rounds: Rounds,
        len: usize,
        request_at: impl Fn(usize) -> (K, Aim),
    ) -> &[Option<A>] {
        self.places.clear();
        self.keys.clear();
        self.anchors.clear();
        for at in 0..len.min(Self::MAX) {
            let (key, aim) = request_at(at);
            self.places.push(walk.enter(key, aim));
            self.keys.push(key);
            self.anchors.push(None);
        }
        walk.lead(self, rounds);
        &self.anchors
    }

    /// Takes steps until all have landed. What [`Walk::lead`] is made of.
    #[inline(always)]
    pub fn go(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>, rounds: Rounds) {
        match rounds {
            Rounds::Unfinished => self.go_on(walk),
            Rounds::Naive => self.go_round(walk),
        }
    }

    /// Rounds of those that aren't there yet.
    #[inline(always)]
    fn go_on(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>) {
        self.unfinished.clear();
        self.unfinished.extend(0..self.places.len() as u16);
        while !self.unfinished.is_empty() {
            let mut left = 0;
            for nth in 0..self.unfinished.len() {
                let at = usize::from(self.unfinished[nth]);
                match walk.step(&mut self.places[at], self.keys[at]) {
                    Step::On => {
                        self.unfinished[left] = at as u16;
                        left += 1;
                    }
                    Step::Landed(anchor) => self.anchors[at] = anchor,
                }
            }
            self.unfinished.truncate(left);
        }
    }

    /// Rounds of all, as in Algorithm 3.
    #[inline(always)]
    fn go_round(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>) {
        let len = self.places.len();
        let mut done = vec![false; len];
        let (mut finished, mut at) = (0, 0);
        while finished < len {
            if !done[at]
                && let Step::Landed(anchor) = walk.step(&mut self.places[at], self.keys[at])
            {
                self.anchors[at] = anchor;
                done[at] = true;
                finished += 1;
            }
            at = (at + 1) % len;
        }
    }
}
