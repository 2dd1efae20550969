//! Keys of fixed length, made of numbers.

use super::distinct::distinct;
use super::keys::BytesKeys;
use crate::ask::Ask;
use crate::keys::Lane;
use rand::RngExt;

/// An odd step from one key's number to the next one's.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
/// The sequence number of the first key of a storage engine: far from zero, as in one that has run a while.
const SEQUENCE: u64 = 1 << 33;

/// How many series there are.
const SERIES: u64 = 10_000;
/// When they begin, in nanoseconds: in the year 2026.
const BEGIN: u64 = 1_770_000_000_000_000_000;
/// Nanoseconds from a measurement to that of the next series: 1 to this, evenly.
const PAUSE_MAX: u64 = 20_000;

/// The key of a number: looks random, and no two numbers share one.
pub fn scattered(ask: Ask, number: u64) -> [u8; 8] {
    ask.seed.scatter().wrapping_add(number.wrapping_mul(STRIDE)).scatter().to_be_bytes()
}

/// Random numbers.
pub fn int8(ask: Ask, keys: &mut BytesKeys) {
    (0..ask.total() as u64).for_each(|number| keys.push(&[&scattered(ask, number)]));
}

/// Random UUIDs of version 4, each written by `write`.
pub fn uuids(ask: Ask, keys: &mut BytesKeys, write: fn(&mut Vec<u8>, [u8; 16])) {
    let mut random = ask.generator(1);
    distinct(ask, keys, |key| {
        let mut uuid = random.random::<u128>().to_be_bytes();
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        write(key, uuid);
    });
}

/// A UUID as it is.
pub fn in_bytes(key: &mut Vec<u8>, uuid: [u8; 16]) {
    key.extend_from_slice(&uuid);
}

/// A UUID in hexadecimal digits, in five groups.
pub fn in_text(key: &mut Vec<u8>, uuid: [u8; 16]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in uuid.into_iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            key.push(b'-');
        }
        key.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// A random user, then the sequence number: two versions per user on average.
pub fn rocks(ask: Ask, keys: &mut BytesKeys) {
    let mut random = ask.generator(1);
    let users = (ask.total() as u64 / 2).max(1);
    // Users are spread over all ten digits.
    let user_step = 10_000_000_000 / users;
    for number in 0..ask.total() as u64 {
        push_version(keys, random.random_range(0..users) * user_step, number);
    }
}

/// A new user for each key, in order.
pub fn rocks_ascending(ask: Ask, keys: &mut BytesKeys) {
    let first = ask.seed.scatter() % 1_000_000_000;
    (0..ask.total() as u64).for_each(|number| push_version(keys, first + number, number));
}

/// A random series, then the time, which advances from one key to the next.
pub fn series(ask: Ask, keys: &mut BytesKeys) {
    let (mut random, mut now) = (ask.generator(1), BEGIN);
    for _ in 0..ask.total() {
        now += random.random_range(1..=PAUSE_MAX);
        keys.push(&[&scattered(ask, random.random_range(0..SERIES)), &now.to_be_bytes()]);
    }
}

fn push_version(keys: &mut BytesKeys, user: u64, number: u64) {
    keys.push(&[format!("user{user:010}").as_bytes(), &(SEQUENCE + number).to_be_bytes()]);
}
