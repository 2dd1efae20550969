//! Snapshots of an index of either kind of keys, by one name.

use super::data_type::Native;
use super::error::Result;
use super::saved_value::SavedValue;
use super::strings;
use crate::bytes::{ByteStrings, KeyInBytes};
use crate::frozen::Reader;
use crate::index::Index;
use crate::index::engine::{Engine, KeyFor, Words};
use latchless_core::base::index_value::IndexValue;
use std::io::Write;
use std::path::Path;

/// An engine whose entries a snapshot file has as they are: words that are [`Native`], and byte strings
/// with a [`SavedValue`]. Sealed.
pub trait Saved<K: KeyFor<V>, V: IndexValue>: Engine<K, V> {
    #[doc(hidden)]
    fn save(index: &Index<K, V>, path: &Path) -> Result<u64>;

    #[doc(hidden)]
    fn write(index: &Index<K, V>, out: &mut dyn Write) -> Result<u64>;
}

impl<K: Native, V: Native> Saved<K, V> for Words<K, V> {
    fn save(index: &Index<K, V>, path: &Path) -> Result<u64> {
        super::save(index, path)
    }

    fn write(index: &Index<K, V>, out: &mut dyn Write) -> Result<u64> {
        super::write(index, out)
    }
}

impl<K: KeyInBytes<V>, V: SavedValue> Saved<K, V> for ByteStrings<K, V> {
    fn save(index: &Index<K, V>, path: &Path) -> Result<u64> {
        strings::save(index, path)
    }

    fn write(index: &Index<K, V>, out: &mut dyn Write) -> Result<u64> {
        strings::write(index, out)
    }
}

impl<K: KeyFor<V, Engine: Saved<K, V>>, V: IndexValue> Reader<Index<K, V>> {
    /// Saves a snapshot as a file that [`snapshot::open`](super::open) opens; or, if keys or values fit no
    /// word, [`strings::open`].
    ///
    /// # Errors
    /// Those of [`snapshot::save`](super::save).
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("latchless-frozen-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use latchless::{Index, snapshot};
    ///
    /// let prices = Index::<u64, f64>::from([(99, 5.0), (101, 7.5)]).freeze()?;
    /// assert_eq!(prices.save(folder.join("prices.arrow"))?, 2);
    /// assert_eq!(snapshot::open::<u64, f64>(folder.join("prices.arrow"))?.get(101), Some(7.5));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64> {
        K::Engine::save(&self.0, path.as_ref())
    }

    /// Writes a snapshot to a writer.
    ///
    /// # Errors
    /// Those of [`snapshot::write`](super::write()).
    pub fn write(&self, mut out: impl Write) -> Result<u64> {
        K::Engine::write(&self.0, &mut out)
    }
}
