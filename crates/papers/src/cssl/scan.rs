//! Scans that pause: they keep a page of lanes, and nobody inside between pages.

use super::skip_list::SkipList;
use core::fmt;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, Scanner, check_buffers};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Fits;

/// Entries of a page.
const PAGE: usize = 128;

/// Entries that were copied out of the list.
pub(super) type Page<B> = Vec<(B, B)>;

impl<B: Bits> SkipList<B> {
    /// Copies the first entries of `low..=high` to an empty page, at most `room`, and says what is left.
    pub(super) fn page_up(&self, low: B, high: B, room: usize, page: &mut Page<B>) -> Option<(B, B)> {
        let inside = self.enter();
        self.visit(inside.published(), low, high, |_, key, value| {
            page.push((key, value));
            page.len() < room
        });
        match page.last() {
            Some(&(key, _)) if page.len() == room && key < high => next(key).map(|low| (low, high)),
            _ => None,
        }
    }

    /// Copies the last entries of `low..=high` to an empty page, at most `room`, the largest first, and
    /// says what is left.
    ///
    /// The list has no way back. So this begins as many places of the lanes further left as entries are
    /// wanted and walks up to the end.
    pub(super) fn page_down(&self, low: B, high: B, room: usize, page: &mut Page<B>) -> Option<(B, B)> {
        let inside = self.enter();
        let (parts, list) = (inside.published(), self.list());
        let [mut spot] = self.locate(parts, [high]);
        loop {
            for _ in 1..room {
                match parts.node(spot) {
                    Some(node) if list.key(node) > low => spot = parts.left_of(spot),
                    _ => break,
                }
            }
            let mut begun = low;
            self.at_living_anchor(parts, spot, |anchor| {
                page.clear();
                begun = if anchor == self.head { low } else { low.max(list.key(anchor)) };
                list.visit(anchor, low, high, |_, key, value| {
                    page.push((key, value));
                    true
                })
            });
            if !page.is_empty() || begun == low {
                break;
            }
            // Everything from there on has gone meanwhile: further left.
            spot = self.before(parts, self.locate(parts, [begun])[0], begun);
        }
        page.drain(..page.len().saturating_sub(room));
        page.reverse();
        match page.last() {
            Some(&(key, _)) if key > low => previous(key).map(|high| (low, high)),
            _ => None,
        }
    }
}

/// A paused scan: see [`CsslMap::scan`](super::CsslMap::scan).
pub struct Scan<'a, K: Key, V: Fits<K::Bits>> {
    list: &'a SkipList<K::Bits>,
    direction: Direction,
    /// What is left of the range behind the page.
    left: Option<(K::Bits, K::Bits)>,
    page: Page<K::Bits>,
    /// Entries of the page that were handed out.
    passed: usize,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Fits<K::Bits>> Scan<'a, K, V> {
    pub(super) fn new(
        list: &'a SkipList<K::Bits>,
        range: Option<(K::Bits, K::Bits)>,
        direction: Direction,
    ) -> Self {
        Self { list, direction, left: range, page: Page::new(), passed: 0, entry: PhantomData }
    }

    /// Copies the next entries to two buffers of one length and says how many there were; 0 means that the
    /// range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, key, value| {
            (keys[at], values[at]) = (K::decode(key), V::decode_from(value));
        }))
    }

    /// Copies the next values alone and says how many there were; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = V::decode_from(value)))
    }

    /// Hands out at most `room` entries, and says how many there were.
    fn hand_out(&mut self, room: usize, mut to: impl FnMut(usize, K::Bits, K::Bits)) -> usize {
        let mut filled = 0;
        while filled < room {
            if self.passed == self.page.len() && !self.turn_page((room - filled).min(PAGE)) {
                break;
            }
            for &(key, value) in self.page[self.passed..].iter().take(room - filled) {
                to(filled, key, value);
                (filled, self.passed) = (filled + 1, self.passed + 1);
            }
        }
        filled
    }

    /// Fetches the next page, of at most so many entries; `false`: the range has ended.
    fn turn_page(&mut self, room: usize) -> bool {
        let Some((low, high)) = self.left else { return false };
        self.passed = 0;
        self.page.clear();
        self.left = match self.direction {
            Direction::Forward => self.list.page_up(low, high, room, &mut self.page),
            Direction::Reverse => self.list.page_down(low, high, room, &mut self.page),
        };
        true
    }
}

impl<K: Key, V: Fits<K::Bits>> fmt::Debug for Scan<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("direction", &self.direction).field("left", &self.left).finish()
    }
}

impl<K: Key, V: Fits<K::Bits>> Scanner<K, V> for Scan<'_, K, V> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        self.fill_values(values)
    }
}

/// An iterator over the entries of a range: see [`CsslMap::range`](super::CsslMap::range).
#[derive(Debug)]
pub struct Entries<'a, K: Key, V: Fits<K::Bits>> {
    scan: Scan<'a, K, V>,
}

impl<'a, K: Key, V: Fits<K::Bits>> Entries<'a, K, V> {
    pub(super) fn new(scan: Scan<'a, K, V>) -> Self {
        Self { scan }
    }
}

impl<K: Key, V: Fits<K::Bits>> Iterator for Entries<'_, K, V> {
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        let scan = &mut self.scan;
        while scan.passed == scan.page.len() {
            if !scan.turn_page(PAGE) {
                return None;
            }
        }
        let (key, value) = scan.page[scan.passed];
        scan.passed += 1;
        Some((K::decode(key), V::decode_from(value)))
    }
}

impl<K: Key, V: Fits<K::Bits>> core::iter::FusedIterator for Entries<'_, K, V> {}
