//! Keys whose order of arrival matters.

use crate::ask::Ask;
use crate::keys::Lane;
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The first time stamp: in the year 2026.
const EPOCH_NANOSECONDS: u64 = 1_770_000_000_000_000_000;
/// Nanoseconds between events outside of bursts: 1 to this, evenly.
const PAUSE_MAX: u64 = 20_000;
/// One event in this many begins a burst.
const BURST_ONE_IN: u32 = 64;
/// The longest burst, in events.
const BURST_MAX: u64 = 256;
/// One event in this many arrives late: 3 %.
const LATE_ONE_IN: u32 = 33;
/// How many events a late one lets pass at most; where there are few, an eighth of them.
const LATE_BY_MAX: usize = 100_000;

/// The first identifier's time: milliseconds since the epoch that identifiers count from.
const FIRST_MILLISECONDS: u64 = 480_000_000_000;
/// Machines that give out identifiers.
const MACHINES: usize = 32;
/// Identifiers of one millisecond, on average.
const PER_MILLISECOND: u32 = 3;
/// Bits of an identifier below the time, and of these below the machine.
const BELOW_TIME: u32 = 22;
const BELOW_MACHINE: u32 = 12;

/// 0, 1, 2 and so on.
pub fn ascending(total: usize) -> Vec<u64> {
    (0..total as u64).collect()
}

/// The largest first.
pub fn descending(total: usize) -> Vec<u64> {
    (0..total as u64).rev().collect()
}

/// From both ends to the middle.
pub fn zigzag(total: usize) -> Vec<u64> {
    let total = total as u64;
    (0..total).map(|number| if number % 2 == 0 { number / 2 } else { total - 1 - number / 2 }).collect()
}

/// A random tenant takes its next number, again and again.
pub fn tenants(ask: Ask, tenants: u32) -> Vec<u64> {
    let mut random = ask.generator(1);
    let mut next = vec![0u32; tenants as usize];
    let first = ask.seed.scatter() as u32;
    let keys = (0..ask.total()).map(|_| {
        let tenant = random.random_range(0..tenants);
        let number = &mut next[tenant as usize];
        let key = (u64::from(first.wrapping_add(tenant).scatter()) << 32) | u64::from(*number);
        *number += 1;
        key
    });
    keys.collect()
}

/// Time stamps; some arrive late.
pub fn timestamps(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let total = ask.total();
    let late_by_max = LATE_BY_MAX.min(total / 8).max(1);
    let (mut now, mut burst) = (EPOCH_NANOSECONDS, 0);
    // Late events, by the number of the event after which they arrive.
    let mut late = BinaryHeap::new();
    let mut keys = Vec::with_capacity(total);
    for number in 0..total {
        if burst > 0 {
            // The clock hasn't advanced; the next nanosecond makes the stamp unique.
            (now, burst) = (now + 1, burst - 1);
        } else {
            now += random.random_range(1..=PAUSE_MAX);
            if random.random_ratio(1, BURST_ONE_IN) {
                burst = random.random_range(1..BURST_MAX);
            }
        }
        if random.random_ratio(1, LATE_ONE_IN) {
            late.push(Reverse((number + random.random_range(1..=late_by_max), now)));
        } else {
            keys.push(now);
        }
        while let Some(&Reverse((after, stamp))) = late.peek() {
            if after > number {
                break;
            }
            keys.push(stamp);
            late.pop();
        }
    }
    keys.extend(std::iter::from_fn(|| late.pop().map(|Reverse((_, stamp))| stamp)));
    keys
}

/// Identifiers that begin with the time, then the machine, then a sequence number within the millisecond.
/// Several machines generate them, so those of one millisecond arrive in any order.
pub fn snowflake(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let mut now = FIRST_MILLISECONDS;
    let mut last = [(0, 0); MACHINES];
    let keys = (0..ask.total()).map(|_| {
        while random.random_ratio(1, PER_MILLISECOND + 1) {
            now += 1;
        }
        let machine = random.random_range(0..MACHINES);
        let (at, number) = &mut last[machine];
        // A machine that has given out all numbers of a millisecond waits for the next one.
        if *at == now && *number + 1 == 1 << BELOW_MACHINE {
            now += 1;
        }
        (*at, *number) = (now, if *at == now { *number + 1 } else { 0 });
        now << BELOW_TIME | (machine as u64) << BELOW_MACHINE | *number
    });
    keys.collect()
}
