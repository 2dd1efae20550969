//! When replaced and removed values are dropped. In a separate process, one test at a time: a pin of any
//! test would delay the others' drops.

use latchless::index::Pinned;
use latchless::{FillFactor, InBox, Index, IndexValue};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Locked by each test.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts its drop.
#[derive(Debug)]
struct Loud(Arc<AtomicUsize>);

impl Drop for Loud {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The common interface of both kinds of index.
trait Boxed: Sync {
    fn make() -> Self;
    fn put(&self, key: u64, value: Arc<Loud>);
    fn cut(&self, key: u64) -> bool;
    fn has(&self, key: u64) -> bool;
    fn collect(&self);
    fn held(&self) -> usize;
}

macro_rules! boxed {
    ($key:ty, $from:expr) => {
        impl Boxed for Index<$key, Arc<Loud>> {
            fn make() -> Self {
                Self::new().unwrap()
            }
            fn put(&self, key: u64, value: Arc<Loud>) {
                self.insert($from(key), value).unwrap();
            }
            fn cut(&self, key: u64) -> bool {
                self.remove($from(key)).is_some()
            }
            fn has(&self, key: u64) -> bool {
                self.contains_key($from(key))
            }
            fn collect(&self) {
                self.flush();
            }
            fn held(&self) -> usize {
                self.memory_bytes()
            }
        }
    };
}
boxed!(u64, u64::from);
boxed!(u128, u128::from);

/// The values of a test, and how many of them were dropped.
#[derive(Default)]
struct Census(Arc<AtomicUsize>);

impl Census {
    fn value(&self) -> Arc<Loud> {
        Arc::new(Loud(Arc::clone(&self.0)))
    }

