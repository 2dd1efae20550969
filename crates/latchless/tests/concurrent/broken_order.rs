//! Maps whose answers by order are broken on purpose, which `straddling.rs` and `passing.rs` must detect.

use crate::ordered::Ordered;
use crate::reference::Reference;
use latchless::Direction;
use std::thread::yield_now;

/// A flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderFlaw {
    /// None: the control.
    None,
    /// A search that finds nothing up to a border reads beyond it a little later, and doesn't validate.
    TwoLooks,
    /// A pop searches for the first entry, and removes that a little later.
    LatePop,
}

/// The reference with a flaw.
pub struct FlawedOrder {
    flaw: OrderFlaw,
    inner: Reference,
    /// The first key beyond the border.
    border: u64,
}

impl FlawedOrder {
    pub fn new(flaw: OrderFlaw, border: u64) -> Self {
        Self { flaw, inner: Reference::default(), border }
    }

    /// Returns whether two keys lie on the same side of the border.
    fn same_side(&self, one: u64, other: u64) -> bool {
        (one < self.border) == (other < self.border)
    }
}

impl Ordered for FlawedOrder {
    fn get(&self, key: u64) -> Option<u64> {
        Ordered::get(&self.inner, key)
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        Ordered::put(&self.inner, key, value)
    }

    fn remove(&self, key: u64) -> Option<u64> {
        Ordered::remove(&self.inner, key)
    }

    fn nearest(&self, from: u64, direction: Direction) -> Option<(u64, u64)> {
        let found = Ordered::nearest(&self.inner, from, direction);
        if self.flaw != OrderFlaw::TwoLooks || found.is_some_and(|(key, _)| self.same_side(from, key)) {
            return found;
        }
        yield_now();
        let (forward, left) = (direction == Direction::Forward, from < self.border);
        match (forward, left) {
            (true, true) => Ordered::nearest(&self.inner, self.border, direction),
            (false, false) => Ordered::nearest(&self.inner, self.border - 1, direction),
            _ => None,
        }
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(if direction == Direction::Forward { 0 } else { u64::from(u32::MAX) }, direction)
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        if self.flaw == OrderFlaw::None {
            return Ordered::pop(&self.inner, direction);
        }
        loop {
            let (key, _) = self.end(direction)?;
            if self.flaw == OrderFlaw::LatePop {
                yield_now();
            }
            if let Some(value) = self.remove(key) {
                return Some((key, value));
            }
        }
    }

    fn check(&self) {}
}
