//! Values of any type, over each kind of key: each is dropped once, none while it is read.

mod batches;
mod closures;
mod drops;
mod expiry;
mod kinds;
mod memory;
mod model;
mod order;
mod strings;
mod threads;

use latchless::index::Pinned;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts creations and drops, and checks its own integrity.
#[derive(Debug, Default)]
struct Census {
    made: AtomicU64,
    dropped: AtomicU64,
}

impl Census {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    fn value(&'static self, key: u64, version: u64) -> Counted {
        self.made.fetch_add(1, Ordering::Relaxed);
        Counted { census: self, key, version, check: Box::new(key ^ version) }
    }

    fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }

    /// Waits until this many are dropped, which `flush` causes: deferred drops run on any thread, also on
    /// those of other tests.
    fn wait_for_drops(&self, at_least: u64, flush: impl Fn()) {
        for _ in 0..20_000 {
            if self.counts().1 >= at_least {
                return;
            }
            flush();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("{} of {at_least} drops", self.counts().1);
    }

    fn all_dropped_once(&self) {
        self.all_dropped_once_by(|| Pinned::new().flush());
    }

    fn all_dropped_once_by(&self, flush: impl Fn()) {
        let (made, _) = self.counts();
        self.wait_for_drops(made, flush);
        assert_eq!(self.counts(), (made, made));
    }
}

#[derive(Debug)]
struct Counted {
    census: &'static Census,
    key: u64,
    version: u64,
    check: Box<u64>,
}

impl Counted {
    fn is_whole(&self) -> bool {
        *self.check == self.key ^ self.version
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(self.is_whole());
        *self.check = !0;
        self.census.dropped.fetch_add(1, Ordering::Relaxed);
    }
}
