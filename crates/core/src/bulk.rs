//! Bulk loads: checks that keys ascend, and plans which entries go to which node of each level.

use crate::base::error::{Error, Result};
use crate::mem::node_ref::NodeRef;
use core::cmp::Ordering;
use core::ops::Range;

/// The nodes of a level. The level's entries (above the leaves: its children) are distributed evenly among
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The first of the level's nodes; [`NodeRef::NIL`] until they are allocated.
    pub first: NodeRef,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of entries in all nodes.
    pub entries: usize,
}

impl Level {
    /// Returns the range of entries of a node.
    pub fn share(self, node: usize) -> Range<usize> {
        let at = |node: usize| (node as u128 * self.entries as u128 / self.nodes as u128) as usize;
        at(node)..at(node + 1)
    }
}

/// Plans the levels for `len` entries, from the leaves up to a single root. `nodes_of(level, entries)` is
/// the number of nodes of a level, which is less than `entries` unless it is one.
///
/// ```
/// use latchless_core::bulk::plan;
/// let levels = plan(25, |level, entries| entries.div_ceil(if level == 0 { 5 } else { 4 }));
/// assert_eq!(levels.iter().map(|level| level.nodes).collect::<Vec<_>>(), [5, 2, 1]);
/// assert_eq!([levels[1].share(0), levels[1].share(1)], [0..2, 2..5]);
/// ```
pub fn plan(len: usize, nodes_of: impl Fn(usize, usize) -> usize) -> Vec<Level> {
    let (mut levels, mut entries) = (Vec::new(), len);
    loop {
        let nodes = nodes_of(levels.len(), entries);
        debug_assert!(nodes == 1 || nodes < entries, "a level is smaller than the one below it");
        levels.push(Level { first: NodeRef::NIL, nodes, entries });
        if nodes == 1 {
            return levels;
        }
        entries = nodes;
    }
}

/// Returns the last leaf entry below a node of the last of these levels.
pub fn last_below(levels: &[Level], node: usize) -> usize {
    levels.iter().rev().fold(node, |node, level| level.share(node).end - 1)
}

/// Checks that keys ascend strictly.
///
/// # Errors
/// [`Error::Unsorted`] and [`Error::DuplicateKey`] name the first position at fault.
pub fn check_ascending<B: Ord>(keys: impl IntoIterator<Item = B>) -> Result<()> {
    check_order(keys, false)
}

/// Checks that keys ascend: strictly, or with `duplicates` also with equal neighbours.
///
/// # Errors
/// [`Error::Unsorted`] and [`Error::DuplicateKey`] name the first position at fault.
pub fn check_order<B: Ord>(keys: impl IntoIterator<Item = B>, duplicates: bool) -> Result<()> {
    let mut keys = keys.into_iter();
    let Some(mut last) = keys.next() else { return Ok(()) };
    for (key, position) in keys.zip(1..) {
        match last.cmp(&key) {
            Ordering::Greater => return Err(Error::Unsorted { position }),
            Ordering::Equal if !duplicates => return Err(Error::DuplicateKey { position }),
            _ => last = key,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_checked_by_position() {
        assert_eq!(check_ascending([1, 2, 3]), Ok(()));
        assert_eq!(check_ascending([1, 3, 2, 1]), Err(Error::Unsorted { position: 2 }));
        assert_eq!(check_ascending([4, 4]), Err(Error::DuplicateKey { position: 1 }));
        assert_eq!(check_ascending([0u32; 0]), Ok(()));
        assert_eq!(check_order([4, 4, 5], true), Ok(()));
        assert_eq!(check_order([4, 4, 3], true), Err(Error::Unsorted { position: 2 }));
    }

    #[test]
    fn each_entry_goes_to_one_node() {
        for len in 1..60 {
            let levels = plan(len, |_, entries| entries.div_ceil(3));
            assert_eq!((levels[0].entries, levels[levels.len() - 1].nodes), (len, 1));
            for (nth, level) in levels.iter().enumerate() {
                let shares = (0..level.nodes).map(|node| level.share(node));
                assert!(shares.clone().all(|share| (1..=3).contains(&share.len())), "{len}: {level:?}");
                assert!(shares.flatten().eq(0..level.entries), "{len}: {level:?}");
                assert_eq!(last_below(&levels[..=nth], level.nodes - 1), len - 1);
            }
        }
    }
}
