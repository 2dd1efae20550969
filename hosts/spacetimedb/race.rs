//! The ordered indexes before and after in one program, alternately, and the hash indexes beside them.
//!
//!   hosts/spacetimedb/run race [ROWS [ROUNDS]]

use super::btree_index::BTreeIndex;
use super::btree_index_before::BTreeIndex as BTreeIndexBefore;
use super::bytes_key::RangeCompatBytesKey;
use super::hash_index::HashIndex;
use super::unique_btree_index::UniqueBTreeIndex;
use super::unique_btree_index_before::UniqueBTreeIndex as UniqueBTreeIndexBefore;
use super::unique_hash_index::UniqueHashIndex;
use super::{Index, RangedIndex};
use crate::indexes::RowPointer;
use core::hint::black_box;
use core::ops::Bound;
use std::process::Command;
use std::{fs, thread};

/// Names the index that a child process builds, whose resident memory is measured.
const BUILD: &str = "RACE_BUILD";
const WHAT: [&str; 6] = ["insert", "seek", "range of ten", "iterate", "delete", "transaction of ten"];
/// Transactions that are timed together.
const TRANSACTIONS: usize = 20_000;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect(name))
}

fn rows() -> usize {
    number("RACE_ROWS", 1_000_000)
}

/// A number that looks random, another one for each `at`.
fn mixed(at: u64) -> u64 {
    let bits = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

fn text(at: u64) -> Box<str> {
    format!("user-{:016}", mixed(at) >> 12).into()
}

/// An item of an owner, two columns of eight bytes; an owner has some ten.
fn pair(at: u64) -> RangeCompatBytesKey<31> {
    let (owner, item) = (mixed(mixed(at) % (rows() as u64 / 10 + 1)), mixed(at));
    RangeCompatBytesKey::from_slice(&[owner.to_be_bytes(), item.to_be_bytes()].concat())
}

/// A pointer as those of a table: its reserved bit isn't set.
fn row(at: u64) -> RowPointer {
    RowPointer(at << 1)
}

/// Positions in an order that looks random.
fn shuffled(len: usize) -> Vec<usize> {
    let mut positions: Vec<_> = (0..len).collect();
    positions.sort_by_key(|&at| mixed(at as u64 + 7));
    positions
}

fn seek_ten<I: RangedIndex>(index: &I, key: &I::Key) -> usize
where
    I::Key: Ord,
{
    index.seek_range(&(Bound::Included(key), Bound::Unbounded)).take(10).map(black_box).count()
}

/// Nanoseconds that this thread has had a processor, which others on the machine change little.
fn on_processor() -> f64 {
    // The system counts when it changes threads.
    thread::yield_now();
    let counts = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    counts.split(' ').next().unwrap().parse().unwrap()
}

/// Nanoseconds of [`WHAT`], each for one row.
fn round<I: Index + Default>(key: impl Fn(u64) -> I::Key, seek_ten: impl Fn(&I, &I::Key) -> usize) -> [f64; 6]
where
    I::Key: Clone,
{
    let rows = rows();
    let keys: Vec<_> = (0..rows as u64).map(&key).collect();
    let order = shuffled(rows);
    let (mut index, mut times) = (I::default(), [0.0; 6]);
    let mut time = |at: usize, times_each: usize, work: &mut dyn FnMut()| {
        let begun = on_processor();
        work();
        times[at] = (on_processor() - begun) / times_each as f64;
    };
    let mut given = keys.clone().into_iter().zip(0..);
    time(0, rows, &mut || given.by_ref().for_each(|(key, at)| index.insert(key, row(at)).unwrap()));
    time(1, rows, &mut || {
        order.iter().for_each(|&at| _ = black_box(index.seek_point(&keys[at]).next().unwrap()))
    });
    time(2, rows / 10, &mut || order.iter().take(rows / 10).for_each(|&at| _ = seek_ten(&index, &keys[at])));
    time(3, rows, &mut || assert_eq!(index.iter().map(black_box).count(), rows));
    time(4, rows, &mut || order.iter().for_each(|&at| assert!(index.delete(&keys[at], row(at as u64)))));
    assert_eq!(index.num_keys(), 0);
    time(5, TRANSACTIONS, &mut || {
        for begin in 0..TRANSACTIONS {
            let mut own = index.clone_structure();
            for at in begin..begin + 10 {
                own.insert(keys[at % rows].clone(), row(at as u64)).unwrap();
            }
            black_box(own.num_rows());
        }
    });
    times
}

fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux");
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Bytes a row, by what the process takes. Only where this is what the process was started for.
fn build<I: Index + Default>(name: &str, key: impl Fn(u64) -> I::Key) {
    if std::env::var(BUILD).is_ok_and(|wanted| wanted == name) {
        let before = resident();
        let mut index = I::default();
        (0..rows() as u64).for_each(|at| index.insert(key(at), row(at)).unwrap());
        println!("resident {:.1}", (resident() - before) as f64 / rows() as f64);
        black_box(index.num_rows());
    }
}

fn bytes(name: &str) -> f64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "--exact", "table_index::race::before_and_after"])
        .env(BUILD, name)
        .output()
        .expect("the program itself");
    let said = String::from_utf8(output.stdout).unwrap();
    let bytes = said.lines().find_map(|line| line.strip_prefix("resident "));
    bytes.expect("the bytes of a row").parse().unwrap()
}

