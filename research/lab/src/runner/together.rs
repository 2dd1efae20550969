//! Threads that start together, timed until the last of them is done.

use crate::error::Result;
use std::sync::Barrier;
use std::time::Instant;

/// Seconds that threads take to do their parts, one each.
///
/// # Errors
/// The first part's that fails.
pub(crate) fn seconds<P: Sync>(parts: &[P], work: impl Fn(&P) -> Result<()> + Sync) -> Result<f64> {
    let line = Barrier::new(parts.len());
    let timed = |part: &P| -> Result<(Instant, Instant)> {
        line.wait();
        let start = Instant::now();
        work(part)?;
        Ok((start, Instant::now()))
    };
    let spans = std::thread::scope(|threads| {
        let running: Vec<_> = parts.iter().map(|part| threads.spawn(|| timed(part))).collect();
        let done = running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.collect::<Result<Vec<_>>>()
    })?;
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    Ok(start.zip(end).map_or(0.0, |(start, end)| (end - start).as_secs_f64()))
}
