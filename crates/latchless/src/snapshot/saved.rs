//! Snapshots of an index of either kind of keys, by one name.

use super::data_type::Native;
use super::directory::lane_of;
use super::error::{Error, Result};
use super::rows::{GROUP, Past, Rows};
use super::saved_value::SavedValue;
use super::strings;
use crate::bytes::{ByteStrings, KeyInBytes};
use crate::frozen::Reader;
use crate::index::Index;
use crate::index::engine::{Engine, KeyFor, Words};
use latchless_core::base::bytes_key::BytesKey;
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

    /// Refuses a file with other types.
    #[doc(hidden)]
    fn check(rows: &Rows) -> Result<()>;

    /// How many rows are before the place of a key.
    #[doc(hidden)]
    fn find(rows: &Rows, key: K::Probe<'_>, past: Past) -> usize;

    /// Whether a row has this key.
    #[doc(hidden)]
    fn is_at(rows: &Rows, at: usize, key: K::Probe<'_>) -> bool;

    /// The key of a row that there is.
    #[doc(hidden)]
    fn key(rows: &Rows, at: usize) -> Result<K>;

    /// The value of a row that there is.
    #[doc(hidden)]
    fn value(rows: &Rows, at: usize) -> Result<V>;

    /// Looks up as many keys as there are answers.
    #[doc(hidden)]
    fn get_many(rows: &Rows, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        for (&key, answer) in keys.iter().zip(answers) {
            let at = Self::find(rows, key, Past::Smaller);
            *answer = if Self::is_at(rows, at, key) { Some(Self::value(rows, at)?) } else { None };
        }
        Ok(())
    }
}

impl<K: Native, V: Native> Saved<K, V> for Words<K, V> {
    fn save(index: &Index<K, V>, path: &Path) -> Result<u64> {
        super::save(index, path)
    }

    fn write(index: &Index<K, V>, out: &mut dyn Write) -> Result<u64> {
        super::write(index, out)
    }

    fn check(rows: &Rows) -> Result<()> {
        rows.parsed().check_numbers::<K, V>()
    }

    #[inline]
    fn find(rows: &Rows, key: K, past: Past) -> usize {
        rows.find_number::<K>(lane_of(key), past)
    }

    #[inline]
    fn is_at(rows: &Rows, at: usize, key: K) -> bool {
        at < rows.len() && lane_of(rows.number::<K>(0, at)) == lane_of(key)
    }

    #[inline]
    fn key(rows: &Rows, at: usize) -> Result<K> {
        Ok(rows.number(0, at))
    }

    #[inline]
    fn value(rows: &Rows, at: usize) -> Result<V> {
        Ok(rows.number(1, at))
    }

    fn get_many(rows: &Rows, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        let (mut lanes, mut places) = ([0; GROUP], [0; GROUP]);
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            let (lanes, places) = (&mut lanes[..keys.len()], &mut places[..keys.len()]);
            lanes.iter_mut().zip(keys).for_each(|(lane, &key)| *lane = lane_of(key));
            rows.find_numbers::<K>(lanes, Past::Smaller, places);
            places.iter().for_each(|&at| rows.prefetch(1, at));
            for ((&key, &at), answer) in keys.iter().zip(&*places).zip(answers) {
                *answer = Self::is_at(rows, at, key).then(|| rows.number(1, at));
            }
        }
        Ok(())
    }
}

impl<K: KeyInBytes<V>, V: SavedValue> Saved<K, V> for ByteStrings<K, V> {
    fn save(index: &Index<K, V>, path: &Path) -> Result<u64> {
        strings::save(index, path)
    }

    fn write(index: &Index<K, V>, out: &mut dyn Write) -> Result<u64> {
        strings::write(index, out)
    }

    fn check(rows: &Rows) -> Result<()> {
        let found = rows.key_type();
        if !found.is_string() {
            return Err(Error::OtherKeys { found, opener: "an index of numbers" });
        }
        rows.parsed().check_key_name::<K>()?;
        rows.parsed().check_values::<V>()
    }

    fn find(rows: &Rows, key: K::Probe<'_>, past: Past) -> usize {
        key.with_bytes(|key| rows.find_string(key, past))
    }

    fn is_at(rows: &Rows, at: usize, key: K::Probe<'_>) -> bool {
        key.with_bytes(|key| rows.cell(0, at) == Some(key))
    }

    fn key(rows: &Rows, at: usize) -> Result<K> {
        match rows.cell(0, at) {
            Some(key) if K::is_key(key) => Ok(K::from_bytes(key)),
            _ => Err(Error::NoKey { row: at, key_type: K::type_name().into() }),
        }
    }

    fn value(rows: &Rows, at: usize) -> Result<V> {
        let value = rows.cell(1, at).and_then(V::of_cell);
        value.ok_or_else(|| Error::NoValue { row: at, value_type: V::type_name().into() })
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
