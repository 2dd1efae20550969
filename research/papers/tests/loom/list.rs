//! The sorted list under CSSL's lanes: an insert concurrent with a removal, inserts at one place, a value
//! that is replaced while its key is removed, and concurrent readers.

use crate::race;
use latchless_core::sync::{AtomicU64, Ordering, Origin, yield_now};
use latchless_papers::link::{Link, Seen};

/// The operations of links that the list uses.
trait Links: Send + Sync + 'static {
    fn new(next: Option<u32>) -> Self;
    fn begin(&self, next: Option<u32>);
    /// Returns the target of the link, whether its node is removed, and the whole state.
    fn follow(&self) -> Said;
    fn lead_to(&self, seen: Said, next: Option<u32>) -> bool;
    /// Does something to the node and lets it live or die; nothing if it is out.
    fn claimed(&self, dies: bool, work: impl FnOnce() -> u64) -> Option<u64>;
}

#[derive(Debug, Clone, Copy)]
struct Said {
    next: Option<u32>,
    dead: bool,
    whole: Whole,
}

#[derive(Debug, Clone, Copy)]
enum Whole {
    Seen(Seen),
    Word(u64),
}

impl Links for Link {
    fn new(next: Option<u32>) -> Self {
        Link::new(Seen::to(next))
    }

    fn begin(&self, next: Option<u32>) {
        Link::begin(self, next, false);
    }

    fn follow(&self) -> Said {
        let seen = Link::follow(self);
        Said { next: seen.next(), dead: seen.is_dead(), whole: Whole::Seen(seen) }
    }

    fn lead_to(&self, seen: Said, next: Option<u32>) -> bool {
        let Whole::Seen(seen) = seen.whole else { unreachable!("said by this kind of link") };
        Link::lead_to(self, seen, next).is_ok()
    }

    fn claimed(&self, dies: bool, work: impl FnOnce() -> u64) -> Option<u64> {
        let claim = self.claim(&Origin::here())?;
        let done = work();
        if dies {
            claim.mark_dead();
        }
        Some(done)
    }
}

/// The protocol written again without any flaw.
const NO_FLAW: u8 = 0;
/// A removed node isn't marked: it is only unlinked from the chain.
const NO_MARK: u8 = 1;
/// An insert looks only at where the link leads.
const BLIND_EXCHANGE: u8 = 2;
/// Links are exchanged in no order with the node's content.
const RELAXED_EXCHANGE: u8 = 3;
/// No thread claims the node that it changes.
const NO_CLAIM: u8 = 4;

const DEAD: u64 = 1;
const CLAIMED: u64 = 2;

struct Flawed<const FLAW: u8>(AtomicU64);

fn word(next: Option<u32>) -> u64 {
    next.map_or(0, |next| u64::from(next) + 1) << 2
}

impl<const FLAW: u8> Links for Flawed<FLAW> {
    fn new(next: Option<u32>) -> Self {
        Self(AtomicU64::new(word(next)))
    }

    fn begin(&self, next: Option<u32>) {
        self.0.store(word(next), Ordering::Relaxed);
    }

    fn follow(&self) -> Said {
        let order = if FLAW == RELAXED_EXCHANGE { Ordering::Relaxed } else { Ordering::Acquire };
        let whole = self.0.load(order);
        let next = (whole >> 2).checked_sub(1).map(|next| next as u32);
        Said { next, dead: whole & DEAD != 0, whole: Whole::Word(whole) }
    }

