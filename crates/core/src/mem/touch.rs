//! The tracing hook: a structure reports its memory accesses and its work to the memory-hierarchy model.
//!
//! Every structure is generic over a [`Trace`]. With [`NoTrace`], which users get, all calls compile to
//! nothing. With `Traced` (feature `model`) each call goes to the sink that the current thread has
//! installed, which computes the time that the paper's simulated machine would have taken. Both can exist in
//! one program, so one binary measures natively and on the model.

/// Work other than memory accesses, in units that a cost model can price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Entering and leaving one operation: a search, an insert, a call of a scan.
    Operation,
    /// A walk of a batch, a descent that serves nothing yet, begins, or takes a step after one of another
    /// walk, on which no address of its own depends. Costs nothing.
    Walk,
    /// A request of a batch is served, after all its walks have ended. Costs nothing.
    Serve,
    /// The visit of one node: its address, its key count, the loop around it.
    Visit,
    /// One step of a binary search within a node: a compare and an unpredictable branch.
    Probe,
    /// Comparing this many keys with one, one after the other, in a loop whose branches are predicted.
    Compare(usize),
    /// Comparing this many vectors of keys with one, in such a loop.
    Vectors(usize),
    /// A branch with this many ways, each as likely as the others: the end of a loop that compares keys.
    Branch(usize),
    /// Copying this many entries to a caller's buffer.
    Copy(usize),
    /// Moving this many entries within or between nodes.
    Shift(usize),
    /// Reading this many jump pointers (chunk slots or child references).
    Jump(usize),
    /// Allocating a node.
    Allocate,
}

/// The events that a structure reports. Addresses are never dereferenced.
///
/// Every event is reported *before* it happens: a model of several processors lets other workers run first,
/// and returns when the time of the access has come.
pub trait Trace: core::fmt::Debug + Send + Sync + 'static {
    /// Whether accesses are recorded. Lets a structure skip the bookkeeping that only a recorder needs.
    const LISTENING: bool;
    /// Whether searches branch at each key, so that the processor predicts the next step instead of
    /// computing it: binary searches, and those of CSSL's lanes, which then are the paper's, key by key and
    /// without prefetching. An experiment that measures the difference sets it.
    const BRANCHING: bool = false;
    /// `bytes` bytes from `at` on are read, and the worker waits for them.
    fn read(at: *const u8, bytes: usize);
    /// `bytes` bytes from `at` on are written.
    fn write(at: *const u8, bytes: usize);
    /// Every line of the `bytes` bytes from `at` on is prefetched.
    fn prefetch(at: *const u8, bytes: usize);
    /// The word at `at` is read and changed in one locked step: a compare-and-swap, whether or not it
    /// succeeds, or a fetch-and-add.
    fn exchange(at: *const u8);
    /// The word at `at` blocks this worker: a latch that another worker holds. Reported before each further
    /// look, right after the look that failed.
    fn wait(at: *const u8);
    /// The processor is busy with `work`.
    fn work(work: Work);
    /// Returns the number, from 0 on, of the worker that is running, if several workers share this thread.
    /// `None`: the thread is the only worker. Per-thread state (pools, slots) is then indexed by this
    /// number.
    fn worker() -> Option<usize>;
}

/// No sink: every call compiles to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrace;

impl Trace for NoTrace {
    const LISTENING: bool = false;

    #[inline(always)]
    fn read(_: *const u8, _: usize) {}

    #[inline(always)]
    fn write(_: *const u8, _: usize) {}

    #[inline(always)]
    fn prefetch(_: *const u8, _: usize) {}

    #[inline(always)]
    fn exchange(_: *const u8) {}

    #[inline(always)]
    fn wait(_: *const u8) {}

    #[inline(always)]
    fn work(_: Work) {}

    #[inline(always)]
    fn worker() -> Option<usize> {
        None
    }
}

/// No sink either, and binary searches branch: [`Trace::BRANCHING`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Branching;

impl Trace for Branching {
    const LISTENING: bool = false;
    const BRANCHING: bool = true;

    #[inline(always)]
    fn read(_: *const u8, _: usize) {}

    #[inline(always)]
    fn write(_: *const u8, _: usize) {}

    #[inline(always)]
    fn prefetch(_: *const u8, _: usize) {}

    #[inline(always)]
    fn exchange(_: *const u8) {}

    #[inline(always)]
    fn wait(_: *const u8) {}

    #[inline(always)]
    fn work(_: Work) {}

    #[inline(always)]
    fn worker() -> Option<usize> {
        None
    }
}

#[cfg(feature = "model")]
pub use modelled::{Sink, Traced, TracedAs, TracedBranching, listen};

#[cfg(feature = "model")]
mod modelled {
    use super::{Trace, Work};
    use core::cell::RefCell;

    /// The receiver of events: a memory-hierarchy model, or a recorder in a test.
    pub trait Sink {
        /// See [`Trace::read`].
        fn read(&mut self, at: usize, bytes: usize);
        /// See [`Trace::write`].
        fn write(&mut self, at: usize, bytes: usize);
        /// See [`Trace::prefetch`].
        fn prefetch(&mut self, at: usize, bytes: usize);
        /// See [`Trace::exchange`]. Treated as a write unless the sink distinguishes the two.
        fn exchange(&mut self, at: usize) {
            self.write(at, 1);
        }
        /// See [`Trace::wait`].
        fn wait(&mut self, _: usize) {}
        /// See [`Trace::work`].
        fn work(&mut self, work: Work);
        /// See [`Trace::worker`].
        fn worker(&self) -> Option<usize> {
            None
        }
        /// Called around every access that others can see. Returns a function to call before this worker
        /// continues, now that nothing borrows the sink. A model of several processors runs another worker
        /// there, and returns when this one is due.
        fn pause(&mut self) -> Option<fn()> {
            None
        }
    }

