//! Batches on this machine: all contestants take turns, round by round, so that other work on the machine
//! affects all of them alike; the median round of each counts. A round has several batches, because an
//! index that serves one batch after the other doesn't find its rivals' data in the caches.
//!
//! PI and OLFIT's tree request huge pages; the memory of published maps is put on them after the load, and
//! again after the uncounted round, since inserts allocate.

use super::case::Case;
use super::contestant::{
    Contestant, Form, Loaded, all_inserts, all_searches, load_native, serve_alone, serve_shared,
    serve_together, serve_wide,
};
use super::measured::Measured;
use super::traffic::Keys;
use crate::error::{LabError, Result};
use crate::runner::median;
use latchless_core::mem::touch::NoTrace;
use latchless_measure::huge_pages;
use latchless_papers::pi::Query;
use latchless_papers::pi::batch::tune::QuerySetSize;
use std::time::Instant;

/// Batches that each contestant serves before it is the next one's turn.
const IN_A_ROW: usize = 8;

/// Measures all contestants on a case: one round that doesn't count, then the case's.
///
/// # Errors
/// When a contestant refuses.
pub(super) fn measure(contestants: &[Contestant], case: &Case) -> Result<Vec<Measured>> {
    let mut loaded = contestants.iter().map(|&one| load(one, case)).collect::<Result<Vec<_>>>()?;
    let mut times = vec![Vec::new(); loaded.len()];
    let mut source = case.batches(0);
    for round in 0..=case.rounds {
        if round <= 1 && on_huge_pages(contestants) {
            huge_pages::for_all();
        }
        let batches: Vec<_> = source.by_ref().take(IN_A_ROW).collect();
        for (one, times) in loaded.iter_mut().zip(&mut times) {
            let seconds = time(one, &batches, case.threads)?;
            if round > 0 {
                times.push(seconds);
            }
        }
    }
    Ok(times.iter_mut().map(|times| measured(times, IN_A_ROW * case.threads * case.batch)).collect())
}

/// Measures one contestant on cases that differ in their queries, and in the number of queries per batch.
/// They take turns on one index, which grows by their inserts.
///
/// # Errors
/// When the contestant refuses.
pub(super) fn measure_series(contestant: Contestant, cases: &[Case]) -> Result<Vec<Measured>> {
    let Some(&first) = cases.first() else { return Ok(Vec::new()) };
    let largest = cases.iter().map(|case| case.batch).max().unwrap_or(first.batch);
    let mut loaded = load(contestant, &Case { batch: largest, ..first })?;
    let mut times = vec![Vec::new(); cases.len()];
    if on_huge_pages(&[contestant]) {
        huge_pages::for_all();
    }
    let mut sources: Vec<_> = cases.iter().zip(0..).map(|(case, nth)| case.batches(nth)).collect();
    // As many queries of each in a round.
    let in_a_row = |case: &Case| (IN_A_ROW * largest / case.batch).max(1);
    for round in 0..=first.rounds {
        for ((case, source), times) in cases.iter().zip(&mut sources).zip(&mut times) {
            let batches: Vec<_> = source.by_ref().take(in_a_row(case)).collect();
            let seconds = time(&mut loaded, &batches, case.threads)?;
            if round > 0 {
                times.push(seconds);
            }
        }
    }
    let each = cases.iter().zip(&mut times);
    Ok(each.map(|(case, times)| measured(times, in_a_row(case) * case.threads * case.batch)).collect())
}

/// Returns whether all of them are on huge pages: published maps take part, and no contestant requests
/// small ones.
fn on_huge_pages(contestants: &[Contestant]) -> bool {
    let small = |one: &Contestant| matches!(one, Contestant::Pi(Form { huge_pages: false, .. }));
    contestants.iter().any(|one| matches!(one, Contestant::Rival(_))) && !contestants.iter().any(small)
}

fn load(contestant: Contestant, case: &Case) -> Result<Loaded<NoTrace>> {
    load_native(contestant, Keys::new(case.keys), case.threads, QuerySetSize::Queries(case.batch))
}

