//! The rows of a file, where they lie.

use super::batch::Batch;
use super::bytes::Bytes;
use super::data_type::{DataType, Native};
use super::directory::{
    Directory, FAN_OUT, Samples, enter, lane_of, lane_of_cell, lane_of_string, prefetch, with_native,
};
use super::error::Result;
use super::layout::{BATCH_ROWS_LOG2, COLUMNS};
use super::parse::{self, Parsed, damaged};
use super::saved_value::number_of;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::search::{Dispatch, Ranks};
use std::borrow::Cow;
use std::path::Path;

latchless_core::operations!(Ranks);

/// Blocks of [`FAN_OUT`] rows in a batch of numbers: log2.
const BATCH_BLOCKS_LOG2: u32 = BATCH_ROWS_LOG2 - FAN_OUT.ilog2();
/// Keys whose cache misses overlap.
pub(super) const GROUP: usize = 32;

/// A key, as its column has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought<'k> {
    /// A number: the bytes of its cell, little-endian, are the low bytes of this.
    Cell(u64),
    /// The bytes of a string.
    Bytes(&'k [u8]),
}

/// Which rows a search goes past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// Those with smaller keys.
    Smaller,
    /// Those with smaller keys and with the key itself.
    Equal,
}

/// The sorted rows of a file, where they lie: [`Mapped`](super::Mapped) without the types of keys and
/// values, for types that are known only at run time.
///
/// ```
/// use latchless::snapshot::{DataType, Rows, Sought};
/// # use latchless::{Index, snapshot};
///
/// # let path = std::env::temp_dir().join(format!("latchless-rows-{}", std::process::id()));
/// let prices: Index<u64, u16> = [(99, 5), (101, 7), (105, 3)].into_iter().collect();
/// snapshot::save(&prices, &path)?;
/// let rows = Rows::read(&path)?;
/// assert_eq!((rows.len(), rows.key_type()), (3, DataType::UInt64));
/// assert_eq!(rows.lower_bound(Sought::Cell(101)), 1);
/// assert_eq!(rows.row(1), Some((&[101, 0, 0, 0, 0, 0, 0, 0][..], &[7, 0][..])));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Rows {
    bytes: Bytes,
    parsed: Parsed,
    directory: Directory,
    /// The first row of each batch.
    firsts: Vec<usize>,
    dispatch: Dispatch,
}

