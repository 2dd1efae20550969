//! Arrays of a fixed length on separate pages: on huge pages if the system offers them, bound to a NUMA
//! node if the caller requests it.
//!
//! For data that is built once, read by many and freed as a whole, such as the levels of an index layer.
//! Or cut out of memory that others share ([`SlabAllocator`]), if there are many of them.

use super::placement::Placement;
use super::slabs::{Slab, SlabAllocator};
use crate::pi::crew::{Run, ScopedTask, one_by_one};
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::mapping::Mapping;

/// Below this size an array is among others in the allocator's memory: it fits some pages anyway.
const OWN_PAGES_BYTES: usize = if cfg!(miri) { 16 << 10 } else { 64 << 10 };

/// `len` adjacent values. A large array starts at a page boundary.
pub struct PagedArray<T> {
    memory: Memory<T>,
}

enum Memory<T> {
    Small(Box<[T]>),
    Large(Large<T>),
    Cut(Slab<T>),
}

struct Large<T> {
    mapping: Mapping,
    len: usize,
    values: PhantomData<T>,
}

impl<T: Copy> PagedArray<T> {
    /// An array that holds `value` everywhere.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filled(len: usize, value: T, paper: Placement) -> Result<Self>
    where
        T: Send,
    {
        Self::filled_in_parts(len, value, paper, (1, &one_by_one))
    }

    /// Fills an array in that many pieces of work, because the system takes longer to clear a fresh page
    /// than the rest of the work on it; see [`PagedArray::filled`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filled_in_parts(
        len: usize,
        value: T,
        paper: Placement,
        (parts, run): (usize, Run<'_>),
    ) -> Result<Self>
    where
        T: Send,
    {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= LINE_BYTES) };
        let bytes =
            len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { requested_bytes: usize::MAX })?;
        if bytes < OWN_PAGES_BYTES {
            let mut values = Vec::new();
            values.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { requested_bytes: bytes })?;
            values.resize(len, value);
            return Ok(Self { memory: Memory::Small(values.into_boxed_slice()) });
        }
        let mapping = paper.mapping(bytes)?;
        // SAFETY: the mapping is committed and at least `len` values long, and aligned to a huge page,
        // which is more than a value needs. It isn't shared yet. Unwritten bytes may have any value.
        let places = unsafe {
            core::slice::from_raw_parts_mut(mapping.start().cast::<MaybeUninit<T>>().as_ptr(), len)
        };
        let part = len.div_ceil(parts.max(1)).max(1);
        let mut done = vec![false; len.div_ceil(part)];
        let jobs = places.chunks_mut(part).zip(&mut done).map(|(places, done)| -> ScopedTask<'_> {
            Box::new(move || {
                places.fill(MaybeUninit::new(value));
                *done = true;
            })
        });
        run(jobs.collect());
        // A thread that runs the pieces of work isn't trusted to have run them all.
        let missed = places.chunks_mut(part).zip(done).filter(|(_, done)| !done);
        missed.for_each(|(places, _)| places.fill(MaybeUninit::new(value)));
        Ok(Self { memory: Memory::Large(Large { mapping, len, values: PhantomData }) })
    }

    /// An array that holds `value` everywhere, where this allocator cuts it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn cut(allocator: &mut SlabAllocator, len: usize, value: T) -> Result<Self> {
        Ok(Self { memory: Memory::Cut(allocator.filled(len, value)?) })
    }

    /// Returns the slab that it was cut as, if it was.
    pub fn slab(&self) -> Option<&Slab<T>> {
        match &self.memory {
            Memory::Cut(slab) => Some(slab),
            _ => None,
        }
    }
}

impl<T> Deref for PagedArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.memory {
            Memory::Small(values) => values,
            // SAFETY: `filled_in_parts` wrote `len` values from the start on; values are `Copy`, so none was
            // ever moved out; a thread that writes has `&mut self`.
            Memory::Large(large) => unsafe {
                core::slice::from_raw_parts(large.mapping.start().cast::<T>().as_ptr(), large.len)
            },
            Memory::Cut(slab) => slab,
        }
    }
}

impl<T> DerefMut for PagedArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            Memory::Small(values) => values,
            // SAFETY: as in `deref`; `&mut self` makes this the only reference to the values.
            Memory::Large(large) => unsafe {
                core::slice::from_raw_parts_mut(large.mapping.start().cast::<T>().as_ptr(), large.len)
            },
            Memory::Cut(slab) => slab,
        }
    }
}

// SAFETY: a paged_array owns its values alone, as a boxed slice does.
unsafe impl<T: Send> Send for PagedArray<T> {}
// SAFETY: as above: a shared array gives out shared references.
unsafe impl<T: Sync> Sync for PagedArray<T> {}

impl<T> fmt::Debug for PagedArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagedArray").field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_sheets_hold_what_is_written() {
        let large = OWN_PAGES_BYTES / size_of::<u32>() + 7;
        for len in [0, 1, 1000, large] {
            for huge_pages in [false, true] {
                let paper = Placement { huge_pages, node: None };
                let mut paged_array = PagedArray::filled(len, 7u32, paper).unwrap();
                assert!(paged_array.len() == len && paged_array.iter().all(|&value| value == 7));
                let half = len / 2;
                let (left, right) = paged_array.split_at_mut(half);
                left.fill(1);
                right.fill(2);
                assert_eq!(
                    paged_array.iter().map(|&value| value as usize).sum::<usize>(),
                    half + 2 * (len - half)
                );
            }
        }
        let lazy = |jobs: Vec<ScopedTask<'_>>| jobs.into_iter().skip(1).for_each(|job| job());
        let eager = |jobs: Vec<ScopedTask<'_>>| {
            std::thread::scope(|scope| jobs.into_iter().for_each(|job| _ = scope.spawn(job)))
        };
        for (parts, run) in [(0, &lazy as Run<'_>), (3, &lazy), (3, &eager), (100, &lazy)] {
            let paged_array =
                PagedArray::filled_in_parts(large, 5u32, Placement::default(), (parts, run)).unwrap();
            assert!(
                paged_array.len() == large && paged_array.iter().all(|&value| value == 5),
                "{parts} parts"
            );
        }
        let aligned = PagedArray::filled(large, 0u32, Placement::default()).unwrap();
        assert_eq!(aligned.as_ptr().addr() % 4096, 0);
    }

    #[test]
    fn a_node_that_is_there_or_not_changes_no_value() {
        for node in [0, 63] {
            let paper = Placement { huge_pages: false, node: Some(node) };
            let paged_array = PagedArray::filled(OWN_PAGES_BYTES, 3u64, paper).unwrap();
            assert_eq!(paged_array[OWN_PAGES_BYTES - 1], 3);
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(matches!(
            PagedArray::filled(usize::MAX, 0u64, Placement::default()),
            Err(Error::OutOfMemory { .. })
        ));
    }
}
