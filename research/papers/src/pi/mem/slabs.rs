//! Short arrays with room to grow, cut from large pages.
//!
//! An array of two kilobytes in the allocator's memory is on a small page or two, and a thread that reads
//! arrays in many places needs an address translation each time. So arrays that are laid out together are
//! cut from *chunks* of many megabytes. An array that outgrows its slab moves to the allocator's memory.
//! Its old place is freed with the chunk, when that has no more slabs; a thread that lays out a list again
//! uses a [`ChunkUsage`] to decide which slabs should move.
//!
//! If data is read by single lines ([`SlabAllocator::of_lines`]), a slab in the allocator's memory begins
//! at a line as well, and is a separate chunk.
//!
//! # Invariants
//! 1. A slab's first `len` values are written; there is no other reference to any of its `capacity`
//!    places.
//! 2. A slab without a chunk has the allocation of a vector of its capacity; one with a chunk is inside
//!    that, and keeps it alive.

use super::lines::Lines;
use super::placement::Placement;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::mapping::{HUGE_PAGE_BYTES, Mapping};
use latchless_core::sync::Tally;
use std::collections::HashMap;
use std::sync::Arc;

/// Slabs smaller than this are in the allocator's memory.
const QUARRY_FROM_BYTES: usize = if cfg!(miri) { 16 << 10 } else { HUGE_PAGE_BYTES };
/// Bytes of a chunk, unless one slab takes more.
const QUARRY_BYTES_MAX: usize = 32 << 20;

#[cfg(test)]
std::thread_local! {
    /// Whether slabs are refused memory on this thread.
    pub static REFUSED: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// Memory that slabs are cut out of.
struct Chunk {
    memory: ChunkMemory,
    /// Bytes of all slabs, those that have gone among them.
    cut_bytes: Tally,
}

/// The owner of a chunk's bytes.
enum ChunkMemory {
    Pages(Mapping),
    Lines(Lines),
}

impl Chunk {
    fn of(memory: ChunkMemory) -> Arc<Self> {
        Arc::new(Self { memory, cut_bytes: Tally::default() })
    }

    fn start(&self) -> NonNull<u8> {
        match &self.memory {
            ChunkMemory::Pages(mapping) => mapping.start(),
            ChunkMemory::Lines(lines) => lines.start(),
        }
    }

    fn bytes(&self) -> usize {
        match &self.memory {
            ChunkMemory::Pages(mapping) => mapping.bytes(),
            ChunkMemory::Lines(lines) => lines.bytes(),
        }
    }
}

/// An array of plain values with room for more.
pub struct Slab<T> {
    start: NonNull<T>,
    len: u32,
    capacity: u32,
    chunk: Option<Arc<Chunk>>,
}

// SAFETY: a slab owns its values as a vector does; a chunk is memory and a count.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: as above: a shared slab gives out shared references alone.
unsafe impl<T: Sync> Sync for Slab<T> {}

impl<T: Copy> Slab<T> {
    /// Creates a slab with these values and room for that many more, in the allocator's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_room(values: &[T], room: usize) -> Result<Self> {
        let capacity = values.len().saturating_add(room);
        let refused = Error::OutOfMemory { requested_bytes: capacity.saturating_mul(size_of::<T>()) };
        // A slab's length has four bytes.
        if u32::try_from(capacity).is_err() {
            return Err(refused);
        }
        #[cfg(test)]
        if REFUSED.get() {
            return Err(refused);
        }
        let mut own = Vec::new();
        own.try_reserve_exact(capacity).map_err(|_| refused)?;
        own.extend_from_slice(values);
        Ok(own.into())
    }

    /// Returns how many values fit without moving.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Returns the size of the slab in bytes, including its room.
    pub fn own_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    /// Returns its share of its chunk in bytes, including the places that other slabs have left.
    pub fn held_bytes(&self) -> usize {
        match &self.chunk {
            Some(chunk) => chunk.cut_bytes.get() / Arc::strong_count(chunk),
            None => self.own_bytes(),
        }
    }

    /// Appends a value.
    ///
    /// # Panics
    /// If there is no room, which must be reserved first.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        assert!(self.len < self.capacity, "room is reserved first");
        // SAFETY: the place is within the capacity, and there is no other reference to it (invariant 1).
        unsafe { self.start.add(self.len as usize).write(value) };
        self.len += 1;
    }

    /// Reserves room for that many more values, which may move the slab.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the slab is then as before.
    pub fn try_reserve_exact(&mut self, more: usize) -> Result<()> {
        *self = Self::with_room(self, more)?;
        Ok(())
    }
}

