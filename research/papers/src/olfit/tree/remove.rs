//! Removal of an entry, and with its last entry of the leaf.

use super::OlfitTree;
use super::climb::Again;
use super::edit::Done;
use super::guard::Access;
use super::path::{Coupling, Path, PathRecorder};
use super::spares::{Gone, Reserve};
use crate::olfit::node::{Fields, Flag, Kind, NodeLatch, Scheme};
use latchless_core::base::error::Result;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::Backoff;

/// How a removal proceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Only the leaf changes.
    Leaf,
    /// The leaf may have to be removed.
    Above,
    /// The entry may be further to the right.
    Along,
}

impl<K: Kind> OlfitTree<K> {
    /// Removes an entry of `key`, the first one or the first one with this value, and returns its value.
    /// Needs no memory that could be refused.
    pub fn take(&self, key: K::Bits, value: Option<K::Bits>) -> Option<K::Bits> {
        K::Trace::work(Work::Operation);
        let mut spares = Reserve::none(self);
        let mut copies = usize::from(K::Scheme::COPIES);
        let mut backoff = Backoff::default();
        let mut care = Care::Leaf;
        loop {
            spares.reserve_surely(copies);
            let job = if care == Care::Along { Coupling::WritingOn } else { Coupling::Removing };
            let (coupling, latches) = self.coupling(care != Care::Leaf, job);
            let mut gone = Gone::none(latches);
            let inside = self.enter(Access::Write);
            let mut path = Path::new(coupling, latches);
            let outcome = self.try_take((key, value), &mut path, &mut care, &mut spares, &mut gone);
            path.let_go();
            drop(inside);
            match outcome {
                Ok(done) => {
                    gone.retire(self);
                    if done.change != 0 {
                        self.len.add(done.change);
                    }
                    if K::Scheme::LINKS && done.change != 0 && done.emptied {
                        self.unlink(key);
                    }
                    return done.before;
                }
                Err(Again::Careful) => {}
                Err(Again::Needs(need)) => copies = need.copies,
                Err(Again::Disturbed(address)) => self.step_back(address, &mut backoff),
            }
        }
    }

    fn try_take<'a>(
        &'a self,
        (key, value): (K::Bits, Option<K::Bits>),
        path: &mut Path<'a, K>,
        care: &mut Care,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) -> Result<Done<K::Bits>, Again> {
        self.reach(key, path)?;
        let Some(place) = self.find_to_take(key, value, path, care)? else { return Ok(Done::nothing()) };
        let leaf = self.node(path.at(0));
        let (found, entries) = (leaf.value(place), leaf.entries());
        let done = Done { before: Some(found), change: -1, emptied: entries == 1 };
        if entries > 1 || path.levels == 1 || K::Scheme::LINKS {
            self.hold_versions(0, path)?;
            self.change(0..=0, path, spares, gone, |path, _| self.node(path.at(0)).remove_entry(place));
            return Ok(done);
        }
        if *care == Care::Leaf && K::Scheme::NODE_LATCH != NodeLatch::None {
            *care = Care::Above;
            return Err(Again::Careful);
        }
        self.remove_leaf(path, spares, gone)?;
        Ok(done)
    }

    /// Finds the entry; the path may move to the right on the way to it.
    fn find_to_take<'a>(
        &'a self,
        key: K::Bits,
        value: Option<K::Bits>,
        path: &mut Path<'a, K>,
        care: &mut Care,
    ) -> Result<Option<usize>, Again> {
        loop {
            let leaf = self.node(path.at(0));
            let entries = leaf.entries();
            let first = leaf.lower(entries, key);
            let mut run = (first..entries).take_while(|&place| leaf.key(place) == key);
            let found = run.find(|&place| value.is_none_or(|value| leaf.value(place) == value));
            if found.is_some() || !self.duplicates || (first..entries).any(|place| leaf.key(place) > key) {
                return Ok(found);
            }
            if K::Scheme::LINKS {
                if !self.latch_next_of_run(key, path)? {
                    return Ok(None);
                }
                continue;
            }
            if K::Scheme::NODE_LATCH == NodeLatch::Shared && *care != Care::Along {
                *care = Care::Along;
                return Err(Again::Careful);
            }
            if self.upper(path) != Some(key) || self.step_right(path).is_none() {
                return Ok(None);
            }
        }
    }

    /// Latches the leaf to the right instead of the path's one, if entries of `key` may be there too.
    fn latch_next_of_run<'a>(&'a self, key: K::Bits, path: &mut Path<'a, K>) -> Result<bool, Again> {
        let at = path.at(0);
        let leaf = self.node(at);
        if leaf.high() != key {
            return Ok(false);
        }
        let Some(right) = self.right_of(at) else { return Ok(false) };
        // Its place can't change, and it can't go, while the latch of the one before it is held.
        path.keep(self.latch(right.node::<K>()));
        path.let_go_above();
        path.set(0, right);
        let node = self.node(right);
        let follows = !Fields::<K>::LOW_FENCES || node.begins() == Some(key);
        if node.meta().is(Flag::Dead) || !follows { Err(Again::DISTURBED) } else { Ok(true) }
    }
}

impl<B> Done<B> {
    fn nothing() -> Self {
        Self { before: None, change: 0, emptied: false }
    }
}
