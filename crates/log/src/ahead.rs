//! Recovery into an index that has the first records already.

use crate::error::Result;
use crate::record::Header;
use crate::replay::{Base, Target};
use latchless::snapshot::{self, DataType};
use std::io::Write;

/// An index that has everything up to a record.
pub struct Ahead<T> {
    index: T,
    /// The number of that record.
    last: u64,
}

impl<T: Target> Ahead<T> {
    pub fn new(index: T, last: u64) -> Self {
        Self { index, last }
    }
}

impl<T: Target> Target for Ahead<T> {
    fn types(&self) -> [DataType; 2] {
        self.index.types()
    }

    /// What it has is that of the folder.
    fn len(&self) -> usize {
        0
    }

    fn begins_with_snapshot(&self) -> bool {
        self.index.begins_with_snapshot()
    }

    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        self.index.save(out)
    }

    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>> {
        Ok(Ok(base.len()))
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        if header.number <= self.last { Ok(Ok(0)) } else { self.index.apply(header, payload) }
    }

    fn clear(&mut self) -> Result<()> {
        self.last = 0;
        self.index.clear()
    }

    fn settle(&mut self) -> Result<()> {
        self.index.settle()
    }
}
