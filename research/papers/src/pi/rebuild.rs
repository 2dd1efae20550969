//! Rebuilding the index layer (§4.3.5): by a thread in the background, from a list that is quiescent,
//! concurrently with batches; the result is swapped in between batches.
//!
//! 1. Between two batches the list is lent ([`Segments::lend`]): both lists share all segments, and a
//!    batch that changes one copies it first. From here on the changes of batches are recorded.
//! 2. The background lays out segments that have drifted, drops deleted nodes, and builds the index layer:
//!    whole, or those of its parts under which something has changed.
//! 3. The recorded changes are applied to the new list as well: in the background as long as there are
//!    many, and then, between two batches, the rest. The two lists are swapped, and the old one is dropped
//!    in the background.

use super::layer::{Layer, LayerPlan};
use super::options::Options;
use super::work::Update;
use crate::pi::crew::{Run, ScopedTask};
use crate::pi::mem::budget::Budget;
use crate::pi::segments::{Anchor, Finger, SEGMENTS_MAX, Segments};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::Dispatch;
use latchless_core::sync::Origin;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Changes that are caught up with between two batches; more are in the background.
const AT_ONCE: usize = 4096;
/// The number of rounds in which the background catches up before the rest is applied between two batches,
/// however much it is.
const ROUNDS_MAX: usize = 8;

/// How an index layer is built.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    layer: LayerPlan,
    dispatch: Dispatch,
}

impl Plan {
    pub(super) fn new(options: &Options, dispatch: Dispatch, node: Option<usize>, pieces: usize) -> Self {
        let (width, paper) = (options.entry_keys, options.paper(node));
        let layer = LayerPlan { width, part_segments: options.part_segments, paper, pieces };
        Self { layer, dispatch }
    }

    pub(super) fn dispatch(self) -> Dispatch {
        self.dispatch
    }
}

/// A list and the index layer over it.
#[derive(Debug)]
pub(super) struct Built<B: Bits> {
    pub(super) list: Segments<B>,
    pub(super) layer: Layer<B>,
}

impl<B: Bits> Built<B> {
    /// An index layer over a list that was laid out.
    pub(super) fn over(list: Segments<B>, plan: Plan, run: Run<'_>) -> Result<Self> {
        Self::over_sharing(list, plan, None, run)
    }

    fn over_sharing(list: Segments<B>, plan: Plan, earlier: Option<&Layer<B>>, run: Run<'_>) -> Result<Self> {
        if list.segments() > SEGMENTS_MAX {
            return Err(Error::ReferencesExhausted { limit: SEGMENTS_MAX as u64 });
        }
        let layer = Layer::build(&list, plan.layer, earlier, run)?;
        Ok(Self { list, layer })
    }

    /// Lays out the list again and builds an index layer over it, which shares as much as possible of the
    /// earlier one.
    pub(super) fn anew(
        list: &Segments<B>,
        plan: Plan,
        earlier: Option<&Layer<B>>,
        run: Run<'_>,
    ) -> Result<Self> {
        Self::over_sharing(list.laid_out(plan.layer.pieces, run)?, plan, earlier, run)
    }

    /// Applies the recorded changes of the list from which this one was made.
    ///
    /// # Errors
    /// When memory is refused: this one can't be used then.
    pub(super) fn catch_up(&mut self, log: &[Update<B>], dispatch: Dispatch) -> Result<()> {
        // Changes that the limit allowed there are allowed here.
        let budget = Budget::new(None, 0);
        for updates in log.chunks(1024) {
            let keys: Vec<B> = updates.iter().map(|update| update.0).collect();
            let anchors = self.layer.anchors::<NoTrace>(dispatch, &keys, (32, true));
            for (&(key, value), &anchor) in updates.iter().zip(&anchors) {
                self.apply(anchor, key, value, &budget)?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, anchor: Anchor, key: B, value: Option<B>, budget: &Budget) -> Result<()> {
        let finger = &mut Finger::default();
        let drift = match value {
            Some(value) => self.list.all().put::<NoTrace>(anchor, finger, (key, value), budget)?.1,
            None => self.list.all().take::<NoTrace>(anchor, finger, key).1,
        };
        self.list.changed(drift);
        Ok(())
    }
}

/// A task of the background thread.
enum Task<B: Bits> {
    /// From this list, and the layer over it if parts of that may be shared.
    Build(Box<Segments<B>>, Option<Layer<B>>, Plan),
    CatchUp(Box<Built<B>>, Vec<Update<B>>),
    Forget(Box<Built<B>>),
}

/// The background thread.
struct Daemon<B: Bits> {
    tasks: Option<Sender<Task<B>>>,
    /// Only ever reached through `&mut`; readers of the index share it.
    done: Mutex<Receiver<Result<Box<Built<B>>>>>,
    thread: Option<JoinHandle<()>>,
    /// The process of the thread.
    origin: Origin,
}

impl<B: Bits> Daemon<B> {
    fn start(dispatch: Dispatch) -> std::io::Result<Self> {
        let ((tasks, received), (report, done)) = (channel(), channel());
        let work = move || {
            for task in received {
                let built = match task {
                    Task::Build(list, earlier, plan) => {
                        Built::anew(&list, plan, earlier.as_ref(), &in_a_scope).map(Box::new)
                    }
                    Task::CatchUp(mut built, log) => built.catch_up(&log, dispatch).map(|()| built),
                    Task::Forget(old) => {
                        drop(old);
                        continue;
                    }
                };
                // A thread that doesn't listen any more is being dropped.
                let _ = report.send(built);
            }
        };
        let thread = Builder::new().name("latchless rebuild".to_owned()).spawn(work)?;
        Ok(Self { tasks: Some(tasks), done: Mutex::new(done), thread: Some(thread), origin: Origin::here() })
    }

    fn ask(&self, task: Task<B>) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok())
    }
}

