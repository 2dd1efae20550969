//! Scans over maps: they keep a page of lanes, turn them into keys and values when no latch is held, and
//! can pause for as long as the caller likes.

use super::Kind;
use crate::base::error::Result;
use crate::base::index::{Direction, Scanner, check_buffers};
use crate::base::key::Key;
use crate::base::value::Fits;
use crate::mem::touch::{Touch, Work};
use crate::tree::olfit::{Found, OlfitTree, Page};
use core::fmt;
use core::marker::PhantomData;

/// A paused scan: see [`OlfitMap::scan`](super::OlfitMap::scan).
pub struct Scan<'a, K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> {
    tree: &'a OlfitTree<D>,
    direction: Direction,
    /// What is left of the range behind the page.
    left: Option<(K::Bits, K::Bits)>,
    page: Page<K::Bits>,
    /// Entries of the page that were handed out.
    passed: usize,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> Scan<'a, K, V, D> {
    pub(super) fn new(
        tree: &'a OlfitTree<D>,
        range: Option<(K::Bits, K::Bits)>,
        direction: Direction,
        expected: usize,
    ) -> Self {
        let page = tree.page(expected);
        Self { tree, direction, left: range, page, passed: 0, entry: PhantomData }
    }

    /// Copies the next entries to two buffers of one length and says how many there were; 0 means that the
    /// range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](crate::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        D::Touch::write(keys.as_ptr().cast(), size_of_val(keys));
        let filled = self.hand_out(values.len(), |at, key, value| {
            (keys[at], values[at]) = (K::from_bits(key), V::from_lane(value));
        });
        Ok(filled)
    }

    /// Copies the next values alone and says how many there were; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](crate::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = V::from_lane(value)))
    }

    /// Hands out at most `room` entries, and says how many there were.
    fn hand_out(&mut self, room: usize, mut to: impl FnMut(usize, K::Bits, K::Bits)) -> usize {
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
            D::Touch::work(Work::Copy(part));
            for i in self.passed..self.passed + part {
                let at = if self.direction == Direction::Forward { i } else { keys.len() - 1 - i };
                to(filled + i - self.passed, keys[at], values[at]);
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
            Found::All => None,
            Found::UpTo(next) => Some(if forward { (next, high) } else { (low, next) }),
        };
        true
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> fmt::Debug for Scan<'_, K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("direction", &self.direction).field("left", &self.left).finish()
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> Scanner<K, V> for Scan<'_, K, V, D> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        self.fill_values(values)
    }
}

/// An iterator over the entries of a range: see [`OlfitMap::range`](super::OlfitMap::range).
#[derive(Debug)]
pub struct Entries<'a, K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> {
    scan: Scan<'a, K, V, D>,
}

impl<'a, K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> Entries<'a, K, V, D> {
    pub(super) fn new(scan: Scan<'a, K, V, D>) -> Self {
        Self { scan }
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> Iterator for Entries<'_, K, V, D> {
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        let mut entry = None;
        self.scan.hand_out(1, |_, key, value| entry = Some((K::from_bits(key), V::from_lane(value))));
        entry
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> core::iter::FusedIterator for Entries<'_, K, V, D> {}
