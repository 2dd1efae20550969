//! Bulk load: whole levels at once, pairs shared out evenly.

use super::*;
use core::ops::Range;
use latchless_core::base::error::Error;
use latchless_core::base::fill::FillFactor;

/// The pages of a level, and how many pairs are shared out among them.
#[derive(Debug, Clone, Copy)]
struct Level {
    pages: usize,
    pairs: usize,
    first: NodeRef,
}

impl Level {
    /// The pairs of one of the pages.
    fn share(self, page: usize) -> Range<usize> {
        let at = |page: usize| (page as u128 * self.pairs as u128 / self.pages as u128) as usize;
        at(page)..at(page + 1)
    }
}

impl<T: Trace> OlcTree<T> {
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
        for position in 1..len {
            match entry_at(position - 1).0.cmp(&entry_at(position).0) {
                core::cmp::Ordering::Greater => return Err(Error::Unsorted { position }),
                core::cmp::Ordering::Equal => return Err(Error::DuplicateKey { position }),
                core::cmp::Ordering::Less => {}
            }
        }
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
        let mut levels: Vec<Level> = Vec::new();
        let mut pairs = len;
        loop {
            // Shares of two at the least: an inner page has two children.
            let pages = pairs.div_ceil(fill.of(self.layout.places)).min((pairs / 2).max(1));
            levels.push(Level { pages, pairs, first: NodeRef::NIL });
            if pages == 1 {
                break;
            }
            pairs = pages;
        }
        let mut first = self.arena.allocate_run(levels.iter().map(|level| level.pages).sum())?;
        for level in &mut levels {
            level.first = first;
            first = first.offset(level.pages);
        }
        Ok(levels)
    }

    /// Fills the pages of one level.
    fn build_level(&self, levels: &[Level], level: usize, entry_at: &impl Fn(usize) -> (u64, u64)) {
        let own = levels[level];
        // The last key below a page of the level below this one.
        let last_key = |mut page: usize| {
            for below in levels[..level].iter().rev() {
                page = below.share(page).end - 1;
            }
            entry_at(page).0
        };
        for number in 0..own.pages {
            let (page, share) = (self.page(own.first.offset(number)), own.share(number));
            page.reset(level);
            if level == 0 {
                share.for_each(|entry| {
                    let (key, value) = entry_at(entry);
                    page.push_entry(key, value);
                });
                if number + 1 < own.pages {
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
