//! The B+-Tree with optimistic lock coupling under Spiderman (Vu 2023, §2.3.4): pages of up to 4096 bytes,
//! a latch and version per page.
//!
//! A descending thread reads a page's version, finds the child, reads the child's version and then
//! validates the page's version: if it is unchanged, the child was the right one when *its* version was
//! read. An update latches the leaf under that version. A full leaf is split by a separate descent, which
//! splits every full page on its way, from the top down; likewise a leaf with few entries left is merged
//! with a neighbour below the same parent.
//!
//! Beyond the paper: removals free pages; leaves are linked, for scans and for a thread that arrives at a
//! leaf that was split meanwhile; if keys arrive in order, pages stay full.
//!
//! # Thread safety
//! Everything takes `&self`. Readers hold no latch; after [`READ_TRIES`] failed attempts a reader descends
//! with latches instead, one above the other. No code of the caller runs, and nothing is allocated, while
//! a latch is held.
//!
//! # Invariants
//! 1. A page covers the keys after the separator before it up to the one after it. Its version grows when
//!    that changes, when its entries change, and when it leaves the tree.
//! 2. Latches are waited for from the top down, by a thread that holds nothing or the parent's. All others
//!    are tried, and if one isn't free everything is released; so there is no cycle of waits.
//! 3. At rest every page but the root has an entry, and every inner page two children.
//! 4. A key between the first and the last key of a leaf that isn't dead belongs to that leaf. So a thread
//!    with an outdated hint can nearly always verify it without another descent.

mod bulk;
mod check;
mod descend;
mod edit;
mod hold;
mod resume;
mod scan;
mod shrink;
mod split;
#[cfg(test)]
mod tests;
mod walk;

use crate::common::units::{NodePoolOptions, Reuse, UnitArena};
use crate::error;
use crate::spiderman::page::{Form, Page, PageLayout};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::stats::Stats;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::{Striped, Word};

pub use resume::Landed;
pub use walk::{PageWalk, Place};

/// The number of a reader's descents without latches before it takes them.
pub const READ_TRIES: u32 = 16;

/// Construction options of a tree.
#[derive(Debug, Clone, Copy)]
pub struct OlcOptions {
    /// Bytes of a page: 128, 192 and so on up to the paper's 4096.
    pub page_bytes: usize,
    /// The maximum number of bytes of pages; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages from the system.
    pub huge_pages: bool,
    /// The number of pages that references can distinguish; tests make it tiny.
    pub references: u32,
}

/// A value in separate cache lines (processors fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<X>(X);

/// The tree, from lanes of 64 bits to lanes of 64 bits. See the module's head.
#[derive(Debug)]
pub struct OlcTree<T> {
    /// The root, and above it the number of levels.
    root: Apart<Word>,
    arena: UnitArena<Word>,
    layout: PageLayout,
    len: Striped,
    splits: Word,
    restarts: Word,
    touch: PhantomData<T>,
}

impl<T: Form> OlcTree<T> {
    /// An empty tree: one empty leaf.
    ///
    /// # Errors
    /// [`Error::PageSize`](crate::Error::PageSize), or when memory for that leaf is refused.
    pub fn new(options: OlcOptions) -> error::Result<Self> {
        let layout = PageLayout::of(options.page_bytes)?;
        let space = NodePoolOptions {
            node_bytes: options.page_bytes,
            unit_nodes: 1,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.references,
        };
        let tree = Self {
            root: Apart(Word::new(0)),
            arena: UnitArena::new(space, Reuse::AtOnce, 0)?,
            layout,
            len: Striped::default(),
            splits: Word::new(0),
            restarts: Word::new(0),
            touch: PhantomData,
        };
        tree.init_root()?;
        Ok(tree)
    }

    /// The same tree, which reports its accesses to `U` from here on.
    pub fn reporting_to<U: Form>(self) -> OlcTree<U> {
        const { assert!(T::CHILDREN_FIRST == U::CHILDREN_FIRST, "pages have another layout there") };
        let Self { root, arena, layout, len, splits, restarts, touch: _ } = self;
        OlcTree { root, arena, layout, len, splits, restarts, touch: PhantomData }
    }

    /// Makes an empty leaf the root.
    fn init_root(&self) -> Result<()> {
        let leaf = self.arena.allocate::<T>(0)?;
        self.page(leaf).reset(0);
        self.set_root(leaf, 1);
        Ok(())
    }

    /// Removes everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When the memory of an empty tree is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.arena.clear()?;
        self.len.set(0);
        self.init_root()
    }

    /// Returns the number of entries: exact while no other thread changes it.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Returns whether there are no entries, as exact as [`OlcTree::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Levels from the root to the leaves, both counted.
    pub fn levels(&self) -> usize {
        self.root().1
    }

    /// Returns the capacities of pages.
    pub fn layout(&self) -> PageLayout {
        self.layout
    }

    /// Bytes of the pages in use.
    pub fn live_bytes(&self) -> usize {
        self.arena.live_bytes()
    }

    /// Bytes of every page that was ever in use.
    pub fn held_bytes(&self) -> usize {
        self.arena.held_bytes()
    }

    /// Returns the tree's statistics. Reads every page; the tree must be at rest.
    pub fn stats(&self) -> Stats {
        let (root, levels) = self.root();
        let mut pages = vec![0; levels];
        self.count_pages(root, levels - 1, &mut pages);
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.inner_nodes = pages[1..].iter().sum();
        stats.leaves = pages[0];
        stats.leaf_fill = self.len() as f64 / (pages[0] * self.layout.places) as f64;
        stats.splits = self.splits.load_relaxed();
        stats.restarts = self.restarts.load_relaxed();
        stats
    }

    fn count_pages(&self, at: NodeRef, level: usize, pages: &mut [usize]) {
        pages[level] += 1;
        if level > 0 {
            let page = self.page(at);
            (0..page.size()).for_each(|place| self.count_pages(page.child(place), level - 1, pages));
        }
    }

    /// The address of every page, and how many levels it is above the leaves. Wants the tree at rest.
    pub fn pages(&self) -> Vec<(usize, usize)> {
        let (root, levels) = self.root();
        let mut pages = Vec::new();
        self.list_pages(root, levels - 1, &mut pages);
        pages
    }

    fn list_pages(&self, at: NodeRef, level: usize, pages: &mut Vec<(usize, usize)>) {
        let page = self.page(at);
        pages.push((page.header_address().addr(), level));
        if level > 0 {
            (0..page.size()).for_each(|place| self.list_pages(page.child(place), level - 1, pages));
        }
    }

    /// The root and the number of levels.
    #[inline(always)]
    fn root(&self) -> (NodeRef, usize) {
        T::read(core::ptr::from_ref(&self.root).cast(), size_of::<u64>());
        let word = self.root.0.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    fn set_root(&self, page: NodeRef, levels: usize) {
        T::write(core::ptr::from_ref(&self.root).cast(), size_of::<u64>());
        self.root.0.publish((levels as u64) << 32 | u64::from(page.to_word()));
    }

    #[inline(always)]
    fn page(&self, page: NodeRef) -> Page<'_, T> {
        Page::new(self.arena.words(page), self.layout)
    }
}
