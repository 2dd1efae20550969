//! Two memtables of an engine in one program, alternately: the time of their operations, by one thread and by
//! two, and the memory of an entry. Each engine's `race.rs` says how its memtables are used.
//!
//!   hosts/lsm-tree/run race [ENTRIES [ROUNDS]]
//!   hosts/slatedb/run race [ENTRIES [ROUNDS]]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;
use std::{env, fs, thread};

/// Names the memtable and the keys that a child process fills it with, whose resident memory is measured.
const BUILD: &str = "RACE_BUILD";
const KINDS: [&str; 3] = ["texts in order", "texts at random", "numbers at random"];
const WHAT: [&str; 6] =
    ["insert", "get", "entry of an iteration", "range of ten", "insert, two threads", "get, two threads"];
const RANGE_ENTRIES: usize = 10;

/// A memtable under test, whose entries have values of a hundred bytes.
pub(crate) trait Memtable: Sync {
    const NAME: &'static str;
    /// A key as the engine's callers have it.
    type Key: Sync;

    fn empty() -> Self;
    fn key(bytes: Vec<u8>) -> Self::Key;
    fn insert(&self, key: &Self::Key, number: u64);
    /// Whether the key is there.
    fn get(&self, key: &Self::Key) -> bool;
    /// The number of entries from a key on, or of all, at most `limit`.
    fn count(&self, from: Option<&Self::Key>, limit: usize) -> usize;
}

fn number(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |text| text.parse().expect(name))
}

fn entries() -> usize {
    number("RACE_ENTRIES", 1_000_000)
}

/// A number that looks random, another one for each `at`.
fn mixed(at: u64) -> u64 {
    let bits = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

fn keys<M: Memtable>(kind: &str) -> Vec<M::Key> {
    let of = |at: u64| match kind {
        "texts in order" => format!("key-{at:012}").into_bytes(),
        "texts at random" => format!("user-{:016}", mixed(at) >> 12).into_bytes(),
        _ => mixed(at).to_be_bytes().to_vec(),
    };
    (0..entries() as u64).map(|at| M::key(of(at))).collect()
}

/// Positions of keys in an order that looks random.
fn shuffled() -> Vec<usize> {
    let mut positions: Vec<_> = (0..entries()).collect();
    positions.sort_by_key(|&at| mixed(at as u64 + 7));
    positions
}

/// Nanoseconds per operation, of which each thread does its share: those from its number on, `threads` apart.
fn timed(threads: usize, operations: usize, work: impl Fn(usize) + Sync) -> f64 {
    let (work, begun) = (&work, Instant::now());
    thread::scope(|scope| {
        for first in 1..threads {
            scope.spawn(move || (first..operations).step_by(threads).for_each(work));
        }
        (0..operations).step_by(threads).for_each(work);
    });
    begun.elapsed().as_nanos() as f64 / operations as f64
}

fn filled<M: Memtable>(threads: usize, keys: &[M::Key]) -> (M, f64) {
    let table = M::empty();
    let time = timed(threads, keys.len(), |at| table.insert(&keys[at], at as u64));
    (table, time)
}

/// Nanoseconds of [`WHAT`].
fn round<M: Memtable>(keys: &[M::Key], order: &[usize]) -> [f64; 6] {
    let get = |table: &M, at: usize| assert!(black_box(table.get(&keys[order[at]])));
    let ranges = keys.len() / RANGE_ENTRIES;
    let (table, insert) = filled::<M>(1, keys);
    let one = timed(1, keys.len(), |at| get(&table, at));
    let all = timed(1, 1, |_| assert_eq!(table.count(None, usize::MAX), keys.len())) / keys.len() as f64;
    let range = timed(1, ranges, |at| _ = black_box(table.count(Some(&keys[order[at]]), RANGE_ENTRIES)));
    drop(table);
    let (table, insert_two) = filled::<M>(2, keys);
    let two = timed(2, keys.len(), |at| get(&table, at));
    [insert, one, all, range, insert_two, two]
}

fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux");
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn name<M: Memtable>(kind: &str) -> String {
    format!("{kind}, {}", M::NAME)
}

/// In the child process that was started for it: fills one memtable and prints the bytes per entry.
fn build<M: Memtable>(kind: &str, wanted: &str) {
    if name::<M>(kind) == wanted {
        let keys = keys::<M>(kind);
        let before = resident();
        let table = filled::<M>(1, &keys).0;
        println!("resident {:.1}", (resident() - before) as f64 / keys.len() as f64);
        black_box(table.get(&keys[0]));
    }
}

/// Bytes per entry, by the resident memory of a child process. `test` is the path of the test that races.
fn bytes<M: Memtable>(kind: &str, test: &str) -> f64 {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "--exact", test])
        .env(BUILD, name::<M>(kind))
        .output()
        .expect("the program itself");
    let said = String::from_utf8(output.stdout).unwrap();
    // The runner's own words come before it on the line.
    let bytes = said.split("resident ").nth(1).expect("the bytes of an entry");
    bytes.split_whitespace().next().unwrap().parse().unwrap()
}

fn median(rounds: &[[f64; 6]], at: usize) -> f64 {
    let mut times: Vec<_> = rounds.iter().map(|round| round[at]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print(kind: &str, what: &str, unit: &str, theirs: f64, ours: f64) {
    let ratio = theirs / ours;
    println!(
        "{kind:18} {what:22} skip list {theirs:7.0} {unit}, latchless {ours:7.0} {unit}, {ratio:5.2} times"
    );
}

/// Races the engine's memtable and the one over an index, and prints medians.
pub(crate) fn race<Theirs: Memtable, Ours: Memtable>(test: &str) {
    if let Ok(wanted) = env::var(BUILD) {
        KINDS.iter().for_each(|kind| build::<Theirs>(kind, &wanted));
        return KINDS.iter().for_each(|kind| build::<Ours>(kind, &wanted));
    }
    let order = shuffled();
    for kind in KINDS {
        let (their_keys, our_keys) = (keys::<Theirs>(kind), keys::<Ours>(kind));
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..number("RACE_ROUNDS", 5) {
            theirs.push(round::<Theirs>(&their_keys, &order));
            ours.push(round::<Ours>(&our_keys, &order));
        }
        for (at, what) in WHAT.into_iter().enumerate() {
            print(kind, what, "ns", median(&theirs, at), median(&ours, at));
        }
        print(kind, "memory of an entry", "B ", bytes::<Theirs>(kind, test), bytes::<Ours>(kind, test));
    }
}
