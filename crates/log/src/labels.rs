//! What the snapshots of byte strings say about them.

use latchless::Index;
use latchless::bytes::KeyInBytes;
use latchless::snapshot::strings::Layout;
use latchless::snapshot::{self, SavedValue};
use std::io::Write;

/// Names and texts in the snapshots of an index of byte strings: the types that the bytes have for a program,
/// say. `()` has none. For numbers see [`Columns::metadata`](crate::Columns::metadata).
///
/// ```
/// use latchless::Index;
/// use latchless_log::{Found, Labels, Opening};
///
/// struct Of(&'static str);
///
/// impl Labels for Of {
///     fn metadata(&self) -> Vec<(String, String)> {
///         vec![("of".to_string(), self.0.to_string())]
///     }
/// }
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-labels-{}", std::process::id()));
/// let index = Index::<Vec<u8>, u64>::new()?;
/// let (pages, _) = Found::open(&folder)?.recover(index, Of("pages"), Opening::default())?;
/// pages.insert(b"/about", 7)?;
/// drop(pages);
///
/// let found = Found::open(&folder)?;
/// assert_eq!(found.metadata()[0].1, "pages");
/// let (pages, _) = found.recover(Index::<Vec<u8>, u64>::new()?, Of("pages"), Opening::default())?;
/// assert_eq!(pages.get(b"/about"), Some(7));
/// # drop(pages);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Labels: Send + Sync + 'static {
    /// Entries of the metadata of each snapshot. A folder has them in [`Found::metadata`](crate::Found::metadata).
    fn metadata(&self) -> Vec<(String, String)>;
}

impl Labels for () {
    fn metadata(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Writes a snapshot, and returns how many entries it has.
pub fn write<K: KeyInBytes<V>, V: SavedValue>(
    index: &Index<K, V>,
    labels: &impl Labels,
    out: &mut dyn Write,
) -> snapshot::Result<u64> {
    let layout = labels
        .metadata()
        .into_iter()
        .fold(Layout::of_values::<V>(), |layout, (name, text)| layout.with_metadata(name, text));
    layout.write_index(index, out)
}
