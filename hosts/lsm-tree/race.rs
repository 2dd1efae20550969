//! Both memtables in one program: the time of an insert, a read, and an entry of an iteration, alternately.
//!
//!   hosts/lsm-tree/run race

use crate::ValueType;
use crate::value::{InternalValue, SeqNo};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

const ENTRIES: usize = 200_000;
const ROUNDS: usize = 5;
const RANGES: usize = 2_000;
const RANGE_ENTRIES: usize = 100;

fn keys(kind: &str) -> Vec<Vec<u8>> {
    let mut random = StdRng::seed_from_u64(1);
    let numbers = 0..ENTRIES as u64;
    match kind {
        "texts in order" => numbers.map(|number| format!("key-{number:012}").into_bytes()).collect(),
        "texts at random" => {
            let mut keys: Vec<_> = numbers.map(|number| format!("user-{number:016}").into_bytes()).collect();
            keys.shuffle(&mut random);
            keys
        }
        _ => numbers.map(|_| random.random::<u64>().to_be_bytes().to_vec()).collect(),
    }
}

/// Nanoseconds of an insert, a read, an entry of a whole iteration, and of a range of a hundred.
macro_rules! round {
    ($memtable:ty, $keys:expr) => {{
        let (memtable, keys) = (<$memtable>::new(0), $keys);
        let begun = Instant::now();
        for (seqno, key) in keys.iter().enumerate() {
            memtable.insert(InternalValue::from_components(
                &**key,
                [7; 100],
                seqno as SeqNo,
                ValueType::Value,
            ));
        }
        let insert = begun.elapsed();
        let begun = Instant::now();
        for key in keys.iter().step_by(2) {
            black_box(memtable.get(key, SeqNo::MAX).expect("a key that is there"));
        }
        let get = begun.elapsed() * 2;
        let begun = Instant::now();
        assert_eq!(memtable.iter().map(black_box).count(), ENTRIES);
        let iterate = begun.elapsed();
        let begun = Instant::now();
        let mut seen = 0;
        for key in keys.iter().take(RANGES) {
            let from = crate::key::InternalKey::new(&**key, SeqNo::MAX, ValueType::Value);
            seen += memtable.range(from..).take(RANGE_ENTRIES).map(black_box).count();
        }
        let range = begun.elapsed() * (ENTRIES as u32) / (seen as u32);
        [insert, get, iterate, range].map(|time| time.as_nanos() as f64 / ENTRIES as f64)
    }};
}

fn median(rounds: &[[f64; 4]], at: usize) -> f64 {
    let mut times: Vec<_> = rounds.iter().map(|round| round[at]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
#[ignore = "a measurement: hosts/lsm-tree/run race"]
fn both_memtables() {
    for kind in ["texts in order", "texts at random", "numbers at random"] {
        let keys = keys(kind);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(round!(crate::memtable::skip_list::Memtable, &keys));
            ours.push(round!(super::Memtable, &keys));
        }
        for (at, what) in ["insert", "get", "iterate", "range of 100"].into_iter().enumerate() {
            let (theirs, ours) = (median(&theirs, at), median(&ours, at));
            println!(
                "{kind:18} {what:12} skip list {theirs:7.0} ns, latchless {ours:7.0} ns, {:.2}",
                ours / theirs
            );
        }
    }
}
