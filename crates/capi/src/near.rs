//! Which entry near a key a call is about.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::failure::Failure;

/// An entry near a key.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_near {
    /// The largest key that is less than or equal to it.
    LATCHLESS_FLOOR = 0,
    /// The smallest key that is greater than or equal to it.
    LATCHLESS_CEILING = 1,
    /// The largest key that is less than it.
    LATCHLESS_LOWER = 2,
    /// The smallest key that is greater than it.
    LATCHLESS_HIGHER = 3,
    /// The nearest key, of two equally near ones the smaller. Byte strings have no distance.
    LATCHLESS_NEAREST = 4,
}

pub use latchless_near as Near;

impl Near {
    const ALL: [Self; 5] = [
        Self::LATCHLESS_FLOOR,
        Self::LATCHLESS_CEILING,
        Self::LATCHLESS_LOWER,
        Self::LATCHLESS_HIGHER,
        Self::LATCHLESS_NEAREST,
    ];

    /// The one of this number: C may pass any.
    #[inline(always)]
    pub fn of(number: u32) -> Result<Self, Failure> {
        let known = Self::ALL.into_iter().find(|&near| near as u32 == number);
        known.ok_or(Failure::Field { field: "near", given: number.into(), wanted: "a latchless_near" })
    }
}
