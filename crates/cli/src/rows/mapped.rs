//! Runs of a saved index, where its file lies. A run's number is the position of its first row.

use super::key::KeyType;
use super::keys::Keys;
use super::place::Span;
use super::postings::Groups;
use super::runs::Runs;
use latchless::Direction;
use latchless::snapshot::{Rows, Sought};
use std::ops::Range;
use std::rc::Rc;

/// The sorted rows of a file, at most `u32::MAX` of them.
#[derive(Debug, Clone)]
pub struct Mapped {
    rows: Rc<Rows>,
    /// The type of the keys, if they are numbers.
    key_type: Option<KeyType>,
    keys: usize,
}

impl Mapped {
    /// Those of a file with this many distinct keys.
    pub fn new(rows: Rows, key_type: Option<KeyType>, keys: usize) -> Self {
        Self { rows: Rc::new(rows), key_type, keys }
    }

    /// The file's rows.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many rows precede the place of a row's key, and how many that of the next key.
    fn around(&self, position: usize) -> Range<usize> {
        let key = self.rows.row(position).map_or(&[][..], |(key, _)| key);
        let sought = self.key_type.map_or(Sought::Bytes(key), |_| Sought::Cell(number(key)));
        self.rows.lower_bound(sought)..self.rows.upper_bound(sought)
    }

    /// The positions of the keys of a span.
    fn span(&self, span: &Span) -> Range<usize> {
        match self.key_type {
            Some(key_type) => {
                let (low, high) = span.numbers();
                let cell = |bits| Sought::Cell(key_type.cell(bits));
                self.rows.lower_bound(cell(low))..self.rows.upper_bound(cell(high))
            }
            None => {
                let (low, high) = span.bytes();
                let end = |high: Vec<u8>| self.rows.lower_bound(Sought::Bytes(&high));
                self.rows.lower_bound(Sought::Bytes(&low))..high.map_or(self.rows.len(), end)
            }
        }
    }

    /// The positions of each of many keys.
    fn each(&self, keys: &Keys) -> Vec<Range<usize>> {
        let sought = |row| match (self.key_type, keys) {
            (None, Keys::Bytes(strings)) => Sought::Bytes(strings.get(row)),
            (key_type, numbers) => {
                Sought::Cell(key_type.map_or(0, |key_type| key_type.cell(numbers.number(row))))
            }
        };
        let positions = |key| self.rows.lower_bound(key)..self.rows.upper_bound(key);
        (0..keys.len()).map(sought).map(positions).collect()
    }

    /// The run of a row.
    fn run(&self, position: usize) -> u32 {
        self.around(position).start as u32
    }
}

/// The number that a cell of at most eight bytes is.
pub fn number(bytes: &[u8]) -> u64 {
    let mut cell = [0; 8];
    cell[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(cell)
}

impl Runs for Mapped {
    fn end(&self, span: &Span, end: Direction) -> latchless::Result<Option<u32>> {
        let positions = self.span(span);
        let end = match end {
            Direction::Forward => positions.start,
            Direction::Reverse => positions.end.wrapping_sub(1),
        };
        Ok((!positions.is_empty()).then(|| self.run(end)))
    }

    fn ends(&self, spans: &[&Span]) -> latchless::Result<Vec<Option<(u32, u32)>>> {
        let ends = |span: &&Span| {
            let positions = self.span(span);
            (!positions.is_empty()).then(|| (positions.start as u32, self.run(positions.end - 1)))
        };
        Ok(spans.iter().map(ends).collect())
    }

    fn equal(&self, keys: &Keys) -> latchless::Result<Vec<Option<u32>>> {
        let run = |positions: Range<usize>| (!positions.is_empty()).then_some(positions.start as u32);
        Ok(self.each(keys).into_iter().map(run).collect())
    }

    fn near(&self, keys: &Keys, direction: Direction) -> latchless::Result<Vec<Option<u32>>> {
        let near = |positions: Range<usize>| match direction {
            Direction::Forward => (positions.start < self.rows.len()).then_some(positions.start as u32),
            Direction::Reverse => positions.end.checked_sub(1).map(|position| self.run(position)),
        };
        Ok(self.each(keys).into_iter().map(near).collect())
    }

    fn keys(&self) -> usize {
        self.keys
    }

    /// None of its own.
    fn memory_bytes(&self) -> usize {
        0
    }
}

impl Groups for Mapped {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, position: usize) -> u32 {
        position as u32
    }

    fn positions(&self, run: u32) -> Range<usize> {
        self.around(run as usize)
    }

    fn step(&self, from: Option<u32>, direction: Direction) -> Option<u32> {
        match (from, direction) {
            (None, Direction::Forward) => (!self.rows.is_empty()).then_some(0),
            (None, Direction::Reverse) => self.rows.len().checked_sub(1).map(|last| self.run(last)),
            (Some(run), Direction::Forward) => {
                // Of a damaged file no run may be its own next one.
                let next = self.positions(run).end.max(run as usize + 1);
                (next < self.rows.len()).then_some(next as u32)
            }
            (Some(run), Direction::Reverse) => {
                run.checked_sub(1).map(|before| self.run(before as usize).min(before))
            }
        }
    }

    /// None of its own.
    fn memory_bytes(&self) -> usize {
        0
    }
}
