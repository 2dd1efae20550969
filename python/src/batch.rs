//! Execution of batches: in chunks, without the interpreter's lock, on one thread or several.
//!
//! Between two chunks the main thread regularly checks for signals, so Ctrl-C ends a batch. The work that a
//! batch has done before an early end is always known.

use crate::gate::Pass;
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Requests that are served between two looks at the clock.
pub const CHUNK: usize = 1024;
/// Keys that are looked up between two looks at the clock. More than of other requests: in each chunk the
/// index has to learn again how many ascending keys share a leaf.
pub const LOOKUPS: usize = 4 * CHUNK;
/// Entries of one record of a redo log: the pieces of a batch of changes to a durable index.
pub const RECORD: usize = 1 << 20;
/// Batches up to this length run with the lock held: releasing it would cost more.
const SHORT: usize = 256;
/// Elements of a long column that are sorted, or checked, between two looks at the clock.
pub const STRETCH: usize = 1 << 16;
/// How often signals are looked for.
const LISTENS_EVERY: Duration = Duration::from_millis(30);

/// Finds out whether a signal has come.
#[derive(Debug)]
pub struct Pulse {
    last: Instant,
}

impl Pulse {
    /// Listens from now on.
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// An error if a signal's handler raises one. Takes the interpreter's lock now and then, so the caller
    /// must have no [`Pass`].
    pub fn check(&mut self) -> PyResult<()> {
        if self.last.elapsed() < LISTENS_EVERY {
            return Ok(());
        }
        let checked = Python::attach(|py| py.check_signals());
        self.last = Instant::now();
        checked
    }
}

/// A thread's part of a batch, and its progress.
#[derive(Debug)]
pub struct Part<S> {
    /// The rest: positions in the batch.
    pub rest: Range<usize>,
    /// The state that the chunks have left.
    pub state: S,
}

/// Runs `work` on chunks of a batch, in order within each part, the parts on threads of their own. `cuts`:
/// where the parts begin, and where the last one ends. An error ends the batch.
pub fn run<S: Default + Send>(
    py: Python<'_>,
    cuts: &[usize],
    work: impl Fn(Range<usize>, &mut S) -> PyResult<()> + Sync,
) -> (Vec<Part<S>>, Option<PyErr>) {
    run_with(py, (cuts, CHUNK), std::iter::repeat_with(S::default), work)
}

/// Runs `work` on chunks of this many requests; each part has an initial state. Otherwise as [`run`].
pub fn run_with<S: Send>(
    py: Python<'_>,
    (cuts, chunk_max): (&[usize], usize),
    states: impl IntoIterator<Item = S>,
    work: impl Fn(Range<usize>, &mut S) -> PyResult<()> + Sync,
) -> (Vec<Part<S>>, Option<PyErr>) {
    let mut parts: Vec<Part<S>> =
        cuts.windows(2).zip(states).map(|(cut, state)| Part { rest: cut[0]..cut[1], state }).collect();
    // Waiting for the disk is always done without the lock.
    let short =
        parts.len() == 1 && cuts[1] - cuts[0] <= SHORT && chunk_max != RECORD && !cfg!(Py_GIL_DISABLED);
    if short {
        let part = &mut parts[0];
        let ended = if part.rest.is_empty() { Ok(()) } else { work(part.rest.clone(), &mut part.state) };
        if ended.is_ok() {
            part.rest.start = part.rest.end;
        }
        return (parts, ended.err());
    }
    let (stop, failed) = (AtomicBool::new(false), Mutex::new(None));
    let serve = |part: &mut Part<S>| {
        let mut pulse = Pulse::new();
        while !part.rest.is_empty() && !stop.load(Relaxed) {
            let chunk = part.rest.start..part.rest.end.min(part.rest.start + chunk_max);
            let end = chunk.end;
            let ended = {
                let _pass = Pass::new();
                work(chunk, &mut part.state)
            };
            if ended.is_ok() {
                part.rest.start = end;
            }
            if let Err(error) = ended.and_then(|()| pulse.check()) {
                stop.store(true, Relaxed);
                *failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
            }
        }
    };
    let threads = parts.len();
    let queue = Mutex::new(parts.iter_mut());
    let next = || queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    py.detach(|| {
        on_threads(threads, &|| {
            while let Some(part) = next() {
                serve(part);
            }
        });
    });
    let failed = failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    (parts, failed)
}

/// Calls something on this many threads, of which this is one. Where the system refuses a thread, there are
/// fewer.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// The stretches of a long column.
pub fn stretches(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(STRETCH).map(move |start| start..len.min(start + STRETCH))
}

/// Where to cut a batch for this many threads: no part is shorter than a chunk.
pub fn cuts(len: usize, threads: usize) -> Vec<usize> {
    let parts = threads.clamp(1, len.div_ceil(CHUNK).max(1));
    (0..=parts).map(|part| (len as u128 * part as u128 / parts as u128) as usize).collect()
}

/// Runs a long operation that isn't cut into chunks: without the interpreter's lock, but excluding forks.
pub fn alone<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _pass = Pass::new();
        work()
    })
}
