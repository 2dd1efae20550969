//! Bulk load: whole levels at once, with entries and children distributed evenly.

use super::OlfitTree;
use crate::olfit::node::{At, Fields, Flag, Kind};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Bits;
use latchless_core::bulk::{Level, check_order, last_below, plan};
use latchless_core::mem::node_ref::NodeRef;

impl<K: Kind> OlfitTree<K> {
    /// Fills an empty tree with `len` entries in ascending order, equal keys only in an index with
    /// duplicates. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the tree is as
    /// before then.
    pub fn bulk_load(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K::Bits, K::Bits),
        fill: FillFactor,
    ) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        check_order((0..len).map(|at| entry_at(at).0), self.duplicates)?;
        if len == 0 {
            return Ok(());
        }
        // Units that were in use before are each kept for its level; a load wants all memory.
        if self.held_bytes() > self.live_bytes() {
            self.clear()?;
        }
        let levels = self.allocate_levels(len, fill)?;
        for level in 0..levels.len() {
            self.build_level(&levels, level, &entry_at);
        }
        let (old, _) = self.root();
        self.set_root(levels[levels.len() - 1].first, levels.len());
        self.len.set(len as i64);
        self.arena.free::<K::Trace>(Self::kind(0), old);
        Ok(())
    }

    /// Units for all levels, from the leaves up to a single root; none if memory doesn't suffice.
    fn allocate_levels(&self, len: usize, fill: FillFactor) -> Result<Vec<Level>> {
        let mut levels = plan(len, |level, entries| {
            let places = if level == 0 { self.layout.leaf_places } else { self.layout.inner_places };
            // Two at the least, or a level of inner nodes would be no smaller than the one below.
            entries.div_ceil(fill.of(places).max(2))
        });
        // A group for the children of each node of the level above.
        let units = |level: usize| match K::GROUPS {
            true => levels.get(level + 1).map_or(1, |above| above.nodes),
            false => levels[level].nodes,
        };
        let counts: Vec<usize> = (0..levels.len()).map(units).collect();
        let mut first = self.arena.allocate_run(counts.iter().sum())?;
        for (level, count) in levels.iter_mut().zip(counts) {
            level.first = first;
            first = first.offset(count * self.layout.unit_nodes);
        }
        Ok(levels)
    }

    /// Returns the place of a node of a level.
    fn planned(&self, levels: &[Level], level: usize, node: usize) -> At {
        let first = levels[level].first;
        if !K::GROUPS {
            return At::first(first.offset(node));
        }
        let Some(above) = levels.get(level + 1) else { return At::first(first) };
        // The last node above whose share begins at or before this one.
        let guess = (node as u128 * above.nodes as u128 / above.entries as u128) as usize;
        let parent = if above.share(guess).end <= node { guess + 1 } else { guess };
        let index = node - above.share(parent).start;
        At::first(first.offset(parent * self.layout.unit_nodes)).further(index)
    }

    /// Fills the nodes of one level.
    fn build_level(&self, levels: &[Level], level: usize, entry_at: &impl Fn(usize) -> (K::Bits, K::Bits)) {
        let own = levels[level];
        // The last key below a node of the level below this one, or of this one.
        let last_key = |node: usize, of: usize| entry_at(last_below(&levels[..=of], node)).0;
        let mut low = None;
        for number in 0..own.nodes {
            let (at, share) = (self.planned(levels, level, number), own.share(number));
            let (node, is_last) = (self.node(at), number + 1 == own.nodes);
            node.reset(level);
            if level == 0 {
                node.fill_leaf(share.map(entry_at));
            } else {
                let first_child = self.planned(levels, level - 1, share.start);
                for child in share.clone() {
                    let separator = (child > share.start).then(|| last_key(child - 1, level - 1));
                    node.push_child(separator, self.planned(levels, level - 1, child).unit);
                }
                if K::GROUPS {
                    node.set_group(first_child.unit);
                }
            }
            let high = last_key(number, level);
            node.set_high(if is_last { K::Bits::MAX } else { high });
            node.set_low(low);
            low = Some(high);
            let next = (!is_last).then(|| self.planned(levels, level, number + 1));
            let ends_unit = next.is_none_or(|next| next.unit != at.unit);
            let right = next.map_or(NodeRef::NIL, |next| next.unit);
            if !K::GROUPS {
                node.set_link(right);
            } else if Fields::<K>::HEADS > 0 && ends_unit {
                node.set_flag(Flag::Last, true);
                self.set_group_link(at.unit, right);
            }
        }
    }
}
