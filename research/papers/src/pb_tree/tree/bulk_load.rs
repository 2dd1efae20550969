//! Bulk load from sorted pairs, bottom-up: one level after the other, each node filled to the fill factor.
//! The root takes all children that it has room for, since a level above it would have a single node with
//! few (§4.2: "each non-root node").

use super::Tree;
use crate::pb_tree::node::{Children, Jump, Layout, Shape};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::bulk::check_ascending;
use latchless_core::mem::node_ref::NodeRef;

/// The nodes of one level: the least key below each, and the node.
type Level<B> = Vec<(B, NodeRef)>;

impl<S: Shape> Tree<S> {
    /// Fills an empty tree from strictly ascending pairs. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the
    /// tree is then as before.
    pub fn bulk_load<I>(&mut self, pairs: I, fill: FillFactor) -> Result<()>
    where
        I: ExactSizeIterator<Item = (S::Bits, S::Bits)> + Clone,
    {
        if self.len > 0 {
            return Err(Error::NotEmpty { len: self.len });
        }
        check_ascending(pairs.clone().map(|(key, _)| key))?;
        if pairs.len() == 0 {
            return Ok(());
        }
        self.nodes.clear();
        let loaded = self.load(pairs, fill);
        if loaded.is_err() {
            self.clear();
        }
        loaded
    }

    fn load<I>(&mut self, pairs: I, fill: FillFactor) -> Result<()>
    where
        I: ExactSizeIterator<Item = (S::Bits, S::Bits)>,
    {
        let len = pairs.len();
        let sizes = level_sizes::<S>(len, fill);
        self.reserve_levels(&sizes)?;
        let mut level = self.load_leaves(pairs, fill, &sizes)?;
        if let Some(jumps) = &mut self.jumps {
            let mut leaves = list(level.len())?;
            leaves.extend(level.iter().map(|&(_, leaf)| leaf));
            jumps.rebuild(&mut self.nodes, &leaves, fill)?;
        }
        let mut inner_nodes = 0;
        for height in 1..sizes.len() {
            level = self.load_inner(&level, height, &sizes)?;
            inner_nodes += level.len();
        }
        self.root = level[0].1;
        self.levels = sizes.len();
        self.leaves = sizes[0].iter().sum();
        self.inner_nodes = inner_nodes;
        self.len = len;
        Ok(())
    }

    /// Reserves all memory before the first node is written.
    fn reserve_levels(&mut self, sizes: &[Vec<usize>]) -> Result<()> {
        self.nodes.reserve_load(
            sizes
                .iter()
                .map(|level| match S::CHILDREN {
                    Children::References => level.iter().sum::<usize>(),
                    Children::Group => level.len(),
                })
                .sum(),
        )
    }

    fn load_leaves(
        &mut self,
        mut pairs: impl ExactSizeIterator<Item = (S::Bits, S::Bits)>,
        fill: FillFactor,
        sizes: &[Vec<usize>],
    ) -> Result<Level<S::Bits>> {
        let places = self.place(&sizes[0])?;
        let mut level = list(places.len())?;
        let per_leaf = fill.of(Layout::<S>::LEAF_PAIRS);
        for (i, &leaf) in places.iter().enumerate() {
            let count = per_leaf.min(pairs.len());
            self.nodes.write_leaf(leaf, Taking { pairs: &mut pairs, left: count });
            self.nodes.set_next(leaf, places.get(i + 1).copied().unwrap_or(NodeRef::NIL));
            level.push((self.nodes.key(leaf, 0), leaf));
        }
        Ok(level)
    }

    fn load_inner(
        &mut self,
        below: &Level<S::Bits>,
        height: usize,
        sizes: &[Vec<usize>],
    ) -> Result<Level<S::Bits>> {
        let places = self.place(&sizes[height])?;
        let mut level = list(places.len())?;
        let mut rest = &below[..];
        for (i, (&inner, &children)) in places.iter().zip(&sizes[height - 1]).enumerate() {
            let (mine, later) = rest.split_at(children);
            self.nodes.write_inner(inner, mine.iter().copied());
            if S::JUMP == Jump::Internal && height == 1 {
                self.nodes.set_sibling(inner, places.get(i + 1).copied().unwrap_or(NodeRef::NIL));
            }
            level.push((mine[0].0, inner));
            rest = later;
        }
        Ok(level)
    }

    /// New nodes for a level whose parents have `sizes` children each: one run a parent where
    /// children are in groups, one run a node otherwise.
    fn place(&mut self, sizes: &[usize]) -> Result<Vec<NodeRef>> {
        let mut places = list(sizes.iter().sum())?;
        for &size in sizes {
            match S::CHILDREN {
                Children::References => {
                    for _ in 0..size {
                        places.push(self.nodes.allocate()?);
                    }
                }
                Children::Group => {
                    let group = self.nodes.allocate()?;
                    places.extend((0..size).map(|at| group.offset(at)));
                }
            }
        }
        Ok(places)
    }
}

/// The next `left` of some pairs.
struct Taking<'a, I> {
    pairs: &'a mut I,
    left: usize,
}

impl<I: Iterator> Iterator for Taking<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.pairs.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Taking<'_, I> {}

/// For each level from the leaves to the root, how many of its nodes go under each parent; the root
/// is alone in the last.
fn level_sizes<S: Shape>(len: usize, fill: FillFactor) -> Vec<Vec<usize>> {
    let mut nodes = len.div_ceil(fill.of(Layout::<S>::LEAF_PAIRS));
    let mut sizes = Vec::new();
    while nodes > 1 {
        let keys = Layout::<S>::inner_keys(sizes.len() + 1);
        let parents = if nodes <= keys + 1 { vec![nodes] } else { partition(nodes, fill.of(keys) + 1) };
        nodes = parents.len();
        sizes.push(parents);
    }
    sizes.push(vec![1]);
    sizes
}

/// Cuts `nodes` into runs of `each` (at least two); a last run of one would be an inner node
/// without a key, so it borrows from the run before, or joins it where that has only two.
fn partition(nodes: usize, each: usize) -> Vec<usize> {
    let mut runs = vec![each; nodes / each];
    match (nodes % each, runs.last_mut()) {
        (0, _) => {}
        (1, Some(last)) if each == 2 => *last = 3,
        (1, Some(last)) => {
            *last -= 1;
            runs.push(2);
        }
        (rest, _) => runs.push(rest),
    }
    runs
}

fn list<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { requested_bytes: len.saturating_mul(size_of::<T>()) })?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb_tree::node::{Plain, Shaped};
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn a_root_takes_all_children_that_it_has_room_for() {
        type P8 = Shaped<u32, Plain<8>, NoTrace>;
        // 38 of 63 pairs a leaf, 39 of 64 children a node.
        let fill = FillFactor::new(0.6).unwrap();
        for (len, levels, children) in [(38 * 64, 2, 64), (38 * 64 + 1, 3, 2), (38 * 39 * 64, 3, 64)] {
            let sizes = level_sizes::<P8>(len, fill);
            assert_eq!((sizes.len(), &sizes[levels - 2][..]), (levels, &[children][..]), "{len} pairs");
        }
    }

    #[test]
    fn no_inner_node_is_left_with_a_single_child() {
        let (widest, most) = if cfg!(miri) { (5, 40) } else { (20, 400) };
        for each in 2..widest {
            for nodes in 2..most {
                let runs = partition(nodes, each);
                assert_eq!(runs.iter().sum::<usize>(), nodes);
                assert!(
                    runs.iter().all(|&run| (2..=each.max(3)).contains(&run)),
                    "{nodes} by {each}: {runs:?}"
                );
            }
        }
    }
}
