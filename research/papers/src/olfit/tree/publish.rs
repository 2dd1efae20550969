//! The last two parts of an update: changing, in place or in copies, and publishing.
//!
//! Schemes with versions copy the units of the path's lower levels, change the copies by the same code
//! that others run in place, and then store one reference: in the node above, or the one to the root.

use super::path::Path;
use super::spares::{Gone, Reserve};
use super::{LEVELS_MAX, OlfitTree};
use crate::olfit::node::{At, Kind, Scheme};
use core::ops::RangeInclusive;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;

impl<K: Kind> OlfitTree<K> {
    /// Runs `change` on the nodes of the path, of which those of `levels` change; publishes the result,
    /// and returns the units that have left the tree by that. The path's latches are held until the caller
    /// releases them.
    pub(super) fn change<'a>(
        &'a self,
        levels: RangeInclusive<usize>,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
        change: impl FnOnce(&mut Path<'a, K>, &mut Reserve<'_, K>),
    ) {
        path.changed();
        let before = path.levels;
        if !K::Scheme::COPIES {
            change(path, spares);
            if path.levels != before {
                self.set_root(path.at(path.levels - 1).unit, path.levels);
            }
            return;
        }
        let (first, top) = (*levels.start(), (*levels.end()).min(before - 1));
        let mut old = [NodeRef::NIL; LEVELS_MAX];
        let mut sizes = [0u16; LEVELS_MAX];
        for level in first..=top {
            (old[level], sizes[level]) = (path.at(level).unit, self.unit_size(level, path) as u16);
        }
        for level in first..=top {
            let copy = spares.take(level);
            self.copy_unit(old[level], usize::from(sizes[level]), copy);
            path.set(level, At { unit: copy, ..path.at(level) });
        }
        for level in first..top {
            self.node(path.at(level + 1)).set_unit(path.place(level + 1), path.at(level).unit);
        }
        let copy = path.at(top).unit;
        change(path, spares);
        // Before any thread can change the replacements: see `step_right`.
        for level in first..=top {
            self.kill_unit(level, old[level], usize::from(sizes[level]));
            gone.add(old[level], level);
        }
        if path.levels != before {
            self.set_root(path.at(path.levels - 1).unit, path.levels);
        } else if top + 1 == before {
            self.set_root(copy, before);
        } else {
            self.node(path.at(top + 1)).set_unit(path.place(top + 1), copy);
        }
    }

    /// Copies the nodes of a unit. The paper's machine copies blocks by loads that don't wait for each other,
    /// so a model hears of all lines before the first is read; other processors find out by themselves.
    fn copy_unit(&self, from: NodeRef, size: usize, to: NodeRef) {
        let first = self.arena.address(At::first(from).node::<K>());
        K::Trace::prefetch(first, size * self.arena.node_bytes());
        for index in 0..size {
            let (from, to) = (At::first(from).further(index), At::first(to).further(index));
            self.node(from).copy_to(self.node(to));
        }
    }

    /// Marks the nodes of a unit that was replaced or unlinked. A thread that waits for the latch of one
    /// of them starts again. A group of leaves needs no marks: a thread that wants to change one latches
    /// its parent too.
    pub(super) fn kill_unit(&self, level: usize, unit: NodeRef, size: usize) {
        if !K::GROUPS || level > 0 || K::Scheme::LINKS {
            (0..size).for_each(|index| self.node(At::first(unit).further(index)).mark_dead());
        }
    }
}
