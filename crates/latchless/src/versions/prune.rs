//! Dropping versions that no reader needs.

use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use core::ops::Bound::{Excluded, Unbounded};
use core::ops::ControlFlow::{Break, Continue};
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;

/// Keys that are looked at between two pauses, in which others commit.
const TOGETHER: usize = 256;

/// What [`VersionedIndex::prune`] has dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Versions of values, and removals.
    pub versions: usize,
    /// Keys that had a removal only.
    pub keys: usize,
}

impl<K: KeyFor<Version<V>>, V: IndexValue> VersionedIndex<K, V> {
    /// Drops all versions that no snapshot can read any more, and the keys without a value, and returns how
    /// many. O(n); commits wait for at most some hundred keys of it.
    ///
    /// # Errors
    /// Memory for a shorter chain of versions was refused. What was dropped until then stays so; nothing
    /// else has changed.
    ///
    /// ```
    /// use latchless::versions::{Pruned, VersionedIndex};
    ///
    /// let index = VersionedIndex::<u64, u64>::new()?;
    /// for key in [7, 8, 8] {
    ///     index.insert(key, 1)?;
    /// }
    /// index.remove(7)?;
    /// assert_eq!(index.prune()?, Pruned { versions: 3, keys: 1 });
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn prune(&self) -> Result<Pruned> {
        self.prune_before(u64::MAX)
    }

    /// Drops all versions that neither a snapshot nor a reader at `number` or later needs. See
    /// [`VersionedIndex::prune`], which uses the number of the newest commit.
    ///
    /// # Errors
    /// Those of [`VersionedIndex::prune`].
    pub fn prune_before(&self, number: u64) -> Result<Pruned> {
        let mut pruned = Pruned::default();
        loop {
            let before = pruned;
            match self.prune_all(number, &mut pruned) {
                // The memory of dropped versions may be enough for those that are left.
                Err(_) if pruned != before => {}
                result => return result.map(|()| pruned),
            }
        }
    }

    /// Drops versions of all keys.
    ///
    /// # Errors
    /// Memory for some keys' shorter chains was refused; those of the others are dropped.
    fn prune_all(&self, number: u64, pruned: &mut Pruned) -> Result<()> {
        let (mut result, mut last) = (Ok(()), None);
        loop {
            let _held = self.clock.hold();
            // Snapshots that begin from here on read at the floor or later.
            let (floor, readers) = self.clock.readers.raise(number);
            let from = last.as_ref().map_or(Unbounded, |last: &K| Excluded(last.probe()));
            let (mut shorter, mut shown, mut next) = (Vec::new(), 0, None);
            let seen = self.index.scan((from, Unbounded), |key, version| {
                shown += 1;
                let is_last = shown == TOGETHER;
                next = is_last.then(|| K::own(key.probe()));
                if !version.is_alone() {
                    let (chain, dropped) = version.pruned(&readers, floor);
                    if dropped > 0 {
                        shorter.push((key, chain, dropped));
                    }
                }
                if is_last { Break(()) } else { Continue(()) }
            });
            // No commit is under way, so the chains that were seen are still the keys'.
            for (key, chain, dropped) in shorter {
                result = result.and(self.shorten(&key, chain, dropped, pruned));
            }
            if seen.is_continue() {
                return result;
            }
            last = next;
        }
    }

    /// Replaces the versions of a key by those that are needed, or removes the key if none is.
    fn shorten(&self, key: &K, chain: Option<Version<V>>, dropped: usize, pruned: &mut Pruned) -> Result<()> {
        match chain {
            Some(chain) => drop(self.index.insert(key.probe(), chain)?),
            None => {
                self.index.remove(key.probe());
                pruned.keys += 1;
            }
        }
        pruned.versions += dropped;
        Ok(())
    }
}
