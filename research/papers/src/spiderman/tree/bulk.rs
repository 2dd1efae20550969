//! Bulk load: whole levels at once, with pairs distributed evenly.

use super::OlcTree;
use crate::spiderman::page::Form;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::bulk::{Level, check_ascending, last_below, plan};

impl<T: Form> OlcTree<T> {
    /// Fills an empty tree with `len` entries in ascending order. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the tree is as
    /// before then.
    pub fn bulk_load(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (u64, u64),
        fill: FillFactor,
    ) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        check_ascending((0..len).map(|at| entry_at(at).0))?;
        if len == 0 {
            return Ok(());
        }
        // Pages that were in use before are each kept for its level; a load wants all memory.
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
        self.page(old).mark_dead();
        self.arena.free::<T>(0, old);
        Ok(())
    }

    /// Pages for all levels, from the leaves up to a single root; none if memory doesn't suffice.
    fn allocate_levels(&self, len: usize, fill: FillFactor) -> Result<Vec<Level>> {
        // Shares of two at the least: an inner page has two children.
        let mut levels =
            plan(len, |_, pairs| pairs.div_ceil(fill.of(self.layout.places)).min((pairs / 2).max(1)));
        let mut first = self.arena.allocate_run(levels.iter().map(|level| level.nodes).sum())?;
        for level in &mut levels {
            level.first = first;
            first = first.offset(level.nodes);
        }
        Ok(levels)
    }

    /// Fills the pages of one level.
    fn build_level(&self, levels: &[Level], level: usize, entry_at: &impl Fn(usize) -> (u64, u64)) {
        let own = levels[level];
        // The last key below a page of the level below this one.
        let last_key = |page: usize| entry_at(last_below(&levels[..level], page)).0;
        for number in 0..own.nodes {
            let (page, share) = (self.page(own.first.offset(number)), own.share(number));
            page.reset(level);
            if level == 0 {
                share.for_each(|entry| {
                    let (key, value) = entry_at(entry);
                    page.push_entry(key, value);
                });
                if number + 1 < own.nodes {
                    page.set_link(own.first.offset(number + 1));
                }
                continue;
            }
            for child in share.clone() {
                let separator = (child > share.start).then(|| last_key(child - 1));
                page.push_child(separator, levels[level - 1].first.offset(child));
            }
        }
    }
}