fn median(rounds: &[[f64; 6]], at: usize) -> f64 {
    let mut times: Vec<_> = rounds.iter().map(|round| round[at]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn race<Before, After, Hash>(kind: &str, key: impl Fn(u64) -> Before::Key + Copy)
where
    Before: RangedIndex<Key: Clone + Ord> + Default,
    After: RangedIndex<Key = Before::Key> + Default,
    Hash: Index<Key = Before::Key> + Default,
{
    let [before, after, hash] = ["BTreeMap", "latchless", "HashMap"].map(|map| format!("{kind}, {map}"));
    if std::env::var(BUILD).is_ok() {
        build::<Before>(&before, key);
        build::<After>(&after, key);
        return build::<Hash>(&hash, key);
    }
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..number("RACE_ROUNDS", 3) {
        rounds[0].push(round::<Before>(key, seek_ten));
        rounds[1].push(round::<After>(key, seek_ten));
        rounds[2].push(round::<Hash>(key, |_, _| 0));
    }
    for (at, what) in WHAT.into_iter().enumerate() {
        let [before, after, hash] = [0, 1, 2].map(|map| median(&rounds[map], at));
        let hash = if at == 2 { "-".to_owned() } else { format!("{hash:.0}") };
        println!(
            "{kind:24} {what:18} BTreeMap {before:6.0} ns, latchless {after:6.0} ns, {:4.2}; HashMap {hash:>6} ns",
            after / before
        );
    }
    let [before, after, hash] = [before, after, hash].map(|name| bytes(&name));
    println!(
        "{kind:24} {:18} BTreeMap {before:6.1} B,  latchless {after:6.1} B,  {:4.2}; HashMap {hash:6.1} B",
        "memory of a row",
        after / before
    );
}

#[test]
#[ignore = "a measurement: hosts/spacetimedb/run race"]
fn before_and_after() {
    macro_rules! unique {
        ($kind:expr, $key:ty, $of:expr) => {
            race::<UniqueBTreeIndexBefore<$key>, UniqueBTreeIndex<$key>, UniqueHashIndex<$key>>($kind, $of)
        };
    }
    macro_rules! multi {
        ($kind:expr, $key:ty, $of:expr) => {
            race::<BTreeIndexBefore<$key>, BTreeIndex<$key>, HashIndex<$key>>($kind, $of)
        };
    }
    unique!("unique u64 in order", u64, |at| at);
    unique!("unique u64 at random", u64, mixed);
    unique!("unique text", Box<str>, text);
    unique!("unique pair of u64", RangeCompatBytesKey<31>, pair);
    multi!("u64, a row each", u64, mixed);
    multi!("u64, four rows each", u64, |at| mixed(at % (rows() as u64).div_ceil(4)));
    multi!("text, four rows each", Box<str>, |at| text(at % (rows() as u64).div_ceil(4)));
}