impl<T: Copy> Default for Slab<T> {
    /// Creates an empty slab without room.
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: Copy> From<Vec<T>> for Slab<T> {
    /// # Panics
    /// If it has room for 2^32 values or more.
    fn from(values: Vec<T>) -> Self {
        const { assert!(size_of::<T>() > 0) };
        let mut values = ManuallyDrop::new(values);
        let length = |length: usize| u32::try_from(length).expect("slabs are short");
        let (len, capacity) = (length(values.len()), length(values.capacity()));
        // A vector's pointer is never null.
        let start = NonNull::new(values.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { start, len, capacity, chunk: None }
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        if self.chunk.is_none() {
            // SAFETY: it is the allocation of a vector, which was forgotten (invariant 2).
            drop(unsafe {
                Vec::from_raw_parts(self.start.as_ptr(), self.len as usize, self.capacity as usize)
            });
        }
    }
}

impl<T> Deref for Slab<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: invariant 1.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len as usize) }
    }
}

impl<T> DerefMut for Slab<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: invariant 1; the slab is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len as usize) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

/// The chunks that are worth keeping, for the slabs that could stay in them.
#[derive(Debug, Default)]
pub struct ChunkUsage {
    /// Bytes of the slabs that could stay, by the chunk's address.
    staying: HashMap<usize, usize>,
}

impl ChunkUsage {
    /// Counts a slab that could stay.
    pub fn count<T: Copy>(&mut self, slab: &Slab<T>) {
        if let Some(chunk) = &slab.chunk {
            *self.staying.entry(Arc::as_ptr(chunk).addr()).or_default() += slab.own_bytes();
        }
    }

    /// Returns whether a slab should stay: at least half of its chunk does.
    pub fn stays<T: Copy>(&self, slab: &Slab<T>) -> bool {
        slab.chunk.as_ref().is_none_or(|chunk| {
            let staying = self.staying.get(&Arc::as_ptr(chunk).addr()).copied().unwrap_or(0);
            2 * staying >= chunk.cut_bytes.get()
        })
    }
}

/// Cuts adjacent slabs.
pub struct SlabAllocator {
    paper: Placement,
    /// Whether there are chunks at all.
    worth_it: bool,
    /// Whether slabs in the allocator's memory begin at lines, too.
    of_lines: bool,
    /// An estimate of the bytes that will still be cut.
    expected_bytes: usize,
    /// The chunk that may have place left.
    open: Option<Arc<Chunk>>,
}

impl SlabAllocator {
    /// Creates an allocator for an estimated total size. If neither huge pages nor a NUMA node are
    /// requested, or the size is small, slabs are in the allocator's memory.
    pub fn new(expected_bytes: usize, paper: Placement) -> Self {
        let worth_it = expected_bytes >= QUARRY_FROM_BYTES && (paper.huge_pages || paper.node.is_some());
        Self { paper, worth_it, of_lines: false, expected_bytes, open: None }
    }

    /// Creates an allocator whose slabs all begin at a line; see [`SlabAllocator::new`].
    pub fn of_lines(expected_bytes: usize, paper: Placement) -> Self {
        Self { of_lines: true, ..Self::new(expected_bytes, paper) }
    }

