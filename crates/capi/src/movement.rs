//! Where a cursor moves.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::failure::Failure;
use latchless_move::*;

/// Where a cursor moves.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_move {
    /// To `key` or, if it is absent, to the first key after it.
    LATCHLESS_SEEK = 0,
    /// To `key` or, if it is absent, to the last key before it.
    LATCHLESS_SEEK_FOR_PREV = 1,
    /// To the first entry.
    LATCHLESS_SEEK_FIRST = 2,
    /// To the last entry.
    LATCHLESS_SEEK_LAST = 3,
    /// To the next entry.
    LATCHLESS_NEXT = 4,
    /// To the previous entry.
    LATCHLESS_PREV = 5,
    /// It stays on its entry.
    LATCHLESS_CURRENT = 6,
}

pub use latchless_move as Move;

impl Move {
    const ALL: [Self; 7] = [
        LATCHLESS_SEEK,
        LATCHLESS_SEEK_FOR_PREV,
        LATCHLESS_SEEK_FIRST,
        LATCHLESS_SEEK_LAST,
        LATCHLESS_NEXT,
        LATCHLESS_PREV,
        LATCHLESS_CURRENT,
    ];

    /// The one of this number: C may pass any.
    pub fn of(number: u32) -> Result<Self, Failure> {
        let known = Self::ALL.into_iter().find(|&movement| movement as u32 == number);
        known.ok_or(Failure::Field { field: "move", given: number.into(), wanted: "a latchless_move" })
    }
}
