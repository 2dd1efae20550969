//! One thread's units: available ones, and those that other threads may still read.

use super::NodeRef;
use crate::common::epochs::Epochs;
use latchless_core::sync::Mutex;
use std::collections::VecDeque;
use std::sync::MutexGuard;

/// The most units of one kind that lie ready on a shelf.
const READY_MAX: usize = 64;
/// Units that are put off together: the clock is moved once for all of them. Tests take fewer.
const PUT_OFF_TOGETHER: usize = if cfg!(test) { 4 } else { 32 };

/// A shelf, in separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Shelf(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Ready for use, by kind.
    ready: Vec<Vec<NodeRef>>,
    /// Unlinked since the clock was last moved here.
    fresh: Vec<NodeRef>,
    /// Unlinked before, with their stamps, the oldest first.
    waiting: VecDeque<(u64, NodeRef)>,
}

impl State {
    /// Makes a unit ready, or gives it back if there are enough.
    fn put(&mut self, kind: usize, unit: NodeRef) -> Option<NodeRef> {
        if self.ready.len() <= kind {
            self.ready.resize_with(kind + 1, Vec::new);
        }
        if self.ready[kind].len() == READY_MAX {
            return Some(unit);
        }
        self.ready[kind].push(unit);
        None
    }
}

impl Shelf {
    fn state(&self) -> MutexGuard<'_, State> {
        // No foreign code is called while it is locked, so the state is consistent after a panic.
        self.0.lock()
    }

    /// A unit that is ready.
    pub(super) fn take(&self, kind: usize) -> Option<NodeRef> {
        self.state().ready.get_mut(kind)?.pop()
    }

    /// Makes a unit ready, or gives it back if there are enough.
    pub(super) fn put(&self, kind: usize, unit: NodeRef) -> Option<NodeRef> {
        self.state().put(kind, unit)
    }

    /// Puts off a unit that was unlinked. Whether it is time to look which ones can be used again.
    pub(super) fn put_off(&self, unit: NodeRef) -> bool {
        let mut state = self.state();
        state.fresh.push(unit);
        state.fresh.len() >= PUT_OFF_TOGETHER
    }

    /// Returns whether units wait to become available.
    pub(super) fn has_waiting(&self) -> bool {
        let state = self.state();
        !state.fresh.is_empty() || !state.waiting.is_empty()
    }

    /// Stamps the unlinked units.
    pub(super) fn stamp(&self, epochs: &Epochs) {
        let mut state = self.state();
        let State { fresh, waiting, .. } = &mut *state;
        if !fresh.is_empty() {
            let stamp = epochs.stamp();
            waiting.extend(fresh.drain(..).map(|unit| (stamp, unit)));
        }
    }

    /// Makes units with a stamp before `oldest` available, and passes on those above the shelf's capacity.
    pub(super) fn ripen(&self, oldest: u64, mut surplus: impl FnMut(NodeRef)) {
        let mut state = self.state();
        while let Some((_, unit)) = state.waiting.pop_front_if(|waiting| waiting.0 < oldest) {
            if let Some(unit) = state.put(0, unit) {
                surplus(unit);
            }
        }
    }

    /// Hands on everything that is ready.
    pub(super) fn clear(&self, mut to: impl FnMut(usize, NodeRef)) {
        let mut state = self.state();
        for (kind, ready) in state.ready.iter_mut().enumerate() {
            ready.drain(..).for_each(|unit| to(kind, unit));
        }
    }

    /// Forgets everything.
    pub(super) fn forget(&self) {
        *self.state() = State::default();
    }

    /// Units on the shelf.
    pub(super) fn len(&self) -> usize {
        let state = self.state();
        state.ready.iter().map(Vec::len).sum::<usize>() + state.fresh.len() + state.waiting.len()
    }
}
