//! CSSL with lanes of either width, over parts so small that they are rebuilt all the time, or in one
//! array.

use crate::narrow::Narrow;
use crate::subject::Subject;
use latchless::Direction;
use latchless_core::base::index::OrderedIndex;
use latchless_papers::cssl::{CsslMap, Options};

fn in_parts() -> Options {
    Options { part_keys: Some(24), huge_pages: false, ..Options::default() }
}

/// Stretches of two dozen keys.
pub fn parts() -> Box<dyn Subject> {
    Box::new(CsslMap::<u64, u64>::with_options(&in_parts()).expect("an empty list finds room"))
}

/// The paper's one array, p = 1/2.
pub fn whole() -> Box<dyn Subject> {
    let options = Options { part_keys: None, skip: 2, ..in_parts() };
    Box::new(CsslMap::<u64, u64>::with_options(&options).expect("an empty list finds room"))
}

/// Stretches of two dozen keys of 32 bits.
pub fn narrow() -> Box<dyn Subject> {
    Box::new(Narrow(CsslMap::<u32, u32>::with_options(&in_parts()).expect("an empty list finds room")))
}

/// Creates an index in parts, with a memory limit, or with few references.
pub fn limited(bytes: Option<usize>, references: Option<u32>) -> Box<dyn Subject> {
    let options = Options { limit_bytes: bytes, node_references: references, ..in_parts() };
    Box::new(CsslMap::<u64, u64>::with_options(&options).expect("an empty list finds room"))
}

impl Subject for CsslMap<u64, u64> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        match direction {
            Direction::Forward => self.range(key..).ok()?.next(),
            Direction::Reverse => self.range_reverse(..=key).ok()?.next(),
        }
    }
}

impl Subject for Narrow<CsslMap<u32, u32>> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }
}
