//! Cells: the partition of a range of keys into slots, and the memory of cells and their entries.

use core::hint::select_unpredictable;
use latchless_core::base::error::Result;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::words::Words;
use latchless_core::sync::Word;

/// Slots of a cell per border between nodes in its range; in fact up to twice as many.
const SLOTS_PER_BORDER: usize = 4;
/// Entries per cell for which memory is provided.
const ENTRIES_PER_CELL: usize = 8;
/// The maximum number of cells that a lookup passes.
pub(in crate::tree) const DEPTH_MAX: usize = 16;

/// The start of a descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) struct Entry(pub(super) u64);

impl Entry {
    /// An unknown start.
    pub(in crate::tree) const EMPTY: Self = Self(0);

    /// Set if the entry is a cell; stored above the block.
    const CELL: u64 = 1 << 63;

    pub(super) fn node_at(node: NodeRef, level: usize, block: usize) -> Self {
        Self(u64::from(node.to_word()) | (level as u64) << 32 | (block as u64) << 40)
    }

    pub(super) fn of_cell(cell: usize) -> Self {
        Self(cell as u64 | Self::CELL)
    }

    #[inline(always)]
    pub(in crate::tree) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether a cell partitions the slot further.
    #[inline(always)]
    pub(in crate::tree) fn is_cell(self) -> bool {
        self.0 & Self::CELL != 0
    }

    /// Returns the number of that cell, if there is one.
    #[inline(always)]
    pub(in crate::tree) fn cell_number(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    fn cell(self) -> Option<usize> {
        self.is_cell().then_some(self.cell_number())
    }

    #[inline(always)]
    pub(in crate::tree) fn node(self) -> NodeRef {
        NodeRef::from_word(self.0 as u32)
    }

    #[inline(always)]
    pub(in crate::tree) fn level(self) -> usize {
        (self.0 >> 32) as usize & 0xFF
    }

    /// Returns the block of the node at which the slot begins.
    #[inline(always)]
    pub(in crate::tree) fn block(self) -> usize {
        (self.0 >> 40) as usize
    }
}

/// A range of keys, both ends inclusive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Keys {
    pub(super) const ALL: Self = Self { first: 0, last: u64::MAX };
}

/// The partition of a cell's range: its header's two words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// The start of the first slot; keys before it are in that slot, too.
    base: u64,
    /// The first of its entries.
    pub(super) first: usize,
    /// The width of a slot, as a number of bits.
    shift: u32,
    /// The last slot; keys after it are in that slot, too.
    pub(super) last: usize,
}

impl Cell {
    const SHIFT: u32 = 32;
    const LAST: u32 = 40;

    #[inline(always)]
    fn read([base, form]: &[Word; 2]) -> Self {
        let form = form.load_relaxed();
        Self {
            base: base.load_relaxed(),
            first: form as u32 as usize,
            shift: (form >> Self::SHIFT) as u32 & 63,
            last: (form >> Self::LAST) as usize,
        }
    }

    pub(super) fn write(self, [base, form]: &[Word; 2]) {
        base.store_relaxed(self.base);
        let last = (self.last as u64) << Self::LAST;
        form.store_relaxed(self.first as u64 | u64::from(self.shift) << Self::SHIFT | last);
    }

    /// Creates a cell for these borders, at least one. Its entries begin at `first`.
    fn for_borders(borders: &[(u64, NodeRef)], first: usize) -> Self {
        let (from, to) = (borders[0].0, borders[borders.len() - 1].0);
        let slots = (borders.len() * SLOTS_PER_BORDER).next_power_of_two();
        let bits = u64::BITS - (to - from).leading_zeros();
        let shift = bits.saturating_sub(slots.ilog2());
        // The first slot ends before the first border.
        let base = from.saturating_sub(1 << shift);
        Self { base, first, shift, last: ((to - base) >> shift) as usize }
    }

    #[inline(always)]
    fn slot(self, key: u64) -> usize {
        ((key.saturating_sub(self.base) >> self.shift) as usize).min(self.last)
    }

