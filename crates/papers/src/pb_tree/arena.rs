//! The node arena: equal blocks of whole cache lines, named by 4-byte references.
//!
//! All blocks lie in one mapping, so a reference is an index and a block's address one multiplication away.
//! Only an arena that outgrows its mapping moves to a longer one. Every access is checked against the part of
//! the mapping that is in use, so nothing above this file needs `unsafe` to read or write a node.
//!
//! Blocks are handed out in runs of a fixed length: runs of one for ordinary nodes, runs of a whole
//! node group for CSB+-Trees.
//!
//! # Invariants
//! 1. Blocks `0..fresh` have been handed out at least once; `fresh <= committed`.
//! 2. The memory of blocks `0..committed` is readable, writable and initialised (zeroed by the
//!    system, or written since), and belongs to this arena alone.
//! 3. The free list links freed runs through the first word of each.

use super::window::Window;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read_all};
use latchless_core::mem::node_ref::NodeRef;

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
}

mod sealed {
    /// Keeps [`super::Block`] to [`super::Lines`].
    pub trait Sealed {}
    impl<const W: usize> Sealed for super::Lines<W> {}
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

/// What an arena is told when it is made.
#[derive(Debug, Clone, Copy)]
pub struct ArenaOptions {
    /// Blocks that are handed out together, one after the other. At least one.
    pub run_blocks: u32,
    /// The most bytes that blocks may take. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether to ask the system for huge pages. The first 2 MiB stay on plain pages, so that a
    /// small index costs what it holds.
    pub huge_pages: bool,
    /// How many blocks references can tell apart; tests make it tiny.
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
    /// None yet: memory is refused when blocks are asked for.
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

    /// A run of blocks, zeroed or as its last owner left it; the reference names the first.
    ///
    /// # Errors
    /// As [`Arena::reserve`].
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

    /// Where a block begins. An address to tell a memory model or to prefetch, not to follow.
    #[inline(always)]
    pub fn address(&self, block: NodeRef) -> *const u8 {
        self.window.start().as_ptr().wrapping_add(block.to_word() as usize * B::BYTES)
    }

    /// Asks for every line of a block ahead of use. Harmless for [`NodeRef::NIL`].
    #[inline(always)]
    pub fn prefetch(&self, block: NodeRef) {
        prefetch_read_all(self.address(block), B::BYTES);
    }

    /// `len` lanes of a block, from `at_bytes` on.
    ///
    /// # Panics
    /// When the block isn't one of this arena's or the lanes don't lie in it: a bug of the caller.
    #[inline(always)]
    pub fn lanes<L: Bits>(&self, block: NodeRef, at_bytes: usize, len: usize) -> &[L] {
        let at = self.checked::<L>(block, at_bytes, len);
        // SAFETY: `checked` proved that the lanes lie in committed, initialised memory of this arena
        // (invariant 2) and are aligned; any bit pattern is a lane; writers need `&mut self`.
        unsafe { core::slice::from_raw_parts(at, len) }
    }

    /// `len` lanes of a block, from `at_bytes` on, to be written.
    ///
    /// # Panics
    /// As [`Arena::lanes`].
    #[inline(always)]
    pub fn lanes_mut<L: Bits>(&mut self, block: NodeRef, at_bytes: usize, len: usize) -> &mut [L] {
        let at = self.checked::<L>(block, at_bytes, len).cast_mut();
        // SAFETY: as in `lanes`; `&mut self` makes this the only reference into the arena.
        unsafe { core::slice::from_raw_parts_mut(at, len) }
    }

    /// Two stretches of `len` lanes each of one block, to be written side by side.
    ///
    /// # Panics
    /// As [`Arena::lanes`], and when the stretches overlap.
    pub fn lanes_mut_twice<L: Bits>(
        &mut self,
        block: NodeRef,
        (first_at_bytes, second_at_bytes): (usize, usize),
        len: usize,
    ) -> (&mut [L], &mut [L]) {
        let first = self.checked::<L>(block, first_at_bytes, len).cast_mut();
        let second = self.checked::<L>(block, second_at_bytes, len).cast_mut();
        // The sum can't wrap: the first stretch was found to end in the block.
        assert!(first_at_bytes + len * L::BYTES <= second_at_bytes, "overlapping lanes");
        // SAFETY: as in `lanes_mut`; the two don't overlap (just checked).
        unsafe { (core::slice::from_raw_parts_mut(first, len), core::slice::from_raw_parts_mut(second, len)) }
    }

