//! The growth of one thread's arena: one mapping of equal blocks, committed in steps.
//!
//! The mapping is created for the first block, and is longer than most arenas ever get. An arena that
//! outgrows it moves to a longer one: no other thread uses it, and references are numbers. Under a limit
//! on address space a mapping takes at most a quarter of the remainder ([`largest_reservation`]).
//!
//! The arena keeps the number of usable blocks, and checks every access against it.

use core::ptr::NonNull;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::left::largest_reservation;
use latchless_core::mem::machine_bytes;
use latchless_core::mem::mapping::{HUGE_PAGE_BYTES, Mapping};

/// Bytes that are committed at the least at a time.
const SMALLEST_STEP_BYTES: usize = 64 << 10;
/// Bytes that are committed at the most at a time.
const LARGEST_STEP_BYTES: usize = 64 << 20;
/// The size of the first mapping, if blocks may need so much. Tests have arenas that move.
const FIRST_BYTES: usize = if cfg!(test) { HUGE_PAGE_BYTES } else { 1 << 30 };
/// The length of the next mapping as a multiple of the previous one's.
const GROWTH: usize = if cfg!(test) { 2 } else { 8 };

/// A mapping of equal blocks, and how far it may be used.
#[derive(Debug)]
pub(super) struct Window {
    mapping: Option<Mapping>,
    /// The address of the first block.
    start: NonNull<u8>,
    block_bytes: usize,
    limit_bytes: Option<usize>,
    huge_pages: bool,
    references: u32,
    /// Blocks that there can ever be: what limit, machine and references all allow.
    capacity: usize,
}

// SAFETY: the start is the mapping's, which the window owns; it exposes only the address.
unsafe impl Send for Window {}
// SAFETY: as above; a shared window changes nothing.
unsafe impl Sync for Window {}

impl Window {
    /// No blocks yet; takes no memory.
    pub(super) fn new(
        block_bytes: usize,
        limit_bytes: Option<usize>,
        huge_pages: bool,
        references: u32,
    ) -> Self {
        let bytes = limit_bytes.unwrap_or(usize::MAX).min(machine_bytes());
        let capacity = (bytes / block_bytes).min(references as usize);
        let start = NonNull::dangling();
        Self { mapping: None, start, block_bytes, limit_bytes, huge_pages, references, capacity }
    }

    /// Returns the address of the first block.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Makes `needed` blocks usable, of which `committed` are, and more in advance. Returns the number of
    /// usable blocks. Blocks may move.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`], [`Error::ReferencesExhausted`] or [`Error::OutOfMemory`]; nothing has
    /// changed then.
    #[cold]
    pub(super) fn grow(&mut self, committed: usize, needed: usize) -> Result<usize> {
        let requested_bytes = needed.saturating_mul(self.block_bytes);
        match self.limit_bytes {
            Some(limit_bytes) if requested_bytes > limit_bytes => {
                return Err(Error::MemoryLimit { requested_bytes, limit_bytes });
            }
            _ => {}
        }
        if needed > self.references as usize {
            return Err(Error::ReferencesExhausted { limit: u64::from(self.references) });
        }
        let refused = Error::OutOfMemory { requested_bytes };
        if needed > self.capacity {
            return Err(refused);
        }
        let used = self.committed_bytes(committed);
        let mapping = match &mut self.mapping {
            Some(mapping) if requested_bytes <= mapping.bytes() => mapping,
            _ => self.move_to(used, requested_bytes)?,
        };
        let step = used.clamp(SMALLEST_STEP_BYTES, LARGEST_STEP_BYTES);
        let to = requested_bytes.max(used + step).next_multiple_of(SMALLEST_STEP_BYTES);
        let to = to.min(mapping.bytes());
        if to > used {
            mapping.commit(used, to).map_err(|_| refused)?;
        }
        Ok((to / self.block_bytes).min(self.capacity))
    }

    /// Returns the number of bytes that are usable when that many blocks are.
    fn committed_bytes(&self, blocks: usize) -> usize {
        let mapped = self.mapping.as_ref().map_or(0, Mapping::bytes);
        (blocks * self.block_bytes).next_multiple_of(SMALLEST_STEP_BYTES).min(mapped)
    }

    /// Moves the first `used` bytes to a mapping of at least `needed` bytes.
    fn move_to(&mut self, used: usize, needed: usize) -> Result<&mut Mapping> {
        let refused = Error::OutOfMemory { requested_bytes: needed };
        let has = self.mapping.as_ref().map_or(0, Mapping::bytes);
        let wanted = needed.max(FIRST_BYTES).max(has.saturating_mul(GROWTH));
        let most = largest_reservation().unwrap_or(usize::MAX);
        let mut bytes = wanted.min(self.capacity * self.block_bytes).min(most);
        let next = loop {
            if bytes < needed {
                return Err(refused);
            }
            match Mapping::reserve(bytes) {
                Ok(mapping) => break mapping,
                Err(_) if bytes > needed => bytes = (bytes / 2).max(needed),
                Err(_) => return Err(refused),
            }
        };
        if self.huge_pages && next.bytes() > HUGE_PAGE_BYTES {
            next.advise_huge(HUGE_PAGE_BYTES);
        }
        if let Some(old) = self.mapping.as_mut().filter(|_| used > 0) {
            next.commit(0, used).map_err(|_| refused)?;
            // In pieces, each of which is freed at once, so the contents are never in memory twice.
            for from in (0..used).step_by(HUGE_PAGE_BYTES) {
                let to = used.min(from + HUGE_PAGE_BYTES);
                // SAFETY: both mappings have these bytes committed, and there is no other reference into
                // either of them: the window is borrowed mutably.
                unsafe { next.start().add(from).copy_from_nonoverlapping(old.start().add(from), to - from) };
                old.release(from, to);
            }
        }
        self.start = next.start();
        Ok(self.mapping.insert(next))
    }

    /// Gives the memory of the first `blocks` blocks back to the system. They stay usable, and are
    /// zeroed.
    pub(super) fn release(&mut self, blocks: usize) {
        let used = self.committed_bytes(blocks);
        if let Some(mapping) = &mut self.mapping {
            mapping.release(0, used);
        }
    }
}
