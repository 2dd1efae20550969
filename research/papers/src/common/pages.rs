//! Scans in pages: a tree copies a page of entries at a time, so that nothing is held between pages.

use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// Entries that are read at once at the most, unless one key has more.
pub(crate) const TOGETHER_MAX: usize = 256;

/// A tree that can be read a page at a time.
pub trait Pages: Sync {
    /// The lane of keys and of values.
    type Lane: Bits;
    /// The tracing hook, to which the tree reports its reads and writes.
    type Trace: Trace;

    /// Returns an empty page, for a scan of about that many entries.
    fn empty_page(&self, expected: usize) -> Page<Self::Lane>;

    /// Fills a page with the first entries of `low..=high`.
    fn page_up(&self, low: Self::Lane, high: Self::Lane, page: &mut Page<Self::Lane>) -> PageEnd<Self::Lane>;

    /// Fills a page with the last entries of `low..=high`, ascending.
    fn page_down(
        &self,
        low: Self::Lane,
        high: Self::Lane,
        page: &mut Page<Self::Lane>,
    ) -> PageEnd<Self::Lane>;

    /// Returns the number of entries in `low..=high`.
    fn count(&self, mut low: Self::Lane, high: Self::Lane) -> usize {
        let (mut page, mut count) = (self.empty_page(TOGETHER_MAX), 0);
        while low <= high {
            let found = self.page_up(low, high, &mut page);
            count += page.keys.len();
            match found {
                PageEnd::All => break,
                PageEnd::UpTo(next) => low = next,
            }
        }
        count
    }
}

/// Entries of a range, in ascending order of keys.
#[derive(Debug)]
pub struct Page<B> {
    pub(crate) keys: Vec<B>,
    pub(crate) values: Vec<B>,
    /// The number of entries that the page has room for.
    pub(crate) room: usize,
}

/// How far a page of a scan extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageEnd<B> {
    /// To the end of the range.
    All,
    /// Up to this key, at which the next page begins; its entries aren't in this one.
    UpTo(B),
}

impl<B: Bits> Page<B> {
    /// Creates an empty page with room for that many entries.
    pub(crate) fn of(room: usize) -> Self {
        Self { keys: Vec::with_capacity(room), values: Vec::with_capacity(room), room }
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[B] {
        &self.keys
    }

    /// Their values.
    pub fn values(&self) -> &[B] {
        &self.values
    }

    /// Empties the page, and makes room for that many entries, but at most for as many as one page reads.
    pub fn clear_for(&mut self, room: usize) {
        self.truncate(0);
        self.room = room.clamp(1, TOGETHER_MAX);
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, key: B, value: B) {
        self.keys.push(key);
        self.values.push(value);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.values.truncate(len);
    }

    /// Keeps the last entries that fit.
    pub fn keep_last(&mut self) {
        let extra = self.keys.len().saturating_sub(self.room);
        self.keys.drain(..extra);
        self.values.drain(..extra);
    }

    /// Makes room for one more leaf.
    pub fn grow(&mut self, leaf: usize) {
        self.truncate(0);
        self.room = (2 * self.room).max(2 * leaf);
        self.keys.reserve(self.room);
        self.values.reserve(self.room);
    }

    /// Returns the position of the first entry of the last key.
    pub fn last_run(&self) -> usize {
        self.keys.last().map_or(0, |last| self.keys.partition_point(|key| key < last))
    }
}
