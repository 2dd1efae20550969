//! Entries of an index as cells of a file's columns: of snapshots and of the redo log.

use crate::kind::Kind;
use crate::lane::{Lane, Order};
use latchless::snapshot::DataType;
use latchless_log::{Columns, Labels};

/// Under these names the schema's metadata has the dtypes.
pub const DTYPES: [&str; 2] = ["numpy.key_dtype", "numpy.value_dtype"];
/// The metadata entry of files whose dtypes name the time zones. Files that were written before zones were
/// kept lack it.
pub const ZONES: (&str, &str) = ("numpy.zones", "kept");

/// Whether the metadata has that entry.
pub fn has_zones(metadata: &[(String, String)]) -> bool {
    metadata.iter().any(|(name, _)| name == ZONES.0)
}

/// How the words of one kind are cells: the low bytes of a number, as many as the column's type has.
#[derive(Debug, Clone, Copy)]
pub struct CellForm {
    /// The column's type.
    pub data_type: DataType,
    /// Of signed integers, their bits.
    pub signed_bits: Option<u32>,
    /// Whether they are of `float32`, in words of `float64`.
    pub widened: bool,
}

impl CellForm {
    /// The cell of a word.
    #[inline(always)]
    pub fn cell(self, word: u64) -> u64 {
        if self.widened { u64::from((f64::from_bits(word) as f32).to_bits()) } else { word }
    }

    /// The word of a cell, whose upper bytes are zeros.
    #[inline(always)]
    pub fn word(self, cell: u64) -> u64 {
        match self.signed_bits {
            Some(bits) => ((cell << (64 - bits)) as i64 >> (64 - bits)) as u64,
            None if self.widened => f64::from(f32::from_bits(cell as u32)).to_bits(),
            None => cell,
        }
    }
}

/// The columns of an index.
#[derive(Debug)]
pub struct Cells {
    keys: CellForm,
    values: CellForm,
    order: Order,
    names: Names,
}

/// The names of the types of an index of byte strings, which its snapshots have.
#[derive(Debug)]
pub struct Names(pub [String; 2]);

impl Labels for Names {
    fn metadata(&self) -> Vec<(String, String)> {
        let dtypes = DTYPES.map(str::to_owned).into_iter().zip(self.0.iter().cloned());
        dtypes.chain([(ZONES.0.to_owned(), ZONES.1.to_owned())]).collect()
    }
}

impl Cells {
    /// Those of an index of these kinds.
    pub fn new(keys: &Kind, values: &Kind) -> Self {
        let names = Names([keys.name().to_owned(), values.name().to_owned()]);
        Self { keys: keys.cell_form(), values: values.cell_form(), order: keys.order(), names }
    }
}

impl<B: Lane> Columns<B, B> for Cells {
    fn types(&self) -> [DataType; 2] {
        [self.keys.data_type, self.values.data_type]
    }

    fn metadata(&self) -> Vec<(String, String)> {
        self.names.metadata()
    }

    #[inline(always)]
    fn key_to_cell(&self, key: B) -> u64 {
        self.keys.cell(key.restored(self.order).to_u64())
    }

    #[inline(always)]
    fn value_to_cell(&self, value: B) -> u64 {
        self.values.cell(value.to_u64())
    }

    #[inline(always)]
    fn key_of_cell(&self, cell: u64) -> Option<B> {
        B::truncate(self.keys.word(cell)).ordered(self.order)
    }

    #[inline(always)]
    fn value_of_cell(&self, cell: u64) -> B {
        B::truncate(self.values.word(cell))
    }
}
