//! Which changes were refused, and why.

use latchless_core::base::error::{Error, Result};

/// The reason why [`Index::try_insert`](crate::Index::try_insert) didn't insert. It returns the value that
/// wasn't inserted; `?` converts it to an [`Error`].
///
/// ```
/// # let index = latchless::Index::<u64, u32>::new()?;
/// fn register(index: &latchless::Index<u64, u32>, id: u64) -> latchless::Result<()> {
///     index.try_insert(id, 1)?;
///     Ok(())
/// }
/// assert_eq!(register(&index, 7), Ok(()));
/// assert_eq!(register(&index, 7), Err(latchless::Error::KeyPresent));
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TryInsertError<V, R = V> {
    /// The key is present already.
    #[error("the key is there already")]
    Present {
        /// The key's value.
        present: V,
        /// The value that wasn't inserted; `()` where that was dropped.
        value: R,
    },
    /// Memory was refused.
    #[error("{error}")]
    Refused {
        /// The reason.
        #[source]
        error: Error,
        /// The value that wasn't inserted; `()` where that was dropped.
        value: R,
    },
}

impl<V, R> TryInsertError<V, R> {
    /// Returns the value that wasn't inserted.
    pub fn into_value(self) -> R {
        match self {
            Self::Present { value, .. } | Self::Refused { value, .. } => value,
        }
    }
}

impl<V, R> From<TryInsertError<V, R>> for Error {
    fn from(refused: TryInsertError<V, R>) -> Self {
        match refused {
            TryInsertError::Present { .. } => Self::KeyPresent,
            TryInsertError::Refused { error, .. } => error,
        }
    }
}

/// A batch of inserts of which some were refused. All others were done, and their answers are valid.
///
/// ```
/// use latchless::index::Options;
/// use latchless::{Error, Index};
///
/// let options = Options { limit_bytes: Some(64 << 10), ..Options::default() };
/// let index = Index::<u64, u64>::with_options(options)?;
/// let entries: Vec<(u64, u64)> = (0..100_000).map(|key| (key, key)).collect();
/// let mut replaced = vec![None; entries.len()];
/// let incomplete = index.insert_many(&entries, &mut replaced).unwrap_err();
/// assert!(matches!(incomplete.error, Error::MemoryLimit { .. }));
/// assert_eq!(index.len(), entries.len() - incomplete.refused.len());
/// assert!(incomplete.refused.iter().all(|&position| !index.contains_key(entries[position].0)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} inserts of a batch were refused; the first because {error}", refused.len())]
pub struct Incomplete {
    /// The error of the first insert that was refused.
    pub error: Error,
    /// The positions in the batch of the refused inserts, ascending.
    pub refused: Vec<usize>,
}

impl Incomplete {
    /// Returns the refused inserts, if there are any, with their positions in order; otherwise `done`.
    pub(crate) fn or<T>(incomplete: Option<Self>, done: T) -> Result<T, Self> {
        let Some(mut incomplete) = incomplete else { return Ok(done) };
        incomplete.refused.sort_unstable();
        Err(incomplete)
    }

    /// Adds a refused insert.
    #[cold]
    pub(crate) fn add(so_far: &mut Option<Self>, position: usize, error: Error) {
        so_far.get_or_insert_with(|| Self { error, refused: Vec::new() }).refused.push(position);
    }
}

impl From<Incomplete> for Error {
    fn from(incomplete: Incomplete) -> Self {
        incomplete.error
    }
}
