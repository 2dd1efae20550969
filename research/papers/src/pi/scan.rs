//! Scans over an index at rest: they search their place for each page, and can pause for any time.

use super::engine::Engine;
use core::fmt;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, Scanner, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::Trace;

/// A paused scan: see [`Pi::scanner`](super::Pi::scanner).
pub struct Scan<'a, K: Key, V: Fits<K::Bits>, T: Trace> {
    engine: &'a Engine<K::Bits, T>,
    direction: Direction,
    /// The unread part of the range.
    left: Option<(K::Bits, K::Bits)>,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Fits<K::Bits>, T: Trace> Scan<'a, K, V, T> {
    pub(super) fn new(
        engine: &'a Engine<K::Bits, T>,
        range: Option<(K::Bits, K::Bits)>,
        direction: Direction,
    ) -> Self {
        Self { engine, direction, left: range, entry: PhantomData }
    }

    /// Passes at most `room` entries to `to` in the scan's order, and returns their number.
    pub(super) fn hand_out(&mut self, room: usize, mut to: impl FnMut(usize, K, V)) -> usize {
        let Some((low, high)) = self.left else { return 0 };
        let forward = self.direction == Direction::Forward;
        let (first, last) = (self.engine.domain_of(low), self.engine.domain_of(high));
        let (mut filled, mut latest) = (0, None);
        if room == 0 {
            return 0;
        }
        for nth in 0..=last - first {
            let domain = &self.engine.domains[if forward { first + nth } else { last - nth }].built;
            let mut visit = |key, value| {
                to(filled, K::decode(key), V::decode_from(value));
                (filled, latest) = (filled + 1, Some(key));
                filled < room
            };
            let begin = if forward { low } else { high };
            let anchor = domain.layer.anchor::<T>(self.engine.dispatch, begin);
            match forward {
                true => domain.list.visit_up::<T>(anchor, (low, high), &mut visit),
                false => domain.list.visit_down::<T>(anchor, (low, high), &mut visit),
            }
            if filled == room {
                break;
            }
        }
        // A full page may not be the last one.
        let rest = latest.filter(|_| filled == room);
        self.left = match forward {
            true => rest.and_then(next).filter(|&from| from <= high).map(|from| (from, high)),
            false => rest.and_then(previous).filter(|&to| to >= low).map(|to| (low, to)),
        };
        filled
    }

    /// Copies the next entries to two buffers of equal length and returns their number; 0 at the end of
    /// the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.hand_out(keys.len(), |at, key, value| (keys[at], values[at]) = (key, value)))
    }

    /// Copies the next values alone and returns their number; 0 at the end of the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = value))
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> fmt::Debug for Scan<'_, K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("direction", &self.direction).field("left", &self.left).finish()
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Scanner<K, V> for Scan<'_, K, V, T> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        self.fill_values(values)
    }
}

/// Entries that an iterator fetches at a time.
const PAGE: usize = 32;

/// An iterator over the entries of a range: see [`Pi::range`](super::Pi::range). It fetches pages of
/// entries.
pub struct Entries<'a, K: Key, V: Fits<K::Bits>, T: Trace> {
    scan: Scan<'a, K, V, T>,
    page: Vec<(K, V)>,
    /// Entries of the page that were handed out.
    passed: usize,
}

impl<'a, K: Key, V: Fits<K::Bits>, T: Trace> Entries<'a, K, V, T> {
    pub(super) fn new(scan: Scan<'a, K, V, T>) -> Self {
        Self { scan, page: Vec::new(), passed: 0 }
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> fmt::Debug for Entries<'_, K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("scan", &self.scan).finish()
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Iterator for Entries<'_, K, V, T> {
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        if self.passed == self.page.len() {
            let Self { scan, page, passed } = self;
            page.clear();
            *passed = 0;
            scan.hand_out(PAGE, |_, key, value| page.push((key, value)));
        }
        let entry = self.page.get(self.passed).copied();
        self.passed += usize::from(entry.is_some());
        entry
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> core::iter::FusedIterator for Entries<'_, K, V, T> {}
