//! What generated implementations of [`Key`] and [`Value`] call: fields above and below each other in a word.

use super::key::{Bits, Key};
use super::tuples::ones;
use super::value::Value;

/// Moves bits up and puts `own` of this width below them.
#[inline(always)]
const fn below(bits: u64, own: u64, width_bits: u32) -> u64 {
    if width_bits >= 64 { own } else { bits << width_bits | own }
}

/// Takes out the lowest bits.
#[inline(always)]
const fn lowest(bits: &mut u64, width_bits: u32) -> u64 {
    let own = *bits & ones(width_bits);
    *bits = if width_bits >= 64 { 0 } else { *bits >> width_bits };
    own
}

/// Puts a key's bits below others.
#[inline(always)]
pub fn key_below<K: Key>(bits: u64, key: K) -> u64 {
    below(bits, key.encode().to_u64(), K::WIDTH_BITS)
}

/// Takes out the lowest bits and decodes them.
#[inline(always)]
pub fn key_from<K: Key>(bits: &mut u64) -> K {
    K::decode(Bits::truncate(lowest(bits, K::WIDTH_BITS)))
}

/// Puts a value's bits below others.
#[inline(always)]
pub fn value_below<V: Value>(bits: u64, value: V) -> u64 {
    below(bits, value.encode().to_u64(), V::WIDTH_BITS)
}

/// Takes out the lowest bits and decodes them.
#[inline(always)]
pub fn value_from<V: Value>(bits: &mut u64) -> V {
    V::decode(Bits::truncate(lowest(bits, V::WIDTH_BITS)))
}
