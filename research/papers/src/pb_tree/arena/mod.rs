//! The node arena: equal blocks of whole cache lines, with 4-byte references.
//!
//! All blocks are in one mapping, so a reference is an index and a block's address is one multiplication
//! away. An arena that outgrows its mapping moves to a longer one. Every access is checked against the
//! part of the mapping that is in use, so no file above this one needs `unsafe` to read or write a node.
//!
//! Blocks are allocated in runs of a fixed length: runs of one for ordinary nodes, runs of a whole node
//! group for CSB+-Trees.
//!
//! Readers share an arena. They change only the last word of a block of [`Hinted`] lines, which is read
//! and written atomically.
//!
//! # Invariants
//! 1. Blocks `0..fresh` have been allocated at least once; `fresh <= committed`.
//! 2. The memory of blocks `0..committed` is readable, writable and initialised (zeroed by the
//!    system, or written since), and belongs to this arena alone.
//! 3. The free list links freed runs through the first word of each.
//! 4. Slices that are obtained from `&self` end before the word that readers may write
//!    ([`Block::SLICED_BYTES`]).

use super::window::Window;
use core::marker::PhantomData;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read_all};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::{BitsWord, Word32};

/// A whole number of cache lines, aligned to one.
///
/// Array sizes can't come from associated constants on stable Rust, so a node's size is a type:
/// [`Lines<8>`](Lines) is a node of eight lines. Sealed: blocks start where lines do only if they are
/// whole lines.
///
/// ```compile_fail,E0277
/// #[derive(Debug)]
/// struct Odd;
/// impl latchless_papers::pb_tree::arena::Block for Odd {
///     const LINES: usize = 1;
///     const BYTES: usize = 9;
/// }
/// ```
pub trait Block: sealed::Sealed + core::fmt::Debug + Send + Sync + 'static {
    /// Cache lines in the block.
    const LINES: usize;
    /// Bytes in the block.
    const BYTES: usize = Self::LINES * LINE_BYTES;
    /// Bytes that readers have slices of: all but a last word that readers may write.
    const SLICED_BYTES: usize = Self::BYTES;
}

mod sealed {
    /// Keeps [`super::Block`] to [`super::Lines`].
    pub trait Sealed {}
    impl<const W: usize> Sealed for super::Lines<W> {}
    impl<const W: usize> Sealed for super::Hinted<W> {}
}

/// `W` cache lines.
#[derive(Debug, Clone, Copy)]
pub struct Lines<const W: usize>;

impl<const W: usize> Block for Lines<W> {
    const LINES: usize = {
        assert!(W > 0, "a block has at least one line");
        W
    };
}

/// `W` cache lines whose last word readers may write: see [`Arena::set_hint`].
#[derive(Debug, Clone, Copy)]
pub struct Hinted<const W: usize>;

impl<const W: usize> Block for Hinted<W> {
    const LINES: usize = Lines::<W>::LINES;
    const SLICED_BYTES: usize = Self::BYTES - size_of::<Word32>();
}

/// Construction options of an arena.
#[derive(Debug, Clone, Copy)]
pub struct ArenaOptions {
    /// Blocks that are handed out together, one after the other. At least one.
    pub run_blocks: u32,
    /// The maximum number of bytes of blocks; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages. The first 2 MiB stay on plain pages, so that a small index occupies
    /// little more than its contents.
    pub huge_pages: bool,
    /// The number of blocks that references can distinguish; tests make it tiny.
    pub references: u32,
}

impl Default for ArenaOptions {
    fn default() -> Self {
        Self { run_blocks: 1, limit_bytes: None, huge_pages: false, references: u32::MAX }
    }
}

/// Equal blocks in one mapping. See the file's head.
#[derive(Debug)]
pub struct Arena<B> {
    /// Blocks that may be accessed. First field: every access checks against it.
    committed: usize,
    window: Window,
    fresh: usize,
    free: NodeRef,
    free_runs: usize,
    run_blocks: usize,
    block: PhantomData<B>,
}

impl<B: Block> Arena<B> {
    /// An empty arena, which takes no memory.
    ///
    /// # Errors
    /// Creates an empty arena; memory is refused only when blocks are allocated.
    pub fn new(options: ArenaOptions) -> Result<Self> {
        let ArenaOptions { run_blocks, limit_bytes, huge_pages, references } = options;
        Ok(Self {
            committed: 0,
            window: Window::new(B::BYTES, limit_bytes, huge_pages, references),
            fresh: 0,
            free: NodeRef::NIL,
            free_runs: 0,
            run_blocks: run_blocks.max(1) as usize,
            block: PhantomData,
        })
    }

    /// Makes sure that the next `runs` calls of [`Arena::allocate`] succeed.
    ///
    /// # Errors
    /// [`MemoryLimit`](latchless_core::base::error::Error::MemoryLimit),
    /// [`ReferencesExhausted`](latchless_core::base::error::Error::ReferencesExhausted) or
    /// [`OutOfMemory`](latchless_core::base::error::Error::OutOfMemory); nothing has changed then.
    pub fn reserve(&mut self, runs: usize) -> Result<()> {
        let missing = runs.saturating_sub(self.free_runs);
        let needed = missing.saturating_mul(self.run_blocks).saturating_add(self.fresh);
        if needed > self.committed {
            self.committed = self.window.grow(self.committed, needed)?;
        }
        Ok(())
    }

