//! The touch hook: how a structure tells the memory-hierarchy model what it does.
//!
//! Every structure is generic over a [`Touch`]. With [`Untouched`] all calls compile to nothing;
//! that is what users get. With `Modelled` (feature `model`) each call goes to the sink that the
//! current thread has installed, which computes the time that the paper's simulated machine would
//! have taken. Both can live in one program, so one binary measures natively and on the model.

/// Work that isn't a memory access, in units that a cost model can price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Entering and leaving one operation: a search, an insert, a scan call.
    Operation,
    /// Coming to one node: its address, its key count, the loop around it.
    Visit,
    /// One step of an in-node binary search: a compare and a branch that can go either way.
    Probe,
    /// Copying this many entries to a caller's buffer.
    Copy(usize),
    /// Moving this many entries within or between nodes.
    Shift(usize),
    /// Looking at this many jump pointers (chunk slots or child references).
    Jump(usize),
    /// Taking a new node.
    Allocate,
}

/// What a structure tells about its memory accesses. Addresses are never followed.
pub trait Touch: core::fmt::Debug + Send + Sync + 'static {
    /// Whether anybody listens. Lets a structure skip the bookkeeping that only a listener needs.
    const LISTENING: bool;
    /// `bytes` bytes from `at` on are read, and waited for.
    fn read(at: *const u8, bytes: usize);
    /// `bytes` bytes from `at` on are written.
    fn write(at: *const u8, bytes: usize);
    /// Every line of the `bytes` bytes from `at` on is asked for ahead of use.
    fn prefetch(at: *const u8, bytes: usize);
    /// The processor is busy with `work`.
    fn work(work: Work);
}

/// Nobody listens: every call compiles to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untouched;

impl Touch for Untouched {
    const LISTENING: bool = false;

    #[inline(always)]
    fn read(_: *const u8, _: usize) {}

    #[inline(always)]
    fn write(_: *const u8, _: usize) {}

    #[inline(always)]
    fn prefetch(_: *const u8, _: usize) {}

    #[inline(always)]
    fn work(_: Work) {}
}

#[cfg(feature = "model")]
pub use modelled::{Modelled, Sink, listen};

#[cfg(feature = "model")]
mod modelled {
    use super::{Touch, Work};
    use core::cell::RefCell;

    /// Who listens: a memory-hierarchy model, or a recorder in a test.
    pub trait Sink {
        /// See [`Touch::read`].
        fn read(&mut self, at: usize, bytes: usize);
        /// See [`Touch::write`].
        fn write(&mut self, at: usize, bytes: usize);
        /// See [`Touch::prefetch`].
        fn prefetch(&mut self, at: usize, bytes: usize);
        /// See [`Touch::work`].
        fn work(&mut self, work: Work);
    }

    thread_local! {
        static SINK: RefCell<Option<Box<dyn Sink>>> = const { RefCell::new(None) };
    }

    fn tell(event: impl FnOnce(&mut dyn Sink)) {
        SINK.with_borrow_mut(|sink| {
            if let Some(sink) = sink {
                event(&mut **sink);
            }
        });
    }

    /// Runs `body` while `sink` hears everything that modelled structures do on this thread, and
    /// gives back the body's result. Whoever listened before listens again afterwards, also when
    /// `body` panics. To look at the sink later, keep a shared handle to it (`Rc<RefCell<_>>`).
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

    /// Every call goes to the sink that this thread has installed with [`listen`].
    #[derive(Debug, Clone, Copy, Default)]
    pub struct Modelled;

    impl Touch for Modelled {
        const LISTENING: bool = true;

        fn read(at: *const u8, bytes: usize) {
            tell(|sink| sink.read(at.addr(), bytes));
        }

        fn write(at: *const u8, bytes: usize) {
            tell(|sink| sink.write(at.addr(), bytes));
        }

        fn prefetch(at: *const u8, bytes: usize) {
            tell(|sink| sink.prefetch(at.addr(), bytes));
        }

        fn work(work: Work) {
            tell(|sink| sink.work(work));
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

            fn work(&mut self, _: Work) {
                self.0.borrow_mut().push(('b', 0));
            }
        }

        #[test]
        fn only_a_listening_sink_hears() {
            let heard = Rc::new(RefCell::new(Vec::new()));
            let at = core::ptr::without_provenance;
            Modelled::read(at(1), 1);
            listen(Box::new(Recorder(heard.clone())), || {
                Modelled::prefetch(at(2), 64);
                Modelled::read(at(2), 4);
                Modelled::write(at(3), 4);
                Modelled::work(Work::Probe);
            });
            Modelled::write(at(4), 1);
            assert_eq!(*heard.borrow(), [('p', 2), ('r', 2), ('w', 3), ('b', 0)]);
        }
    }
}
