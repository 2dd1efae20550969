//! The commits of a versioned index or of a table: as records, and recovery from these. Each commit is one
//! record, whose number is the commit's; a snapshot has the entries of one commit, and its number.

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::pending::is_full;
use crate::record::{COMMIT_BYTES_MAX, Draft, Header, Kind, check_length};
use crate::replay::{Base, Target};
use crate::strings::{NO_VALUE, key_of};
use crate::strings_of::StringsOf;
use latchless::BytesKey;
use latchless::snapshot::strings::{Layout, Snapshot};
use latchless::snapshot::{self, DataType, SavedRow, strings};
use latchless::versions;
use std::borrow::Borrow;
use std::io::Write;
use std::ops::Bound;

/// The name of a snapshot's metadata that has the number of its commit.
pub const COMMIT: &str = "commit";

/// A change of a commit.
pub enum Change<'c, K, V> {
    /// The key has this value, or none.
    Put(&'c K, Option<&'c V>),
    RemoveRange(Bound<&'c K>, Bound<&'c K>),
}

impl<'c, K, V> From<&'c versions::Change<K, V>> for Change<'c, K, V> {
    fn from(change: &'c versions::Change<K, V>) -> Self {
        match change {
            versions::Change::Put(key, value) => Self::Put(key, value.as_ref()),
            versions::Change::RemoveRange(low, high) => Self::RemoveRange(low.as_ref(), high.as_ref()),
        }
    }
}

/// What each change of a record begins with.
const PUT: u8 = 1;
const REMOVE: u8 = 2;
const REMOVE_RANGE: u8 = 3;

fn push_key<K: BytesKey>(draft: &mut Draft, key: &K) -> latchless::Result<()> {
    K::with_bytes(key, |key| {
        check_length(key)?;
        draft.push(key);
        Ok(())
    })
}

/// Adds a value: as many bytes as its column is wide, or a length of four bytes and those of a string.
fn push_value<V: SavedRow>(draft: &mut Draft, value: &V, journal: &Journal) -> Result<()> {
    value.with_cell(|cell| match V::COLUMN.width_bytes() {
        0 if cell.len() > COMMIT_BYTES_MAX => Err(Error::CommitTooLong { limit: COMMIT_BYTES_MAX }),
        0 => {
            draft.push_raw(&(cell.len() as u32).to_le_bytes());
            draft.push_raw(cell);
            Ok(())
        }
        width if cell.len() != width => {
            Err(journal.refuse(snapshot::Error::NoCell { bytes: cell.len(), asked: V::COLUMN }))
        }
        _ => {
            draft.push_raw(cell);
            Ok(())
        }
    })
}

fn push_change<K: BytesKey, V: SavedRow>(
    draft: &mut Draft,
    change: Change<'_, K, V>,
    journal: &Journal,
) -> Result<()> {
    match change {
        Change::Put(key, Some(value)) => {
            draft.push_raw(&[PUT]);
            push_key(draft, key)?;
            push_value(draft, value, journal)?;
        }
        Change::Put(key, None) => {
            draft.push_raw(&[REMOVE]);
            push_key(draft, key)?;
        }
        Change::RemoveRange(low, high) => {
            draft.push_raw(&[REMOVE_RANGE]);
            let ends = [low, high].map(|end| end.map(|key| K::with_bytes(key, <[u8]>::to_vec)));
            for end in &ends {
                if let Bound::Included(key) | Bound::Excluded(key) = end {
                    check_length(key)?;
                }
            }
            draft.push_range(ends.each_ref().map(|end| end.as_ref().map(Vec::as_slice)));
        }
    }
    Ok(())
}

/// The record of a commit of these changes.
pub fn draft<'c, K: BytesKey + 'c, V: SavedRow + 'c>(
    changes: impl IntoIterator<Item = Change<'c, K, V>>,
    journal: &Journal,
) -> Result<Draft> {
    let mut draft = Draft::of_strings(Kind::Commit);
    for change in changes {
        push_change(&mut draft, change, journal)?;
        if draft.payload_bytes() > COMMIT_BYTES_MAX {
            return Err(Error::CommitTooLong { limit: COMMIT_BYTES_MAX });
        }
    }
    Ok(draft.seal())
}

