//! Keys that an index of byte strings finds hard.

use super::keys::BytesKeys;
use super::numbers::scattered;
use crate::ask::Ask;
use rand::RngExt;

/// The longest key that an index takes.
const LONGEST_BYTES: usize = 65_535;
/// The long key among short ones, and how many of these there are for one of it.
const LONG_BYTES: usize = 1000;
const LONG_ONE_IN: u64 = 64;
/// Keys of which each begins the next one.
const CHAIN: u64 = 64;

/// The same bytes for all keys of a seed.
fn shared(ask: Ask, bytes: usize) -> Vec<u8> {
    let mut random = ask.generator(1);
    (0..bytes).map(|_| random.random()).collect()
}

/// The same 16 bytes, then 8 others.
pub fn same16(ask: Ask, keys: &mut BytesKeys) {
    let shared = shared(ask, 16);
    (0..ask.total() as u64).for_each(|number| keys.push(&[&shared, &scattered(ask, number)]));
}

/// As long as can be; only the last eight bytes differ.
pub fn long_ends(ask: Ask, keys: &mut BytesKeys) {
    let shared = shared(ask, LONGEST_BYTES - 8);
    (0..ask.total() as u64).for_each(|number| keys.push(&[&shared, &scattered(ask, number)]));
}

/// Eight bytes, and now and then a thousand.
pub fn one_long(ask: Ask, keys: &mut BytesKeys) {
    let long = shared(ask, LONG_BYTES - 8);
    for number in 0..ask.total() as u64 {
        let rest = if number % LONG_ONE_IN == LONG_ONE_IN / 2 { &long[..] } else { &[] };
        keys.push(&[&scattered(ask, number), rest]);
    }
}

/// Eight distinct bytes for each chain, then none, one, two … of the same bytes, NUL among them.
pub fn nested(ask: Ask, keys: &mut BytesKeys) {
    let mut shared = shared(ask, CHAIN as usize - 1);
    shared.iter_mut().step_by(5).for_each(|byte| *byte = 0);
    for number in ask.shuffled((0..ask.total() as u64).collect()) {
        keys.push(&[&scattered(ask, number / CHAIN), &shared[..(number % CHAIN) as usize]]);
    }
}
