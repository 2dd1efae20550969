//! Work on several threads that start together.

use super::digest::Digest;
use super::pauses::Pauses;
use super::timed::Run;
use latchless::Result;
use std::panic::resume_unwind;
use std::sync::{Barrier, RwLock};
use std::thread::{ScopedJoinHandle, scope};
use std::time::Instant;

/// Runs each piece of work on a separate thread; all start together. The time ends with the last of them.
///
/// # Errors
/// The first refusal.
pub fn side_by_side<W: Send>(works: Vec<W>, work: impl Fn(W) -> Result<Run> + Sync) -> Result<Run> {
    let (barrier, begun) = (Barrier::new(works.len()), RwLock::new(None));
    let runs: Result<Vec<Run>> = scope(|scope| {
        let start = |own| {
            let (barrier, begun, work) = (&barrier, &begun, &work);
            scope.spawn(move || {
                if barrier.wait().is_leader()
                    && let Ok(mut begun) = begun.write()
                {
                    *begun = Some(Instant::now());
                }
                // No thread starts before the clock does.
                barrier.wait();
                let run = work(own)?;
                let since = begun.read().ok().and_then(|begun| *begun);
                Ok(Run { elapsed: since.map_or(run.elapsed, |since| since.elapsed()), ..run })
            })
        };
        let handles: Vec<_> = works.into_iter().map(start).collect();
        let join = |handle: ScopedJoinHandle<'_, Result<Run>>| {
            handle.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        handles.into_iter().map(join).collect()
    });
    let runs = runs?;
    let mut pauses: Option<Box<Pauses>> = None;
    for own in runs.iter().filter_map(|run| run.pauses.as_deref()) {
        pauses.get_or_insert_with(|| Box::new(Pauses::none())).add(own);
    }
    Ok(Run {
        pauses,
        elapsed: runs.iter().map(|run| run.elapsed).max().unwrap_or_default(),
        entries: runs.iter().map(|run| run.entries).sum(),
        digest: Digest::together(runs.into_iter().map(|run| run.digest)),
    })
}