impl Rows {
    /// Maps a file. See [`Mapped::open`](super::Mapped::open).
    ///
    /// # Safety
    /// That of [`Mapped::open`](super::Mapped::open).
    ///
    /// # Errors
    /// Those of [`Mapped::open`](super::Mapped::open), except the errors about types.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's contract.
        Self::of(unsafe { Bytes::map(path.as_ref()) }?)
    }

    /// Reads a file into memory, and verifies it.
    ///
    /// # Errors
    /// Those of [`Rows::open`] and of [`Rows::verify`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let rows = Self::of(Bytes::read(path.as_ref())?)?;
        rows.verify()?;
        Ok(rows)
    }

    fn of(bytes: Bytes) -> Result<Self> {
        let (parsed, directory) = parse::parse_head(&bytes, COLUMNS)?;
        let mut next = 0;
        let first = |batch: &Batch| {
            next += batch.rows;
            next - batch.rows
        };
        let firsts = parsed.batches.iter().map(first).collect();
        Ok(Self { bytes, parsed, directory, firsts, dispatch: Dispatch::best() })
    }

    /// Checks every byte of the file by its checksum, the order of the rows, and the directory. O(n): the
    /// file is read whole.
    ///
    /// # Errors
    /// [`Error::Checksum`](super::Error::Checksum), [`Error::Damaged`](super::Error::Damaged).
    pub fn verify(&self) -> Result<()> {
        parse::parse(&self.bytes, COLUMNS)?;
        let (mut samples, key_type) = (Samples::new(), self.key_type());
        for (at, batch) in self.parsed.batches.iter().enumerate() {
            if key_type.is_string() {
                let [keys, _] = batch.columns(&self.bytes, self.parsed.types);
                keys.into_iter().try_for_each(|key| samples.add_string(key))?;
            } else {
                samples.add_cells(key_type, &self.bytes[batch.starts[0]..][..batch.lens[0]])?;
            }
            if !samples.is_sorted() {
                return Err(damaged(self.parsed.batches[at].starts[0], "rows are out of order"));
            }
        }
        let start = self.directory.levels().first().map_or(self.directory.end, |level| level.start);
        let mut rest = &self.bytes[start..self.directory.end];
        samples.write(|written| match rest.split_at_checked(written.len()) {
            Some((there, after)) if there == written => {
                rest = after;
                Ok(())
            }
            _ => Err(damaged(self.directory.end - rest.len(), "the directory has other keys than the rows")),
        })
    }

    /// The file's statements about itself.
    pub(super) fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// How many rows it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.parsed.len
    }

    /// Whether it has no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parsed.len == 0
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The type of the column `key`.
    #[inline]
    pub fn key_type(&self) -> DataType {
        self.parsed.types[0]
    }

    /// The type of the column `value`.
    #[inline]
    pub fn value_type(&self) -> DataType {
        self.parsed.types[1]
    }

    /// The type whose bytes the keys are, if they are strings: see
    /// [`strings::Snapshot::key_name`](super::strings::Snapshot::key_name).
    pub fn key_name(&self) -> Option<&str> {
        self.key_type().is_string().then(|| self.parsed.key_name())
    }

    /// The type of the values: see [`strings::Snapshot::value_name`](super::strings::Snapshot::value_name).
    pub fn value_name(&self) -> Cow<'_, str> {
        self.parsed.value_name()
    }

    /// Names and texts of the schema's metadata, except this library's own.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.parsed.metadata
    }

    /// The bytes of the cells of a row, which of numbers are little-endian. `None` if there is no such row,
    /// or a damaged file has no cell in its place. O(1); of strings O(log b) with b record batches.
    #[inline]
    pub fn row(&self, at: usize) -> Option<(&[u8], &[u8])> {
        Some((self.cell(0, at)?, self.cell(1, at)?))
    }

    /// The number of the first row whose key isn't smaller; of all rows, if every key is smaller.
    /// O(log n). Of a key of another type than the column's the answer is meaningless.
    #[inline]
    pub fn lower_bound(&self, key: Sought<'_>) -> usize {
        self.find(key, Past::Smaller)
    }

    /// The number of the first row whose key is larger; of all rows, if none is. Otherwise as
    /// [`Rows::lower_bound`].
    #[inline]
    pub fn upper_bound(&self, key: Sought<'_>) -> usize {
        self.find(key, Past::Equal)
    }

    /// [`Rows::lower_bound`] of many numbers, given as cells, whose cache misses overlap.
    ///
    /// # Panics
    /// If there aren't as many places as cells.
    pub fn lower_bounds(&self, cells: &[u64], places: &mut [usize]) {
        self.find_many(cells, Past::Smaller, places);
    }

    /// [`Rows::upper_bound`] of many numbers, given as cells, whose cache misses overlap.
    ///
    /// # Panics
    /// If there aren't as many places as cells.
    pub fn upper_bounds(&self, cells: &[u64], places: &mut [usize]) {
        self.find_many(cells, Past::Equal, places);
    }

    fn find_many(&self, cells: &[u64], past: Past, places: &mut [usize]) {
        assert_eq!(cells.len(), places.len(), "a place for each cell");
        let mut lanes = [0; GROUP];
        for (cells, places) in cells.chunks(GROUP).zip(places.chunks_mut(GROUP)) {
            let lanes = &mut lanes[..cells.len()];
            with_native!(
                self.key_type(),
                N => {
                    lanes.iter_mut().zip(cells).for_each(|(lane, &cell)| *lane = lane_of(N::from_cell(cell)));
                    self.find_numbers::<N>(lanes, past, places);
                },
                else places.fill(0)
            );
        }
    }

    fn find(&self, key: Sought<'_>, past: Past) -> usize {
        match key {
            Sought::Bytes(key) => self.find_string(key, past),
            Sought::Cell(cell) => with_native!(
                self.key_type(),
                N => self.find_number::<N>(lane_of(N::from_cell(cell)), past),
                else 0
            ),
        }
    }

    /// The cell of a row in a column.
    #[inline]
    pub(super) fn cell(&self, column: usize, at: usize) -> Option<&[u8]> {
        if at >= self.parsed.len {
            return None;
        }
        let types = self.parsed.types;
        let batch = match types[0].is_string() {
            true => self.firsts.partition_point(|&first| first <= at) - 1,
            false => at >> BATCH_ROWS_LOG2,
        };
        let part = if column == 0 { 0 } else { types[0].parts() };
        self.parsed.batches[batch].cell(&self.bytes, types[column], part, at - self.firsts[batch])
    }

    /// The number in a row of a column of numbers in a file of such.
    #[inline(always)]
    pub(super) fn number<N: Native>(&self, column: usize, at: usize) -> N {
        let cell = self.cell(column, at).expect("the row is one of the file's, and numbers have no ends");
        N::from_cell(number_of(&cell[..size_of::<N>()]))
    }

    /// Prefetches a row of a column of numbers in a file of such.
    #[inline(always)]
    pub(super) fn prefetch(&self, column: usize, at: usize) {
        if let Some(cell) = self.cell(column, at) {
            prefetch_read_all(cell.as_ptr(), cell.len());
        }
    }

    /// The keys' cells in a block of rows, in a file of numbers.
    #[inline(always)]
    fn block<N: Native>(&self, block: usize) -> &[u8] {
        let Some(Batch { rows, starts, .. }) = self.parsed.batches.get(block >> BATCH_BLOCKS_LOG2) else {
            return &[];
        };
        let first = (block & ((1 << BATCH_BLOCKS_LOG2) - 1)) * FAN_OUT;
        let cells = first..(first + FAN_OUT).min(*rows);
        &self.bytes[starts[0]..][cells.start * size_of::<N>()..cells.end * size_of::<N>()]
    }

    /// How many rows are before the place of a number, given as its lane.
    #[inline(always)]
    pub(super) fn find_number<N: Native>(&self, lane: u64, past: Past) -> usize {
        let mut place = [0];
        self.find_numbers::<N>(&[lane], past, &mut place);
        place[0]
    }

    /// The same of at most [`GROUP`] numbers, whose cache misses overlap.
    #[inline(always)]
    pub(super) fn find_numbers<N: Native>(&self, lanes: &[u64], past: Past, places: &mut [usize]) {
        match past {
            Past::Smaller => {
                self.dispatch.run(Find::<N, _>::new(self, lanes, places, |there, sought| there < sought))
            }
            Past::Equal => {
                self.dispatch.run(Find::<N, _>::new(self, lanes, places, |there, sought| there <= sought))
            }
        }
    }

    /// How many rows are before the place of a string.
    pub(super) fn find_string(&self, key: &[u8], past: Past) -> usize {
        let sought = lane_of_string(key);
        let (mut low, mut high) = (0, 0);
        for level in self.directory.levels() {
            low = enter(&self.bytes, level, low, |there| there < sought);
            high = enter(&self.bytes, level, high, |there| there <= sought);
        }
        // Keys with one lane differ in later bytes: the place is between the first and the last of them.
        let mut rows = low * FAN_OUT..((high + 1) * FAN_OUT).min(self.len());
        while !rows.is_empty() {
            let middle = rows.start + rows.len() / 2;
            let there = self.cell(0, middle).unwrap_or_default();
            let is_past = match past {
                Past::Smaller => there < key,
                Past::Equal => there <= key,
            };
            if is_past { rows.start = middle + 1 } else { rows.end = middle }
        }
        rows.start
    }
}

