//! Transactions over OLFIT's versions: threads book a room, each only if the time is free. They read a
//! range that is empty, so there is no entry to lock; the versions of the leaves that cover it show
//! whether it is still empty. `cargo run --release -p latchless-papers --example phantoms`

use latchless_papers::olfit::{BPlus, Olfit, OlfitMap, Quiet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bookings of one room: the key is the first minute, the value the minute at which the booking ends.
type Calendar = OlfitMap<u64, u64, Quiet<u64, BPlus<Olfit>>>;

/// A booking is no longer than this, so those that reach into a range begin not long before it.
const LONGEST: u64 = 120;
const THREADS: u64 = 4;
const TRIES: u64 = 50_000;

struct Room {
    calendar: Calendar,
    /// One transaction at a time validates and writes; reads are allowed at any time.
    commit: Mutex<()>,
    started_again: AtomicU64,
}

impl Room {
    /// Books the room from `start` to `end`, unless it is taken at that time.
    fn book(&self, start: u64, end: u64) -> latchless_papers::Result<bool> {
        loop {
            // Without any latch: other transactions come and go.
            let around = self.calendar.read(start.saturating_sub(LONGEST)..end)?;
            if around.entries().iter().any(|&(_, other_end)| other_end > start) {
                return Ok(false);
            }
            let _one_at_a_time = self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if around.still_holds() {
                self.calendar.insert(start, end)?;
                return Ok(true);
            }
            self.started_again.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn main() -> latchless_papers::Result<()> {
    let room = Room { calendar: Calendar::new()?, commit: Mutex::new(()), started_again: AtomicU64::new(0) };
    let booked = std::thread::scope(|threads| {
        let clerk = |number: u64| {
            let (room, mut random) = (&room, number + 1);
            move || -> latchless_papers::Result<usize> {
                let mut booked = 0;
                for _ in 0..TRIES {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let start = random >> 44;
                    booked += usize::from(room.book(start, start + 1 + (random >> 20) % LONGEST)?);
                }
                Ok(booked)
            }
        };
        let clerks: Vec<_> = (0..THREADS).map(|number| threads.spawn(clerk(number))).collect();
        clerks.into_iter().map(|clerk| clerk.join().expect("clerks don't panic")).sum::<Result<usize, _>>()
    })?;
    let bookings: Vec<(u64, u64)> = room.calendar.range(..)?.collect();
    assert_eq!(bookings.len(), booked);
    assert!(bookings.windows(2).all(|two| two[0].1 <= two[1].0), "two have the room at the same time");
    println!(
        "{booked} of {} bookings, none of which overlap; {} transactions started again",
        THREADS * TRIES,
        room.started_again.load(Ordering::Relaxed)
    );
    Ok(())
}