    fn lead_to(&self, seen: Said, next: Option<u32>) -> bool {
        let Whole::Word(mut seen) = seen.whole else { unreachable!("said by this kind of link") };
        let order = if FLAW == RELAXED_EXCHANGE { Ordering::Relaxed } else { Ordering::AcqRel };
        loop {
            match self.0.compare_exchange(seen, seen & 3 | word(next), order, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) if FLAW == BLIND_EXCHANGE && now & !3 == seen & !3 => seen = now,
                Err(_) => return false,
            }
        }
    }

    fn claimed(&self, dies: bool, work: impl FnOnce() -> u64) -> Option<u64> {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now & DEAD != 0 {
                return None;
            }
            if FLAW == NO_CLAIM {
                let done = work();
                if dies && self.0.fetch_or(DEAD, Ordering::AcqRel) & DEAD != 0 {
                    return None;
                }
                return Some(done);
            }
            let claim = now | CLAIMED;
            let free = now & CLAIMED == 0;
            if free && self.0.compare_exchange(now, claim, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                let done = work();
                let amount = if dies && FLAW != NO_MARK { CLAIMED - DEAD } else { CLAIMED };
                self.0.fetch_sub(amount, Ordering::AcqRel);
                return Some(done);
            }
            yield_now();
        }
    }
}

struct Node<L> {
    key: AtomicU64,
    value: AtomicU64,
    link: L,
}

/// The head, two initial nodes, and one for each thread to insert.
struct List<L>([Node<L>; 5]);

const HEAD: u32 = 0;
/// The initial keys, by their nodes' numbers: 10 and 20, with values 1 and 1.
const AT_FIRST: [(u32, u64); 2] = [(1, 10), (2, 20)];

impl<L: Links> List<L> {
    fn start() -> Self {
        let node = |number: u32| {
            let key = AT_FIRST.iter().find(|one| one.0 == number).map_or(0, |one| one.1);
            let next = (number < 2).then_some(number + 1);
            let value = AtomicU64::new(u64::from(key > 0));
            Node { key: AtomicU64::new(key), value, link: L::new(next) }
        };
        Self([0, 1, 2, 3, 4].map(node))
    }

    fn node(&self, at: u32) -> &Node<L> {
        &self.0[at as usize]
    }

    /// Returns the node before a key, the state of its link, and the node of the key.
    fn place(&self, key: u64) -> (u32, Said, Option<u32>) {
        'again: loop {
            let (mut before, mut seen) = (HEAD, self.node(HEAD).link.follow());
            while let Some(next) = seen.next {
                let node = self.node(next);
                let behind = node.link.follow();
                if behind.dead {
                    if !self.node(before).link.lead_to(seen, behind.next) {
                        yield_now();
                        continue 'again;
                    }
                    seen = self.node(before).link.follow();
                    if seen.dead {
                        continue 'again;
                    }
                    continue;
                }
                let own = node.key.load(Ordering::Relaxed);
                if own >= key {
                    return (before, seen, (own == key).then_some(next));
                }
                (before, seen) = (next, behind);
            }
            return (before, seen, None);
        }
    }

    /// Inserts a value under a key, with this node if necessary. Returns the previous value.
    fn put(&self, key: u64, value: u64, spare: u32) -> Option<u64> {
        loop {
            let (before, seen, found) = self.place(key);
            if let Some(found) = found {
                let node = self.node(found);
                let replace = || {
                    let old = node.value.load(Ordering::Relaxed);
                    node.value.store(value, Ordering::Relaxed);
                    old
                };
                match node.link.claimed(false, replace) {
                    Some(old) => return Some(old),
                    None => continue,
                }
            }
            let new = self.node(spare);
            new.key.store(key, Ordering::Relaxed);
            new.value.store(value, Ordering::Relaxed);
            new.link.begin(seen.next);
            if self.node(before).link.lead_to(seen, Some(spare)) {
                return None;
            }
        }
    }

    fn take(&self, key: u64) -> Option<u64> {
        loop {
            let (before, seen, found) = self.place(key);
            let node = self.node(found?);
            let Some(value) = node.link.claimed(true, || node.value.load(Ordering::Relaxed)) else {
                continue;
            };
            let behind = node.link.follow();
            self.node(before).link.lead_to(seen, behind.next);
            return Some(value);
        }
    }

    /// Looks up a key as a reader does: passes over dead nodes without touching them.
    fn get(&self, key: u64) -> Option<u64> {
        let mut seen = self.node(HEAD).link.follow();
        while let Some(next) = seen.next {
            let node = self.node(next);
            let own = node.key.load(Ordering::Relaxed);
            if own > key {
                return None;
            }
            seen = node.link.follow();
            if own == key && !seen.dead {
                return Some(node.value.load(Ordering::Relaxed));
            }
        }
        None
    }
}

