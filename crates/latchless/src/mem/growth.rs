//! How both arenas grow: a mapping that is reserved whole and made usable in steps.
//!
//! What is usable is told to the arena as a number of blocks, and kept by it: every access checks
//! against that number, and where it stands differs between one thread and many.

use super::machine_bytes;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::base::error::{Error, Result};
use core::ptr::NonNull;

/// Bytes that are committed at the least at a time.
const SMALLEST_STEP_BYTES: usize = 64 << 10;
/// Bytes that are committed at the most at a time.
const LARGEST_STEP_BYTES: usize = 64 << 20;

/// A reserved mapping of equal blocks, and how far it may be used.
#[derive(Debug)]
pub(super) struct Growth {
    mapping: Mapping,
    block_bytes: usize,
    limit_bytes: Option<usize>,
    references: u32,
    /// Blocks that can become usable: what mapping, limit and references all allow.
    capacity: usize,
}

impl Growth {
    /// Reserves address space for as many blocks as the limit, the machine and the references allow.
    /// Uses no memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when even a small stretch of address space is refused.
    pub(super) fn new(
        block_bytes: usize,
        limit_bytes: Option<usize>,
        huge_pages: bool,
        references: u32,
    ) -> Result<Self> {
        let addressable = (references as usize).saturating_mul(block_bytes);
        let limit = limit_bytes.unwrap_or(usize::MAX);
        let wanted = limit.min(machine_bytes()).min(addressable);
        let mut mapping = Mapping::reserve(wanted.max(SMALLEST_STEP_BYTES))?;
        if huge_pages {
            mapping.advise_huge(HUGE_PAGE_BYTES);
        }
        let capacity = (mapping.bytes().min(limit) / block_bytes).min(references as usize);
        Ok(Self { mapping, block_bytes, limit_bytes, references, capacity })
    }

    /// Where the first block begins.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.mapping.start()
    }

    /// Whether so many bytes are within the limit.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`].
    pub(super) fn within_limit(&self, requested_bytes: usize) -> Result<()> {
        match self.limit_bytes {
            Some(limit_bytes) if requested_bytes > limit_bytes => {
                Err(Error::MemoryLimit { requested_bytes, limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Makes `needed` blocks usable, of which `committed` are, and more in advance. Says how many are
    /// usable now.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`], [`Error::ReferencesExhausted`] or [`Error::OutOfMemory`]; nothing has
    /// changed then.
    #[cold]
    pub(super) fn grow(&mut self, committed: usize, needed: usize) -> Result<usize> {
        let requested_bytes = needed.saturating_mul(self.block_bytes);
        self.within_limit(requested_bytes)?;
        if needed > self.references as usize {
            return Err(Error::ReferencesExhausted { limit: u64::from(self.references) });
        }
        if needed > self.capacity {
            return Err(Error::OutOfMemory { requested_bytes });
        }
        let from = (committed * self.block_bytes).next_multiple_of(SMALLEST_STEP_BYTES);
        let step = from.clamp(SMALLEST_STEP_BYTES, LARGEST_STEP_BYTES);
        let to = requested_bytes.max(from + step).next_multiple_of(SMALLEST_STEP_BYTES);
        let to = to.min(self.mapping.bytes());
        if to > from {
            self.mapping.commit(from, to)?;
        }
        Ok((to / self.block_bytes).min(self.capacity))
    }

    /// Gives the memory of the first `blocks` blocks back to the system. They stay usable, and are
    /// zeroed.
    pub(super) fn release(&mut self, blocks: usize) {
        let used = (blocks * self.block_bytes).next_multiple_of(SMALLEST_STEP_BYTES);
        self.mapping.release(0, used.min(self.mapping.bytes()));
    }
}