    /// Allocates a slab of these values with room for at least that many more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn cut<T: Copy>(&mut self, values: &[T], room: usize) -> Result<Slab<T>> {
        let mut slab = self.empty(values.len().saturating_add(room))?;
        values.iter().for_each(|&value| slab.push(value));
        Ok(slab)
    }

    /// Allocates a slab with that many copies of a value.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filled<T: Copy>(&mut self, len: usize, value: T) -> Result<Slab<T>> {
        let mut slab = self.empty(len)?;
        (0..len).for_each(|_| slab.push(value));
        Ok(slab)
    }

    /// Allocates a slab with room for at least that many values.
    fn empty<T: Copy>(&mut self, capacity: usize) -> Result<Slab<T>> {
        const { assert!(align_of::<T>() <= LINE_BYTES) };
        let bytes = capacity.saturating_mul(size_of::<T>()).checked_next_multiple_of(LINE_BYTES);
        let place = bytes.and_then(|bytes| Some((bytes, self.place(bytes)?)));
        let Some((bytes, (start, chunk))) = place else { return Slab::with_room(&[], capacity) };
        // Lines are filled: the remainder is room as well.
        let capacity = (bytes / size_of::<T>()) as u32;
        Ok(Slab { start: start.cast(), len: 0, capacity, chunk: Some(chunk) })
    }

    /// Returns the next place of that many bytes, if there is a chunk.
    fn place(&mut self, bytes: usize) -> Option<(NonNull<u8>, Arc<Chunk>)> {
        if !(self.worth_it || self.of_lines) || u32::try_from(bytes).is_err() {
            return None;
        }
        let has_place = |open: &Arc<Chunk>| open.cut_bytes.get() + bytes <= open.bytes();
        let chunk = match self.open.take().filter(has_place) {
            Some(chunk) => chunk,
            None => self.opened(bytes)?,
        };
        // SAFETY: the bytes end within the chunk, as was just seen; only this allocator cuts there.
        let start = unsafe { chunk.start().add(chunk.cut_bytes.get()) };
        chunk.cut_bytes.add(bytes);
        self.expected_bytes = self.expected_bytes.saturating_sub(bytes);
        self.open = self.worth_it.then(|| chunk.clone());
        Some((start, chunk))
    }

    fn opened(&self, bytes: usize) -> Option<Arc<Chunk>> {
        #[cfg(test)]
        if REFUSED.get() {
            return None;
        }
        if !self.worth_it {
            return Lines::new(bytes).map(|lines| Chunk::of(ChunkMemory::Lines(lines)));
        }
        let wanted = self.expected_bytes.min(QUARRY_BYTES_MAX).max(bytes).next_multiple_of(HUGE_PAGE_BYTES);
        let mapping = self.paper.mapping(wanted).ok()?;
        Some(Chunk::of(ChunkMemory::Pages(mapping)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE_PAGES: Placement = Placement { huge_pages: true, node: None };

    fn values(nth: usize) -> Vec<u32> {
        (0..100 + nth as u32 % 9).map(|value| value * 7 + nth as u32).collect()
    }

    /// Returns that many slabs of about 500 bytes.
    fn slabs(count: usize, paper: Placement) -> Vec<Slab<u32>> {
        let mut allocator = SlabAllocator::new(count * 500, paper);
        (0..count).map(|nth| allocator.cut(&values(nth), 25).unwrap()).collect()
    }

    fn count() -> usize {
        QUARRY_FROM_BYTES / 500 + 10
    }

    #[test]
    fn strips_hold_what_they_were_cut_with_and_what_is_added() {
        for paper in [LARGE_PAGES, Placement::default()] {
            let mut slabs = slabs(count(), paper);
            assert_eq!(slabs[3].chunk.is_some(), paper.huge_pages);
            for (nth, slab) in slabs.iter_mut().enumerate() {
                let mut expected = values(nth);
                while slab.len() < slab.capacity() {
                    slab.push(9);
                    expected.push(9);
                }
                assert_eq!(**slab, *expected);
            }
            // Full slabs are adjacent and didn't write into each other.
            assert!(slabs.iter().enumerate().all(|(nth, slab)| slab.starts_with(&values(nth))));
        }
    }

    #[test]
    fn a_strip_that_grows_moves_and_leaves_its_quarry() {
        let mut slabs = slabs(count(), LARGE_PAGES);
        let mut grown = slabs.swap_remove(1);
        let before = grown.to_vec();
        grown.try_reserve_exact(1000).unwrap();
        assert!(grown.chunk.is_none() && grown.capacity() >= before.len() + 1000);
        grown.push(1);
        assert_eq!(grown[..before.len()], before);
        grown[0] = 5;
        drop(slabs);
        assert_eq!((grown[0], grown[before.len()]), (5, 1));
    }

    #[test]
    fn a_quarry_of_which_half_stays_is_worth_keeping() {
        let mut slabs = slabs(count(), LARGE_PAGES);
        let staying = |slabs: &[Slab<u32>]| {
            let mut usage = ChunkUsage::default();
            slabs.iter().for_each(|slab| usage.count(slab));
            slabs.iter().filter(|slab| usage.stays(slab)).count()
        };
        let held: usize = slabs.iter().map(Slab::held_bytes).sum();
        let own: usize = slabs.iter().map(Slab::own_bytes).sum();
        assert!(held.abs_diff(own) < own / 50, "{held} of {own}");
        assert_eq!(staying(&slabs), slabs.len());
        slabs.truncate(slabs.len() * 2 / 3);
        assert_eq!(staying(&slabs), slabs.len());
        slabs.truncate(slabs.len() / 2);
        assert_eq!(staying(&slabs), 0);
        assert!(slabs.iter().all(|slab| slab.held_bytes() > 2 * slab.own_bytes()));
        assert!(ChunkUsage::default().stays(&Slab::from(vec![1u8; 10])));
    }

    #[test]
    fn little_stands_in_the_allocator_s_memory() {
        let mut allocator = SlabAllocator::new(100, LARGE_PAGES);
        let slab = allocator.cut(&[1u64, 2], 0).unwrap();
        assert!(slab.chunk.is_none());
        assert_eq!((&*slab, slab.capacity(), slab.held_bytes()), (&[1u64, 2][..], 2, 16));
        let empty = Slab::<u64>::default();
        assert_eq!((empty.len(), format!("{slab:?}")), (0, "[1, 2]".to_string()));
    }

    #[test]
    fn slabs_of_lines_begin_at_lines_wherever_they_are() {
        for expected_bytes in [0, QUARRY_FROM_BYTES] {
            let mut allocator = SlabAllocator::of_lines(expected_bytes, LARGE_PAGES);
            let mut slabs: Vec<Slab<[u32; 3]>> = (0..20)
                .map(|nth: u32| allocator.filled(1 + nth as usize * 7 % 11, [nth; 3]).unwrap())
                .collect();
            drop(allocator);
            slabs.retain(|slab| slab[0][0] % 3 > 0);
            for slab in &slabs {
                let nth = slab[0][0];
                assert_eq!(slab.as_ptr().addr() % LINE_BYTES, 0);
                assert_eq!(**slab, *vec![[nth; 3]; 1 + nth as usize * 7 % 11]);
                assert!(expected_bytes > 0 || slab.held_bytes() == (slab.len() * 12).next_multiple_of(64));
            }
        }
        let mut allocator = SlabAllocator::of_lines(0, LARGE_PAGES);
        let empty = allocator.filled(0, 1u32).unwrap();
        assert_eq!((empty.len(), allocator.cut(&[1u32], 0).unwrap().capacity()), (0, 16));
    }

    #[test]
    fn absurd_room_is_refused() {
        for paper in [LARGE_PAGES, Placement::default()] {
            for room in [u32::MAX as usize, usize::MAX / 8, usize::MAX] {
                let cut = SlabAllocator::new(usize::MAX, paper).cut(&[1u64, 2], room);
                assert!(matches!(cut, Err(Error::OutOfMemory { .. })), "{room}");
            }
        }
        let mut slab = Slab::from(vec![1u64]);
        assert!(matches!(slab.try_reserve_exact(usize::MAX), Err(Error::OutOfMemory { .. })));
        assert_eq!(*slab, [1]);
    }

    #[test]
    #[should_panic(expected = "room is reserved first")]
    fn a_full_strip_takes_nothing() {
        Slab::from(vec![1u64]).push(2);
    }
}
