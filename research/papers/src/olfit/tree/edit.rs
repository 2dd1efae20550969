//! Insertion of an entry.

use super::OlfitTree;
use super::climb::Again;
use super::guard::{Access, wait_for};
use super::path::{Coupling, Path, latches_max};
use super::spares::{Gone, Need, Reserve};
use crate::olfit::node::{Kind, NodeLatch, Scheme};
use latchless_core::base::error::Result;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::Backoff;

/// The result of an update.
pub(super) struct Done<B> {
    /// The previous value.
    pub(super) before: Option<B>,
    /// Whether a leaf has lost its last entry.
    pub(super) emptied: bool,
    /// The change of the number of entries.
    pub(super) change: i64,
}

impl<K: Kind> OlfitTree<K> {
    /// Inserts an entry. In an index without duplicates it replaces the one with its key, whose value is
    /// returned; otherwise it is added.
    ///
    /// # Errors
    /// When memory is refused; nothing has changed then.
    pub fn put(&self, key: K::Bits, value: K::Bits) -> Result<Option<K::Bits>> {
        K::Trace::work(Work::Operation);
        let mut spares = Reserve::none(self);
        spares.reserve(Need { levels: 0, copies: usize::from(K::Scheme::COPIES) })?;
        let mut backoff = Backoff::default();
        let mut careful = false;
        loop {
            let (coupling, latches) = self.coupling(careful, Coupling::Adding);
            let mut gone = Gone::none(latches);
            let inside = self.enter(Access::Write);
            let mut path = Path::new(coupling, latches);
            let outcome = self.try_put(key, value, &mut path, careful, &mut spares, &mut gone);
            path.let_go();
            drop(inside);
            match outcome {
                Ok(done) => {
                    gone.retire(self);
                    if done.change != 0 {
                        self.len.add(done.change);
                    }
                    return Ok(done.before);
                }
                Err(Again::Careful) => careful = true,
                Err(Again::Needs(need)) => spares.reserve(need)?,
                Err(Again::Disturbed(address)) => self.step_back(address, &mut backoff),
            }
        }
    }

    /// Returns how a descent latches under LC, and how many latches it may hold.
    pub(super) fn coupling(&self, careful: bool, job: Coupling) -> (Coupling, usize) {
        let latches = if careful { latches_max::<K>(&self.layout, self.root().1) } else { 0 };
        (if careful { job } else { Coupling::Writing }, latches)
    }

    /// Waits a little after others were in the way, for the latch at an address if it is known.
    pub(super) fn step_back(&self, address: usize, backoff: &mut Backoff) {
        self.restarts.add(1);
        if address != 0 {
            wait_for::<K::Trace>(core::ptr::without_provenance(address), backoff, self.arena.origin());
        } else if !K::Trace::LISTENING {
            backoff.wait_at(self.arena.origin());
        }
    }

    fn try_put<'a>(
        &'a self,
        key: K::Bits,
        value: K::Bits,
        path: &mut Path<'a, K>,
        careful: bool,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) -> Result<Done<K::Bits>, Again> {
        self.reach(key, path)?;
        let leaf = self.node(path.at(0));
        let (entries, mut found) = (leaf.entries(), None);
        let place = leaf.lower(entries, key);
        if !self.duplicates && place < entries && leaf.key(place) == key {
            found = Some(leaf.value(place));
        }
        if found.is_some() || !leaf.is_full_leaf() {
            self.hold_versions(0, path)?;
            self.change(0..=0, path, spares, gone, |path, _| {
                let leaf = self.node(path.at(0));
                if found.is_some() {
                    leaf.set_value(place, value)
                } else {
                    leaf.insert_entry(place, key, value)
                }
            });
            return Ok(Done { before: found, change: i64::from(found.is_none()), emptied: false });
        }
        if !careful && K::Scheme::NODE_LATCH != NodeLatch::None {
            return Err(Again::Careful);
        }
        let top = self.climb(key, path)?;
        let need = self.need_of_splits(top, path);
        if !spares.suffice(need) {
            return Err(Again::Needs(need));
        }
        self.hold_movers(top, path)?;
        self.hold_versions(top.min(path.levels - 1), path)?;
        self.change(0..=top, path, spares, gone, |path, spares| {
            self.split_down(top, key, path, spares);
            let leaf = self.node(path.at(0));
            leaf.insert_entry(leaf.lower(leaf.entries(), key), key, value);
        });
        Ok(Done { before: None, change: 1, emptied: false })
    }
}
