//! The file that has the rows of a saved index: its state then, and its present path.
//!
//! A file is recognized by its size, and by its time of change or its bytes. So a file that was copied or
//! touched is read once to be recognized again, and an unchanged one isn't read at all. It is looked for at
//! its old path, and then at the same path relative to the index. So a folder with both in it may be moved.

use crate::rows::error::QueryError;
use crate::rows::source;
use crc32fast::Hasher;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

const FILE: &str = "query.file";
const FROM_INDEX: &str = "query.file_from_index";
const BYTES: &str = "query.bytes";
const MODIFIED: &str = "query.modified_ns";
const CHECKSUM: &str = "query.checksum";

/// The properties that need no read of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct About {
    bytes: u64,
    modified_ns: u128,
}

impl About {
    fn of(file: &Path) -> io::Result<Self> {
        let about = fs::metadata(file)?;
        let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Self { bytes: about.len(), modified_ns: modified.map_or(0, |since| since.as_nanos()) })
    }
}

/// A file, as it was when it was read.
#[derive(Debug, Clone)]
pub struct Origin {
    file: PathBuf,
    /// The way to it from the index's folder.
    from_index: Option<PathBuf>,
    about: About,
    /// Of its bytes without a byte order mark.
    checksum: u32,
}

impl Origin {
    /// The file as it is now, before it is read, for an index that is saved in `index`.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`].
    pub fn of(file: &Path, index: &Path) -> Result<Self, QueryError> {
        let about = std::path::absolute(file).and_then(|absolute| Ok((About::of(&absolute)?, absolute)));
        let (about, absolute) =
            about.map_err(|cause| QueryError::Unreadable { file: source::name(file), cause })?;
        let from_index = way(index, &absolute).filter(|way| way.to_str().is_some());
        Ok(Self { file: absolute, from_index, about, checksum: 0 })
    }

    /// Its name.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// How long it is, in bytes.
    pub fn bytes(&self) -> u64 {
        self.about.bytes
    }

    /// Takes the checksum of its text, unless the file has changed since it was read.
    pub fn read_as(&mut self, text: &str) -> bool {
        self.checksum = crc32fast::hash(text.as_bytes());
        About::of(&self.file).is_ok_and(|now| now == self.about)
    }

    /// The metadata of an index about it.
    pub fn metadata(&self) -> [(&'static str, String); 5] {
        let text = |path: Option<&Path>| path.and_then(Path::to_str).unwrap_or_default().to_owned();
        [
            (FILE, text(Some(&self.file))),
            (FROM_INDEX, text(self.from_index.as_deref())),
            (BYTES, self.about.bytes.to_string()),
            (MODIFIED, self.about.modified_ns.to_string()),
            (CHECKSUM, self.checksum.to_string()),
        ]
    }

    /// Whether there is one in an index's metadata, which `text` looks up.
    pub fn is_in<'t>(text: impl Fn(&str) -> Option<&'t str>) -> bool {
        text(FILE).is_some()
    }

    /// The origin in the metadata; `None` if that is malformed.
    pub fn from<'t>(text: impl Fn(&str) -> Option<&'t str>) -> Option<Self> {
        let way = Some(text(FROM_INDEX)?).filter(|way| !way.is_empty());
        Some(Self {
            file: text(FILE)?.into(),
            from_index: way.map(PathBuf::from),
            about: About { bytes: text(BYTES)?.parse().ok()?, modified_ns: text(MODIFIED)?.parse().ok()? },
            checksum: text(CHECKSUM)?.parse().ok()?,
        })
    }

    /// Where the file is now. `index`: the file with the index.
    ///
    /// # Errors
    /// [`QueryError::Changed`] if other files are at its places, [`QueryError::Unreadable`] if none is.
    pub fn find(&self, index: &Path) -> Result<PathBuf, QueryError> {
        let moved = self.from_index.as_ref().map(|way| index.parent().unwrap_or(Path::new("")).join(way));
        let mut refused = None;
        for place in [Some(self.file.clone()), moved].into_iter().flatten() {
            match self.is_at(&place) {
                Ok(true) => return Ok(place),
                Ok(false) => {
                    let (file, index) = (place.display().to_string(), source::name(index));
                    refused = Some(QueryError::Changed { file, index });
                }
                Err(cause) => {
                    // Another file at that path is a more useful finding than a missing one.
                    if refused.is_none() || cause.kind() != ErrorKind::NotFound {
                        let file = place.display().to_string();
                        refused = Some(QueryError::Unreadable { file, cause });
                    }
                }
            }
        }
        Err(refused.unwrap_or_else(|| unreachable!("one place at the least was looked at")))
    }

    /// Whether it is the file at this place.
    fn is_at(&self, place: &Path) -> io::Result<bool> {
        let now = About::of(place)?;
        if now.bytes != self.about.bytes {
            return Ok(false);
        }
        Ok(now == self.about || checksum_of(place)? == self.checksum)
    }
}

/// The checksum of a file's bytes without a byte order mark.
fn checksum_of(file: &Path) -> io::Result<u32> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let (mut from, mut checksum, mut bytes) = (File::open(file)?, Hasher::new(), Vec::new());
    let mut at_start = true;
    while from.by_ref().take(1 << 20).read_to_end(&mut bytes)? > 0 {
        let mut rest = &bytes[..];
        while let Some(after) = rest.strip_prefix(MARK).filter(|_| at_start) {
            rest = after;
        }
        at_start = false;
        checksum.update(rest);
        bytes.clear();
    }
    Ok(checksum.finalize())
}

/// The way from the folder of one file to another one, where there is one.
fn way(from: &Path, to: &Path) -> Option<PathBuf> {
    let from = std::path::absolute(from).ok()?;
    let folder: Vec<Component> = from.parent()?.components().collect();
    let to: Vec<Component> = to.components().collect();
    let shared = folder.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if shared == 0 || folder[shared..].contains(&Component::ParentDir) {
        return None;
    }
    let up = folder[shared..].iter().map(|_| Component::ParentDir);
    Some(up.chain(to[shared..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_go_up_and_down() {
        for (from, to, expected) in [
            ("/a/b/index", "/a/b/rows", Some("rows")),
            ("/a/b/index", "/a/c/d/rows", Some("../c/d/rows")),
            ("/a/b/c/index", "/rows", Some("../../../rows")),
            ("/a/../b/index", "/a/rows", None),
        ] {
            assert_eq!(
                way(Path::new(from), Path::new(to)).as_deref(),
                expected.map(Path::new),
                "{from} {to}"
            );
        }
    }

    #[test]
    fn checksums_are_those_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows");
        let long = "é".repeat(1 << 20);
        for text in ["", "a,b\n1,2\n", &long] {
            for marks in ["", "\u{feff}", "\u{feff}\u{feff}"] {
                fs::write(&file, format!("{marks}{text}")).unwrap();
                assert_eq!(checksum_of(&file).unwrap(), crc32fast::hash(text.as_bytes()));
            }
        }
    }
}
