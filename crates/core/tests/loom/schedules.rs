//! Runs every schedule of two threads.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

/// Runs every schedule of two threads on the result of `start`, and then `end` with their results.
///
/// Each of them runs in both positions. Loom remembers one access to an atomic, the last: if a thread loads
/// a word before it changes it, as latching does, that load hides the point at which the other thread should
/// have overtaken it. The thread that runs first on the model's own thread is overtaken at every point.
pub fn race<S: Send + Sync + 'static, A: Send + 'static>(
    start: impl Fn() -> S + Copy + Sync + Send + 'static,
    one: impl Fn(&S) -> A + Copy + Sync + Send + 'static,
    other: impl Fn(&S) -> A + Copy + Sync + Send + 'static,
    end: impl Fn(&S, [A; 2]) + Copy + Sync + Send + 'static,
) {
    check(move || {
        let (said_one, state, said_other) = both(start(), one, other);
        end(&state, [said_one, said_other]);
    });
    check(move || {
        let (said_other, state, said_one) = both(start(), other, one);
        end(&state, [said_one, said_other]);
    });
}

/// Runs `here` on this thread and `there` on another.
pub fn both<S: Send + Sync + 'static, A: Send + 'static>(
    state: S,
    here: impl Fn(&S) -> A,
    there: impl Fn(&S) -> A + Send + 'static,
) -> (A, Arc<S>, A) {
    let state = Arc::new(state);
    let shared = Arc::clone(&state);
    let other = thread::spawn(move || there(&shared));
    let said = here(&state);
    (said, state, other.join().unwrap())
}

pub fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}
