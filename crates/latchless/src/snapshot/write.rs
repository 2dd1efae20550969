//! Writing a snapshot sequentially.
//!
//! One record batch of cells is in memory at a time: at most 16 MiB, or 40 for strings; less for a small
//! index.

use super::data_type::DataType;
use super::directory::Samples;
use super::error::{Error, Result};
use super::layout::{About, BATCH_BYTES, BATCH_ROWS, END, HEAD, aligned};
use crate::index::{Holder, scan_all};
use core::ops::ControlFlow;
use crc32fast::Hasher;
use polars_arrow_format::ipc::Block;
use std::io::Write;

/// Writes bytes, and keeps count and checksums of them.
struct Counted<W> {
    out: W,
    checksum: Hasher,
    /// That of the head.
    head: Hasher,
    at: u64,
}

impl<W: Write> Counted<W> {
    /// Writes a part of the head.
    fn put_head(&mut self, bytes: &[u8]) -> Result<()> {
        self.head.update(bytes);
        self.put(bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(Error::io("write"))?;
        self.checksum.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }
}

/// A part of a column of the batch that is being filled.
#[derive(Default)]
struct Part(Vec<u8>);

impl Part {
    /// Makes room for more bytes.
    #[inline(always)]
    fn reserve(&mut self, wanted: usize) -> Result<()> {
        let requested_bytes = (self.0.len() + wanted) as u64;
        self.0.try_reserve(wanted).map_err(|_| Error::OutOfMemory { requested_bytes })
    }

    /// Adds the low bytes of each cell.
    #[inline(always)]
    fn extend(&mut self, data_type: DataType, cells: impl ExactSizeIterator<Item = u64>) -> Result<()> {
        self.reserve(cells.len() * data_type.width_bytes())?;
        match data_type.width_bytes() {
            1 => self.extend_low::<1>(cells),
            2 => self.extend_low::<2>(cells),
            4 => self.extend_low::<4>(cells),
            _ => self.extend_low::<8>(cells),
        }
        Ok(())
    }

