//! Bulk load: builds whole levels at once, optionally by several threads.

use super::blink::BlinkTree;
use super::store::{Arena, Store};
use crate::blink::Levels;
use crate::node::{Children, Entries, Inner, Leaf, LeafEditor};
use core::num::NonZeroUsize;
use core::ops::Range;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::base::spans;
use latchless_core::bulk::{Level, plan};
use latchless_core::mem::node_ref::NodeRef;

/// The minimum number of nodes of a level per thread.
const NODES_PER_THREAD: usize = 256;

/// Returns the error for the key at this position.
fn out_of_order(position: usize, equal: bool) -> Error {
    if equal { Error::DuplicateKey { position } } else { Error::Unsorted { position } }
}

/// Returns a node of a level; NIL after its last.
fn node(level: Level, at: usize) -> NodeRef {
    if at < level.nodes { level.first.offset(at) } else { NodeRef::NIL }
}

/// Nodes for all levels that aren't part of the tree yet. They are freed unless the load completes: it may
/// be refused memory, and the caller's code, which generates the entries, may panic.
struct Unlinked<'a> {
    arena: &'a Arena,
    levels: Vec<Level>,
}

impl Unlinked<'_> {
    /// Makes them part of the tree.
    fn keep(mut self) -> Vec<Level> {
        core::mem::take(&mut self.levels)
    }
}

impl Drop for Unlinked<'_> {
    fn drop(&mut self) {
        for (kind, level) in self.levels.iter().enumerate() {
            (0..level.nodes).for_each(|at| self.arena.free(kind, node(*level, at)));
        }
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Fills an empty tree with `len` entries in strictly ascending order. `entry_at` is called from
    /// `threads` threads.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory. The tree is
    /// then unchanged, as it is if `entry_at` panics.
    pub fn bulk_load(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (B, B) + Sync,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        if len == 0 {
            return Ok(());
        }
        // Nodes that were in use before are bound to their levels; a load needs all memory. Cached counts
        // are held memory, too, and are freed with it.
        if self.held_bytes() > self.live_bytes() {
            self.clear();
        }
        self.build(len, entry_at, fill, threads)
    }

    /// Fills a tree that has had no entries since it was made or cleared, or that has no nodes yet, by one
    /// entry or more. See [`BlinkTree::bulk_load`].
    pub(super) fn build(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (B, B) + Sync,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        let span = spans::bulk_load();
        let store = self.store();
        let guard = Unlinked { arena: store.arena(), levels: allocate_levels(store, len, fill)? };
        let (levels, (old, old_levels)) = (&guard.levels, store.root().get());
        debug_assert!(old_levels <= 1, "an empty tree is one leaf");
        build_leaves(store, levels[0], &entry_at, threads)?;
        let start_of = |leaf: usize| store.leaf(node(levels[0], leaf)).low();
        for pair in 1..levels.len() {
            build_inner_nodes(store, &levels[..=pair], &start_of);
        }
        let levels = guard.keep();
        store.root().set(levels[levels.len() - 1].first, levels.len());
        if old_levels > 0 {
            store.arena().free(0, old);
        }
        self.set_len(len);
        self.finder().directory().count_added(levels.get(1).map_or(0, |level| level.nodes));
        self.finder().survey();
        span.record("entries", len as u64);
        span.record("bytes", self.live_bytes() as u64);
        Ok(())
    }
}

/// Allocates the nodes for all levels, from the leaves up to a single root; none if memory doesn't
/// suffice.
fn allocate_levels<B: Bits>(store: &Store<B>, len: usize, fill: FillFactor) -> Result<Vec<Level>> {
    let mut levels = plan(len, |level, entries| {
        let capacity = if level == 0 { Leaf::<B>::CAPACITY } else { Inner::<B>::CAPACITY };
        // At least two, or a level of inner nodes would be no smaller than the one below.
        entries.div_ceil(fill.of(capacity).max(2))
    });
    let nodes = levels.iter().map(|level| level.nodes).sum();
    let mut first = store.arena().budget().relieved(|| store.arena().allocate_run(nodes))?;
    for (kind, level) in levels.iter_mut().enumerate() {
        store.arena().tell_kind(kind, first, level.nodes);
        level.first = first;
        first = first.offset(level.nodes);
    }
    Ok(levels)
}

/// Fills the leaves, and checks that keys ascend.
fn build_leaves<B: Bits>(
    store: &Store<B>,
    level: Level,
    entry_at: &(impl Fn(usize) -> (B, B) + Sync),
    threads: NonZeroUsize,
) -> Result<()> {
    let build = |leaves: Range<usize>| -> Result<()> {
        let mut entries = Entries::default();
        let mut next = level.share(leaves.start);
        let mut last = next.start.checked_sub(1).map(|at| entry_at(at).0);
        for leaf in leaves {
            entries.clear();
            let share = core::mem::replace(&mut next, level.share(leaf + 1));
            for at in share.clone() {
                let (key, value) = entry_at(at);
                if last.is_some_and(|last| last >= key) {
                    return Err(out_of_order(at, last == Some(key)));
                }
                last = Some(key);
                entries.push(key, value);
            }
            let low = if leaf == 0 { B::MIN } else { entries.keys()[0] };
            let behind = (leaf + 1 < level.nodes).then(|| entry_at(share.end).0);
            if let (Some(last), Some(behind)) = (last, behind)
                && last >= behind
            {
                return Err(out_of_order(share.end, last == behind));
            }
            let high = behind.map_or(B::MAX, before);
            LeafEditor(store.leaf(node(level, leaf))).set(
                (low, high),
                node(level, leaf + 1),
                &entries,
                0..share.len(),
            );
        }
        Ok(())
    };
    let threads = threads.get().min(level.nodes / NODES_PER_THREAD).max(1);
    let cut = |thread: usize| level.nodes * thread / threads;
    std::thread::scope(|scope| {
        let build = &build;
        let others: Vec<_> =
            (1..threads).map(|thread| scope.spawn(move || build(cut(thread)..cut(thread + 1)))).collect();
        let own = build(0..cut(1));
        // The first fault is the one to report.
        others.into_iter().fold(own, |so_far, other| {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            so_far.and(other)
        })
    })
}

/// Builds the last of these levels above the others. `start_of` returns the first key of a leaf
/// that isn't the first one.
fn build_inner_nodes<B: Bits>(store: &Store<B>, levels: &[Level], start_of: &impl Fn(usize) -> B) {
    let (own, below) = (levels[levels.len() - 1], levels[levels.len() - 2]);
    // The first key below a node of the level below.
    let separator = |mut node: usize| {
        if node == 0 {
            return B::MIN;
        }
        for level in levels[1..levels.len() - 1].iter().rev() {
            node = level.share(node).start;
        }
        start_of(node)
    };
    let mut children = Children::default();
    for at in 0..own.nodes {
        children.clear();
        own.share(at).for_each(|child| children.push(separator(child), node(below, child)));
        let (separators, nodes) = (children.separators(), children.nodes());
        let high = if at + 1 == own.nodes { B::MAX } else { before(separator(own.share(at).end)) };
        store.inner(node(own, at)).set((separators[0], high), node(own, at + 1), separators, nodes);
    }
}
