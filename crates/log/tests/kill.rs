//! A process that is killed while it writes: every acknowledged batch is recovered, and no entry appears
//! that it didn't send. `LATCHLESS_KILLS` is the number of kills (`.ci/run log`: a thousand).

use latchless::table::{Batch, Table};
use latchless::versions::WriteBatch;
use latchless_log::{ChangeError, DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableTable};
use latchless_log::{DurableVersionedIndex, Options, Result, SyncMode};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const CHILD: &str = "LATCHLESS_LOG_CHILD";
const THREADS: u64 = 3;
/// Keys that one thread changes; no other does.
const KEYS: u64 = 40;

/// A durable index whose process is killed; its keys are made from numbers.
trait Killed: Sync + Sized {
    fn open(folder: &Path, options: Options) -> Result<Self>;
    fn put(&self, key: u64, value: u64) -> Result<()>;
    fn put_all(&self, keys: &[u64], value: u64) -> Result<()>;
    /// `value`: one that is greater than all that these keys have had.
    fn remove_all(&self, keys: &[u64], value: u64) -> Result<()>;
    fn snapshot(&self) -> Result<()>;
    fn get(&self, key: u64) -> Option<u64>;
    /// The entries of keys from one number up to another.
    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64>;
}

impl Killed for DurableIndex<u64, u64> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self::open(folder, options)?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        self.insert(key, value).map(drop)
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        self.insert_columns(keys, &vec![value; keys.len()]).map(drop)
    }

    fn remove_all(&self, keys: &[u64], _: u64) -> Result<()> {
        self.remove_many(keys).map(drop)
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.get(key)
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        self.index().range(from..to).collect()
    }
}

/// The text of a number: some are longer than fits a node of the index.
fn text(key: u64) -> String {
    format!("{key:08}/{}", "é".repeat(key as usize % 7 * 60))
}

impl Killed for DurableBytesIndex<String, u64> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self::open(folder, options)?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        self.insert(&text(key), value).map(drop)
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        let texts: Vec<String> = keys.iter().map(|&key| text(key)).collect();
        let entries: Vec<(&str, u64)> = texts.iter().map(|text| (&**text, value)).collect();
        self.insert_many(&entries).map(drop)
    }

    fn remove_all(&self, keys: &[u64], _: u64) -> Result<()> {
        let texts: Vec<String> = keys.iter().map(|&key| text(key)).collect();
        self.remove_many(&texts.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.get(&text(key))
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        let entries = self.index().range(&*text(from)..&*text(to));
        entries.map(|(key, value)| (key[..8].parse().expect("a number"), value)).collect()
    }
}

/// Both are texts: the value is its number, and as long as the key.
impl Killed for DurableBytesIndex<String, String> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self::open(folder, options)?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        self.insert(&text(key), &text(value)).map(drop)
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        let texts: Vec<String> = keys.iter().map(|&key| text(key)).collect();
        let entries: Vec<_> = texts.iter().map(|key| (&**key, text(value))).collect();
        self.insert_many(&entries).map(drop)
    }

    fn remove_all(&self, keys: &[u64], _: u64) -> Result<()> {
        let texts: Vec<String> = keys.iter().map(|&key| text(key)).collect();
        self.remove_many(&texts.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.get(&text(key)).map(|value| number(&value))
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        let entries = self.index().range(&*text(from)..&*text(to));
        entries.map(|(key, value)| (number(&key), number(&value))).collect()
    }
}

/// A key has its last row's value, if that is even: its half. Several keys have no operation that removes
/// their rows at once, so an odd row means that they are removed.
impl Killed for DurableMultiIndex<String> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self::open(folder, options)?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        self.insert(&text(key), 2 * value).map(drop)
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        let rows: Vec<(String, u64)> = keys.iter().map(|&key| (text(key), 2 * value)).collect();
        self.insert_many(&rows).map(drop)
    }

    fn remove_all(&self, keys: &[u64], value: u64) -> Result<()> {
        if let [key] = keys {
            return self.remove_all(&text(*key)).map(drop);
        }
        let rows: Vec<(String, u64)> = keys.iter().map(|&key| (text(key), 2 * value + 1)).collect();
        self.insert_many(&rows).map(drop)
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        let last = self.index().rows(&text(key)).last()?;
        last.is_multiple_of(2).then_some(last / 2)
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        let rows = self.index().range(&*text(from)..&*text(to));
        let keys: BTreeSet<u64> = rows.map(|(key, _)| number(&key)).collect();
        keys.into_iter().filter_map(|key| Some((key, self.get(key)?))).collect()
    }
}