/// A search for some numbers.
struct Find<'a, N, G> {
    rows: &'a Rows,
    lanes: &'a [u64],
    /// Blocks on the way, and the answers at the end.
    places: &'a mut [usize],
    goes_on: G,
    number: core::marker::PhantomData<N>,
}

impl<'a, N, G: Fn(u64, u64) -> bool + Copy> Find<'a, N, G> {
    #[inline(always)]
    fn new(rows: &'a Rows, lanes: &'a [u64], places: &'a mut [usize], goes_on: G) -> Self {
        Self { rows, lanes, places, goes_on, number: core::marker::PhantomData }
    }
}

impl<N: Native, G: Fn(u64, u64) -> bool + Copy> Operation for Find<'_, N, G> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { rows, lanes, places, goes_on, .. } = self;
        let (file, levels) = (&rows.bytes[..], rows.directory.levels());
        places.fill(0);
        for (depth, level) in levels.iter().enumerate() {
            for (&sought, place) in lanes.iter().zip(&mut *places) {
                *place = enter(file, level, *place, |there| goes_on(there, sought));
                if lanes.len() > 1 {
                    match levels.get(depth + 1) {
                        Some(next) => prefetch(file, next, *place),
                        None => {
                            let cells = rows.block::<N>(*place);
                            prefetch_read_all(cells.as_ptr(), cells.len());
                        }
                    }
                }
            }
        }
        for (&sought, place) in lanes.iter().zip(places) {
            let cells = rows.block::<N>(*place).chunks_exact(size_of::<N>());
            let passed: usize = cells.map(|cell| usize::from(goes_on(lane_of_cell::<N>(cell), sought))).sum();
            *place = *place * FAN_OUT + passed;
        }
    }
}
