//! Durable entries per second, by batch size and by sync mode.
//!
//! ```text
//! cd crates/log/race && cargo run --release [FOLDER]
//! ```
//!
//! Random `u64` keys and values are written into an empty store in FOLDER (by default the system's folder
//! for temporary files, which may be in memory). The stores alternate; each figure is the median of the
//! rounds. redb has a commit per batch, fjall a batch of its own, latchless-log a record per batch.

use latchless_log::{DurableIndex, Options, SyncMode};
use redb::{Database, Durability, TableDefinition};
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 3;
const TABLE: TableDefinition<u64, u64> = TableDefinition::new("entries");

/// The `at`th key.
fn key(at: usize) -> u64 {
    let mut key = (at as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    key = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key ^ key >> 27
}

/// Seconds for all batches, of this many entries each.
type Store = fn(&Path, batches: usize, entries: usize, synced: bool) -> f64;

fn keys(batch: usize, entries: usize) -> Vec<u64> {
    (batch * entries..(batch + 1) * entries).map(key).collect()
}

fn latchless_log(folder: &Path, batches: usize, entries: usize, synced: bool) -> f64 {
    let sync = if synced { SyncMode::Each } else { SyncMode::Never };
    let (index, _) = DurableIndex::<u64, u64>::open(folder, Options { sync, ..Options::default() }).expect("it opens");
    let start = Instant::now();
    for batch in 0..batches {
        let keys = keys(batch, entries);
        index.insert_columns(&keys, &keys).expect("a batch");
    }
    start.elapsed().as_secs_f64()
}

fn redb(folder: &Path, batches: usize, entries: usize, synced: bool) -> f64 {
    let store = Database::create(folder.join("redb")).expect("it opens");
    let start = Instant::now();
    for batch in 0..batches {
        let mut change = store.begin_write().expect("a transaction");
        change.set_durability(if synced { Durability::Immediate } else { Durability::None });
        {
            let mut table = change.open_table(TABLE).expect("a table");
            for key in keys(batch, entries) {
                table.insert(key, key).expect("an entry");
            }
        }
        change.commit().expect("a commit");
    }
    start.elapsed().as_secs_f64()
}

fn fjall(folder: &Path, batches: usize, entries: usize, synced: bool) -> f64 {
    let store = fjall::Config::new(folder.join("fjall")).open().expect("it opens");
    let part = store.open_partition("entries", Default::default()).expect("a partition");
    let mode = if synced { fjall::PersistMode::SyncData } else { fjall::PersistMode::Buffer };
    let start = Instant::now();
    for batch in 0..batches {
        let mut change = store.batch();
        for key in keys(batch, entries) {
            change.insert(&part, key.to_be_bytes(), key.to_be_bytes());
        }
        change.commit().expect("a batch");
        store.persist(mode).expect("a journal");
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let stores: [(&str, Store); 3] = [("latchless-log", latchless_log), ("redb", redb), ("fjall", fjall)];
    println!("| batches | synced | {} |", stores.map(|(name, _)| name).join(" | "));
    println!("|---|---|---:|---:|---:|");
    for (batches, entries) in [(200, 1), (200, 100), (100, 10_000)] {
        for synced in [true, false] {
            let mut seconds = [const { Vec::new() }; 3];
            for _ in 0..ROUNDS {
                for (at, (_, store)) in stores.iter().enumerate() {
                    let folder = tempfile::tempdir_in(&folder).expect("a folder");
                    seconds[at].push(store(folder.path(), batches, entries, synced));
                }
            }
            let rates = seconds.map(|mut seconds| {
                seconds.sort_by(f64::total_cmp);
                format!("{:.0}", (batches * entries) as f64 / seconds[ROUNDS / 2])
            });
            let when = if synced { "each batch" } else { "never" };
            println!("| {batches} of {entries} | {when} | {} |", rates.join(" | "));
        }
    }
}
