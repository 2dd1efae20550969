//! Recovery into an index of keys that map to many rows.

use crate::error::Result;
use crate::pending::{Pending, Room, unless_full};
use crate::record::{Header, Kind};
use crate::replay::{Base, Target};
use crate::strings::key_of;
use crate::strings_of::StringsOf;
use latchless::bytes::MultiIndex;
use latchless::snapshot::{self, DataType, SavedValue, multi, strings};
use latchless::{BytesKey, FillFactor};
use std::io::Write;

/// The type of rows.
pub const ROW: DataType = DataType::UInt64;

/// The index.
pub struct Pairs<'a, K: BytesKey> {
    index: &'a mut MultiIndex<K>,
    pending: Pending<MultiIndex<K>>,
}

impl<'a, K: BytesKey> Pairs<'a, K> {
    pub fn new(index: &'a mut MultiIndex<K>) -> Self {
        Self { index, pending: Pending::default() }
    }
}

/// The keys and rows of a record, or the damage in them; of one without rows each is 0.
fn pairs_of<K: BytesKey>(
    header: Header,
    payload: &[u8],
    rows: Option<DataType>,
) -> Result<Vec<(K, u64)>, &'static str> {
    let pair = |entry: Result<(&[u8], &[u8]), _>| {
        let (key, row) = entry?;
        Ok((key_of::<K>(key)?, u64::of_cell(row).unwrap_or_default()))
    };
    StringsOf::new(header, payload, rows).map(pair).collect()
}

impl<K: BytesKey + 'static> Target for Pairs<'_, K> {
    fn types(&self) -> [DataType; 2] {
        [strings::key_type::<K>(), ROW]
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    /// As for strings.
    fn begins_with_snapshot(&self) -> bool {
        true
    }

    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        multi::write(self.index, out)
    }

    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>> {
        let opener = match base {
            Base::Pairs(snapshot) => {
                for fill in [FillFactor::UPDATED, FillFactor::FULL] {
                    match snapshot.load(self.index, fill) {
                        Ok(()) => return Ok(Ok(snapshot.len())),
                        Err(error) => unless_full(error)?,
                    }
                }
                for (key, row) in snapshot.pairs() {
                    let key = key_of::<K>(key).map_err(|what| snapshot::Error::Damaged { at: 0, what })?;
                    self.pending.put(self.index, (key, row))?;
                }
                return Ok(Ok(snapshot.len()));
            }
            Base::Strings(_) => "DurableBytesIndex",
            Base::Commits(..) => "DurableVersionedIndex",
            Base::Numbers(_) => "DurableIndex",
        };
        Err(snapshot::Error::OtherRows { opener })
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        let rows = match header.kind {
            Kind::PutStrings | Kind::RemoveRows => Some(ROW),
            Kind::RemoveStrings => None,
            _ => return Ok(Err("no record of rows is of this kind")),
        };
        let pairs = match pairs_of::<K>(header, payload, rows) {
            Ok(pairs) => pairs,
            Err(wrong) => return Ok(Err(wrong)),
        };
        let done = pairs.len();
        match header.kind {
            Kind::PutStrings => {
                let inserted = self.index.insert_many(&pairs);
                self.pending.note(inserted, pairs.into_iter())?;
            }
            Kind::RemoveRows => {
                for pair in &pairs {
                    self.index.remove(&pair.0, pair.1);
                    self.pending.remove(|| MultiIndex::<K>::order(pair));
                }
            }
            _ => {
                let is_one =
                    |key: &K, other: &K| key.with_bytes(|key| other.with_bytes(|other| key == other));
                for (key, _) in &pairs {
                    self.pending.remove_if(|(other, _)| is_one(key, other));
                }
                let removed: usize = pairs.iter().map(|(key, _)| self.index.remove_all(key)).sum();
                return Ok(Ok(removed as u64));
            }
        }
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
