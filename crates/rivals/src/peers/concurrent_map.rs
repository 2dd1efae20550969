//! `concurrent-map`: a lock-free B+-Tree whose handles are made for one thread each.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared, walk};
use concurrent_map::{ConcurrentMap, Minimum};
use core::marker::PhantomData;
use latchless_core::Result;
use latchless_core::base::key::Bits;
use std::sync::{Mutex, PoisonError};
use thread_local::ThreadLocal;

/// `concurrent_map::ConcurrentMap` over lanes `L`, with one handle per thread, as its documentation
/// recommends.
pub struct Concurrent<L: Bits + Minimum> {
    handles: ThreadLocal<ConcurrentMap<L, L>>,
    /// The origin of new threads' handles.
    origin: Mutex<ConcurrentMap<L, L>>,
    lanes: PhantomData<L>,
}

impl<L: Bits + Minimum> Default for Concurrent<L> {
    fn default() -> Self {
        Self { handles: ThreadLocal::new(), origin: Mutex::default(), lanes: PhantomData }
    }
}

impl<L: Bits + Minimum> Concurrent<L> {
    fn handle(&self) -> &ConcurrentMap<L, L> {
        self.handles.get_or(|| self.origin.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn to<A: Bits, B: Bits>(lane: A) -> B {
    B::truncate(lane.to_u64())
}

impl<B: Bits, L: Bits + Minimum> Peer<B> for Concurrent<L> {
    const NAME: &'static str = "concurrent-map";
    type Pin<'a> = &'a ConcurrentMap<L, L>;

    fn pin(&self) -> Self::Pin<'_> {
        self.handle()
    }

    fn len(&self) -> usize {
        self.handle().len()
    }

    fn get(&self, key: B, handle: &Self::Pin<'_>) -> Option<B> {
        handle.get(&to::<B, L>(key)).map(to)
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let handle = self.handle();
        let range = handle.range::<L, _>(to::<B, L>(ask.low)..=to::<B, L>(ask.high));
        walk(range, ask.direction, |(key, value)| each(to(key), to(value)))
    }

    updates_are_shared!();
}

impl<B: Bits, L: Bits + Minimum> SharedPeer<B> for Concurrent<L> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.handle().insert(to(key), to(value)).map(to))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.handle().remove(&to::<B, L>(key)).map(to)
    }
}
