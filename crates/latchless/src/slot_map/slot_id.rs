//! Handles: which slot a value is in, and which of the slot's values it is. Whether it is still there, only
//! the slot knows.

use latchless_core::base::value::Value;

/// A handle of a value outside of the index: a slot and its generation. Never reused for another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotId {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl Value for SlotId {
    type Bits = u64;

    #[inline(always)]
    fn encode(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }

    #[inline(always)]
    fn decode(bits: u64) -> Self {
        Self { slot: (bits >> 32) as u32, generation: bits as u32 }
    }
}
