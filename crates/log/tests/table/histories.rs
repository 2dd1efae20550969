//! Histories of random changes, of which many are refused: an opening finds what was there, and of a log that
//! is cut or damaged the commits before.

use crate::people::{People, Person, State, folder, is_made, open, opening, person, try_open};
use latchless::table::Batch;
use latchless_log::{ChangeError, DamagedTail, Opening, SyncMode};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tempfile::TempDir;

/// Numbers in no order.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (bits ^ bits >> 31) % end
    }

    fn person(&mut self, id: u64) -> Person {
        person(id, &format!("{}@x", self.below(40)), self.below(8) as u32)
    }
}

/// A random change, and whether it was made.
fn change(people: &People, draw: &mut Draw) -> bool {
    let rows = &people.rows;
    let id = draw.below(24);
    let person = draw.person(id);
    match draw.below(9) {
        0 | 1 => is_made(rows.insert(person)),
        2 => is_made(rows.replace(person)),
        3 => is_made(rows.upsert(id, |_| person.clone())),
        4 => rows.remove(id).unwrap().is_some(),
        5 => {
            let age = draw.below(8) as u32;
            is_made(rows.update(id, |person| Person { age, ..person.clone() }))
        }
        6 => {
            let mut batch = Batch::new();
            for _ in 0..=draw.below(5) {
                let id = draw.below(24);
                match draw.below(3) {
                    0 => batch.remove(id),
                    1 => batch.insert(draw.person(id)),
                    _ => batch.replace(draw.person(id)),
                };
            }
            is_made(rows.commit(batch))
        }
        7 => is_made(rows.transact(|exchange| {
            let (one, other) = (exchange.get(id), exchange.find_all(&people.by_age, 3).pop());
            if let (Some(one), Some(other)) = (one, other)
                && one.id != other.id
            {
                exchange.replace(Person { email: other.email.clone(), ..(*one).clone() });
                exchange.replace(Person { email: one.email.clone(), ..(*other).clone() });
            }
            Ok::<_, ChangeError<Person>>(())
        })),
        _ => {
            let age = draw.below(40) as u32;
            rows.prune().unwrap();
            rows.retain(|person| person.age != age).unwrap() > 0
        }
    }
}

/// A refused change leaves the rows and the log as they were, and what an opening finds is what was there.
#[test]
fn random_changes_are_back_after_every_opening() {
    let folder = folder();
    let (mut draw, mut refused, mut commits) = (Draw(5), 0, 0);
    let mut people = open(folder.path());
    for step in 0..3000 {
        let (before, newest, logged) = (people.state(), people.newest(), people.rows.log_bytes());
        if !change(&people, &mut draw) {
            refused += 1;
            assert_eq!((people.newest(), people.rows.log_bytes()), (newest, logged), "step {step}");
            assert_eq!(people.state(), before, "step {step}");
        }
        commits += people.newest() - newest;
        match step % 100 {
            33 => assert_eq!(people.rows.snapshot().unwrap(), people.rows.len() as u64),
            40 | 99 => {
                let (state, newest) = (people.state(), people.newest());
                drop(people);
                people = open(folder.path());
                assert_eq!((people.newest(), people.state()), (newest, state), "step {step}");
            }
            _ => {}
        }
    }
    assert!(refused > 300 && commits > 1000, "{refused} refused, {commits} commits");
}

const LOG: &str = "log-0000000000000001.redo";

/// A folder with the first snapshot of another one, and these bytes as its log.
fn folder_with(source: &Path, log: &[u8]) -> TempDir {
    let (folder, snapshot) = (folder(), "snapshot-0000000000000001.arrow");
    fs::copy(source.join(snapshot), folder.path().join(snapshot)).expect("the first snapshot");
    fs::write(folder.path().join(LOG), log).expect("a log");
    folder
}

/// Commits of every kind and refusals, and after each the log's bytes and the rows. The commit of number N
/// is the Nth.
fn history(folder: &Path) -> Vec<(u64, State)> {
    let people = open(folder);
    let mut states = vec![(people.rows.log_bytes(), people.state())];
    let mut draw = Draw(7);
    while states.len() < 13 {
        change(&people, &mut draw);
        let newest = people.newest() as usize;
        states.resize_with(newest + 1, || (people.rows.log_bytes(), people.state()));
    }
    states
}

/// The newest of the states that is in this many bytes of a log.
fn state_at(states: &[(u64, State)], bytes: usize) -> (u64, State) {
    let newest = states.iter().rposition(|(reached, _)| *reached <= bytes as u64).unwrap_or(0);
    (newest as u64, states[newest].1.clone())
}

#[test]
fn wherever_a_kill_cuts_the_log_the_commits_before_are_back_with_their_numbers() {
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(source.path().join(LOG)).unwrap();
    for cut in 0..=whole.len() {
        let folder = folder_with(source.path(), &whole[..cut]);
        let people = open(folder.path());
        let (newest, state) = state_at(&states, cut);
        assert_eq!((people.newest(), people.state()), (newest, state.clone()), "cut at {cut}");
        if cut % 40 == 0 {
            people.rows.insert(person(1_000, "new", 7)).unwrap();
            drop(people);
            let people = open(folder.path());
            assert_eq!((people.newest(), people.rows.len()), (newest + 1, state.len() + 1));
            assert_eq!(people.by_email.get("new").unwrap().id, 1_000);
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_a_part_of_a_commit() {
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(source.path().join(LOG)).unwrap();
    let setting_aside = Opening { damaged_tail: DamagedTail::SetAside, ..opening() };
    for byte in (64..whole.len()).step_by(3) {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << (byte % 8);
        let folder = folder_with(source.path(), &flipped);
        let people = try_open(folder.path(), setting_aside).unwrap();
        assert_eq!((people.newest(), people.state()), state_at(&states, byte), "byte {byte}");
    }
}

/// Each change is acknowledged when it is on the disk: threads share the waits.
#[test]
fn commits_of_many_threads_are_back_in_the_order_in_which_they_were_seen() {
    const THREADS: u64 = 4;
    const STEPS: u64 = 150;
    let folder = folder();
    let people = try_open(folder.path(), Opening { sync: SyncMode::Each, ..opening() }).unwrap();
    let refused = AtomicU64::new(0);
    people.rows.insert(person(0, "sum", 0)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (people, refused) = (&people, &refused);
            scope.spawn(move || {
                for step in 0..STEPS {
                    let id = 1 + thread * STEPS + step;
                    // One of the threads gets the address, and counts it in the same commit.
                    let added = people.rows.transact(|both| {
                        let sum = both.get(0).unwrap();
                        both.insert(person(id, &format!("{step}"), 1));
                        both.replace(Person { age: sum.age + 1, ..(*sum).clone() });
                        Ok::<_, ChangeError<Person>>(())
                    });
                    if !is_made(added) {
                        refused.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..3 {
                people.rows.snapshot().unwrap();
            }
        });
    });
    assert_eq!(refused.into_inner(), (THREADS - 1) * STEPS);
    let (newest, state) = (people.newest(), people.state());
    assert_eq!((newest, state.len() as u64, u64::from(state[&0].age)), (STEPS + 1, STEPS + 1, STEPS));
    drop(people);
    let people = open(folder.path());
    assert_eq!((people.newest(), people.state()), (newest, state));
}
