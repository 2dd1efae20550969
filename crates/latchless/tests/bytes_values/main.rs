//! Values of more than one word in an index of byte strings: several words, and byte strings of any length.

mod beside;
mod model;
mod refused;

use latchless::BytesValue;
use latchless::bytes::{ByteStrings, Lent};
use latchless::index::Options;
use std::fmt::Debug;

/// Values that are determined by a number and a length.
trait Numbered: BytesValue + PartialEq + Debug {
    /// Returns the value of a number. Types of fixed length ignore `len`.
    fn of(number: u64, len: usize) -> Self;
    /// Lends the value.
    fn lend(&self) -> Lent<'_, Self>;
    /// Copies a lent value.
    fn own(lent: Lent<'_, Self>) -> Self;
}

/// The lengths of byte strings: around the limits of a word, of a leaf, and of a block.
const LENGTHS: [usize; 19] =
    [0, 1, 7, 8, 9, 15, 16, 63, 64, 191, 192, 193, 200, 247, 248, 249, 256, 4096, 60_000];

/// Returns a length: the longest ones are rare.
fn length(number: u64) -> usize {
    let number = number as usize;
    if cfg!(miri) || !number.is_multiple_of(13) { LENGTHS[number % 17] } else { LENGTHS[number % 19] }
}

/// Returns bytes that depend on a number and a length, so that a test can see whether they are complete.
fn bytes(number: u64, len: usize) -> Vec<u8> {
    let own = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len as u64).map(|at| (own.wrapping_mul(at + 1) >> 56) as u8).collect()
}

impl Numbered for Vec<u8> {
    fn of(number: u64, len: usize) -> Self {
        bytes(number, len)
    }

    fn lend(&self) -> &[u8] {
        self
    }

    fn own(lent: &[u8]) -> Self {
        lent.to_vec()
    }
}

impl Numbered for String {
    fn of(number: u64, len: usize) -> Self {
        bytes(number, len).into_iter().map(|byte| char::from(byte % 128)).collect()
    }

    fn lend(&self) -> &str {
        self
    }

    fn own(lent: &str) -> Self {
        lent.to_owned()
    }
}

macro_rules! numbered {
    ($($value:ty: $of:expr;)*) => {$(
        impl Numbered for $value {
            fn of(number: u64, _: usize) -> Self {
                let of: fn(u64) -> $value = $of;
                of(number)
            }

            fn lend(&self) -> $value {
                *self
            }

            fn own(lent: $value) -> Self {
                lent
            }
        }
    )*};
}
numbered! {
    u64: |number| number;
    [u64; 1]: |number| [number];
    u128: |number| u128::from(number) << 64 | u128::from(!number);
    (u64, f64): |number| (number, number as f64);
    [u8; 40]: |number| bytes(number, 40).try_into().unwrap();
    [u64; 8]: |number| std::array::from_fn(|at| number ^ at as u64);
}

fn options() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

fn empty<V: BytesValue>() -> ByteStrings<Vec<u8>, V> {
    ByteStrings::with_options(options()).expect("a leaf finds room")
}

/// Returns keys that nodes distinguish differently: short ones, some with common prefixes, and long ones.
fn key_of(number: u64) -> Vec<u8> {
    let own = number.to_be_bytes();
    match number % 8 {
        0 => own[6..].to_vec(),
        1 => [&[b's'; 30][..], &own].concat(),
        2 => [&[b's'; 150][..], &own].concat(),
        3 if number % 64 == 3 => [&[b'l'; 500][..], &own].concat(),
        4 => vec![b'p'; (number / 8 % 60) as usize],
        _ => [&[b'k'; 4][..], &own].concat(),
    }
}
