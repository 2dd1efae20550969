//! Units that are reserved before latches are taken, so that nothing is allocated under one, and a refusal
//! of memory changes nothing.

use super::{LEVELS_MAX, OlfitTree};
use crate::olfit::node::{Kind, Scheme};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;

/// Units that an update needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// A bit for each level that a new unit is needed for.
    pub(super) levels: u64,
    /// The number of copies.
    pub(super) copies: usize,
}

/// Reserved units. Unused ones are returned.
#[derive(Debug)]
pub(super) struct Reserve<'a, K: Kind> {
    tree: &'a OlfitTree<K>,
    /// For units that are kept for their level: one for each level whose bit is set. Otherwise any.
    units: [NodeRef; 2 * LEVELS_MAX],
    levels: u64,
    count: usize,
}

impl<'a, K: Kind> Reserve<'a, K> {
    pub(super) fn none(tree: &'a OlfitTree<K>) -> Self {
        Self { tree, units: [NodeRef::NIL; 2 * LEVELS_MAX], levels: 0, count: 0 }
    }

    /// Returns whether there are enough units.
    pub(super) fn suffice(&self, need: Need) -> bool {
        if K::Scheme::AT_ONCE { need.levels & !self.levels == 0 } else { need.total() <= self.count }
    }

    /// Reserves the missing units.
    ///
    /// # Errors
    /// When memory is refused.
    pub(super) fn reserve(&mut self, need: Need) -> Result<()> {
        if K::Scheme::AT_ONCE {
            for level in (0..LEVELS_MAX).filter(|level| need.levels >> level & 1 == 1) {
                if self.levels >> level & 1 == 0 {
                    self.units[level] = self.tree.arena.allocate::<K::Trace>(level)?;
                    self.levels |= 1 << level;
                }
            }
        } else {
            while self.count < need.total() {
                self.units[self.count] = self.tree.arena.allocate::<K::Trace>(0)?;
                self.count += 1;
            }
        }
        Ok(())
    }

    /// Reserves that many copies, waiting for them if necessary.
    pub(super) fn reserve_surely(&mut self, copies: usize) {
        if self.count < copies {
            // A thread that keeps one while waiting for another could wait for ever.
            self.give_back();
            self.tree.arena.allocate_surely::<K::Trace>(&mut self.units[..copies]);
            self.count = copies;
        }
    }

    /// A unit for a level.
    pub(super) fn take(&mut self, level: usize) -> NodeRef {
        if K::Scheme::AT_ONCE {
            assert!(self.levels >> level & 1 == 1, "a unit was put aside");
            self.levels &= !(1 << level);
            return self.units[level];
        }
        self.count -= 1;
        self.units[self.count]
    }

    fn give_back(&mut self) {
        let arena = &self.tree.arena;
        if K::Scheme::AT_ONCE {
            let levels = (0..LEVELS_MAX).filter(|level| self.levels >> level & 1 == 1);
            levels.for_each(|level| arena.free::<K::Trace>(level, self.units[level]));
        } else {
            self.units[..self.count].iter().for_each(|&unit| arena.free::<K::Trace>(0, unit));
        }
        (self.levels, self.count) = (0, 0);
    }
}

impl<K: Kind> Drop for Reserve<'_, K> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Need {
    fn total(self) -> usize {
        self.levels.count_ones() as usize + self.copies
    }
}

/// The number of units that are stored without an allocation.
const FEW: usize = 4;

/// Units that have left the tree, given back when all latches have been released.
#[derive(Debug)]
pub(super) struct Gone {
    few: [(NodeRef, u8); FEW],
    count: usize,
    more: Vec<(NodeRef, u8)>,
}

impl Gone {
    /// Creates an empty reserve. `most`: their maximum number, if that may be more than a few.
    pub(super) fn none(most: usize) -> Self {
        Self { few: [(NodeRef::NIL, 0); FEW], count: 0, more: Vec::with_capacity(most) }
    }

    pub(super) fn add(&mut self, unit: NodeRef, level: usize) {
        if self.count < FEW {
            self.few[self.count] = (unit, level as u8);
            self.count += 1;
        } else {
            self.more.push((unit, level as u8));
        }
    }

    /// Gives them back.
    pub(super) fn retire<K: Kind>(self, tree: &OlfitTree<K>) {
        for &(unit, level) in self.few[..self.count].iter().chain(&self.more) {
            tree.arena.retire::<K::Trace>(OlfitTree::<K>::kind(usize::from(level)), unit);
        }
    }
}
