//! The directory of a file whose rows are sorted by key: every 64th key, every 4,096th, and so on. It lies
//! between the messages and the footer, where readers of Arrow don't look.
//!
//! A key is there as a *lane*, an unsigned number in the order of the keys: all of a number, and the first
//! eight bytes of a string. A lane has no position beside it, because its own position gives that, and no
//! damaged lane leads out of the file. The levels are in the order in which a search reads them: the last
//! one has the keys of rows 0, 64, 128, …; that before it every 64th of these; and the first at most 64
//! lanes. A file of at most 64 rows has no level.

use super::data_type::{DataType, Native};
use super::error::{Error, Result};
use super::layout::aligned;
use super::saved_value::number_of;
use core::ops::Range;
use latchless_core::base::key::{Bits, Key};
use latchless_core::mem::line::prefetch_read_all;

/// Rows between two lanes of the last level, and lanes between two of the level before.
pub const FAN_OUT: usize = 64;
/// Bytes of a lane, which is little-endian.
const LANE_BYTES: usize = size_of::<u64>();

/// Runs an expression with the Rust type of a column's numbers.
macro_rules! with_native {
    ($data_type:expr, $native:ident => $run:expr, else $other:expr) => {
        with_native!(
            @each $data_type, $native => $run, else $other;
            DataType::UInt8 => u8,
            DataType::UInt16 => u16,
            DataType::UInt32 => u32,
            DataType::UInt64 => u64,
            DataType::Int8 => i8,
            DataType::Int16 => i16,
            DataType::Int32 => i32,
            DataType::Int64 | DataType::Timestamp(_) | DataType::Duration(_) => i64,
            DataType::Float32 => f32,
            DataType::Float64 => f64,
        )
    };
    (
        @each $data_type:expr, $native:ident => $run:expr, else $other:expr;
        $($column:pat => $number:ty,)*
    ) => {
        match $data_type {
            $($column => {
                type $native = $number;
                $run
            })*
            DataType::Binary | DataType::Utf8 | DataType::FixedSizeBinary(_) => $other,
        }
    };
}
pub(super) use with_native;

/// The lane of a number.
#[inline(always)]
pub fn lane_of<N: Native>(number: N) -> u64 {
    Key::encode(number).to_u64()
}

/// The lane of a number's cell.
#[inline(always)]
pub fn lane_of_cell<N: Native>(cell: &[u8]) -> u64 {
    lane_of(N::from_cell(number_of(cell)))
}

/// The lane of a string.
#[inline]
pub fn lane_of_string(string: &[u8]) -> u64 {
    number_of(string).swap_bytes()
}

/// The numbers of lanes of the levels, the last level first.
fn levels(rows: usize) -> impl Iterator<Item = usize> {
    core::iter::successors(Some(rows), |&below| (below > FAN_OUT).then(|| below.div_ceil(FAN_OUT))).skip(1)
}

/// The lanes of the rows that are being written, and whether these are sorted.
#[derive(Debug)]
pub struct Samples {
    lanes: Vec<u64>,
    rows: usize,
    is_sorted: bool,
    last: u64,
    last_string: Vec<u8>,
}

impl Samples {
    pub fn new() -> Self {
        Self { lanes: Vec::new(), rows: 0, is_sorted: true, last: 0, last_string: Vec::new() }
    }

    /// Takes in the next rows, by the cells of their keys, which are numbers.
    pub fn add_cells(&mut self, data_type: DataType, cells: &[u8]) -> Result<()> {
        let rows = cells.len() / data_type.width_bytes();
        self.reserve(rows / FAN_OUT + 1)?;
        with_native!(data_type, N => self.add::<N>(cells), else unreachable!("strings are no cells"));
        Ok(())
    }