/// A change as a record has it.
pub enum RawChange<'p> {
    Put(&'p [u8], &'p [u8]),
    Remove(&'p [u8]),
    RemoveRange([Bound<&'p [u8]>; 2]),
}

/// The changes of a record, or the damage.
pub struct Changes<'p> {
    rest: StringsOf<'p>,
    value: DataType,
    is_done: bool,
}

impl<'p> Changes<'p> {
    /// With values of this type.
    pub fn new(header: Header, payload: &'p [u8], value: DataType) -> Self {
        Self { rest: StringsOf::new(header, payload, None), value, is_done: false }
    }

    fn change(&mut self, kind: u8) -> Result<RawChange<'p>, &'static str> {
        const TOO_SHORT: &str = "its changes are longer than the record";
        match kind {
            PUT => {
                let key = self.rest.string().ok_or(TOO_SHORT)?;
                let width = match self.value.width_bytes() {
                    0 => {
                        let length = self.rest.bytes(4).and_then(|bytes| bytes.try_into().ok());
                        u32::from_le_bytes(length.ok_or(TOO_SHORT)?) as usize
                    }
                    width => width,
                };
                Ok(RawChange::Put(key, self.rest.bytes(width).ok_or(TOO_SHORT)?))
            }
            REMOVE => self.rest.string().map(RawChange::Remove).ok_or(TOO_SHORT),
            REMOVE_RANGE => self.rest.range().map(RawChange::RemoveRange),
            _ => Err("no change of a commit is of this kind"),
        }
    }
}

impl<'p> Iterator for Changes<'p> {
    type Item = Result<RawChange<'p>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let &[kind] = self.rest.bytes(1)? else { return None };
        let change = self.change(kind);
        self.is_done = change.is_err();
        Some(change)
    }
}

/// The changes of a record; the error describes the damage.
fn changes_of<K, V>(header: Header, payload: &[u8]) -> Result<Vec<versions::Change<K, V>>, &'static str>
where
    K: BytesKey,
    V: SavedRow,
{
    let key = |end: Bound<&[u8]>| match end {
        Bound::Unbounded => Ok(Bound::Unbounded),
        Bound::Included(key) => key_of::<K>(key).map(Bound::Included),
        Bound::Excluded(key) => key_of::<K>(key).map(Bound::Excluded),
    };
    let change = |change: Result<RawChange<'_>, &'static str>| {
        Ok(match change? {
            RawChange::Put(key, value) => {
                versions::Change::Put(key_of::<K>(key)?, Some(V::of_cell(value).ok_or(NO_VALUE)?))
            }
            RawChange::Remove(key) => versions::Change::Put(key_of::<K>(key)?, None),
            RawChange::RemoveRange([low, high]) => versions::Change::RemoveRange(key(low)?, key(high)?),
        })
    };
    Changes::new(header, payload, V::COLUMN).map(change).collect()
}

/// Writes a snapshot of the commit of this number, which has these entries, and returns how many they are.
pub fn write<K, V>(
    number: u64,
    mut entries: impl Iterator<Item = (K, impl Borrow<V>)>,
    out: &mut dyn Write,
) -> snapshot::Result<u64>
where
    K: BytesKey + 'static,
    V: SavedRow,
{
    let layout = Layout::of_values::<V>().with_metadata(COMMIT, number.to_string());
    layout.write_byte_rows::<K>(out, |see| {
        let _ = entries.try_for_each(|(key, value)| {
            K::with_bytes(&key, |key| V::with_cell(value.borrow(), |value| see(key, value)))
        });
    })
}

/// The number of a snapshot's commit, if it is one of an index with commits.
pub fn commit_of(snapshot: &Snapshot) -> Option<u64> {
    let mut metadata = snapshot.metadata().iter();
    metadata.find(|(name, _)| name == COMMIT).and_then(|(_, number)| number.parse().ok())
}