fn time(loaded: &mut Loaded<NoTrace>, batches: &[Vec<Query<u32, u32>>], threads: usize) -> Result<f64> {
    let start = Instant::now();
    for batch in batches {
        serve(loaded, batch, threads)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Returns the median round, with the shortest and the longest.
fn measured(times: &mut [f64], queries: usize) -> Measured {
    times.sort_unstable_by(f64::total_cmp);
    Measured {
        seconds: median(times),
        range: times.first().zip(times.last()).map(|(&shortest, &longest)| (shortest, longest)),
        queries,
        per_query: None,
        threads_per_node: Vec::new(),
    }
}

fn serve(loaded: &mut Loaded<NoTrace>, batch: &[Query<u32, u32>], threads: usize) -> Result<usize> {
    match loaded {
        Loaded::Pi(index) => serve_pi(index, batch),
        Loaded::Lists(all) => {
            let parts = all.parts(batch);
            let jobs = all.lists.iter_mut().zip(&parts).map(|(list, part)| -> ScopedTask<'_> {
                Box::new(move || part.iter().map(|&query| serve_alone(&mut *list, query)).sum())
            });
            side_by_side(jobs.collect())
        }
        Loaded::Shared(index) => {
            in_parts(batch, threads, |part| part.iter().map(|&query| serve_shared(&**index, query)).sum())
        }
        Loaded::Wide(index) => {
            in_parts(batch, threads, |part| part.iter().map(|&query| serve_wide(&**index, query)).sum())
        }
        Loaded::Batched(index) => in_parts(batch, threads, |part| serve_together(&**index, part)),
    }
}

/// Each thread serves its part of a batch.
fn in_parts(
    batch: &[Query<u32, u32>],
    threads: usize,
    serve: impl Fn(&[Query<u32, u32>]) -> Result<usize> + Sync,
) -> Result<usize> {
    let part = |thread: usize| &batch[batch.len() * thread / threads..batch.len() * (thread + 1) / threads];
    let jobs = (0..threads).map(|thread| -> ScopedTask<'_> {
        let (part, serve) = (part(thread), &serve);
        Box::new(move || serve(part))
    });
    side_by_side(jobs.collect())
}

/// Serves a batch as PI's users would: by the operation for many if all queries are of one kind.
fn serve_pi(index: &mut latchless_papers::pi::Pi<u32, u32>, batch: &[Query<u32, u32>]) -> Result<usize> {
    if let Some(keys) = all_searches(batch) {
        let mut answers = vec![None; keys.len()];
        index.get_many(&keys, &mut answers)?;
        return Ok(answers.iter().flatten().count());
    }
    if let Some(entries) = all_inserts(batch) {
        let mut replaced = vec![None; entries.len()];
        index.insert_many(&entries, &mut replaced)?;
        return Ok(replaced.len());
    }
    Ok(index.execute(batch).len())
}

type ScopedTask<'a> = Box<dyn FnOnce() -> Result<usize> + Send + 'a>;

/// On a thread each; alone on the caller's.
fn side_by_side(mut jobs: Vec<ScopedTask<'_>>) -> Result<usize> {
    if jobs.len() == 1 {
        return jobs.remove(0)();
    }
    std::thread::scope(|threads| {
        let running: Vec<_> = jobs.into_iter().map(|job| threads.spawn(job)).collect();
        let joined = running.into_iter().map(|thread| match thread.join() {
            Ok(served) => served,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.sum::<Result<usize, LabError>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rivals_are_on_huge_pages_unless_someone_is_on_small_ones() {
        let small = Contestant::Pi(Form { huge_pages: false, ..Form::PAPER });
        let rival = Contestant::Rival("masstree");
        assert!(on_huge_pages(&[Contestant::PI, rival]));
        assert!(!on_huge_pages(&[Contestant::PI, small]));
        assert!(!on_huge_pages(&[small, rival]));
    }
}
