//! Running several workers together, each on a separate modelled processor, on one thread.
//!
//! A worker is a coroutine: it runs on its own stack until the machine lets another go first, and is
//! resumed where it stopped. The structure that it works on is the real one and isn't aware of it.

use super::Listener;
use super::suspend::Body;
use crate::error::{LabError, Result};
use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, ScopedCoroutine, ScopedCoroutineRef, Yielder};
use latchless_core::mem::touch::listen;

/// The work of one processor.
pub type Worker<'a, R> = Box<dyn FnOnce() -> R + 'a>;

type Running<'a, R> = ScopedCoroutineRef<'a, (), (), R, DefaultStack>;

/// The size of a worker's stack; unused parts take no memory.
const STACK_BYTES: usize = 1 << 20;

impl Listener {
    /// Runs `workers` together, the first one on the first processor and so on, and returns their results
    /// in the same order. All processors start at the moment of the latest one's clock.
    ///
    /// A worker's modelled structures must wait for each other through
    /// [`Trace::wait`](latchless_core::mem::touch::Trace::wait) alone: a worker that waits on something that
    /// the machine doesn't know of, such as a mutex of the operating system, waits forever, because no
    /// other one runs until it touches memory. While the machine is stopped, workers run one after the
    /// other.
    ///
    /// ```
    /// use latchless_core::mem::touch::{Traced, Trace};
    /// use latchless_lab::model::{Listener, Machine, Parameters, Worker};
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    ///
    /// let counter = AtomicU64::new(0);
    /// let machine = Listener::new(Machine::new(Parameters::olfit(2)).unwrap());
    /// machine.with(Machine::start);
    /// let count = || {
    ///     for _ in 0..100 {
    ///         Traced::exchange((&raw const counter).cast());
    ///         counter.fetch_add(1, Relaxed);
    ///     }
    /// };
    /// machine.together::<()>(vec![Box::new(count), Box::new(count)]).unwrap();
    /// assert_eq!(counter.into_inner(), 200);
    /// assert!(machine.with(|machine| machine.counters().coherence_misses) > 90);
    /// ```
    ///
    /// # Errors
    /// [`LabError::Machine`] for more workers than processors, or within a worker;
    /// [`LabError::Stuck`] if one waits for a latch that isn't released; [`LabError::Stack`].
    ///
    /// # Panics
    /// When a worker does.
    pub fn together<R>(&self, workers: Vec<Worker<'_, R>>) -> Result<Vec<R>> {
        self.with(|machine| machine.begin_together(workers.len()))?;
        let _end = End(self);
        listen(Box::new(self.clone()), || self.enter(workers.into_iter(), Vec::new()))
    }

    /// Gives each worker a separate stack, within each other's scope, and then runs them all.
    fn enter<R>(
        &self,
        mut rest: std::vec::IntoIter<Worker<'_, R>>,
        entered: Vec<Running<'_, R>>,
    ) -> Result<Vec<R>> {
        let Some(worker) = rest.next() else { return self.drive(entered) };
        let stack = DefaultStack::new(STACK_BYTES).map_err(LabError::Stack)?;
        let coroutine = ScopedCoroutine::with_stack(stack, |yielder: &Yielder<(), ()>, ()| {
            let _body = Body::enter(yielder);
            worker()
        });
        coroutine.scope(|running| {
            let mut entered = entered;
            entered.push(running);
            self.enter(rest, entered)
        })
    }

    fn drive<R>(&self, mut running: Vec<Running<'_, R>>) -> Result<Vec<R>> {
        let mut results: Vec<Option<R>> = running.iter().map(|_| None).collect();
        while let Some(next) = self.with(|machine| machine.next_turn()) {
            match running[next].resume(()) {
                CoroutineResult::Yield(()) => self.with(|machine| machine.suspend_turn())?,
                CoroutineResult::Return(result) => {
                    results[next] = Some(result);
                    self.with(|machine| machine.finish_turn());
                }
            }
        }
        Ok(results.into_iter().flatten().collect())
    }
}

/// Ends the turns however the run ends, before suspended workers are unwound.
struct End<'a>(&'a Listener);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.with(|machine| machine.end_together());
    }
}
