//! The latency of batches for callers that wait for them, and batches whose size is tuned (the paper's
//! future work, §6.2). Only natively.

use super::case::{BATCH, MEDIUM};
use super::rows::driven;
use super::traffic::NODES;
use crate::error::{LabError, Result};
use crate::experiment::{Experiment, Scale, Scaled};
use crate::on::On;
use crate::pi::traffic::{Keys, Source, Traffic};
use crate::row::Row;
use crate::runner::median;
use core::time::Duration;
use hdrhistogram::Histogram;
use latchless_papers::pi::batch::tune::{BATCH_SIZES, QuerySetSize};
use latchless_papers::pi::{Options, Pi, Query, SubmissionOptions, Submissions};
use std::time::Instant;

pub(super) const LATENCY: Experiment = driven(
    "latency",
    "Single requests through the queue: what each waits, by the size of batches",
    &["Two callers hand in as many requests at once as a batch holds for each, and wait for all of them; a \
       request's time is from being handed in to its caller having all replies."],
    "queries a batch",
    latency,
);

fn latency(on: On, scale: Scale) -> Result<Vec<Row>> {
    const CALLERS: usize = 2;
    if on != On::Native {
        return Ok(Vec::new());
    }
    let keys = Keys::new(MEDIUM.at(scale));
    let requests = Scaled::new(1 << 18, 1 << 12).at(scale);
    let mut rows = Vec::new();
    for batch in [2, 16, 128, 1024, 8192, 32768] {
        if batch > requests {
            continue;
        }
        let mut index = Pi::<u32, u32>::new()?;
        index.bulk_load(&keys.entries())?;
        let options = SubmissionOptions {
            batch_queries_max: batch,
            wait: Duration::from_micros(50),
            capacity: 1 << 20,
        };
        let front = Submissions::new(index, options)?;
        // Small batches take long: fewer requests show as much.
        let rounds = (requests / batch).clamp(4, 1 << 12);
        let start = Instant::now();
        let callers: Vec<Result<Histogram<u64>>> = std::thread::scope(|threads| {
            let call = |caller: usize| {
                let front = &front;
                threads.spawn(move || caller_s_times(front, keys, (caller, batch / CALLERS, rounds)))
            };
            let running: Vec<_> = (0..CALLERS).map(call).collect();
            let ended = running.into_iter().map(|thread| thread.join());
            ended.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        let seconds = start.elapsed().as_secs_f64();
        let mut all = Histogram::<u64>::new(3).map_err(histogram)?;
        for times in callers {
            all.add(times?).map_err(histogram)?;
        }
        let x = batch as f64;
        let row = |unit: &str, ours: f64| Row { on, ..Row::new("pi", x, unit, ours) };
        for (unit, quantile) in [("µs, p50", 0.5), ("µs, p99", 0.99), ("µs, p99.9", 0.999)] {
            rows.push(row(unit, all.value_at_quantile(quantile) as f64 / 1e3));
        }
        rows.push(row("M requests/s", (rounds * batch) as f64 / seconds / 1e6));
    }
    Ok(rows)
}

fn histogram(error: impl core::fmt::Display) -> LabError {
    LabError::Wrong { index: "a histogram", what: error.to_string() }
}

/// Submits requests in groups; returns how long each waited, in nanoseconds.
fn caller_s_times(
    front: &Submissions<u32, u32>,
    keys: Keys,
    (caller, together, rounds): (usize, usize, usize),
) -> Result<Histogram<u64>> {
    let mut source = Source::new(caller as u64);
    let mut times = Histogram::new(3).map_err(histogram)?;
    for _ in 0..rounds {
        let queries = source.batch(keys, Traffic::SEARCHES, together);
        let start = Instant::now();
        let replies = front.submit_all(&queries)?;
        let waited = start.elapsed().as_nanos() as u64;
        times.record_n(waited, replies.len() as u64).map_err(histogram)?;
    }
    Ok(times)
}

pub(super) const AUTO_BATCH: Experiment = driven(
    "auto-batch",
    "Batches of a size that is found out at run time, against each fixed one",
    &[
        "\"times the best\" is the time of the automatic size over that of the best fixed one, once it has settled. \
       The goal here is at most 1.05; the paper leaves the size to future work.",
    ],
    "keys",
    auto_batch,
);

fn auto_batch(on: On, scale: Scale) -> Result<Vec<Row>> {
    if on != On::Native {
        return Ok(Vec::new());
    }
    let sizes: &[usize] = if scale == Scale::Small { &[20_000] } else { &[2 << 20, 128 << 20] };
    let rounds = Scaled::new(7, 3).at(scale);
    let mut rows = Vec::new();
    for &size in sizes {
        let keys = Keys::new(size);
        let mut index =
            Pi::<u32, u32>::with_options(&Options { batch: QuerySetSize::Auto, ..Options::default() })?;
        index.bulk_load(&keys.entries())?;
        let searched =
            |query: &Query<u32, u32>| if let Query::Search(key) = query { Some(*key) } else { None };
        let len = BATCH.at(scale) * NODES * 32;
        let wanted: Vec<u32> =
            Source::new(3).batch(keys, Traffic::SEARCHES, len).iter().filter_map(searched).collect();
        let mut answers = vec![None; wanted.len()];
        // Until all sizes have been tried.
        for _ in 0..Scaled::new(6, 1).at(scale) {
            index.get_many(&wanted, &mut answers)?;
        }
        let mut times = vec![Vec::new(); BATCH_SIZES.len() + 1];
        for _ in 0..rounds {
            for (nth, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                match BATCH_SIZES.get(nth) {
                    None => index.get_many(&wanted, &mut answers)?,
                    Some(&batch) => {
                        for (wanted, answers) in wanted.chunks(batch).zip(answers.chunks_mut(batch)) {
                            index.get_in_one_batch(wanted, answers)?;
                        }
                    }
                }
                times.push(start.elapsed().as_nanos() as f64 / wanted.len() as f64);
            }
        }
        let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
        let (auto, fixed) = medians.split_last().map_or((0.0, &[][..]), |(auto, fixed)| (*auto, fixed));
        let best = fixed.iter().copied().fold(f64::INFINITY, f64::min);
        let row = |name: &str, unit: &str, ours: f64| Row { on, ..Row::new(name, size as f64, unit, ours) };
        for (batch, time) in BATCH_SIZES.iter().zip(fixed) {
            rows.push(row(&format!("{batch} a batch"), "ns/query", *time));
        }
        rows.push(row("auto", "ns/query", auto));
        rows.push(row("auto", "queries a batch", index.batch_queries() as f64));
        rows.push(row("auto", "times the best", auto / best));
    }
    Ok(rows)
}