    fn dropped(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

const MANY: usize = if cfg!(miri) { 500 } else { 200_000 };

fn nothing_is_left_after_a_flush<B: Boxed>() {
    let (index, census) = (B::make(), Census::default());
    for removed in 1..=300 {
        index.put(1, census.value());
        index.put(1, census.value());
        assert!(index.cut(1));
        if removed % 60 == 0 {
            index.collect();
            assert_eq!(census.dropped(), 2 * removed);
        }
    }
    // Also of the other threads' values, which may be gone.
    std::thread::scope(|scope| {
        for own in 0..9 {
            let (index, census) = (&index, &census);
            scope.spawn(move || {
                for _ in 0..10 {
                    index.put(own, census.value());
                    assert!(index.cut(own));
                }
            });
        }
    });
    index.collect();
    assert_eq!(census.dropped(), 690);
}

#[test]
fn after_a_flush_every_removed_value_is_dropped() {
    let _alone = alone();
    nothing_is_left_after_a_flush::<Index<u64, Arc<Loud>>>();
    nothing_is_left_after_a_flush::<Index<u128, Arc<Loud>>>();
}

#[test]
fn after_a_clear_every_value_is_dropped() {
    let _alone = alone();
    let (index, census) = (Index::<u64, Arc<Loud>>::make(), Census::default());
    (0..200).for_each(|key| index.put(key, census.value()));
    (0..100).for_each(|key| assert!(index.cut(key)));
    index.clear();
    assert_eq!((census.dropped(), index.len()), (200, 0));
}

#[test]
fn a_flush_leaves_what_a_pin_can_see() {
    let _alone = alone();
    let (index, census) = (Index::<u64, Arc<Loud>>::make(), Census::default());
    index.put(1, census.value());
    let pin = index.pin();
    let seen = index.get_ref(1, &pin).unwrap();
    std::thread::scope(|scope| {
        let index = &index;
        scope.spawn(move || {
            assert!(index.cut(1));
            index.collect();
        });
    });
    index.flush();
    assert_eq!((census.dropped(), seen.0.load(Ordering::Relaxed)), (0, 0));
    drop(pin);
    index.flush();
    assert_eq!(census.dropped(), 1);
}

/// A pin is held during many replacements by another thread. After its end nothing else runs: no operation,
/// no pin, no flush.
fn the_end_of_a_long_pin_collects<B: Boxed>() {
    let (index, census) = (B::make(), Census::default());
    index.put(0, census.value());
    index.collect();
    let empty = index.held();
    let ((pinned, is_pinned), (end, ends)) = (sync_channel(0), sync_channel::<()>(0));
    std::thread::scope(|scope| {
        let holder = scope.spawn(move || {
            let pin = Pinned::new();
            pinned.send(()).unwrap();
            ends.recv().unwrap();
            drop(pin);
        });
        is_pinned.recv().unwrap();
        for replaced in 0..MANY {
            index.put(replaced as u64 % 10, census.value());
        }
        let (held, dropped) = (index.held(), census.dropped());
        assert!(dropped <= 1, "{dropped} values were dropped that the pin might see");
        assert!(held >= empty + MANY * size_of::<Arc<Loud>>(), "{held} bytes hold them all");
        end.send(()).unwrap();
        holder.join().unwrap();
    });
    // At most 63, which aren't enough for a batch.
    let left = MANY + 1 - 10 - census.dropped();
    assert!(left < if cfg!(miri) { MANY } else { 1024 }, "{left} values are left");
    index.collect();
    assert_eq!(census.dropped(), MANY + 1 - 10);
    let held = index.held();
    // A page or two of slots, and the nodes.
    assert!(held <= empty + (160 << 10), "{held} bytes, and {empty} before");
    // The slots are reused: as many values, and no more memory.
    for replaced in 0..MANY {
        index.put(replaced as u64 % 10, census.value());
    }
    let again = index.held();
    assert!(again <= empty + (4 << 20), "{again} bytes");
    assert!((0..10).all(|key| index.has(key)));
    index.collect();
    assert_eq!(census.dropped(), 2 * MANY + 1 - 10);
    drop(index);
    assert_eq!(census.dropped(), 2 * MANY + 1);
}

#[test]
fn a_shrink_drops_what_was_removed_and_nothing_else() {
    let _alone = alone();
    let (mut index, census) = (Index::<u64, Arc<Loud>>::make(), Census::default());
    (0..300).for_each(|key| index.put(key, census.value()));
    // Fewer than a batch, so they wait.
    (0..40).for_each(|key| assert!(index.cut(key)));
    assert_eq!(census.dropped(), 0);
    let held = index.held();
    index.shrink(FillFactor::FULL).unwrap();
    assert_eq!((census.dropped(), index.len()), (40, 260));
    assert!(index.held() <= held && (40..300).all(|key| index.has(key)));
    drop(index);
    assert_eq!(census.dropped(), 300);
}

#[test]
fn what_a_long_pin_held_up_is_dropped_when_it_ends() {
    let _alone = alone();
    the_end_of_a_long_pin_collects::<Index<u64, Arc<Loud>>>();
    the_end_of_a_long_pin_collects::<Index<u128, Arc<Loud>>>();
}

#[test]
fn values_are_dropped_while_others_are_replaced() {
    let _alone = alone();
    let (index, census) = (Index::<u64, Arc<Loud>>::make(), Census::default());
    let each = MANY / 4;
    std::thread::scope(|scope| {
        for own in 0..2 {
            let (index, census) = (&index, &census);
            scope.spawn(move || {
                (0..each).for_each(|round| index.put(own + 2 * (round as u64 % 50), census.value()))
            });
        }
    });
    let left = 2 * each - 100 - census.dropped();
    assert!(cfg!(miri) || left < each / 4, "{left} of {} wait", 2 * each);
    index.flush();
    assert_eq!(census.dropped(), 2 * each - 100);
}

/// A value that removes another one when it is dropped, and flushes.
struct Chain(Arc<Index<u64, Link>>, u64, Arc<AtomicUsize>);

/// Of a type of its own, because the index is a part of its own values.
#[derive(Clone)]
struct Link(#[expect(dead_code, reason = "dropped")] Arc<Chain>);

impl IndexValue for Link {
    type Form = InBox;
    type Given<'v> = Self;
    type Lent<'v> = &'v Self;

    fn given(link: Self) -> Self {
        link
    }

    fn lend(&self) -> &Self {
        self
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.2.fetch_add(1, Ordering::Relaxed);
        self.0.remove(self.1 + 1);
        self.0.flush();
    }
}

#[test]
fn values_may_remove_others_and_flush_when_they_are_dropped() {
    let _alone = alone();
    let (index, dropped) = (Arc::new(Index::new().unwrap()), Arc::new(AtomicUsize::new(0)));
    let links = if cfg!(miri) { 20 } else { 1000 };
    for key in 0..links {
        let link = Chain(Arc::clone(&index), key, Arc::clone(&dropped));
        index.insert(key, Link(Arc::new(link))).unwrap();
    }
    index.remove(0);
    // Each flush drops one link, whose drop retires the next one.
    for _ in 0..links {
        index.flush();
    }
    assert_eq!((dropped.load(Ordering::Relaxed) as u64, index.len()), (links, 0));
}