    #[inline(always)]
    fn extend_low<const BYTES: usize>(&mut self, cells: impl Iterator<Item = u64>) {
        cells.for_each(|cell| self.0.extend_from_slice(&cell.to_le_bytes()[..BYTES]));
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.reserve(bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// A file that is being written.
struct Writing<W> {
    file: Counted<W>,
    about: About,
    /// Those of both columns, one after the other. A column has one, or, of strings, their ends and their
    /// bytes.
    parts: [Part; 4],
    samples: Samples,
    /// Rows in the parts.
    rows: usize,
    /// Rows that are written.
    len: u64,
    blocks: Vec<Block>,
}

impl<W: Write> Writing<W> {
    fn begin(about: About, out: W) -> Result<Self> {
        about.check()?;
        let mut file = Counted { out, checksum: Hasher::new(), head: Hasher::new(), at: 0 };
        file.put_head(HEAD)?;
        file.put_head(&about.opening())?;
        let (parts, samples) = (Default::default(), Samples::new());
        Ok(Self { file, about, parts, samples, rows: 0, len: 0, blocks: Vec::new() })
    }

    /// Adds entries, and writes a batch when one is full.
    #[inline(always)]
    fn add<K: Copy, V: Copy>(
        &mut self,
        (mut keys, mut values): (&[K], &[V]),
        cells: &impl Fn(K, V) -> (u64, u64),
    ) -> Result<()> {
        while !keys.is_empty() {
            let now = keys.len().min(BATCH_ROWS - self.rows);
            let (keys_now, values_now) = (&keys[..now], &values[..now]);
            let both = || keys_now.iter().zip(values_now).map(|(&key, &value)| cells(key, value));
            let ([keys_part, values_part, ..], types) = (&mut self.parts, self.about.types);
            let before = keys_part.0.len();
            keys_part.extend(types[0], both().map(|(key, _)| key))?;
            self.samples.add_cells(types[0], &keys_part.0[before..])?;
            values_part.extend(types[1], both().map(|(_, value)| value))?;
            self.rows += now;
            if self.rows == BATCH_ROWS {
                self.put_batch()?;
            }
            (keys, values) = (&keys[now..], &values[now..]);
        }
        Ok(())
    }

    /// Adds a row, as the bytes of its cells. Writes the batch before that, if it is full.
    fn add_row(&mut self, row: [&[u8]; 2]) -> Result<()> {
        let types = self.about.types;
        // The part with the bytes is the last one of a column.
        let bytes_at = [types[0].parts(), types[0].parts() + types[1].parts()].map(|parts| parts - 1);
        let is_long = |at: usize| self.parts[bytes_at[at]].0.len() + row[at].len() > BATCH_BYTES;
        if self.rows == BATCH_ROWS || self.rows > 0 && (is_long(0) || is_long(1)) {
            self.put_batch()?;
        }
        for ((at, data_type), cell) in bytes_at.into_iter().zip(types).zip(row) {
            self.parts[at].push(cell)?;
            if data_type.is_string() {
                let end = self.parts[at].0.len();
                let ends = &mut self.parts[at - 1];
                if self.rows == 0 {
                    ends.push(&[0; 4])?;
                }
                let too_long = |_| crate::Error::KeyTooLong { len: cell.len(), limit: i32::MAX as usize };
                ends.push(&i32::try_from(end).map_err(too_long)?.to_le_bytes())?;
            } else if cell.len() != data_type.width_bytes() {
                return Err(Error::NoCell { bytes: cell.len(), asked: data_type });
            }
        }
        self.samples.add_string(row[0])?;
        self.rows += 1;
        Ok(())
    }

    fn put_batch(&mut self) -> Result<()> {
        let parts = &mut self.parts[..self.about.types.map(DataType::parts).iter().sum()];
        let message = self.about.batch(self.rows, parts.iter().map(|part| part.0.len()));
        let start = self.file.at;
        self.file.put_head(&message)?;
        let body = self.file.at;
        for Part(bytes) in parts {
            bytes.resize(aligned(bytes.len()), 0);
            self.file.put(bytes)?;
            bytes.clear();
        }
        self.blocks.push(Block {
            offset: start as i64,
            meta_data_length: message.len() as i32,
            body_length: (self.file.at - body) as i64,
        });
        self.len += self.rows as u64;
        self.rows = 0;
        Ok(())
    }

    /// Writes the rest, including values that are known only now; returns the number of entries.
    fn finish(mut self) -> Result<u64> {
        if self.rows > 0 {
            self.put_batch()?;
        }
        self.file.put_head(&END)?;
        let mut directory = None;
        if self.samples.is_sorted() {
            let padding = aligned(self.file.at as usize) - self.file.at as usize;
            self.file.put_head(&vec![0; padding])?;
            directory = Some(self.file.at);
            self.samples.write(|bytes| self.file.put(bytes))?;
        }
        let (mut closing, digits) = self.about.closing(self.blocks, self.len, directory)?;
        if directory.is_some() {
            self.file.head.update(&closing);
            let sum = self.file.head.clone().finalize();
            self.file.put(&u64::from(sum).to_le_bytes())?;
        }
        // Of the whole file, the digits of the checksum counted as zeros.
        let mut checksum = self.file.checksum;
        checksum.update(&closing);
        let text = format!("{:08x}", checksum.finalize());
        closing[digits..digits + text.len()].copy_from_slice(text.as_bytes());
        let mut out = self.file.out;
        out.write_all(&closing).and_then(|()| out.flush()).map_err(Error::io("write"))?;
        Ok(self.len)
    }
}

/// Writes all entries of an index, and gives their number. `cells` makes the two cells of an entry.
pub fn write<H: Holder, W: Write>(
    index: H,
    out: W,
    about: About,
    cells: impl Fn(H::Key, H::Value) -> (u64, u64),
) -> Result<u64> {
    let mut writing = Writing::begin(about, out)?;
    let mut added = Ok(());
    let _ = scan_all(&index, |keys, values| {
        added = writing.add((keys, values), &cells);
        if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    added?;
    writing.finish()
}

/// Rows that are gathered before they are added.
const ROWS_AT_ONCE: usize = 256;

/// Writes rows, and gives their number.
pub fn write_rows<W: Write>(rows: impl IntoIterator<Item = (u64, u64)>, out: W, about: About) -> Result<u64> {
    let mut writing = Writing::begin(about, out)?;
    let (mut keys, mut values) = ([0; ROWS_AT_ONCE], [0; ROWS_AT_ONCE]);
    let mut rows = rows.into_iter();
    loop {
        let mut now = 0;
        for (key, value) in rows.by_ref().take(ROWS_AT_ONCE) {
            (keys[now], values[now]) = (key, value);
            now += 1;
        }
        if now == 0 {
            return writing.finish();
        }
        writing.add((&keys[..now], &values[..now]), &|key, value| (key, value))?;
    }
}

/// Callback for a row: the bytes of its key and of its value.
pub type SeeRow<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Writes rows whose keys are strings, as `each` shows them, and gives their number.
pub fn write_strings<W: Write>(each: impl FnOnce(&mut SeeRow), out: W, about: About) -> Result<u64> {
    let mut writing = Writing::begin(about, out)?;
    let mut added = Ok(());
    each(&mut |key, value| {
        added = writing.add_row([key, value]);
        if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    added?;
    writing.finish()
}
