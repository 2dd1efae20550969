//! One NUMA node's PI: the keys of a range, their list and their index layer.

use super::rebuild::{Built, Plan, Rebuilds};
use super::work::Update;
use crate::pi::crew::{Run, one_by_one};
use crate::pi::mem::budget::Budget;
use crate::pi::segments::{Finger, Form, Segments};
use core::ops::Range;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::Dispatch;

/// When the index layer is rebuilt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threshold {
    pub(super) percent: usize,
    pub(super) from: usize,
    pub(super) background: bool,
}

/// A node's index.
pub(super) struct Domain<B: Bits> {
    pub(super) built: Built<B>,
    pub(super) rebuilds: Rebuilds<B>,
    /// Drift below which no rebuild is tried: above zero after one was refused memory.
    not_before: usize,
}

impl<B: Bits> Domain<B> {
    pub(super) fn empty(form: Form, plan: Plan) -> Result<Self> {
        let built = Built::over(Segments::new(form)?, plan, &one_by_one)?;
        Ok(Self { built, rebuilds: Rebuilds::default(), not_before: 0 })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.built.list.memory_bytes() + self.built.layer.memory_bytes()
    }

    pub(super) fn get<T: Trace>(&self, dispatch: Dispatch, key: B) -> Option<B> {
        T::work(latchless_core::mem::touch::Work::Operation);
        let anchor = self.built.layer.anchor::<T>(dispatch, key);
        self.built.list.get::<T>(anchor, key)
    }

    pub(super) fn put<T: Trace>(
        &mut self,
        dispatch: Dispatch,
        (key, value): (B, B),
        budget: &Budget,
    ) -> Result<Option<B>> {
        let anchor = self.built.layer.anchor::<T>(dispatch, key);
        let list = &mut self.built.list;
        let (before, drift) = list.all().put::<T>(anchor, &mut Finger::default(), (key, value), budget)?;
        list.changed(drift);
        self.write_down((key, Some(value)));
        Ok(before)
    }

    pub(super) fn take<T: Trace>(&mut self, dispatch: Dispatch, key: B) -> Option<B> {
        let anchor = self.built.layer.anchor::<T>(dispatch, key);
        let list = &mut self.built.list;
        let (before, drift) = list.all().take::<T>(anchor, &mut Finger::default(), key);
        list.changed(drift);
        if before.is_some() {
            self.write_down((key, None));
        }
        before
    }

    fn write_down(&mut self, update: Update<B>) {
        if self.rebuilds.running() {
            self.rebuilds.write_down(vec![update]);
        }
    }

    /// Returns whether the index layer must be rebuilt (§4.3.5).
    fn is_due(&self, threshold: Threshold) -> bool {
        let list = &self.built.list;
        let least = (list.len() / 100).saturating_mul(threshold.percent).max(threshold.from);
        list.drift() > self.not_before && (list.drift() > least || list.has_long_segment())
    }

    /// Starts a rebuild that is due, swaps in one that is done. Between batches. Returns whether the list
    /// was swapped.
    pub(super) fn between_batches(&mut self, threshold: Threshold, plan: Plan) -> bool {
        if self.built.list.is_empty() && self.built.list.drift() > 0 {
            // The list is empty: all memory is freed at once.
            return self.rebuild_now(plan, &one_by_one).is_ok();
        }
        if self.rebuilds.running() {
            return self.settle(plan, false).unwrap_or(false);
        }
        if !self.is_due(threshold) {
            return false;
        }
        if threshold.background && self.rebuilds.start(&mut self.built, plan) {
            return false;
        }
        self.rebuild_now(plan, &one_by_one).is_ok()
    }

    /// Swaps in a rebuild that is done; with `wait`, one that is going on.
    pub(super) fn settle(&mut self, plan: Plan, wait: bool) -> Result<bool> {
        let dispatch = plan.dispatch();
        let settled = self.rebuilds.settle(&mut self.built, dispatch, wait);
        self.take_note(settled.as_ref().is_ok_and(|&swapped| swapped), settled.is_err());
        settled
    }

    /// Rebuilds what has drifted, now.
    pub(super) fn rebuild_now(&mut self, plan: Plan, run: Run<'_>) -> Result<()> {
        self.settle(plan, true)?;
        // Lent, so that segments that haven't drifted are shared, not copied.
        let standing = self.built.list.lend();
        let earlier = Some(&self.built.layer);
        let built = standing.and_then(|standing| Built::anew(&standing, plan, earlier, run));
        let refused = built.is_err();
        let result = built.map(|built| {
            self.built = built;
            self.rebuilds.done += 1;
        });
        self.take_note(!refused, refused);
        result
    }

    fn take_note(&mut self, swapped: bool, refused: bool) {
        if swapped {
            self.not_before = 0;
        }
        if refused {
            // Not at once again: an attempt is costly.
            self.not_before = self.built.list.drift().saturating_mul(2);
        }
    }

    /// Returns the addresses of everything, for a memory model to place.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Range<usize>> {
        self.built.layer.addresses().into_iter().chain(self.built.list.addresses())
    }

    pub(super) fn check(&self) -> Result<(), Broken> {
        self.built.list.check()?;
        self.built.layer.check(&self.built.list)
    }
}
