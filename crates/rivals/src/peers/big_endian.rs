//! Keys as byte strings: big-endian, which keeps their order.

use latchless_core::base::key::Bits;

/// The `N` bytes of a lane.
pub fn bytes<B: Bits, const N: usize>(lane: B) -> [u8; N] {
    let wide = lane.to_u64().to_be_bytes();
    core::array::from_fn(|at| wide[8 - N + at])
}

/// The lane of those bytes.
pub fn lane<B: Bits, const N: usize>(bytes: &[u8; N]) -> B {
    let mut wide = [0; 8];
    wide[8 - N..].copy_from_slice(bytes);
    B::truncate(u64::from_be_bytes(wide))
}