/// A key is inserted right after one that is removed.
fn inserts_behind_what_goes_stay<L: Links>() {
    race(
        List::<L>::start,
        |list| list.take(10),
        |list| list.put(15, 5, 3),
        |list, answers| {
            assert_eq!(answers, [Some(1), None]);
            assert_eq!(list.get(15), Some(5), "an insert was lost");
            assert_eq!(
                (list.get(10), list.get(20)),
                (None, Some(1)),
                "what went is there, or the rest isn't"
            );
        },
    );
}

/// Two keys are inserted at one place.
fn inserts_at_one_place_stay<L: Links>() {
    race(
        List::<L>::start,
        |list| list.put(12, 2, 3),
        |list| list.put(15, 5, 4),
        |list, _| {
            assert_eq!((list.get(12), list.get(15)), (Some(2), Some(5)), "an insert was lost");
            assert_eq!((list.get(10), list.get(20)), (Some(1), Some(1)), "an insert was lost");
        },
    );
}

/// A value is replaced while its key is removed: one of the two is first.
fn a_value_goes_with_its_key_or_stays<L: Links>() {
    race(
        List::<L>::start,
        |list| list.take(10),
        |list| list.put(10, 7, 3),
        |list, answers| match answers {
            [Some(1), None] => assert_eq!(list.get(10), Some(7), "an update was lost"),
            [Some(7), Some(1)] => assert_eq!(list.get(10), None, "an update was lost"),
            other => panic!("an update was lost: {other:?}"),
        },
    );
}

/// Neighbours go at once.
fn neighbours_go<L: Links>() {
    race(
        List::<L>::start,
        |list| list.take(10),
        |list| list.take(20),
        |list, answers| {
            assert_eq!(answers, [Some(1), Some(1)]);
            assert_eq!(list.place(99).2, None);
            assert_eq!((list.get(10), list.get(20)), (None, None), "a removal was lost");
        },
    );
}

/// A reader, concurrent with an insert and a removal.
fn readers_see_what_stays_and_whole_nodes<L: Links>() {
    race(
        List::<L>::start,
        |list| {
            list.put(15, 5, 3);
            list.take(10)
        },
        |list| {
            let new = list.get(15);
            assert!(new.is_none_or(|value| value == 5), "a node without its content");
            assert_eq!(list.get(20), Some(1), "what stays was missed: a node without its content");
            new
        },
        |list, _| assert_eq!((list.get(15), list.get(10)), (Some(5), None)),
    );
}

macro_rules! every_protocol {
    ($($test:ident: $body:ident),*) => {$(
        #[test]
        fn $test() {
            $body::<Link>();
            $body::<Flawed<NO_FLAW>>();
        }
    )*};
}
every_protocol! {
    an_insert_behind_what_goes_stays: inserts_behind_what_goes_stay,
    both_inserts_at_one_place_stay: inserts_at_one_place_stay,
    an_update_comes_before_a_removal_or_after: a_value_goes_with_its_key_or_stays,
    neighbours_that_go_are_gone: neighbours_go,
    a_reader_sees_what_stays: readers_see_what_stays_and_whole_nodes
}

#[test]
#[should_panic(expected = "an insert was lost")]
fn without_a_mark_an_insert_is_lost() {
    inserts_behind_what_goes_stay::<Flawed<NO_MARK>>();
}

#[test]
#[should_panic(expected = "an insert was lost")]
fn a_blind_exchange_loses_an_insert() {
    inserts_behind_what_goes_stay::<Flawed<BLIND_EXCHANGE>>();
}

#[test]
#[should_panic(expected = "a node without its content")]
fn after_a_relaxed_exchange_a_node_has_no_content() {
    readers_see_what_stays_and_whole_nodes::<Flawed<RELAXED_EXCHANGE>>();
}

#[test]
#[should_panic(expected = "an update was lost")]
fn without_a_claim_an_update_is_lost() {
    a_value_goes_with_its_key_or_stays::<Flawed<NO_CLAIM>>();
}
