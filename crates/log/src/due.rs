//! When a snapshot is due by itself.

use crate::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The policy of automatic snapshots, which remove the log so far. A snapshot is due by the log's size or
/// its age, whichever comes first. A thread of the index's own takes it, while others read and write; never
/// two at once. With [`SnapshotPolicy::MANUAL`] there is no such thread.
///
/// By default a snapshot is due when the log has grown over 64 MiB and over twice the size of the last
/// snapshot. So of two bytes that are logged at most one more is written for snapshots; a start has at most
/// three times the bytes to read that the entries take; and an index whose log is replayed in a second
/// takes none.
///
/// If a snapshot fails, nothing is lost and the log goes on; the next try is due when the log has grown by
/// as much again, or after [`SnapshotPolicy::age`]. `snapshot_failure` of the index says why it failed, and
/// so does `close`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SnapshotPolicy {
    /// The bytes of the log up to which no snapshot is due for its size. `None`: none ever is.
    pub log_bytes: Option<u64>,
    /// The log's bytes, as a multiple of those of the last snapshot's file, up to which none is due for its
    /// size either. At least 0.
    pub growth: f64,
    /// How long after the last snapshot, or after the opening, the next one is due if the log has any
    /// record.
    pub age: Option<Duration>,
}

impl SnapshotPolicy {
    /// Snapshots are taken only on request, and the log grows until then.
    pub const MANUAL: Self = Self { log_bytes: None, growth: 0.0, age: None };

    /// The log's bytes from which on a snapshot is due, if the last one has this many.
    fn due_bytes(&self, snapshot_bytes: u64) -> u64 {
        // Numbers beyond the range saturate.
        let grown = (snapshot_bytes as f64 * self.growth) as u64;
        self.log_bytes.map_or(u64::MAX, |bytes| bytes.max(grown).max(1))
    }
}

impl Default for SnapshotPolicy {
    fn default() -> Self {
        Self { log_bytes: Some(64 << 20), growth: 2.0, age: None }
    }
}

/// The thread's requests, and the outcome of the last snapshot.
#[derive(Debug)]
struct State {
    is_asked: bool,
    is_stopped: bool,
    /// When the last snapshot was saved or tried, or the folder was opened.
    last: Instant,
    /// The bytes of the last one that was saved.
    snapshot_bytes: u64,
    failure: Option<Arc<Error>>,
}

/// When the next snapshot is due. Writers report how much they log.
#[derive(Debug)]
pub struct Due {
    policy: SnapshotPolicy,
    /// Bytes of records since the last snapshot.
    unsaved_bytes: AtomicU64,
    /// With how many of them the next one is due.
    due_bytes: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

impl Due {
    /// Of a folder with a snapshot file of this many bytes, and this many bytes of records after it.
    pub fn new(policy: SnapshotPolicy, snapshot_bytes: u64, unsaved_bytes: u64) -> Self {
        let due_bytes = AtomicU64::new(policy.due_bytes(snapshot_bytes));
        let is_asked = unsaved_bytes >= policy.due_bytes(snapshot_bytes);
        let last = Instant::now();
        let state = State { is_asked, is_stopped: false, last, snapshot_bytes, failure: None };
        let (unsaved_bytes, state) = (unsaved_bytes.into(), Mutex::new(state));
        Self { policy, unsaved_bytes, due_bytes, state, changed: Condvar::new() }
    }

    /// Whether a snapshot is ever due.
    pub fn has_policy(&self) -> bool {
        self.policy.log_bytes.is_some() || self.policy.age.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of records since the last snapshot.
    pub fn unsaved_bytes(&self) -> u64 {
        self.unsaved_bytes.load(Relaxed)
    }

    /// A record of this many bytes was appended.
    pub fn add(&self, bytes: usize) {
        let unsaved = self.unsaved_bytes.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        if unsaved >= self.due_bytes.load(Relaxed) {
            self.ask();
        }
    }

    #[cold]
    fn ask(&self) {
        // Until that one is done, writers request no other.
        self.due_bytes.store(u64::MAX, Relaxed);
        self.state().is_asked = true;
        self.changed.notify_all();
    }

    /// A snapshot of this many bytes was saved that has everything logged before; `before` is the size of
    /// these records.
    pub fn saved(&self, snapshot_bytes: u64, before: u64) {
        self.unsaved_bytes.fetch_sub(before, Relaxed);
        let mut state = self.state();
        (state.is_asked, state.last, state.failure) = (false, Instant::now(), None);
        state.snapshot_bytes = snapshot_bytes;
        self.due_bytes.store(self.policy.due_bytes(snapshot_bytes), Relaxed);
    }

    /// A snapshot that was due failed.
    pub fn failed(&self, error: Error) {
        let mut state = self.state();
        (state.is_asked, state.last, state.failure) = (false, Instant::now(), Some(Arc::new(error)));
        let due = self.unsaved_bytes().saturating_add(self.policy.due_bytes(state.snapshot_bytes));
        self.due_bytes.store(due, Relaxed);
    }

    /// Why the last snapshot that was due failed, unless one was saved since.
    pub fn failure(&self) -> Option<Arc<Error>> {
        self.state().failure.clone()
    }

    /// Whether a snapshot is still due: meanwhile the program may have taken one.
    pub fn is_due(&self) -> bool {
        let state = self.state();
        state.is_asked || self.is_old(&state)
    }

    fn is_old(&self, state: &State) -> bool {
        self.unsaved_bytes() > 0 && self.policy.age.is_some_and(|age| state.last.elapsed() >= age)
    }

    /// Returns when a snapshot is due, or, with `false`, when the thread is to end.
    pub fn wait(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.is_stopped {
                return false;
            }
            if state.is_asked || self.is_old(&state) {
                return true;
            }
            state = match self.policy.age {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(age) => {
                    // An old log without records is checked again after as much time.
                    let left = age.checked_sub(state.last.elapsed()).filter(|left| !left.is_zero());
                    let waited = self.changed.wait_timeout(state, left.unwrap_or(age));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    pub fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }
}