/// An index whose changes are commits.
pub trait Committed {
    type Key: BytesKey + 'static;
    type Value: SavedRow;
    /// The number of the newest commit.
    fn newest(&self) -> u64;
    fn len(&self) -> usize;
    /// Writes a snapshot of the newest commit, and returns how many entries it has.
    fn write(&self, out: &mut dyn Write) -> snapshot::Result<u64>;
    /// Takes entries, which a file has in this order, as the commit of this number, while there is none.
    fn load(&mut self, entries: Vec<(Self::Key, Self::Value)>, number: u64) -> Result<()>;
    /// Makes the changes of the next commit; the inner error describes the damage.
    fn commit(
        &mut self,
        changes: Vec<versions::Change<Self::Key, Self::Value>>,
    ) -> Result<Result<(), &'static str>>;
    /// Drops versions that no snapshot reads.
    fn prune(&self) -> latchless::Result<()>;
    /// Removes all entries and commits.
    fn clear(&mut self) -> Result<()>;
}

/// An index that is recovered.
pub struct Commits<'a, I>(&'a mut I);

impl<'a, I: Committed> Commits<'a, I> {
    pub fn new(index: &'a mut I) -> Self {
        Self(index)
    }

    /// Refuses an index that has commits: their numbers aren't those of the log.
    fn check_new(&self) -> snapshot::Result<()> {
        if self.0.newest() == 0 {
            Ok(())
        } else {
            Err(latchless::Error::NotEmpty { len: self.0.len() }.into())
        }
    }
}

impl<I: Committed> Target for Commits<'_, I> {
    fn types(&self) -> [DataType; 2] {
        [strings::key_type::<I::Key>(), I::Value::COLUMN]
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// The snapshot says that the index has versions, and the log doesn't.
    fn begins_with_snapshot(&self) -> bool {
        true
    }

    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        self.check_new()?;
        self.0.write(out)
    }

    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>> {
        let (snapshot, number) = match base {
            Base::Commits(snapshot, number) => (snapshot, number),
            Base::Strings(_) => return Err(snapshot::Error::OtherRows { opener: "DurableBytesIndex" }),
            Base::Pairs(_) => return Err(snapshot::Error::OtherRows { opener: "DurableMultiIndex" }),
            Base::Numbers(numbers) => {
                let found = numbers.key_type();
                return Err(snapshot::Error::OtherKeys { found, opener: "DurableIndex" });
            }
        };
        self.check_new()?;
        snapshot.check_types::<I::Key, I::Value>()?;
        let damaged = |what| snapshot::Error::Damaged { at: 0, what };
        let entry = |(key, value)| {
            let value = I::Value::of_cell(value).ok_or(damaged(NO_VALUE))?;
            Ok((key_of::<I::Key>(key).map_err(damaged)?, value))
        };
        let entries = snapshot.byte_rows().map(entry).collect::<snapshot::Result<_>>()?;
        Ok(self.0.load(entries, number).map(|()| snapshot.len()))
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        if header.kind != Kind::Commit {
            return Ok(Err("it is a record of another kind of index among commits"));
        }
        let newest = self.0.newest();
        if header.number <= newest {
            // The snapshot was taken after this commit, which is in the log that was begun before it.
            return Ok(Ok(0));
        }
        if header.number != newest + 1 {
            return Ok(Err("a commit has another number than one more than that of the commit before"));
        }
        let changes = match changes_of(header, payload) {
            Ok(changes) => changes,
            Err(wrong) => return Ok(Err(wrong)),
        };
        let count = changes.len() as u64;
        let committed = match self.0.commit(changes) {
            // The program may have pruned before it, which isn't logged.
            Err(Error::Index { cause, .. }) if is_full(&cause) => {
                self.0.prune()?;
                self.0.commit(changes_of(header, payload).expect("they were changes"))
            }
            committed => committed,
        };
        Ok(committed?.map(|()| count))
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}
