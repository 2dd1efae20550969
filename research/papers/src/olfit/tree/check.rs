//! The check of the whole tree at rest.

use super::{LEVELS_MAX, OlfitTree};
use crate::olfit::node::{At, Fields, Flag, Kind, Node, NodeLatch, Scheme};
use crate::olfit::shared_latch::SharedLatch;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::latch::OptimisticLatch;

/// The keys that belong to a node, according to its parents: after `low` (which entries may equal in an
/// index with duplicates), up to `high`.
#[derive(Debug, Clone, Copy)]
struct Bounds<B> {
    low: Option<B>,
    high: Option<B>,
}

/// The findings of a walk over the tree so far.
struct Seen<B> {
    units: usize,
    entries: usize,
    last_key: Option<B>,
    /// The previous node of each level.
    before: [Option<At>; LEVELS_MAX],
}

impl<K: Kind> OlfitTree<K> {
    /// Checks every invariant of the tree and of its nodes. The tree must be at rest: concurrent changes
    /// may look like violations. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (root, levels) = self.root();
        let mut seen = Seen { units: 1, entries: 0, last_key: None, before: [None; LEVELS_MAX] };
        self.check_node(At::first(root), levels - 1, 1, Bounds { low: None, high: None }, &mut seen)?;
        for level in 0..levels {
            if let Some(last) = seen.before[level].filter(|_| K::Scheme::LINKS)
                && let Some(right) = self.right_of(last)
            {
                return Err(Broken::new(format!("the last node of level {level} links to {right:?}")));
            }
        }
        if !self.tree_latch.0.is_free() || self.root_latch.stable_version().is_none() {
            return Err(Broken::new("a latch of the tree is held"));
        }
        let counts = [
            ("entries", seen.entries, self.len()),
            ("bytes", seen.units * self.layout.unit_nodes * self.node_bytes(), self.live_bytes()),
        ];
        match counts.iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => {
                Err(Broken::new(format!("{found} {what} found, {expected} expected")))
            }
            None => Ok(()),
        }
    }

    /// Checks a node and all below it. `group`: how many nodes are in its unit.
    fn check_node(
        &self,
        at: At,
        level: usize,
        group: usize,
        bounds: Bounds<K::Bits>,
        seen: &mut Seen<K::Bits>,
    ) -> Result<(), Broken> {
        let node = self.node(at);
        let wrong = |what: String| Err(Broken::new(format!("level {level}, {at:?}: {what}")));
        if let Some(fault) = self.fault_of_latch(node) {
            return wrong(fault.into());
        }
        let (meta, size) = (node.meta(), node.size());
        if meta.level() != level || meta.is(Flag::Dead) {
            return wrong(format!(
                "says that it is of level {}, dead: {}",
                meta.level(),
                meta.is(Flag::Dead)
            ));
        }
        let most = if level == 0 { self.layout.leaf_places } else { self.layout.inner_places };
        // Without links only one root is given up at a time; a leaf may be one.
        let gives_up = K::Scheme::LINKS && level > 0;
        let is_root = (at.unit, level + 1) == self.root();
        if size > most || (size == 0 && !is_root) || (size == 1 && is_root && gives_up) {
            return wrong(format!("has {size} places in use"));
        }
        if let Some(fault) = self.fault_of_order(at, level, group, bounds, seen) {
            return wrong(fault);
        }
        seen.before[level] = Some(at);
        if level == 0 {
            return self.fault_of_entries(node, bounds, seen).map_or(Ok(()), wrong);
        }
        seen.units += if K::GROUPS { 1 } else { size };
        for place in 0..size {
            let low = if place == 0 { bounds.low } else { Some(node.separator(place - 1)) };
            let high = if place + 1 == size { bounds.high } else { Some(node.separator(place)) };
            if low.zip(high).is_some_and(|(low, high)| low > high || (low == high && !self.duplicates)) {
                return wrong(format!("separators {low:?} and {high:?} don't ascend"));
            }
            self.check_node(node.child(place), level - 1, size, Bounds { low, high }, seen)?;
        }
        Ok(())
    }

    fn fault_of_latch(&self, node: Node<'_, K>) -> Option<&'static str> {
        let free = match K::Scheme::NODE_LATCH {
            NodeLatch::None => true,
            NodeLatch::Shared => SharedLatch::of(node.latch_word()).is_free(),
            _ => OptimisticLatch::of(node.latch_word()).stable_version().is_some(),
        };
        (!free).then_some("is latched")
    }

    /// Returns whether fences, links and flags agree with the parents.
    fn fault_of_order(
        &self,
        at: At,
        level: usize,
        group: usize,
        bounds: Bounds<K::Bits>,
        seen: &Seen<K::Bits>,
    ) -> Option<String> {
        if !K::Scheme::LINKS {
            return None;
        }
        let node = self.node(at);
        if node.high() != bounds.high.unwrap_or(K::Bits::MAX) {
            return Some(format!("ends with {:?}, its parents say {:?}", node.high(), bounds.high));
        }
        if Fields::<K>::LOW_FENCES && node.begins() != bounds.low {
            return Some(format!("begins behind {:?}, its parents say {:?}", node.begins(), bounds.low));
        }
        if K::GROUPS && node.meta().is(Flag::Last) != (at.index as usize + 1 == group) {
            return Some(format!("is node {} of {group}, which its flag doesn't say", at.index));
        }
        let before = seen.before[level]?;
        let linked = self.right_of(before);
        (linked != Some(at)).then(|| format!("{before:?} links to {linked:?} instead"))
    }

    fn fault_of_entries(
        &self,
        leaf: Node<'_, K>,
        bounds: Bounds<K::Bits>,
        seen: &mut Seen<K::Bits>,
    ) -> Option<String> {
        for place in 0..leaf.entries() {
            let key = leaf.key(place);
            let follows = |last: K::Bits| last < key || (last == key && self.duplicates);
            if seen.last_key.is_some_and(|last| !follows(last)) {
                return Some(format!("key {key:?} stands behind {:?}", seen.last_key));
            }
            if bounds.low.is_some_and(|low| !follows(low)) || bounds.high.is_some_and(|high| key > high) {
                return Some(format!("key {key:?} lies outside of {bounds:?}"));
            }
            seen.last_key = Some(key);
            seen.entries += 1;
        }
        None
    }
}