impl Killed for DurableVersionedIndex<String, u64> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self::open(folder, options)?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        self.insert(&text(key), value).map(drop)
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        let batch: WriteBatch<String, u64> = keys.iter().map(|&key| (text(key), value)).collect();
        self.commit(batch).map(drop)
    }

    fn remove_all(&self, keys: &[u64], _: u64) -> Result<()> {
        self.transact(|transaction| {
            for &key in keys {
                transaction.remove(&text(key));
            }
            Ok(())
        })
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.index().get(&text(key))
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        let view = self.index().snapshot();
        view.range(&*text(from)..&*text(to)).map(|(key, value)| (number(&key), value)).collect()
    }
}

/// The log's error: no row is refused.
fn logged<A>(changed: Result<A, ChangeError<(u64, u64)>>) -> Result<()> {
    match changed {
        Ok(_) => Ok(()),
        Err(ChangeError::Log(error)) => Err(error),
        Err(ChangeError::Refused(error)) => panic!("{error}"),
    }
}

/// Rows by their first number, and by the second one, which many have.
impl Killed for DurableTable<u64, (u64, u64)> {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        let mut builder = Table::builder(|row: &(u64, u64)| row.0);
        builder.index("second", |row| row.1)?;
        Ok(Self::open_with(folder, builder.build()?, options.into())?.0)
    }

    fn put(&self, key: u64, value: u64) -> Result<()> {
        logged(self.replace((key, value)))
    }

    fn put_all(&self, keys: &[u64], value: u64) -> Result<()> {
        let mut batch = Batch::new();
        for &key in keys {
            batch.replace((key, value));
        }
        logged(self.commit(batch))
    }

    fn remove_all(&self, keys: &[u64], _: u64) -> Result<()> {
        logged(self.transact(|transaction| {
            for &key in keys {
                transaction.remove(key);
            }
            Ok(())
        }))
    }

    fn snapshot(&self) -> Result<()> {
        self.snapshot().map(drop)
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.index().get_with(key, |row| row.1)
    }

    fn between(&self, from: u64, to: u64) -> BTreeMap<u64, u64> {
        self.index().check_invariants().expect("every index has the entries of the rows");
        self.index().snapshot().range(from..to).map(|(_, row)| *row).collect()
    }
}

/// The number of a whole text.
fn number(of: &str) -> u64 {
    let number = of[..8].parse().expect("a number");
    assert_eq!(of, text(number));
    number
}

