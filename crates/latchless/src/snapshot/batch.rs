//! The cells of a file's record batches, whose places are known to be right.

use super::data_type::DataType;
use super::layout::{BATCH_ROWS, BATCH_ROWS_LOG2};
use core::ops::Range;

/// A column's cells that are numbers, batch by batch.
#[derive(Debug, Clone)]
pub struct Cells {
    /// Where each batch's cells begin in the file.
    starts: Vec<usize>,
    /// The bits of a cell in the eight bytes that begin where it does.
    mask: u64,
    width: usize,
}

impl Cells {
    /// Those of a part of all batches, of which all but the last have one size.
    pub fn new(data_type: DataType, batches: &[Batch], part: usize) -> Self {
        let width = data_type.width_bytes();
        let starts = batches.iter().map(|batch| batch.starts[part]).collect();
        Self { starts, width, mask: u64::MAX >> (64 - 8 * width) }
    }

    /// A cell. Eight bytes are read whatever its width is: after the last cell there is the footer.
    #[inline(always)]
    pub fn get(&self, file: &[u8], at: usize) -> u64 {
        let start = self.starts[at >> BATCH_ROWS_LOG2] + (at & (BATCH_ROWS - 1)) * self.width;
        let bytes = file[start..start + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes) & self.mask
    }
}

/// A record batch.
#[derive(Debug, Clone)]
pub struct Batch {
    pub rows: usize,
    /// Where the parts of its columns begin in the file: see [`DataType::parts`].
    pub starts: [usize; 4],
    /// Bytes of these parts.
    pub lens: [usize; 4],
}

impl Batch {
    /// Both columns' cells.
    pub fn columns<'f>(&self, file: &'f [u8], types: [DataType; 2]) -> [Column<'f>; 2] {
        let column = |data_type: DataType, part: usize| {
            let width = data_type.width_bytes();
            let starts = [self.starts[part], self.starts[part + data_type.parts() - 1]];
            let [ends, bytes] = starts.map(|start| &file[start..]);
            Column { ends, bytes, width, rows: 0..self.rows }
        };
        [column(types[0], 0), column(types[1], types[0].parts())]
    }
}

impl Batch {
    /// A cell of the column whose first part this is, as bytes. `None` if the file was changed: the ends of
    /// strings may be any numbers.
    #[inline]
    pub fn cell<'f>(&self, file: &'f [u8], data_type: DataType, part: usize, row: usize) -> Option<&'f [u8]> {
        let part_of = |part: usize| &file[self.starts[part]..][..self.lens[part]];
        let width = data_type.width_bytes();
        if width > 0 {
            return part_of(part).get(row * width..(row + 1) * width);
        }
        let border = |row: usize| part_of(part).get(row * END_BYTES..(row + 1) * END_BYTES).map(end);
        part_of(part + 1).get(border(row)?..border(row + 1)?)
    }
}

/// A column's cells in a batch, as bytes, one after the other.
#[derive(Debug, Clone)]
pub struct Column<'f> {
    /// Where strings end.
    ends: &'f [u8],
    bytes: &'f [u8],
    /// Of a cell; 0 of strings.
    width: usize,
    rows: Range<usize>,
}

impl<'f> Iterator for Column<'f> {
    type Item = &'f [u8];

    #[inline]
    fn next(&mut self) -> Option<&'f [u8]> {
        let row = self.rows.next()?;
        let border = |row: usize| match self.width {
            0 => end(&self.ends[row * END_BYTES..][..END_BYTES]),
            width => row * width,
        };
        Some(&self.bytes[border(row)..border(row + 1)])
    }
}

/// Bytes of a string's end.
pub const END_BYTES: usize = 4;

/// The end of a string among the bytes of all.
pub fn end(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize
}