    #[inline(always)]
    fn add<N: Native>(&mut self, cells: &[u8]) {
        let (mut last, mut is_sorted) = (self.last, self.is_sorted);
        for cell in cells.chunks_exact(size_of::<N>()) {
            let lane = lane_of_cell::<N>(cell);
            is_sorted &= last <= lane;
            last = lane;
            self.count(lane);
        }
        (self.last, self.is_sorted) = (last, is_sorted);
    }

    /// Takes in the next row, by its key, which is a string.
    pub fn add_string(&mut self, key: &[u8]) -> Result<()> {
        self.reserve(1)?;
        self.is_sorted &= self.last_string[..] <= *key;
        self.last_string.clear();
        self.last_string.extend_from_slice(key);
        self.count(lane_of_string(key));
        Ok(())
    }

    #[inline(always)]
    fn count(&mut self, lane: u64) {
        if self.rows.is_multiple_of(FAN_OUT) {
            self.lanes.push(lane);
        }
        self.rows += 1;
    }

    fn reserve(&mut self, lanes: usize) -> Result<()> {
        let requested_bytes = ((self.lanes.len() + lanes) * LANE_BYTES) as u64;
        self.lanes.try_reserve(lanes).map_err(|_| Error::OutOfMemory { requested_bytes })
    }

    /// Whether no row is before the one that precedes it.
    pub fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// Shows `put` the directory's bytes.
    pub fn write(&self, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let count = levels(self.rows).count() as u32;
        let mut bytes = Vec::with_capacity(FAN_OUT * LANE_BYTES);
        for level in (0..count).rev() {
            let step = FAN_OUT.pow(level);
            let mut lanes = self.lanes.iter().step_by(step).peekable();
            while lanes.peek().is_some() {
                bytes.clear();
                lanes.by_ref().take(FAN_OUT).for_each(|lane| bytes.extend(lane.to_le_bytes()));
                bytes.resize(aligned(bytes.len()), 0);
                put(&bytes)?;
            }
        }
        Ok(())
    }
}

/// Where a file's directory is.
#[derive(Debug, Clone)]
pub struct Directory {
    /// The bytes of each level, the first one first.
    levels: Vec<Range<usize>>,
    /// Where it ends.
    pub end: usize,
}

impl Directory {
    /// That of so many rows, at a place in a file; `None` if it doesn't end before `limit`.
    pub fn at(start: usize, rows: usize, limit: usize) -> Option<Self> {
        let mut lens: Vec<usize> = levels(rows).collect();
        lens.reverse();
        let mut end = start;
        let mut levels = Vec::with_capacity(lens.len());
        for lanes in lens {
            let bytes = lanes.checked_mul(LANE_BYTES)?;
            levels.push(end..end.checked_add(bytes)?);
            end = end.checked_add(aligned(bytes))?;
        }
        (end <= limit).then_some(Self { levels, end })
    }

    /// The levels, the first one first.
    #[inline(always)]
    pub fn levels(&self) -> &[Range<usize>] {
        &self.levels
    }
}

/// The lanes of a block of a level.
#[inline(always)]
fn block_of<'f>(file: &'f [u8], level: &Range<usize>, block: usize) -> &'f [u8] {
    let start = level.start + block * FAN_OUT * LANE_BYTES;
    &file[start..level.end.min(start + FAN_OUT * LANE_BYTES)]
}

/// The block of the next level, or of the rows, that a search enters from a block: the last one whose first
/// lane `goes_on` accepts, or the first one.
#[inline(always)]
pub fn enter(file: &[u8], level: &Range<usize>, block: usize, goes_on: impl Fn(u64) -> bool) -> usize {
    let lanes = block_of(file, level, block).chunks_exact(LANE_BYTES);
    let accepted: usize = lanes.map(|lane| usize::from(goes_on(number_of(lane)))).sum();
    block * FAN_OUT + accepted.saturating_sub(1)
}

/// Prefetches a block of a level.
#[inline(always)]
pub fn prefetch(file: &[u8], level: &Range<usize>, block: usize) {
    let lanes = block_of(file, level, block);
    prefetch_read_all(lanes.as_ptr(), lanes.len());
}
