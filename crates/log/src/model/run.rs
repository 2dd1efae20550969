//! A random history of a folder: changes, syncs, snapshots during writes, closes and kills; and at each
//! moment of it the states that may be recovered.

use super::kinds::{Change, FOLDER, Kind};
use super::{Draw, Fault, Lie, Model, Moment, Set};
use crate::{Error, Opening, SyncMode};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A history to be run.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    pub seed: u64,
    pub sync: SyncMode,
    pub fault: Option<(u64, Fault)>,
    pub lie: Option<Lie>,
}

/// The changes so far and their outcomes.
#[derive(Debug)]
struct History {
    /// The states that may be recovered after a power failure. The last one is the index's.
    allowed: Vec<Arc<Set>>,
    /// For values that no two changes share.
    changes: u64,
    draw: Draw,
}

/// Makes changes, and reports to the model which of them may be recovered.
pub struct Writer<D> {
    model: Model,
    durable: Arc<D>,
    history: Arc<Mutex<History>>,
    is_each: bool,
}

impl<D> Clone for Writer<D> {
    fn clone(&self) -> Self {
        let Self { model, durable, history, is_each } = self;
        let (model, durable, history) = (model.clone(), durable.clone(), history.clone());
        Self { model, durable, history, is_each: *is_each }
    }
}

/// A key below, among or above the first entries.
fn any_key(draw: &mut Draw) -> u64 {
    draw.below(12) * 9_000
}

fn any_change(draw: &mut Draw, value: u64) -> Change {
    match draw.below(10) {
        0 | 1 => Change::Put(any_key(draw), value),
        2..=4 => Change::Batch((0..2 + draw.below(5)).map(|_| (any_key(draw), value)).collect()),
        5 => Change::Remove(any_key(draw)),
        6 => Change::RemoveMany((0..3).map(|_| any_key(draw)).collect()),
        7 => {
            let from = any_key(draw);
            Change::RemoveRange(from, from + 10_000)
        }
        8 => Change::GetOrInsert(any_key(draw), value),
        _ if draw.below(3) == 0 => Change::PopFirst,
        _ => Change::Exchange(any_key(draw), value - draw.below(3), value),
    }
}