/// Numbers in no order.
fn mix(mut state: u64) -> u64 {
    state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

/// The `step`th change of a thread: keys and their new values, or `None` to remove them.
fn change(seed: u64, thread: u64, step: u64) -> Vec<(u64, Option<u64>)> {
    let drawn = mix(seed ^ thread << 32 ^ step.wrapping_mul(0x9E37_79B9));
    let first = drawn % KEYS;
    let removed = drawn >> 40 & 3 == 0;
    let many = if drawn >> 50 & 1 == 0 { 1 } else { 1 + (drawn >> 32 & 15) };
    let keys = (0..many).map(|at| thread * 1_000 + (first + at) % KEYS);
    keys.map(|key| (key, (!removed).then_some(step + 1))).collect()
}

/// Writes until it is killed, and reports each change when it is acknowledged.
fn write<D: Killed>(folder: &Path, seed: u64) {
    let sync = if seed.is_multiple_of(2) { SyncMode::Each } else { SyncMode::Never };
    let durable = D::open(folder, Options { sync, ..Options::default() }).expect("it opens");
    // How far each thread came in its last life.
    let done: Vec<u64> = (0..THREADS).map(|thread| durable.get(thread * 1_000 + 999).unwrap_or(0)).collect();
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let (durable, from) = (&durable, done[thread as usize]);
            threads.spawn(move || {
                for step in from.. {
                    let change = change(0, thread, step);
                    let keys: Vec<u64> = change.iter().map(|(key, _)| *key).collect();
                    let done = match change[0].1 {
                        None => durable.remove_all(&keys, step + 1),
                        Some(value) if keys.len() == 1 => durable.put(keys[0], value),
                        Some(value) => durable.put_all(&keys, value),
                    };
                    done.expect("a change");
                    // How far this thread has come, for the next life.
                    durable.put(thread * 1_000 + 999, step + 1).expect("a put");
                    let line = format!("{thread} {step}\n");
                    std::io::stdout().write_all(line.as_bytes()).expect("the parent listens");
                }
            });
        }
        if seed.is_multiple_of(3) {
            threads.spawn(|| {
                loop {
                    durable.snapshot().expect("a snapshot among writers");
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
}

fn start(test: &str, folder: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder)
        .env("LATCHLESS_LOG_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// The entries of one thread's keys after this many of its steps.
fn after(thread: u64, steps: u64) -> BTreeMap<u64, u64> {
    let mut entries = BTreeMap::new();
    for step in 0..steps {
        for (key, value) in change(0, thread, step) {
            match value {
                Some(value) => drop(entries.insert(key, value)),
                None => drop(entries.remove(&key)),
            }
        }
    }
    entries
}

/// The steps of a thread that are back: between what it acknowledged and what it had begun, one after the
/// other.
fn check(durable: &impl Killed, thread: u64, acknowledged: u64) {
    let found = durable.between(thread * 1_000, thread * 1_000 + 999);
    let steps = durable.get(thread * 1_000 + 999).unwrap_or(0);
    assert!(
        steps >= acknowledged,
        "thread {thread}: {steps} steps are back, {acknowledged} were acknowledged"
    );
    // One step more may be there whose own mark isn't.
    assert!(
        found == after(thread, steps) || found == after(thread, steps + 1),
        "thread {thread} after {steps} steps: {found:?}"
    );
}

#[test]
fn a_killed_writer_loses_nothing_acknowledged() {
    kill_again_and_again::<DurableIndex<u64, u64>>("a_killed_writer_loses_nothing_acknowledged");
}

#[test]
fn a_killed_writer_of_strings_loses_nothing_acknowledged() {
    kill_again_and_again::<DurableBytesIndex<String, u64>>(
        "a_killed_writer_of_strings_loses_nothing_acknowledged",
    );
}

#[test]
fn a_killed_writer_of_values_that_are_strings_loses_nothing_acknowledged() {
    kill_again_and_again::<DurableBytesIndex<String, String>>(
        "a_killed_writer_of_values_that_are_strings_loses_nothing_acknowledged",
    );
}

#[test]
fn a_killed_writer_of_rows_loses_nothing_acknowledged() {
    kill_again_and_again::<DurableMultiIndex<String>>("a_killed_writer_of_rows_loses_nothing_acknowledged");
}

#[test]
fn a_killed_writer_of_commits_loses_none_that_is_acknowledged_and_leaves_no_half_of_one() {
    kill_again_and_again::<DurableVersionedIndex<String, u64>>(
        "a_killed_writer_of_commits_loses_none_that_is_acknowledged_and_leaves_no_half_of_one",
    );
}

#[test]
fn a_killed_writer_of_a_table_loses_no_commit_in_any_index() {
    kill_again_and_again::<DurableTable<u64, (u64, u64)>>(
        "a_killed_writer_of_a_table_loses_no_commit_in_any_index",
    );
}

/// Runs the test of this name as a child, and kills it.
fn kill_again_and_again<D: Killed>(test: &str) {
    if let Some(folder) = std::env::var_os(CHILD) {
        let seed = std::env::var("LATCHLESS_LOG_SEED").expect("a seed").parse().expect("a number");
        write::<D>(Path::new(&folder), seed);
        return;
    }
    let kills: u64 = std::env::var("LATCHLESS_KILLS").map_or(12, |kills| kills.parse().expect("a number"));
    let mut folder = tempfile::tempdir().expect("a folder");
    for kill in 0..kills {
        if kill % 8 == 0 {
            folder = tempfile::tempdir().expect("a folder");
        }
        let mut child = start(test, folder.path(), kill);
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut acknowledged = [0; THREADS as usize];
        let mut hear = |line: &str| {
            let mut words = line.split_whitespace().map(str::parse::<u64>);
            if let (Some(Ok(thread)), Some(Ok(step)), None) = (words.next(), words.next(), words.next()) {
                acknowledged[thread as usize] = acknowledged[thread as usize].max(step + 1);
            }
        };
        // Between a few and some hundred acknowledged changes, then at any moment.
        for _ in 0..mix(kill) % 300 {
            hear(&lines.next().expect("it writes on").expect("readable output"));
        }
        std::thread::sleep(Duration::from_micros(mix(kill + 1_000_000) % 3_000));
        child.kill().expect("SIGKILL");
        child.wait().expect("its end");
        lines.map_while(Result::ok).for_each(|line| hear(&line));
        let durable = D::open(folder.path(), Options::default()).expect("it opens after a kill");
        (0..THREADS).for_each(|thread| check(&durable, thread, acknowledged[thread as usize]));
    }
}