    /// Copies `len` lanes from one place to another, overlapping or not.
    ///
    /// # Panics
    /// As [`Arena::lanes`], for either place.
    pub fn copy<L: Bits>(&mut self, from: (NodeRef, usize), to: (NodeRef, usize), len: usize) {
        let source = self.checked::<L>(from.0, from.1, len);
        let target = self.checked::<L>(to.0, to.1, len).cast_mut();
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

    /// The address of lanes that were proved to lie in one of the committed blocks.
    #[inline(always)]
    fn checked<L: Bits>(&self, block: NodeRef, at_bytes: usize, len: usize) -> *const L {
        assert!((block.to_word() as usize) < self.committed, "a reference to no block of this arena");
        // A quotient, because a product with any `len` may wrap.
        assert!(
            at_bytes.is_multiple_of(L::BYTES)
                && at_bytes <= B::BYTES
                && len <= (B::BYTES - at_bytes) / L::BYTES,
            "lanes outside of the block"
        );
        // SAFETY: the block is committed, so its first `B::BYTES` bytes lie in the mapping.
        unsafe { self.window.start().as_ptr().add(block.to_word() as usize * B::BYTES + at_bytes).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::base::error::Error;

    fn small(options: ArenaOptions) -> Arena<Lines<2>> {
        Arena::new(options).unwrap()
    }

    #[test]
    fn blocks_are_line_aligned_zeroed_and_apart() {
        let mut arena = small(ArenaOptions::default());
        let blocks: Vec<_> =
            (0..if cfg!(miri) { 60 } else { 5000 }).map(|_| arena.allocate().unwrap()).collect();
        for (i, &block) in blocks.iter().enumerate() {
            assert_eq!(arena.address(block).addr() % LINE_BYTES, 0);
            assert_eq!(arena.lanes::<u64>(block, 0, 16), [0; 16]);
            arena.lanes_mut::<u64>(block, 0, 16).fill(i as u64);
        }
        for (i, &block) in blocks.iter().enumerate() {
            assert_eq!(arena.lanes::<u64>(block, 0, 16), [i as u64; 16]);
        }
        assert_eq!(arena.live_bytes(), blocks.len() * 128);
    }

    #[test]
    fn growth_keeps_what_is_in_the_blocks_even_if_they_move() {
        let mut arena = small(ArenaOptions { huge_pages: true, ..Default::default() });
        let first = arena.allocate().unwrap();
        let (address, mut moves) = (arena.address(first), 0);
        arena.lanes_mut::<u32>(first, 4, 1)[0] = 7;
        // A mapping of tests has two megabytes at first.
        for i in 0..if cfg!(miri) { 17_000 } else { 100_000 } {
            let block = arena.allocate().unwrap();
            arena.lanes_mut::<u32>(block, 0, 1)[0] = i;
            moves += usize::from(arena.address(first) != address);
            // Miri takes too long for all.
            if !cfg!(miri) || i % 64 == 0 {
                assert_eq!(arena.lanes::<u32>(first, 4, 1), [7]);
            }
        }
        assert!(moves > 0);
        let all = 0..arena.held_bytes() as u32 / 128 - 1;
        assert!(all.into_iter().all(|i| arena.lanes::<u32>(first.offset(1 + i as usize), 0, 1) == [i]));
    }

    #[test]
    fn freed_runs_are_used_again() {
        let mut arena = small(ArenaOptions { run_blocks: 3, ..Default::default() });
        let runs: Vec<_> = (0..10).map(|_| arena.allocate().unwrap()).collect();
        assert_eq!(runs[1], runs[0].offset(3));
        let held = arena.held_bytes();
        for &run in &runs {
            arena.free(run);
        }
        assert_eq!(arena.live_bytes(), 0);
        let mut again: Vec<_> = (0..10).map(|_| arena.allocate().unwrap()).collect();
        again.sort();
        assert_eq!(again, runs);
        assert_eq!(arena.held_bytes(), held);
    }

    #[test]
    fn a_limit_is_kept_and_named() {
        let mut arena = small(ArenaOptions { limit_bytes: Some(1000), ..Default::default() });
        for _ in 0..7 {
            arena.allocate().unwrap();
        }
        let refused = Error::MemoryLimit { requested_bytes: 1024, limit_bytes: 1000 };
        // The step that is committed at once must not hide the limit.
        assert_eq!(arena.allocate(), Err(refused.clone()));
        assert_eq!(arena.reserve(5), Err(Error::MemoryLimit { requested_bytes: 1536, limit_bytes: 1000 }));
        arena.free(NodeRef::from_word(2));
        assert_eq!(arena.allocate(), Ok(NodeRef::from_word(2)));
        assert_eq!(arena.allocate(), Err(refused));
    }

    #[test]
    fn references_run_out_by_name() {
        let mut arena = small(ArenaOptions { references: 4, ..Default::default() });
        arena.reserve(4).unwrap();
        assert_eq!(arena.reserve(5), Err(Error::ReferencesExhausted { limit: 4 }));
        for _ in 0..4 {
            arena.allocate().unwrap();
        }
        assert_eq!(arena.allocate(), Err(Error::ReferencesExhausted { limit: 4 }));
    }

    #[test]
    fn copies_within_and_between_blocks() {
        let mut arena = small(ArenaOptions { run_blocks: 4, ..Default::default() });
        let run = arena.allocate().unwrap();
        for (i, lane) in arena.lanes_mut::<u32>(run, 0, 32).iter_mut().enumerate() {
            *lane = i as u32;
        }
        arena.copy::<u32>((run, 0), (run, 4), 8);
        assert_eq!(arena.lanes::<u32>(run, 0, 10), [0, 0, 1, 2, 3, 4, 5, 6, 7, 9]);
        arena.copy::<u32>((run, 4), (run.offset(3), 0), 8);
        assert_eq!(arena.lanes::<u32>(run.offset(3), 0, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        arena.copy_blocks(run, run.offset(1), 2);
        assert_eq!(arena.lanes::<u32>(run.offset(1), 0, 3), [0, 0, 1]);
    }

    #[test]
    fn clearing_gives_everything_back_zeroed() {
        let mut arena = small(ArenaOptions::default());
        let block = arena.allocate().unwrap();
        arena.lanes_mut::<u64>(block, 0, 1)[0] = 5;
        arena.clear();
        assert_eq!(arena.held_bytes(), 0);
        let block = arena.allocate().unwrap();
        assert_eq!(arena.lanes::<u64>(block, 0, 1), [0]);
    }

    /// So many 4-byte lanes that their bytes are, modulo 2^64, none.
    const WRAPPING: usize = 1 << (usize::BITS - 2);

    fn of_two_blocks() -> (Arena<Lines<2>>, NodeRef) {
        let mut arena = small(ArenaOptions { run_blocks: 2, ..Default::default() });
        let first = arena.allocate().unwrap();
        (arena, first)
    }

    #[test]
    #[should_panic(expected = "lanes outside of the block")]
    fn so_many_lanes_that_their_bytes_wrap_are_caught() {
        let (arena, block) = of_two_blocks();
        arena.lanes::<u32>(block, 0, WRAPPING);
    }

    #[test]
    #[should_panic(expected = "lanes outside of the block")]
    fn lanes_so_far_behind_that_their_end_wraps_are_caught() {
        let (arena, block) = of_two_blocks();
        arena.lanes::<u32>(block, usize::MAX - 3, 1);
    }

    #[test]
    #[should_panic(expected = "lanes outside of the block")]
    fn so_many_lanes_to_be_written_that_their_bytes_wrap_are_caught() {
        let (mut arena, block) = of_two_blocks();
        arena.lanes_mut::<u32>(block, 0, WRAPPING);
    }

    #[test]
    #[should_panic(expected = "lanes outside of the block")]
    fn so_many_lanes_side_by_side_that_their_bytes_wrap_are_caught() {
        let (mut arena, block) = of_two_blocks();
        arena.lanes_mut_twice::<u32>(block, (0, 0), WRAPPING);
    }

    #[test]
    #[should_panic(expected = "lanes outside of the block")]
    fn a_copy_of_so_many_lanes_that_their_bytes_wrap_is_caught() {
        let (mut arena, block) = of_two_blocks();
        arena.copy::<u32>((block, 0), (block.offset(1), 0), WRAPPING);
    }

    #[test]
    #[should_panic(expected = "blocks outside of the arena")]
    fn a_copy_of_so_many_blocks_that_their_end_wraps_is_caught() {
        let (mut arena, block) = of_two_blocks();
        arena.copy_blocks(block, block.offset(1), usize::MAX);
    }

    #[test]
    #[should_panic(expected = "no block of this arena")]
    fn a_foreign_reference_is_caught() {
        small(ArenaOptions::default()).lanes::<u32>(NodeRef::NIL, 0, 1);
    }
}