    thread_local! {
        static SINK: RefCell<Option<Box<dyn Sink>>> = const { RefCell::new(None) };
    }

    /// Reports an event that no other worker can see.
    fn tell(event: impl FnOnce(&mut dyn Sink)) {
        SINK.with_borrow_mut(|sink| {
            if let Some(sink) = sink {
                event(&mut **sink);
            }
        });
    }

    /// Reports an access to memory that other workers use as well: workers that are due earlier run first,
    /// and then those that are due before the access completes.
    fn tell_others(event: impl FnOnce(&mut dyn Sink)) {
        // The sink isn't borrowed while others run, because they report their accesses to it.
        let before = SINK.with_borrow_mut(|sink| sink.as_mut()?.pause());
        before.into_iter().for_each(|pause| pause());
        let behind = SINK.with_borrow_mut(|sink| {
            let sink = sink.as_mut()?;
            event(&mut **sink);
            sink.pause()
        });
        behind.into_iter().for_each(|pause| pause());
    }

    /// Runs `body` while `sink` receives all events of traced structures on this thread, and returns the
    /// result. The previous sink is restored afterwards, also if `body` panics. To read the sink later, keep
    /// a shared handle to it (`Rc<RefCell<_>>`).
    pub fn listen<R>(sink: Box<dyn Sink>, body: impl FnOnce() -> R) -> R {
        struct Restore(Option<Box<dyn Sink>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                SINK.set(self.0.take());
            }
        }
        let _restore = Restore(SINK.replace(Some(sink)));
        body()
    }

    /// Every event goes to the sink that this thread has installed with [`listen`]; with
    /// [`Trace::BRANCHING`] as given.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct TracedAs<const BRANCHING: bool>;

    /// Every event goes to the sink that this thread has installed with [`listen`].
    pub type Traced = TracedAs<false>;
    /// The same, and searches branch: [`Trace::BRANCHING`].
    pub type TracedBranching = TracedAs<true>;

    impl<const BRANCHES: bool> Trace for TracedAs<BRANCHES> {
        const LISTENING: bool = true;
        const BRANCHING: bool = BRANCHES;

        fn read(at: *const u8, bytes: usize) {
            tell_others(|sink| sink.read(at.addr(), bytes));
        }

        fn write(at: *const u8, bytes: usize) {
            tell_others(|sink| sink.write(at.addr(), bytes));
        }

        fn prefetch(at: *const u8, bytes: usize) {
            tell(|sink| sink.prefetch(at.addr(), bytes));
        }

        fn exchange(at: *const u8) {
            tell_others(|sink| sink.exchange(at.addr()));
        }

        fn wait(at: *const u8) {
            tell_others(|sink| sink.wait(at.addr()));
        }

        fn work(work: Work) {
            tell(|sink| sink.work(work));
        }

        fn worker() -> Option<usize> {
            SINK.with_borrow(|sink| sink.as_ref()?.worker())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::rc::Rc;

        struct Recorder(Rc<RefCell<Vec<(char, usize)>>>);

        impl Sink for Recorder {
            fn read(&mut self, at: usize, _: usize) {
                self.0.borrow_mut().push(('r', at));
            }

            fn write(&mut self, at: usize, _: usize) {
                self.0.borrow_mut().push(('w', at));
            }

            fn prefetch(&mut self, at: usize, _: usize) {
                self.0.borrow_mut().push(('p', at));
            }

            fn exchange(&mut self, at: usize) {
                self.0.borrow_mut().push(('x', at));
            }

            fn wait(&mut self, at: usize) {
                self.0.borrow_mut().push(('s', at));
            }

            fn work(&mut self, _: Work) {
                self.0.borrow_mut().push(('b', 0));
            }

            fn worker(&self) -> Option<usize> {
                Some(self.0.borrow().len())
            }

            /// A worker that runs meanwhile can record its events.
            fn pause(&mut self) -> Option<fn()> {
                Some(|| Traced::work(Work::Visit))
            }
        }

        #[test]
        fn only_a_listening_sink_hears() {
            let heard = Rc::new(RefCell::new(Vec::new()));
            let at = core::ptr::without_provenance;
            Traced::read(at(1), 1);
            listen(Box::new(Recorder(heard.clone())), || {
                Traced::prefetch(at(2), 64);
                Traced::work(Work::Probe);
            });
            Traced::write(at(4), 1);
            assert_eq!(*heard.borrow(), [('p', 2), ('b', 0)]);
        }

        #[test]
        fn others_are_let_in_around_what_they_can_see() {
            let heard = Rc::new(RefCell::new(Vec::new()));
            let at = core::ptr::without_provenance;
            listen(Box::new(Recorder(heard.clone())), || {
                Traced::read(at(2), 4);
                Traced::write(at(3), 4);
                Traced::exchange(at(5));
                Traced::wait(at(6));
            });
            let told = [('r', 2), ('w', 3), ('x', 5), ('s', 6)];
            let expected: Vec<_> = told.into_iter().flat_map(|event| [('b', 0), event, ('b', 0)]).collect();
            assert_eq!(*heard.borrow(), expected);
        }

        #[test]
        fn the_sink_knows_who_is_at_work() {
            let heard = Rc::new(RefCell::new(Vec::new()));
            assert_eq!((Traced::worker(), super::super::NoTrace::worker()), (None, None));
            listen(Box::new(Recorder(heard)), || assert_eq!(Traced::worker(), Some(0)));
        }
    }
}
