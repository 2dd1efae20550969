//! The check of the whole tree at rest, and its printing.

use super::OlcTree;
use crate::spiderman::page::Form;
use core::fmt;
use latchless_core::base::error::{Broken, Result};
use latchless_core::mem::node_ref::NodeRef;

/// The keys that belong to a page: those after `low`, up to `high`.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: Option<u64>,
    high: Option<u64>,
}

/// The findings of a walk over the tree so far.
struct Tally {
    pages: usize,
    entries: usize,
    last_leaf: Option<NodeRef>,
}

impl<T: Form> OlcTree<T> {
    /// Checks every invariant of the tree and of its pages. The tree must be at rest: concurrent changes
    /// may look like violations. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (root, levels) = self.root();
        let mut tally = Tally { pages: 0, entries: 0, last_leaf: None };
        self.check_page(root, levels - 1, true, Bounds { low: None, high: None }, &mut tally)?;
        if let Some(last) = tally.last_leaf.filter(|&last| !self.page(last).meta().link().is_nil()) {
            return Err(Broken::new(format!("the last leaf, {last:?}, has a link")));
        }
        let counts = [
            ("entries", tally.entries, self.len()),
            ("bytes", tally.pages * self.arena.node_bytes(), self.live_bytes()),
        ];
        match counts.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => {
                Err(Broken::new(format!("{found} {what} found, {expected} expected")))
            }
            None => Ok(()),
        }
    }

    fn check_page(
        &self,
        at: NodeRef,
        level: usize,
        is_root: bool,
        bounds: Bounds,
        tally: &mut Tally,
    ) -> Result<(), Broken> {
        let page = self.page(at);
        let wrong = |what: String| Err(Broken::new(format!("level {level}, {at:?}: {what}")));
        let meta = page.meta();
        let least = match (level, is_root) {
            (0, true) => 0,
            (0, false) => 1,
            _ => 2,
        };
        if page.latch().stable_version().is_none() {
            return wrong("its latch is held".into());
        }
        if meta.level() != level || meta.is_dead() || !(least..=self.layout.places).contains(&meta.size()) {
            return wrong(format!("says {meta:?}"));
        }
        tally.pages += 1;
        let keys = if level == 0 { meta.size() } else { meta.size() - 1 };
        let inside =
            |key: u64| bounds.low.is_none_or(|low| key > low) && bounds.high.is_none_or(|high| key <= high);
        for place in 0..keys {
            let key = page.key(place);
            if !inside(key) || (place > 0 && page.key(place - 1) >= key) {
                return wrong(format!("key {key} at {place} isn't in order within {bounds:?}"));
            }
        }
        if level == 0 {
            if let Some(left) = tally.last_leaf.filter(|&left| self.page(left).meta().link() != at) {
                return wrong(format!("{left:?} doesn't link to it"));
            }
            tally.last_leaf = Some(at);
            tally.entries += keys;
            return Ok(());
        }
        (0..meta.size()).try_for_each(|place| {
            let low = if place == 0 { bounds.low } else { Some(page.key(place - 1)) };
            let high = if place == keys { bounds.high } else { Some(page.key(place)) };
            self.check_page(page.child(place), level - 1, false, Bounds { low, high }, tally)
        })
    }

    /// Writes the tree, a page a line, children indented below their parents. Wants it at rest.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let (root, levels) = self.root();
        writeln!(out, "{} entries, {levels} levels", self.len())?;
        self.dump_page(root, levels - 1, 0, out)
    }

    fn dump_page(&self, at: NodeRef, level: usize, depth: usize, out: &mut impl fmt::Write) -> fmt::Result {
        let page = self.page(at);
        let (name, keys) = if level == 0 { ("leaf", page.size()) } else { ("inner", page.size() - 1) };
        let keys: Vec<u64> = (0..keys).map(|place| page.key(place)).collect();
        writeln!(out, "{:indent$}{name} {} {keys:?}", "", at.to_word(), indent = 2 * depth)?;
        match level {
            0 => Ok(()),
            _ => (0..page.size())
                .try_for_each(|place| self.dump_page(page.child(place), level - 1, depth + 1, out)),
        }
    }
}
