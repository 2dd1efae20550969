//! Scans over maps whose trees are read in pages: they keep a page of lanes, convert them into keys and
//! values when no latch is held, and can pause for any time.

use crate::common::pages::{Page, PageEnd, Pages};
use core::fmt;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, Scanner, check_buffers};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{Trace, Work};

/// A paused scan, returned by a map's `scan`.
pub struct Scan<'a, K, V, P: Pages> {
    tree: &'a P,
    direction: Direction,
    /// The part of the range after the page.
    left: Option<(P::Lane, P::Lane)>,
    page: Page<P::Lane>,
    /// Entries of the page that were handed out.
    passed: usize,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Fits<K::Bits>, P: Pages> Scan<'a, K, V, P> {
    pub(crate) fn new(
        tree: &'a P,
        range: Option<(K::Bits, K::Bits)>,
        direction: Direction,
        expected: usize,
    ) -> Self {
        let page = tree.empty_page(expected);
        let lane = |lane: K::Bits| P::Lane::truncate(lane.to_u64());
        let left = range.map(|(low, high)| (lane(low), lane(high)));
        Self { tree, direction, left, page, passed: 0, entry: PhantomData }
    }

    /// Copies the next entries to two buffers of equal length and returns their number; 0 at the end of
    /// the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        P::Trace::write(keys.as_ptr().cast(), size_of_val(keys));
        let filled = self.hand_out(values.len(), |at, key, value| {
            (keys[at], values[at]) = (K::decode(key), V::decode_from(value));
        });
        Ok(filled)
    }

    /// Copies the next values alone and returns their number; 0 at the end of the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = V::decode_from(value)))
    }

    /// Passes at most `room` entries to `to`, and returns their number.
    fn hand_out(&mut self, room: usize, mut to: impl FnMut(usize, K::Bits, K::Bits)) -> usize {
        let lane = |lane: P::Lane| K::Bits::truncate(lane.to_u64());
        let mut filled = 0;
        while filled < room {
            let (keys, values) = (self.page.keys(), self.page.values());
            if self.passed == keys.len() {
                if !self.turn_page() {
                    break;
                }
                continue;
            }
            let part = (keys.len() - self.passed).min(room - filled);
            P::Trace::work(Work::Copy(part));
            for i in self.passed..self.passed + part {
                let at = if self.direction == Direction::Forward { i } else { keys.len() - 1 - i };
                to(filled + i - self.passed, lane(keys[at]), lane(values[at]));
            }
            (filled, self.passed) = (filled + part, self.passed + part);
        }
        filled
    }

    /// Fetches the next page; `false`: the range has ended.
    fn turn_page(&mut self) -> bool {
        let Some((low, high)) = self.left else { return false };
        self.passed = 0;
        let forward = self.direction == Direction::Forward;
        let found = match forward {
            true => self.tree.page_up(low, high, &mut self.page),
            false => self.tree.page_down(low, high, &mut self.page),
        };
        self.left = match found {
            PageEnd::All => None,
            PageEnd::UpTo(next) => Some(if forward { (next, high) } else { (low, next) }),
        };
        true
    }
}

impl<K, V, P: Pages> fmt::Debug for Scan<'_, K, V, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("direction", &self.direction).field("left", &self.left).finish()
    }
}

impl<K: Key, V: Fits<K::Bits>, P: Pages> Scanner<K, V> for Scan<'_, K, V, P> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        self.fill_values(values)
    }
}

/// An iterator over the entries of a range, returned by a map's `range`.
#[derive(Debug)]
pub struct Entries<'a, K, V, P: Pages> {
    scan: Scan<'a, K, V, P>,
}

impl<'a, K: Key, V: Fits<K::Bits>, P: Pages> Entries<'a, K, V, P> {
    pub(crate) fn new(scan: Scan<'a, K, V, P>) -> Self {
        Self { scan }
    }
}

impl<K: Key, V: Fits<K::Bits>, P: Pages> Iterator for Entries<'_, K, V, P> {
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        let mut entry = None;
        self.scan.hand_out(1, |_, key, value| entry = Some((K::decode(key), V::decode_from(value))));
        entry
    }
}

impl<K: Key, V: Fits<K::Bits>, P: Pages> core::iter::FusedIterator for Entries<'_, K, V, P> {}
