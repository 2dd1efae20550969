//! Recovery into an index of byte strings.

use crate::error::Result;
use crate::labels::{self, Labels};
use crate::pending::{InOrder, Pending, Room, unless_full};
use crate::record::{Header, Kind};
use crate::replay::{Base, Target};
use crate::strings_of::{StringsOf, range_of_strings};
use latchless::bytes::{Form, KeyInBytes};
use latchless::snapshot::{self, DataType, SavedValue, strings};
use latchless::{BytesKey, FillFactor, Index};
use std::io::Write;
use std::ops::Bound;

/// The index.
pub struct Strings<'a, K: KeyInBytes<V>, V: SavedValue, C> {
    index: &'a mut Index<K, V>,
    labels: &'a C,
    pending: Pending<Index<K, V>>,
}

impl<'a, K: KeyInBytes<V>, V: SavedValue, C: Labels> Strings<'a, K, V, C> {
    pub fn new(index: &'a mut Index<K, V>, labels: &'a C) -> Self {
        Self { index, labels, pending: Pending::default() }
    }
}

/// The error for a value's bytes.
pub const NO_VALUE: &str = "one of a record's values is none";

/// The key of these bytes; the error describes the damage.
pub fn key_of<K: BytesKey>(bytes: &[u8]) -> Result<K, &'static str> {
    if K::is_key(bytes) { Ok(K::from_bytes(bytes)) } else { Err("one of a record's keys is none") }
}

impl<K: KeyInBytes<V>, V: SavedValue, C: Labels> Target for Strings<'_, K, V, C> {
    fn types(&self) -> [DataType; 2] {
        [strings::key_type::<K>(), V::COLUMN]
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    /// The snapshot names the type whose bytes the keys are, and the log doesn't.
    fn begins_with_snapshot(&self) -> bool {
        true
    }

    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        labels::write(self.index, self.labels, out)
    }

    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>> {
        match base {
            Base::Strings(snapshot) => {
                for fill in [FillFactor::UPDATED, FillFactor::FULL] {
                    match snapshot.load(self.index, fill) {
                        Ok(()) => return Ok(Ok(snapshot.len())),
                        Err(error) => unless_full(error)?,
                    }
                }
                let no_value = |what| snapshot::Error::Damaged { at: 0, what };
                for (key, value) in snapshot.byte_rows() {
                    let key = key_of::<K>(key).map_err(no_value)?;
                    let value = V::of_cell(value).ok_or(no_value(NO_VALUE))?;
                    self.pending.put(self.index, (key, value))?;
                }
                Ok(Ok(snapshot.len()))
            }
            Base::Numbers(snapshot) => {
                let found = snapshot.key_type();
                Err(snapshot::Error::OtherKeys { found, opener: "DurableIndex" })
            }
            Base::Pairs(_) => Err(snapshot::Error::OtherRows { opener: "DurableMultiIndex" }),
            Base::Commits(..) => Err(snapshot::Error::OtherRows { opener: "DurableVersionedIndex" }),
        }
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        let done = match header.kind {
            Kind::PutStrings => {
                let entries = StringsOf::new(header, payload, Some(V::COLUMN));
                let entry = |entry: Result<(&[u8], &[u8]), _>| {
                    let (key, value) = entry?;
                    Ok((key_of::<K>(key)?, V::of_cell(value).ok_or(NO_VALUE)?))
                };
                match entries.map(entry).collect::<Result<Vec<_>, _>>() {
                    Ok(entries) => {
                        let inserted = {
                            let keys: Vec<_> = entries.iter().map(|(key, _)| key.probe()).collect();
                            let lent = entries.iter().map(|(_, value)| <V::Form as Form<V>>::lend(value));
                            self.index.insert_columns(&keys, &lent.collect::<Vec<_>>())
                        };
                        let done = entries.len();
                        self.pending.note(inserted, entries.into_iter())?;
                        done
                    }
                    Err(wrong) => return Ok(Err(wrong)),
                }
            }
            Kind::RemoveStrings => {
                let keys = StringsOf::new(header, payload, None).map(|entry| key_of::<K>(entry?.0));
                match keys.collect::<Result<Vec<_>, _>>() {
                    Ok(keys) => {
                        let probes: Vec<_> = keys.iter().map(K::probe).collect();
                        self.index.remove_many(&probes, &mut vec![None::<V>; keys.len()])?;
                        keys.iter().for_each(|key| self.pending.remove(|| InOrder::of(key)));
                        keys.len()
                    }
                    Err(wrong) => return Ok(Err(wrong)),
                }
            }
            Kind::RemoveRangeOfStrings => {
                let key = |end: Bound<&[u8]>| match end {
                    Bound::Unbounded => Ok(Bound::Unbounded),
                    Bound::Included(key) => key_of::<K>(key).map(Bound::Included),
                    Bound::Excluded(key) => key_of::<K>(key).map(Bound::Excluded),
                };
                let range =
                    range_of_strings(header, payload).and_then(|[low, high]| Ok((key(low)?, key(high)?)));
                match range {
                    Ok(range) => {
                        self.pending.remove_range(&InOrder::span(&range));
                        let (low, high) = (range.0.as_ref().map(K::probe), range.1.as_ref().map(K::probe));
                        self.index.remove_range((low, high))?
                    }
                    Err(wrong) => return Ok(Err(wrong)),
                }
            }
            Kind::Put | Kind::Remove | Kind::RemoveRange => {
                return Ok(Err("it is a record of numbers among those of strings"));
            }
            Kind::RemoveRows => return Ok(Err("it is a record of rows among those of values")),
            Kind::Commit => return Ok(Err("it is a commit among changes")),
        };
        Ok(Ok(done as u64))
    }

    fn clear(&mut self) -> Result<()> {
        self.pending = Pending::default();
        Ok(self.index.reload(&[])?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.pending.settle(self.index)?)
    }
}