impl<B: Bits> Drop for Daemon<B> {
    fn drop(&mut self) {
        if self.origin.is_inherited() {
            // A thread that doesn't exist can't be joined, and may hold what its channels are made of.
            let done = core::mem::replace(&mut self.done, Mutex::new(channel().1));
            return core::mem::forget((self.tasks.take(), done, self.thread.take()));
        }
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does pieces of work on threads that are started for them.
fn in_a_scope(jobs: Vec<ScopedTask<'_>>) {
    let mut jobs = jobs.into_iter();
    let own = jobs.next();
    std::thread::scope(|scope| {
        jobs.for_each(|job| _ = scope.spawn(job));
        own.into_iter().for_each(|job| job());
    });
}

/// A node's rebuilds.
pub(super) struct Rebuilds<B: Bits> {
    daemon: Option<Daemon<B>>,
    /// The changes since the list was lent; `None`: no rebuild is in progress.
    log: Option<Vec<Update<B>>>,
    rounds: usize,
    /// Rebuilds that were swapped in.
    pub(super) done: u64,
}

impl<B: Bits> Default for Rebuilds<B> {
    fn default() -> Self {
        Self { daemon: None, log: None, rounds: 0, done: 0 }
    }
}

impl<B: Bits> Rebuilds<B> {
    /// Returns whether one is in progress.
    pub(super) fn running(&self) -> bool {
        self.log.is_some()
    }

    /// Records the changes of a batch.
    pub(super) fn write_down(&mut self, mut updates: Vec<Update<B>>) {
        if let Some(log) = &mut self.log {
            log.append(&mut updates);
        }
    }

    /// Starts a rebuild in the background. `false`: the system refused a thread, or memory.
    pub(super) fn start(&mut self, current: &mut Built<B>, plan: Plan) -> bool {
        if self.daemon.as_ref().is_none_or(|daemon| daemon.origin.is_inherited()) {
            self.daemon = Daemon::start(plan.dispatch).ok();
        }
        let Some(daemon) = &self.daemon else { return false };
        let Ok(lent) = current.list.lend() else { return false };
        let started = daemon.ask(Task::Build(Box::new(lent), current.layer.share(), plan));
        match started {
            true => (self.log, self.rounds) = (Some(Vec::new()), 0),
            // It panicked; the next one starts afresh.
            false => self.daemon = None,
        }
        started
    }

    /// Swaps in the background's result, if it is finished. With `wait`, waits for it. Returns whether
    /// anything was swapped.
    ///
    /// # Errors
    /// If memory was refused: nothing is changed, and no rebuild is in progress.
    pub(super) fn settle(&mut self, current: &mut Built<B>, dispatch: Dispatch, wait: bool) -> Result<bool> {
        loop {
            let (Some(daemon), Some(log)) = (&mut self.daemon, &mut self.log) else { return Ok(false) };
            if daemon.origin.is_inherited() {
                // The thread is in another process: the current list stays in use.
                (self.log, self.daemon) = (None, None);
                return Ok(false);
            }
            let done = daemon.done.get_mut().unwrap_or_else(PoisonError::into_inner);
            let received = match wait {
                true => done.recv().map_err(|_| TryRecvError::Disconnected),
                false => done.try_recv(),
            };
            let mut built = match received {
                Ok(Ok(built)) => built,
                Err(TryRecvError::Empty) => return Ok(false),
                Ok(Err(error)) => {
                    self.log = None;
                    return Err(error);
                }
                Err(TryRecvError::Disconnected) => {
                    // It panicked: the current list stays in use.
                    (self.log, self.daemon) = (None, None);
                    return Ok(false);
                }
            };
            if log.len() > AT_ONCE && self.rounds < ROUNDS_MAX {
                self.rounds += 1;
                daemon.ask(Task::CatchUp(built, core::mem::take(log)));
                continue;
            }
            if let Err(refused) = built.catch_up(log, dispatch) {
                self.log = None;
                return Err(refused);
            }
            core::mem::swap(current, &mut built);
            daemon.ask(Task::Forget(built));
            (self.log, self.done) = (None, self.done + 1);
            return Ok(true);
        }
    }
}
