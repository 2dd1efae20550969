//! The number of lines per time that a thread gets from memory, by the number of its outstanding misses,
//! with a second thread that does the same and without one: the bound of batches of gets.

use crate::error::Result;
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use crate::runner::median;
use latchless_measure::huge_pages;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::sync::Barrier;
use std::time::Instant;

/// Half a gigabyte.
const LINES: Scaled<usize> = Scaled::new(8 << 20, 1 << 10);
/// Lines that a thread reads in a round.
const READ: Scaled<usize> = Scaled::new(1 << 20, 1 << 8);
const ROUNDS: Scaled<usize> = Scaled::new(15, 3);
/// Lines that a thread waits for at once.
const CHAINS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const THREADS: [&str; 2] = ["one thread", "two threads"];

pub(super) const IN_FLIGHT: Experiment = Experiment {
    name: "in-flight",
    title: "Lines that a thread gets from memory, by how many it waits for at once, alone and beside another",
    remarks: &[
        "Not in the paper. Each line names the next one, so what a thread waits for at once is as many chains as it \
         follows. A descent without batches follows one chain, and waits for some lines of a page together; a batch \
         follows as many as it has requests. Where two threads get no more lines than one does, batches of theirs \
         can't gain what one's do. Threads take turns round by round with one thread alone; of each the median \
         round counts.",
    ],
    body: Body::Timed { x_label: "lines on their way", rows },
};

/// A line of memory; its first word names another line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; 16]);

/// Lines that name each other in one random cycle through all of them.
fn cycle(len: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Line> {
    let mut next: Vec<u32> = (0..len as u32).collect();
    // Swapping each with one before it leaves one cycle (Sattolo).
    (1..len).rev().for_each(|at| next.swap(at, random.random_range(0..at)));
    next.into_iter().map(|next| Line([next; 16])).collect()
}

/// Follows `C` chains together and reads that many lines in total; returns their ends.
fn follow<const C: usize>(lines: &[Line], starts: &[u32], read: usize) -> [u32; C] {
    let mut at: [u32; C] = core::array::from_fn(|nth| starts[nth]);
    for _ in 0..read / C {
        for one in &mut at {
            *one = lines[*one as usize].0[0];
        }
    }
    at
}

fn follow_many(lines: &[Line], starts: &[u32], read: usize) {
    use core::hint::black_box;
    match starts.len() {
        1 => _ = black_box(follow::<1>(lines, starts, read)),
        2 => _ = black_box(follow::<2>(lines, starts, read)),
        4 => _ = black_box(follow::<4>(lines, starts, read)),
        8 => _ = black_box(follow::<8>(lines, starts, read)),
        16 => _ = black_box(follow::<16>(lines, starts, read)),
        32 => _ = black_box(follow::<32>(lines, starts, read)),
        _ => _ = black_box(follow::<64>(lines, starts, read)),
    }
}

/// Returns lines per microsecond of each of that many threads, each with that many chains.
fn measured(lines: &[Line], threads: usize, starts: &[u32], read: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let seconds: Vec<f64> = std::thread::scope(|scope| {
        let work = |starts| {
            let (barrier, lines) = (&barrier, &lines);
            move || {
                barrier.wait();
                let start = Instant::now();
                follow_many(lines, starts, read);
                start.elapsed().as_secs_f64()
            }
        };
        let running: Vec<_> =
            starts.chunks(starts.len() / threads).map(|starts| scope.spawn(work(starts))).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let slowest = seconds.into_iter().fold(f64::MIN_POSITIVE, f64::max);
    read as f64 / slowest / 1e6
}

fn rows(scale: Scale) -> Result<Vec<Row>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let lines = cycle(LINES.at(scale), &mut random);
    if scale == Scale::Paper {
        huge_pages::for_all();
    }
    let mut rows = Vec::new();
    for chains in CHAINS {
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS.at(scale) {
            for (threads, rates) in (1..).zip(&mut rates) {
                let starts: Vec<u32> =
                    (0..chains * threads).map(|_| random.random_range(0..lines.len() as u32)).collect();
                rates.push(measured(&lines, threads, &starts, READ.at(scale)));
            }
        }
        let rates = rates.map(|mut rates| median(&mut rates));
        for (series, rate) in THREADS.into_iter().zip(rates) {
            let row = |unit, ours| Row { on: On::Native, ..Row::new(series, chains as f64, unit, ours) };
            rows.push(row("lines/µs, each thread", rate));
            rows.push(row("times one thread's", rate / rates[0]));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cycle_leads_through_all_lines() {
        let lines = cycle(1_000, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        let mut seen = vec![false; lines.len()];
        let mut at = 0;
        while !seen[at as usize] {
            seen[at as usize] = true;
            [at] = follow::<1>(&lines, &[at], 1);
        }
        assert!(at == 0 && seen.iter().all(|&seen| seen));
    }

    #[test]
    fn chains_that_go_together_come_to_where_each_comes_alone() {
        let lines = cycle(500, &mut Xoshiro256PlusPlus::seed_from_u64(4));
        let starts = [7, 300, 42, 499];
        let alone = starts.map(|start| follow::<1>(&lines, &[start], 25)[0]);
        assert_eq!(follow::<4>(&lines, &starts, 100), alone);
    }
}
