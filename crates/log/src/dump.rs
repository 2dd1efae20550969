//! The records of a log as texts, whatever its index is.

use crate::commits::{Changes, RawChange};
use crate::disk::System;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::pairs::ROW;
use crate::record::{Header, Kind};
use crate::replay::Base;
use crate::scan::Scan;
use crate::strings_of::{StringsOf, range_of_strings};
use crate::text;
use latchless::snapshot::DataType;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;

/// A change of a record, with keys and values as texts: numbers as such, strings with the escapes of Rust's,
/// and bytes that are no text as `0x…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DumpedChange {
    /// A key has a value, or, in an index of rows, one more row.
    Put {
        /// The key.
        key: String,
        /// The value or the row.
        value: String,
    },
    /// A key isn't there any more.
    Remove {
        /// The key.
        key: String,
        /// In an index of rows the row, unless all rows of the key are gone.
        row: Option<String>,
    },
    /// No key of a range is there any more.
    RemoveRange {
        /// The lower end.
        low: Bound<String>,
        /// The upper end.
        high: Bound<String>,
    },
}

/// A record of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpedRecord {
    /// Its number; of a versioned index, that of the commit.
    pub number: u64,
    /// The byte of its log at which it begins.
    pub at: u64,
    /// Its changes, in order.
    pub changes: Vec<DumpedChange>,
}

/// Shows `see` the records of a folder's logs since its newest snapshot, from the number `from` on, until it
/// breaks. Nothing is locked or changed. An unfinished record at the end isn't shown.
///
/// # Errors
/// [`Error::Missing`] if there is no log; [`Error::Damaged`], after the records before it; [`Error::Io`].
///
/// ```
/// use latchless_log::{DurableIndex, DumpedChange, Options, dump};
/// use std::ops::ControlFlow;
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-dump-{}", std::process::id()));
/// let (prices, _) = DurableIndex::<u64, f64>::open(&folder, Options::default())?;
/// prices.insert(101, 7.5)?;
/// prices.remove(101)?;
/// let mut changes = Vec::new();
/// dump(&folder, 1, |record| {
///     changes.extend(record.changes.clone());
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(changes[0], DumpedChange::Put { key: "101".into(), value: "7.5".into() });
/// assert_eq!(changes[1], DumpedChange::Remove { key: "101".into(), row: None });
/// # drop(prices);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dump(
    folder: impl AsRef<Path>,
    from: u64,
    mut see: impl FnMut(&DumpedRecord) -> ControlFlow<()>,
) -> Result<()> {
    let folder = Folder::unlocked(Arc::new(System), folder.as_ref());
    let contents = folder.contents()?;
    let first = contents.snapshots.last().copied();
    // A damaged snapshot is no reason not to show the log.
    let base = first.and_then(|number| Base::open(&folder, number).ok());
    let logs: Vec<u64> = contents.logs.into_iter().filter(|&number| number >= first.unwrap_or(1)).collect();
    if logs.is_empty() {
        return Err(Error::Missing { path: folder.log(first.unwrap_or(1)) });
    }
    let mut logs = logs.into_iter().peekable();
    while let Some(number) = logs.next() {
        let path = folder.log(number);
        let Some(mut log) = Scan::open(folder.disk(), &path, number)? else { continue };
        let next = logs.peek().map(|&number| Scan::open(folder.disk(), &folder.log(number), number));
        let until = next.transpose()?.flatten().map(|next| next.follows);
        let shown = Shown { types: log.types, key: base.as_ref().map_or("", Base::key_name) };
        while until.is_none_or(|until| log.last < until) {
            let at = log.at;
            let entry = match log.next()? {
                Ok(Some(entry)) => entry,
                Ok(None) if until.is_none() => break,
                Err(what) if until.is_some() => return Err(log.damaged(what)?),
                Ok(None) => return Err(log.damaged("it ends before the record that the next log follows")?),
                Err(what) => return log.refuse_damage(what),
            };
            let Some(record) = entry.record.filter(|record| record.number >= from) else { continue };
            let damaged = |what| Error::Damaged { path: path.clone(), at, what, whole: 0 };
            let changes = shown.changes(record, &log.payload).map_err(damaged)?;
            if see(&DumpedRecord { number: record.number, at, changes }).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// How keys and values are shown.
struct Shown<'a> {
    types: [DataType; 2],
    /// The name of the type of keys that are bytes.
    key: &'a str,
}

impl Shown<'_> {
    /// The changes of a record; the error describes the damage.
    fn changes(&self, record: Header, payload: &[u8]) -> Result<Vec<DumpedChange>, &'static str> {
        let [key_type, value_type] = self.types;
        let strings = |value: Option<DataType>| StringsOf::new(record, payload, value);
        match record.kind {
            Kind::Put | Kind::Remove => {
                let (keys, values) = payload.split_at(record.count * key_type.width_bytes());
                let keys = keys.chunks_exact(key_type.width_bytes()).map(|key| text::of_cell(key, key_type));
                if record.kind == Kind::Remove {
                    return Ok(keys.map(|key| DumpedChange::Remove { key, row: None }).collect());
                }
                let values = values.chunks_exact(value_type.width_bytes());
                let values = values.map(|value| text::of_cell(value, value_type));
                Ok(keys.zip(values).map(|(key, value)| DumpedChange::Put { key, value }).collect())
            }
            Kind::RemoveRange => {
                let end = |kind: u8, at: usize| match kind {
                    0 => Bound::Unbounded,
                    1 => Bound::Included(text::of_cell(&payload[at..at + key_type.width_bytes()], key_type)),
                    _ => Bound::Excluded(text::of_cell(&payload[at..at + key_type.width_bytes()], key_type)),
                };
                Ok(vec![DumpedChange::RemoveRange { low: end(payload[0], 8), high: end(payload[1], 16) }])
            }
            Kind::PutStrings => {
                let put = |(key, value)| DumpedChange::Put {
                    key: self.key(key),
                    value: text::of_cell(value, value_type),
                };
                strings(Some(value_type)).map(|entry| entry.map(put)).collect()
            }
            Kind::RemoveStrings => {
                let remove = |(key, _)| DumpedChange::Remove { key: self.key(key), row: None };
                strings(None).map(|entry| entry.map(remove)).collect()
            }
            Kind::RemoveRows => {
                let remove = |(key, row)| DumpedChange::Remove {
                    key: self.key(key),
                    row: Some(text::of_cell(row, ROW)),
                };
                strings(Some(ROW)).map(|entry| entry.map(remove)).collect()
            }
            Kind::RemoveRangeOfStrings => {
                range_of_strings(record, payload).map(|ends| vec![self.range(ends)])
            }
            Kind::Commit => Changes::new(record, payload, value_type)
                .map(|change| {
                    Ok(match change? {
                        RawChange::Put(key, value) => {
                            DumpedChange::Put { key: self.key(key), value: text::of_cell(value, value_type) }
                        }
                        RawChange::Remove(key) => DumpedChange::Remove { key: self.key(key), row: None },
                        RawChange::RemoveRange(ends) => self.range(ends),
                    })
                })
                .collect(),
        }
    }

    fn range(&self, ends: [Bound<&[u8]>; 2]) -> DumpedChange {
        let [low, high] = ends.map(|end| end.map(|key| self.key(key)));
        DumpedChange::RemoveRange { low, high }
    }

    fn key(&self, key: &[u8]) -> String {
        text::of_key_bytes(key, self.key, self.types[0])
    }
}