    /// Makes sure that the next `runs` calls of [`Arena::allocate`] succeed, and that they hand out the new
    /// runs among them in a random order, which `seed` determines: runs that are handed out one after the
    /// other then aren't neighbours in memory. O(runs).
    ///
    /// # Errors
    /// Those of [`Arena::reserve`].
    pub fn reserve_scattered(&mut self, runs: usize, seed: u64) -> Result<()> {
        let missing = runs.saturating_sub(self.free_runs);
        let mut order = list(missing)?;
        self.reserve(runs)?;
        order.extend((0..missing).map(|run| (self.fresh + run * self.run_blocks) as u32));
        shuffle(&mut order, seed);
        self.fresh += missing * self.run_blocks;
        // A free list of all of them: `allocate` takes from there first.
        order.into_iter().for_each(|run| self.free(NodeRef::from_word(run)));
        Ok(())
    }

    /// A run of blocks, zeroed or as its last owner left it; the reference names the first.
    ///
    /// # Errors
    /// Those of [`Arena::reserve`].
    pub fn allocate(&mut self) -> Result<NodeRef> {
        if !self.free.is_nil() {
            let run = self.free;
            self.free = NodeRef::from_word(self.lanes::<u32>(run, 0, 1)[0]);
            self.free_runs -= 1;
            return Ok(run);
        }
        self.reserve(1)?;
        let run = NodeRef::from_word(self.fresh as u32);
        self.fresh += self.run_blocks;
        Ok(run)
    }

    /// Takes a run back, to be handed out again.
    pub fn free(&mut self, run: NodeRef) {
        debug_assert!((run.to_word() as usize) < self.fresh);
        let next = self.free.to_word();
        self.lanes_mut::<u32>(run, 0, 1)[0] = next;
        self.free = run;
        self.free_runs += 1;
    }

