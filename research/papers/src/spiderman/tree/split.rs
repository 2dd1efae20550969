//! Making room: every full page on the path of a key is split, from the top down, so that each finds room
//! in its parent.

use super::OlcTree;
use super::descend::Child;
use super::hold::{Held, Restart, Seen};
use crate::spiderman::page::Form;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

/// Reserved pages, dead and unlatched: nothing is allocated under a latch.
struct Reserve<'a, T: Form> {
    tree: &'a OlcTree<T>,
    /// With their levels.
    pages: [Option<(NodeRef, usize)>; 2],
}

/// Why a pass down starts over.
enum Again {
    /// A page was split: there is more room now.
    Split,
    /// Pages of these levels are needed first.
    Needs([Option<usize>; 2]),
    /// Others were in the way.
    Disturbed,
}

impl From<Restart> for Again {
    fn from(Restart: Restart) -> Self {
        Self::Disturbed
    }
}

impl<T: Form> Reserve<'_, T> {
    /// Reserves the missing pages for these levels.
    fn reserve(&mut self, levels: [Option<usize>; 2]) -> Result<()> {
        self.give_back();
        for (place, level) in self.pages.iter_mut().zip(levels) {
            if let Some(level) = level {
                *place = Some((self.tree.arena.allocate::<T>(level)?, level));
            }
        }
        Ok(())
    }

    fn has(&self, levels: [Option<usize>; 2]) -> bool {
        self.pages.map(|page| page.map(|(_, level)| level)) == levels
    }

    /// Latches a reserved page, so that a thread with a reference from its previous use detects it. The
    /// latch is waited for, so the caller holds none.
    fn latch(&self, nth: usize) -> Option<(NodeRef, Held<'_, T>)> {
        let (page, _) = self.pages[nth]?;
        Some((page, self.tree.latch(page)))
    }

    fn give_back(&mut self) {
        for (page, level) in self.pages.iter_mut().filter_map(Option::take) {
            self.tree.arena.free::<T>(level, page);
        }
    }
}

impl<T: Form> Drop for Reserve<'_, T> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<T: Form> OlcTree<T> {
    /// Splits the leaf that `key` belongs to if it is full, and every full page above it.
    ///
    /// # Errors
    /// When memory is refused. All entries are where they were, or in halves of their pages.
    #[cold]
    pub(super) fn make_room(&self, key: u64) -> Result<()> {
        let mut spares = Reserve { tree: self, pages: [None; 2] };
        let mut backoff = Backoff::default();
        loop {
            match self.try_make_room(key, &mut spares) {
                Ok(()) => return Ok(()),
                Err(Again::Split) => {}
                Err(Again::Needs(levels)) => spares.reserve(levels)?,
                Err(Again::Disturbed) => self.step_back(&mut backoff),
            }
        }
    }

    fn try_make_room(&self, key: u64, spares: &mut Reserve<'_, T>) -> Result<(), Again> {
        let (mut at, levels) = self.see_root()?;
        let mut is_full = self.page(at.page).is_full();
        self.check(at)?;
        if is_full {
            return Err(self.split_root(at, levels, key, spares));
        }
        for level in (0..levels - 1).rev() {
            let child = self.down(at, key)?;
            is_full = self.page(child.seen.page).is_full();
            self.check(child.seen)?;
            if is_full {
                return Err(self.split_child(at, child, level, key, spares));
            }
            at = child.seen;
        }
        Ok(())
    }

    /// Splits a full child of a page that isn't full.
    fn split_child(
        &self,
        parent: Seen,
        child: Child,
        level: usize,
        key: u64,
        spares: &mut Reserve<'_, T>,
    ) -> Again {
        let needed = [Some(level), None];
        if !spares.has(needed) {
            return Again::Needs(needed);
        }
        let Some((right, mut right_held)) = spares.latch(0) else { return Again::Needs(needed) };
        let Ok(mut parent_held) = self.upgrade(parent) else { return Again::Disturbed };
        let Ok(mut child_held) = self.upgrade(child.seen) else { return Again::Disturbed };
        [&mut parent_held, &mut child_held, &mut right_held].into_iter().for_each(Held::changing);
        let separator = self.split(child.seen.page, right, level, key);
        self.page(parent.page).insert_child(child.place, separator, right);
        drop((parent_held, child_held, right_held));
        spares.pages[0] = None;
        Again::Split
    }

    /// Splits the root, which is full, below a new one.
    fn split_root(&self, root: Seen, levels: usize, key: u64, spares: &mut Reserve<'_, T>) -> Again {
        let needed = [Some(levels - 1), Some(levels)];
        if !spares.has(needed) {
            return Again::Needs(needed);
        }
        let (Some((right, mut right_held)), Some((above, mut above_held))) =
            (spares.latch(0), spares.latch(1))
        else {
            return Again::Needs(needed);
        };
        // Only the holder of the root's latch can replace the root.
        let Ok(mut root_held) = self.upgrade(root) else { return Again::Disturbed };
        [&mut root_held, &mut above_held, &mut right_held].into_iter().for_each(Held::changing);
        let separator = self.split(root.page, right, levels - 1, key);
        let page = self.page(above);
        page.reset(levels);
        page.push_child(None, root.page);
        page.push_child(Some(separator), right);
        self.set_root(above, levels + 1);
        drop((root_held, above_held, right_held));
        spares.pages = [None; 2];
        Again::Split
    }

    /// Moves the upper half of a page to another one, to make room for `key`, and returns the key that
    /// separates them. Keys that arrive in order leave full leaves.
    fn split(&self, page: NodeRef, right: NodeRef, level: usize, key: u64) -> u64 {
        self.splits.add(1);
        let (left, new) = (self.page(page), self.page(right));
        new.reset(level);
        let size = left.size();
        if level > 0 {
            return left.split_to(new, size / 2);
        }
        new.set_link(left.meta().link());
        let behind_all = left.meta().link().is_nil() && key > left.key(size - 1);
        let separator = left.split_to(new, if behind_all { size - 1 } else { size / 2 });
        left.set_link(right);
        separator
    }
}
