//! What an index of versions does for its users.

use super::keys::Key;
use latchless::{IndexKey, Result};

/// Entries of a range.
pub const RANGE: usize = 48;
/// Requests of a batch.
pub const BATCH: usize = 1024;
/// Changes that become visible together.
pub const COMMIT: usize = 16;

/// How the entries of a range are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// By an iterator.
    Iterator,
    /// Lent to a closure, if the index has that; otherwise by its iterator, which lends them.
    Lent,
}

/// Requests of one batch: keys, and the same in borrowed form.
pub struct Batch<'b, 'k, K: IndexKey> {
    #[cfg_attr(
        not(any(test, feature = "versions")),
        expect(dead_code, reason = "the indexes of this workspace take them in borrowed form")
    )]
    pub keys: &'b [K],
    pub probes: &'b [K::Probe<'k>],
}

/// Values that were found, added up in their order, so that all subjects can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digest(u64);

impl Digest {
    pub fn add(&mut self, found: Option<u64>) {
        self.0 =
            self.0.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ found.map_or(1, |value| value + 2);
    }
}

/// An index, called as its users call it for the same result: with no search that its interface saves.
///
/// A write has the next number, beginning with 1, in an index that numbers its commits as well as in one
/// whose user does. Operations that an index doesn't have return `None` or `false`.
pub trait Subject<K: Key>: Sized + Sync {
    const NAME: &'static str;
    /// Whether it has to be compared with, rather than being one of ours.
    const IS_RIVAL: bool = false;

    /// A moment that can be read as long as it exists: a snapshot, or a number.
    type Moment: Sync;

    /// Creates an empty index.
    fn create() -> Result<Self>;
    /// Inserts an entry, as the newest version of its key.
    fn insert(&self, key: &K, value: u64) -> Result<()>;
    /// Inserts entries that become visible together.
    fn insert_together(&self, entries: &[(&K, u64)]) -> Result<bool>;
    /// Inserts an entry after which no reader needs the version before it, which goes at once.
    fn overwrite(&self, key: &K, value: u64) -> Result<bool>;

    /// Returns the newest moment, if older ones are readable at all.
    fn moment(&self) -> Option<Self::Moment>;
    /// Takes a snapshot and ends it.
    fn snapshot(&self) -> bool {
        false
    }
    /// Drops the versions that no reader at this moment or later needs, and returns their number.
    fn prune(&self, oldest: &Self::Moment) -> Result<Option<usize>>;

    fn get(&self, key: &K) -> Option<u64>;
    fn get_at(&self, key: &K, moment: &Self::Moment) -> Option<u64>;
    /// Looks up a batch at a moment, or the newest values where there are no moments, and adds the answers to
    /// a digest.
    fn get_many(
        &self,
        batch: &Batch<'_, '_, K>,
        moment: Option<&Self::Moment>,
        digest: &mut Digest,
    ) -> Result<()>;
    /// Adds the first [`RANGE`] values from a key on to a digest: at a moment, or the newest values where
    /// there are no moments.
    fn range(&self, low: &K, moment: Option<&Self::Moment>, form: Form, digest: &mut Digest);

    /// Returns the bytes that it has from the system, beside those on the heap.
    fn bytes_beside_heap(&self) -> usize {
        0
    }
}
