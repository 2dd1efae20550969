//! Filling an empty index from sorted entries.

use super::{Boxed, HandleIndex, KeyForm};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Creates an index from strictly ascending entries. O(n), and much faster than inserting them.
    ///
    /// # Errors
    /// [`Error::Unsorted`] and [`Error::DuplicateKey`] name the first position at fault; or memory was
    /// refused, or a byte string is too long. The entries are then dropped.
    ///
    /// ```
    /// use latchless::{BoxedIndex, Error, FillFactor};
    /// let names = BoxedIndex::from_sorted([(3u64, "three"), (5, "five")], FillFactor::FULL)?;
    /// assert_eq!(names.get(5, &names.pin()), Some(&"five"));
    /// let twice = BoxedIndex::from_sorted([(3u64, "three"), (3, "III")], FillFactor::FULL);
    /// assert_eq!(twice.err(), Some(Error::DuplicateKey { position: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_sorted<Q>(entries: impl IntoIterator<Item = (Q, T)>, fill: FillFactor) -> Result<Self>
    where
        I: KeyForm<Q>,
    {
        let mut index = Self::new()?;
        index.bulk_load(entries, fill)?;
        Ok(index)
    }

    /// Fills an empty index from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// Those of [`Boxed::from_sorted`], and [`Error::NotEmpty`]. The index is then unchanged.
    ///
    /// ```
    /// # use latchless::{BoxedIndex, FillFactor};
    /// let mut names = BoxedIndex::<u64, String>::new()?;
    /// names.bulk_load([(3, "three".to_owned()), (5, "five".to_owned())], FillFactor::new(0.8)?)?;
    /// assert_eq!(names.len(), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn bulk_load<Q>(&mut self, entries: impl IntoIterator<Item = (Q, T)>, fill: FillFactor) -> Result<()>
    where
        I: KeyForm<Q>,
    {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        // The caller's iterator runs before anything is inserted.
        let entries: Vec<(Q, T)> = entries.into_iter().collect();
        let mut handles = Vec::with_capacity(entries.len());
        let mut loaded = Ok(());
        for (key, value) in entries {
            match self.put(value) {
                Ok(handle) => handles.push((key, handle)),
                Err(error) => {
                    loaded = Err(error);
                    break;
                }
            }
        }
        loaded = loaded.and_then(|()| self.index.load(&handles, fill));
        if loaded.is_err() {
            handles.into_iter().for_each(|(_, handle)| drop(self.slots.take(handle)));
            // Their slots' memory is available for nodes, too.
            self.slots.flush();
        }
        loaded
    }
}
