//! Batches on this machine: all contestants round by round, in turn, so that whatever else the machine does
//! hits all of them alike; of each the median round counts. A round has several batches, because an index
//! that serves one batch after the other doesn't find the caches full of its rivals.

use super::contestant::{Contestant, Loaded, by_list, load_native, serve_alone, serve_shared};
use super::traffic::Keys;
use super::{Case, Measured};
use crate::error::{LabError, Result};
use crate::runner::median;
use latchless_core::mem::touch::NoTrace;
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
    let keys = Keys::new(case.keys);
    let load = |&contestant: &Contestant| {
        load_native(contestant, keys, case.threads, QuerySetSize::Queries(case.batch))
    };
    let mut loaded: Vec<Loaded<NoTrace>> = contestants.iter().map(load).collect::<Result<_>>()?;
    let mut times = vec![Vec::new(); loaded.len()];
    let mut source = case.batches();
    for round in 0..=case.rounds {
        let batches: Vec<_> = source.by_ref().take(IN_A_ROW).collect();
        for (one, times) in loaded.iter_mut().zip(&mut times) {
            let start = Instant::now();
            for batch in &batches {
                serve(one, batch, case.threads)?;
            }
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let queries = IN_A_ROW * case.threads * case.batch;
    let measured = |times: &mut Vec<f64>| Measured {
        seconds: median(times),
        queries,
        remote_per_query: None,
        threads_per_node: Vec::new(),
    };
    Ok(times.iter_mut().map(measured).collect())
}

fn serve(loaded: &mut Loaded<NoTrace>, batch: &[Query<u32, u32>], threads: usize) -> Result<usize> {
    match loaded {
        Loaded::Pi(index) => serve_pi(index, batch),
        Loaded::Lists(lists, borders) => {
            let parts = by_list(borders, batch);
            let jobs = lists.iter_mut().zip(&parts).map(|(list, part)| -> ScopedTask<'_> {
                Box::new(move || part.iter().map(|&query| serve_alone(&mut *list, query)).sum())
            });
            side_by_side(jobs.collect())
        }
        Loaded::Shared(index) => {
            let index = &**index;
            let part =
                |thread: usize| &batch[batch.len() * thread / threads..batch.len() * (thread + 1) / threads];
            let jobs = (0..threads).map(|thread| -> ScopedTask<'_> {
                let part = part(thread);
                Box::new(move || part.iter().map(|&query| serve_shared(index, query)).sum())
            });
            side_by_side(jobs.collect())
        }
    }
}

/// As its users would: by the operation for many where all queries are of a kind.
fn serve_pi(index: &mut latchless_papers::pi::Pi<u32, u32>, batch: &[Query<u32, u32>]) -> Result<usize> {
    let searched = |query: &Query<u32, u32>| if let Query::Search(key) = query { Some(*key) } else { None };
    if let Some(keys) = batch.iter().map(searched).collect::<Option<Vec<u32>>>() {
        let mut answers = vec![None; keys.len()];
        index.get_many(&keys, &mut answers)?;
        return Ok(answers.iter().flatten().count());
    }
    let inserted = |query: &Query<u32, u32>| {
        if let Query::Insert(key, value) = query { Some((*key, *value)) } else { None }
    };
    if let Some(entries) = batch.iter().map(inserted).collect::<Option<Vec<(u32, u32)>>>() {
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