impl<D: Kind> Writer<D> {
    /// Of an index that has these entries, all on the disk.
    pub fn new(model: &Model, durable: D, sync: SyncMode, draw: Draw) -> Self {
        let allowed = vec![Arc::new(durable.entries())];
        model.allow(allowed.clone(), false);
        let history = Arc::new(Mutex::new(History { allowed, changes: 10, draw }));
        Self { model: model.clone(), durable: Arc::new(durable), history, is_each: sync == SyncMode::Each }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the log goes on.
    fn change(&self, change: &Change) -> bool {
        let allow = |is_changing| self.model.allow(self.history().allowed.clone(), is_changing);
        {
            let mut history = self.history();
            let mut after = Set::clone(history.allowed.last().expect("what the index has"));
            D::becomes(&mut after, change);
            history.allowed.push(Arc::new(after));
        }
        allow(true);
        let logged = self.durable.journal().log_bytes();
        let done = self.durable.change(change);
        let is_logged = self.durable.journal().log_bytes() > logged;
        match done {
            Ok(()) if self.is_each => self.all_is_on_the_disk(),
            Ok(()) => {}
            // It isn't known whether it is on the disk.
            Err(Error::Closed { .. }) if is_logged => {}
            Err(_) => drop(self.history().allowed.pop()),
        }
        allow(false);
        !matches!(done, Err(Error::Closed { .. }))
    }

    /// Makes any change. See [`Writer::change`].
    pub fn any_change(&self) -> bool {
        let change = {
            let History { draw, changes, .. } = &mut *self.history();
            *changes += 1;
            any_change(draw, *changes)
        };
        self.change(&change)
    }

    fn all_is_on_the_disk(&self) {
        let mut history = self.history();
        let last = history.allowed.pop().expect("what the index has");
        history.allowed = vec![last];
        self.model.allow(history.allowed.clone(), false);
    }

    fn sync(&self) -> bool {
        let done = self.durable.journal().sync();
        if done.is_ok() {
            self.all_is_on_the_disk();
        }
        !matches!(done, Err(Error::Closed { .. }))
    }

    /// Changes a key below all that a snapshot has to read yet and one above, one after the other, and both
    /// at once.
    fn changes_amid(&self) {
        let value = {
            let mut history = self.history();
            history.changes += 1;
            history.changes
        };
        let (low, high) = (value % 5, 200_000 + value % 5);
        let pair = Change::Batch(vec![(low + 10, value), (high + 10, value)]);
        for change in [Change::Put(low, value), Change::Put(high, value), pair] {
            self.change(&change);
        }
    }

    fn snapshot(&self) -> bool {
        let writer = self.clone();
        let saved = self.durable.snapshot(Arc::new(move || writer.changes_amid()));
        if saved.is_ok() {
            self.all_is_on_the_disk();
        }
        !matches!(saved, Err(Error::Closed { .. }))
    }
}

/// Opens the folder, which must go unless something goes wrong on purpose: then `None`.
fn open<D: Kind>(model: &Model, scene: &Scene) -> Result<Option<D>, String> {
    let opening = Opening { sync: scene.sync, ..Opening::default() };
    match D::open(model, Path::new(FOLDER), opening) {
        Ok((durable, _)) => Ok(Some(durable)),
        Err(Error::Io { .. } | Error::Snapshot { .. }) if scene.fault.is_some() => Ok(None),
        Err(error) => Err(format!("{scene:?}: it doesn't open: {error}")),
    }
}

/// Runs a history, and returns its moments and how the model ended.
pub fn run<D: Kind>(scene: &Scene) -> Result<(Vec<Moment>, Model), String> {
    let model = Model::of(Default::default());
    model.allow(vec![Arc::default()], false);
    if let Some((at, fault)) = scene.fault {
        model.fault(at, fault);
    }
    if let Some(lie) = scene.lie {
        model.lie(lie);
    }
    let mut draw = Draw::new(scene.seed);
    let Some(durable) = open::<D>(&model, scene)? else { return Ok((model.take_trace(), model)) };
    let mut writer = Writer::new(&model, durable, scene.sync, draw.clone());
    writer.change(&Change::Batch((0..D::FIRST).map(|at| (1_000 + at * 500, 1)).collect()));
    for _ in 0..24 {
        let goes_on = match draw.below(16) {
            0 => writer.sync(),
            1 | 2 => writer.snapshot(),
            3 | 4 => {
                let is_closed = match draw.below(2) {
                    0 => {
                        let closed = writer.durable.journal().close().is_ok();
                        if closed {
                            writer.all_is_on_the_disk();
                        }
                        closed
                    }
                    _ => false,
                };
                model.kill();
                let Moment { allowed, .. } = model.now();
                drop(writer);
                let Some(durable) = open::<D>(&model, scene)? else { break };
                let found = durable.entries();
                let is_right = match scene.fault {
                    Some((_, Fault::Sync { .. })) => allowed.iter().any(|state| **state == found),
                    _ => **allowed.last().expect("what the index has") == found,
                };
                if !is_right {
                    return Err(format!("{scene:?}: closed: {is_closed}, found {}", brief(&found)));
                }
                writer = Writer::new(&model, durable, scene.sync, draw.clone());
                true
            }
            _ => writer.any_change(),
        };
        draw.below(2);
        if !goes_on {
            break;
        }
    }
    let trace = model.take_trace();
    model.kill();
    Ok((trace, model))
}

/// The entries that aren't the first ones.
pub fn brief(entries: &Set) -> String {
    let others: Vec<_> = entries.iter().filter(|(_, value)| *value > 1).collect();
    format!("{} entries, of them {others:?}", entries.len())
}