    /// Forgets every block and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.window.release(self.fresh);
        (self.fresh, self.free, self.free_runs) = (0, NodeRef::NIL, 0);
    }

    /// Runs in use.
    pub fn live_runs(&self) -> usize {
        self.fresh / self.run_blocks - self.free_runs
    }

    /// Bytes of the runs in use.
    pub fn live_bytes(&self) -> usize {
        self.live_runs() * self.run_blocks * B::BYTES
    }

    /// Bytes of every run that was ever in use since the last [`Arena::clear`]: freed runs keep
    /// their memory until they are used again.
    pub fn held_bytes(&self) -> usize {
        self.fresh * B::BYTES
    }

    /// Returns the address of a block, for a memory model or for prefetching; not to be dereferenced.
    #[inline(always)]
    pub fn address(&self, block: NodeRef) -> *const u8 {
        self.window.start().as_ptr().wrapping_add(block.to_word() as usize * B::BYTES)
    }

    /// Prefetches every line of a block. Harmless for [`NodeRef::NIL`].
    #[inline(always)]
    pub fn prefetch(&self, block: NodeRef) {
        prefetch_read_all(self.address(block), B::BYTES);
    }

    /// `len` lanes of a block, from `at_bytes` on.
    ///
    /// # Panics
    /// When the block isn't one of this arena's or the lanes don't lie in it, or reach into a word that
    /// readers may write: a bug of the caller.
    #[inline(always)]
    pub fn lanes<L: Bits>(&self, block: NodeRef, at_bytes: usize, len: usize) -> &[L] {
        let at = self.checked::<L>(block, at_bytes, len, B::SLICED_BYTES);
        // SAFETY: `checked` proved that the lanes lie in committed, initialised memory of this arena
        // (invariant 2) and are aligned; any bit pattern is a lane; writers need `&mut self`, but for the
        // word of `set_hint`, which is none of these lanes (invariant 4).
        unsafe { core::slice::from_raw_parts(at, len) }
    }

    /// Returns one word of a block, including the one that readers may write.
    ///
    /// # Panics
    /// When the block isn't one of this arena's or the word doesn't lie in it: a bug of the caller.
    #[inline(always)]
    pub fn word(&self, block: NodeRef, at_bytes: usize) -> u32 {
        self.atom(block, at_bytes).load_relaxed()
    }

    /// Sets the last word of a block. Readers may do so: it should be a hint, which is only right or
    /// wrong, independently of other data.
    ///
    /// # Panics
    /// When the block isn't one of this arena's, or has no such word: a bug of the caller.
    #[inline(always)]
    pub fn set_hint(&self, block: NodeRef, hint: u32) {
        assert!(B::SLICED_BYTES + size_of::<Word32>() == B::BYTES, "blocks without a hint");
        self.atom(block, B::SLICED_BYTES).store_relaxed(hint);
    }

    #[inline(always)]
    fn atom(&self, block: NodeRef, at_bytes: usize) -> &Word32 {
        let at = self.checked::<u32>(block, at_bytes, 1, B::BYTES);
        // SAFETY: `checked` proved that the word lies in committed, initialised memory of this arena
        // (invariant 2) and is aligned, and a `Word32` is four bytes of any pattern. While `&self` lives, the
        // word is written by `set_hint` alone, atomically, and no slice has it (invariant 4).
        unsafe { &*at.cast::<Word32>() }
    }

    /// `len` lanes of a block, from `at_bytes` on, to be written.
    ///
    /// # Panics
    /// Those of [`Arena::lanes`].
    #[inline(always)]
    pub fn lanes_mut<L: Bits>(&mut self, block: NodeRef, at_bytes: usize, len: usize) -> &mut [L] {
        let at = self.checked::<L>(block, at_bytes, len, B::BYTES).cast_mut();
        // SAFETY: as in `lanes`; `&mut self` makes this the only reference into the arena.
        unsafe { core::slice::from_raw_parts_mut(at, len) }
    }

    /// Returns two ranges of `len` lanes each of one block, to be written together.
    ///
    /// # Panics
    /// Those of [`Arena::lanes`], and if the ranges overlap.
    pub fn lanes_mut_twice<L: Bits>(
        &mut self,
        block: NodeRef,
        (first_at_bytes, second_at_bytes): (usize, usize),
        len: usize,
    ) -> (&mut [L], &mut [L]) {
        let first = self.checked::<L>(block, first_at_bytes, len, B::BYTES).cast_mut();
        let second = self.checked::<L>(block, second_at_bytes, len, B::BYTES).cast_mut();
        // The sum can't wrap: the first stretch was found to end in the block.
        assert!(first_at_bytes + len * L::BYTES <= second_at_bytes, "overlapping lanes");
        // SAFETY: as in `lanes_mut`; the two don't overlap (just checked).
        unsafe { (core::slice::from_raw_parts_mut(first, len), core::slice::from_raw_parts_mut(second, len)) }
    }

    /// Copies `len` lanes from one place to another, overlapping or not.
    ///
    /// # Panics
    /// Those of [`Arena::lanes`], for either place.
    pub fn copy<L: Bits>(&mut self, from: (NodeRef, usize), to: (NodeRef, usize), len: usize) {
        let source = self.checked::<L>(from.0, from.1, len, B::BYTES);
        let target = self.checked::<L>(to.0, to.1, len, B::BYTES).cast_mut();
        // SAFETY: both stretches were proved to lie in this arena's memory (invariant 2), which
        // `&mut self` owns; `copy` allows overlap.
        unsafe { core::ptr::copy(source, target, len) };
    }

    /// Copies `count` whole blocks, overlapping or not.
    ///
    /// # Panics
    /// When one of the blocks isn't this arena's.
    pub fn copy_blocks(&mut self, from: NodeRef, to: NodeRef, count: usize) {
        // A difference, because a sum with any `count` may wrap.
        let behind = self.committed.checked_sub(from.to_word().max(to.to_word()) as usize);
        assert!(behind.is_some_and(|behind| count <= behind), "blocks outside of the arena");
        let (source, target) = (self.address(from), self.address(to).cast_mut());
        // SAFETY: both stretches lie in committed memory (just checked, invariant 2), which
        // `&mut self` owns; `copy` allows overlap.
        unsafe { core::ptr::copy(source, target, count * B::BYTES) };
    }

    /// The address of lanes that were proved to lie in the first `bytes` of one of the committed blocks.
    #[inline(always)]
    fn checked<L: Bits>(&self, block: NodeRef, at_bytes: usize, len: usize, bytes: usize) -> *const L {
        assert!((block.to_word() as usize) < self.committed, "a reference to no block of this arena");
        // A quotient, because a product with any `len` may wrap.
        assert!(
            at_bytes.is_multiple_of(L::BYTES) && at_bytes <= bytes && len <= (bytes - at_bytes) / L::BYTES,
            "lanes outside of the block"
        );
        // SAFETY: the block is committed, so its first `B::BYTES` bytes lie in the mapping.
        unsafe { self.window.start().as_ptr().add(block.to_word() as usize * B::BYTES + at_bytes).cast() }
    }
}

/// An empty list with room for `len` runs.
fn list(len: usize) -> Result<Vec<u32>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { requested_bytes: len.saturating_mul(size_of::<u32>()) })?;
    Ok(list)
}

/// Puts `runs` in a random order, each of all orders as often as the others (Fisher and Yates).
fn shuffle(runs: &mut [u32], seed: u64) {
    let mut state = seed;
    for last in (1..runs.len()).rev() {
        // SplitMix64, whose high half times a range, without its low half, is a number in that range.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let other = ((u128::from(mixed) * (last as u128 + 1)) >> u64::BITS) as usize;
        runs.swap(last, other);
    }
}

#[cfg(test)]
mod tests;