    /// Returns the keys of a slot, in a cell for this range.
    pub(super) fn keys(self, slot: usize, range: Keys) -> Keys {
        let start = |slot: usize| self.base + ((slot as u64) << self.shift);
        let first = if slot == 0 { range.first } else { start(slot) };
        let last = if slot == self.last { range.last } else { start(slot + 1) - 1 };
        Keys { first, last }
    }
}

/// Memory for cells.
#[derive(Debug)]
pub(super) struct Table {
    /// Two words for each cell, the root's first.
    pub(super) headers: Words<Word>,
    pub(super) entries: Words<Word>,
    /// Numbers of cells and entries in use. For the holder of the lock.
    pub(super) cells: Word,
    pub(super) used: Word,
}

impl Table {
    pub(super) fn new(entries: usize) -> Result<Self> {
        let (headers, entries) =
            (Words::new(entries / ENTRIES_PER_CELL * 2, false)?, Words::new(entries, false)?);
        Ok(Self { headers, entries, cells: Word::new(0), used: Word::new(0) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.headers.bytes() + self.entries.bytes()
    }

    /// Allocates a cell for these borders. Returns its number and its partition; `None` if there is no room.
    pub(super) fn allocate(&self, borders: &[(u64, NodeRef)]) -> Option<(usize, Cell)> {
        let (at, first) = (self.cells.load_relaxed() as usize, self.used.load_relaxed() as usize);
        let cell = Cell::for_borders(borders, first);
        let end = first + cell.last + 1;
        if end > self.entries.len() || at >= self.headers.len() / 2 {
            return None;
        }
        self.cells.store_relaxed(at as u64 + 1);
        self.used.store_relaxed(end as u64);
        Some((at, cell))
    }

    #[inline(always)]
    pub(super) fn view(&self) -> Routes<'_> {
        Routes { headers: self.headers.as_chunks().0, entries: &self.entries }
    }
}

/// The current directory, for lookups.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct Routes<'a> {
    headers: &'a [[Word; 2]],
    pub(super) entries: &'a [Word],
}

impl<'a> Routes<'a> {
    /// Returns the entry of a key. `None`: unknown.
    #[inline(always)]
    pub(super) fn entry(self, key: u64) -> Option<Entry> {
        // Most lookups pass one cell or two, and which can't be predicted where keys come in runs. If one is
        // enough, the second lookup repeats the same slot.
        let first = self.entry_in(0, key);
        let cell = select_unpredictable(first.is_cell(), first.cell_number(), 0);
        let mut entry = self.entry_in(cell, key);
        // There can't be more, except in words that are being written.
        for _ in 2..DEPTH_MAX {
            match entry.cell() {
                Some(next) => entry = self.entry_in(next, key),
                None => return (!entry.is_empty()).then_some(entry),
            }
        }
        None
    }

    /// Returns the entry of a key in one cell; an empty entry if nothing is known.
    #[inline(always)]
    pub(in crate::tree) fn entry_in(self, cell: usize, key: u64) -> Entry {
        let entry = self.headers.get(cell).and_then(|header| {
            let form = Cell::read(header);
            self.entries.get(form.first + form.slot(key))
        });
        Entry(entry.map_or(0, Word::follow))
    }

    /// Prefetches a cell's header.
    #[inline(always)]
    pub(in crate::tree) fn ask(self, cell: usize) {
        prefetch_read(self.headers.as_ptr().wrapping_add(cell).cast());
    }

    /// Returns the word of a key's entry and the keys that it covers.
    pub(super) fn slot(self, key: u64) -> Option<(&'a Word, Keys, usize)> {
        let (mut cell, mut keys) = (0, Keys::ALL);
        for depth in 0..DEPTH_MAX {
            let form = Cell::read(self.headers.get(cell)?);
            let slot = form.slot(key);
            let word = self.entries.get(form.first + slot)?;
            keys = form.keys(slot, keys);
            match Entry(word.follow()).cell() {
                Some(next) => cell = next,
                None => return Some((word, keys, depth)),
            }
        }
        None
    }
}
