//! A file system in memory that has power failures, full disks and syncs that fail, and the log's promises
//! checked at each step of random histories on it.
//!
//! A file has three states: the bytes that a process reads, the bytes on the disk, and the writes since its
//! last sync. The names in a folder are kept in the same way. A power failure leaves any part of the writes
//! ([`crash`]). A failed sync leaves any part of them as well, and from then on they count as written, as
//! on Linux.

mod crash;
mod damage;
mod kinds;
mod planted;
mod promises;
mod run;

use crate::disk::{Disk, DiskFile, How};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::TryLockError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Entries, or keys and rows.
pub type Set = BTreeSet<(u64, u64)>;

/// Numbers in no order.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31) % end
    }
}

/// A change of a file that may not be on the disk.
#[derive(Debug, Clone)]
enum Write {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

/// A change of the names in a folder that may not be on the disk.
#[derive(Debug, Clone)]
enum Naming {
    /// The name is that of this node, and no longer of another one.
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf, usize),
}

impl Naming {
    fn folder(&self) -> &Path {
        let (Self::Link(path, _) | Self::Unlink(path) | Self::Rename(path, ..)) = self;
        path.parent().expect("a name in a folder")
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Link(path, node) => drop(names.insert(path.clone(), *node)),
            Self::Unlink(path) => drop(names.remove(path)),
            Self::Rename(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }
}

/// A file; a folder has no bytes.
#[derive(Debug, Clone, Default)]
struct Node {
    is_folder: bool,
    seen: Vec<u8>,
    on_disk: Vec<u8>,
    pending: Vec<Write>,
}

/// All files and names.
#[derive(Debug, Clone, Default)]
pub struct State {
    nodes: Vec<Arc<Node>>,
    names: BTreeMap<PathBuf, usize>,
    names_on_disk: BTreeMap<PathBuf, usize>,
    naming: Vec<Naming>,
}

/// The fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A sync of a file fails, and any part of the writes since the last one is lost. If `forgets`, the
    /// system has even forgotten these when the file is opened again.
    Sync { forgets: bool },
    /// There is no room from then on.
    Full,
    /// Nothing can be changed from then on.
    ReadOnly,
}

/// A sync, as a [`Lie`] sees it.
pub struct Sync<'a> {
    /// Of which file or folder.
    pub path: &'a Path,
    /// Whether a snapshot is being written.
    pub is_saving: bool,
}

/// Selects the syncs that the model only reports as done: as if the log omitted them.
pub type Lie = fn(&Sync<'_>) -> bool;

/// The state after a step, and the states that may be recovered after it.
#[derive(Debug, Clone)]
pub struct Moment {
    pub state: State,
    /// The states that may be back after a power failure.
    pub allowed: Vec<Arc<Set>>,
    /// Whether a change is under way: then the last but one may be back after a kill as well.
    pub is_changing: bool,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    steps: u64,
    fault: Option<(u64, Fault)>,
    lie: Option<Lie>,
    /// Counts processes; files opened by one before are dead.
    life: u64,
    locked: BTreeSet<usize>,
    /// Files whose bytes the system has forgotten once they are opened again.
    forgotten: BTreeSet<usize>,
    trace: Vec<Moment>,
    allowed: Vec<Arc<Set>>,
    is_changing: bool,
}

/// The file system.
#[derive(Debug, Clone, Default)]
pub struct Model(Arc<Mutex<Inner>>);

/// The kind of a step, as far as faults distinguish them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Sync,
    Grow,
    Other,
}

impl State {
    /// A node to be changed, which moments before go on sharing as it was.
    fn node(&mut self, node: usize) -> &mut Node {
        Arc::make_mut(&mut self.nodes[node])
    }

    /// The bytes of each file whose name ends so.
    fn files(&self, ending: &str) -> Vec<(PathBuf, usize)> {
        let files = self.names.iter().filter(|(path, _)| path.to_string_lossy().ends_with(ending));
        files.map(|(path, &node)| (path.clone(), self.nodes[node].seen.len())).collect()
    }

    /// Flips a bit of a file that is on the disk.
    fn flip(&mut self, path: &Path, byte: usize, bit: u64) {
        let node = self.node(self.names[path]);
        node.seen[byte] ^= 1 << bit;
        node.on_disk = node.seen.clone();
    }
}

impl Inner {
    /// Counts a step, which `done` makes; or fails it.
    fn step<T>(&mut self, step: Step, done: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        let at = self.steps;
        self.steps += 1;
        let refused = match self.fault {
            Some((from, Fault::Full)) if at >= from && step == Step::Grow => Some(ErrorKind::StorageFull),
            Some((from, Fault::ReadOnly)) if at >= from => Some(ErrorKind::ReadOnlyFilesystem),
            _ => None,
        };
        let result = refused.map_or_else(|| done(self), |kind| Err(kind.into()));
        let moment = Moment {
            state: self.state.clone(),
            allowed: self.allowed.clone(),
            is_changing: self.is_changing,
        };
        self.trace.push(moment);
        result
    }

    fn name(&mut self, naming: Naming) {
        naming.apply(&mut self.state.names);
        self.state.naming.push(naming);
    }

    fn sync_folder(&mut self, folder: &Path) {
        let State { naming, names_on_disk, .. } = &mut self.state;
        naming.retain(|naming| {
            let is_its = naming.folder() == folder;
            if is_its {
                naming.apply(names_on_disk);
            }
            !is_its
        });
    }

    fn lies(&self, path: &Path) -> bool {
        let is_saving = self.state.names.keys().any(|name| name.to_string_lossy().contains(".tmp-"));
        self.lie.is_some_and(|lie| lie(&Sync { path, is_saving }))
    }
}

impl Model {
    /// With the leftovers of a crash.
    pub fn of(state: State) -> Self {
        Self(Arc::new(Mutex::new(Inner { state, ..Inner::default() })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a fault at this step, or from it on.
    pub fn fault(&self, at: u64, fault: Fault) {
        self.inner().fault = Some((at, fault));
    }

    pub fn lie(&self, lie: Lie) {
        self.inner().lie = Some(lie);
    }

    pub fn steps(&self) -> u64 {
        self.inner().steps
    }

    /// The moments so far, which are forgotten.
    pub fn take_trace(&self) -> Vec<Moment> {
        std::mem::take(&mut self.inner().trace)
    }

    /// The states that may be recovered from here on.
    pub fn allow(&self, allowed: Vec<Arc<Set>>, is_changing: bool) {
        let mut inner = self.inner();
        (inner.allowed, inner.is_changing) = (allowed, is_changing);
    }

    /// The moment that it is.
    pub fn now(&self) -> Moment {
        let Inner { state, allowed, is_changing, .. } = &*self.inner();
        Moment { state: state.clone(), allowed: allowed.clone(), is_changing: *is_changing }
    }

    /// The process is no more: its files are dead, its locks are gone.
    pub fn kill(&self) {
        let mut inner = self.inner();
        inner.life += 1;
        inner.locked.clear();
        for node in std::mem::take(&mut inner.forgotten) {
            let node = inner.state.node(node);
            node.seen.clone_from(&node.on_disk);
        }
        inner.fault = inner.fault.filter(|(_, fault)| matches!(fault, Fault::Sync { .. }));
    }
}

fn not_there() -> io::Error {
    ErrorKind::NotFound.into()
}

impl Disk for Model {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.inner().step(Step::Grow, |inner| {
            if inner.state.names.contains_key(path) {
                return Err(ErrorKind::AlreadyExists.into());
            }
            inner.state.nodes.push(Arc::new(Node { is_folder: true, ..Node::default() }));
            let node = inner.state.nodes.len() - 1;
            inner.name(Naming::Link(path.into(), node));
            Ok(())
        })
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let inner = self.inner();
        let inside = inner.state.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(path == Path::new("/") || self.inner().state.names.contains_key(path))
    }

    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut inner = self.inner();
        let there = inner.state.names.get(path).copied();
        let node = match (there, how) {
            (Some(_), How::New) => return Err(ErrorKind::AlreadyExists.into()),
            (Some(node), _) => node,
            (None, How::Read | How::Write) => return Err(not_there()),
            (None, How::New | How::Make) => inner.step(Step::Grow, |inner| {
                inner.state.nodes.push(Arc::default());
                let node = inner.state.nodes.len() - 1;
                inner.name(Naming::Link(path.into(), node));
                Ok(node)
            })?,
        };
        if inner.state.nodes[node].is_folder {
            return Err(ErrorKind::IsADirectory.into());
        }
        let life = inner.life;
        drop(inner);
        Ok(Box::new(ModelFile { model: self.clone(), path: path.into(), node, life, at: Mutex::new(0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner().step(Step::Other, |inner| {
            let node = *inner.state.names.get(from).ok_or_else(not_there)?;
            inner.name(Naming::Rename(from.into(), to.into(), node));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner().step(Step::Other, |inner| {
            if !inner.state.names.contains_key(path) {
                return Err(not_there());
            }
            inner.name(Naming::Unlink(path.into()));
            Ok(())
        })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.inner().step(Step::Other, |inner| {
            if !inner.lies(path) {
                inner.sync_folder(path);
            }
            Ok(())
        })
    }
}

#[derive(Debug)]
struct ModelFile {
    model: Model,
    path: PathBuf,
    node: usize,
    life: u64,
    at: Mutex<usize>,
}

impl ModelFile {
    fn inner(&self) -> io::Result<MutexGuard<'_, Inner>> {
        let inner = self.model.inner();
        if inner.life == self.life { Ok(inner) } else { Err(io::Error::other("the process was killed")) }
    }

    fn at(&self) -> MutexGuard<'_, usize> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFile for ModelFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner()?.state.nodes[self.node].seen.len() as u64)
    }

    fn seek(&self, at: u64) -> io::Result<()> {
        *self.at() = at as usize;
        Ok(())
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let inner = self.inner()?;
        let mut at = self.at();
        let rest = inner.state.nodes[self.node].seen.get(*at..).unwrap_or(&[]);
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        *at += bytes;
        Ok(bytes)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner()?;
        let mut at = self.at();
        let seen = inner.state.nodes[self.node].seen.len();
        let is_full = matches!(inner.fault, Some((from, Fault::Full)) if inner.steps >= from);
        // A full disk takes a part of the write.
        let taken = if is_full { (bytes.len() / 2).max(seen.saturating_sub(*at)) } else { bytes.len() };
        let taken = &bytes[..taken.min(bytes.len())];
        let step = if is_full { Step::Other } else { Step::Grow };
        inner.step(step, |inner| {
            let node = inner.state.node(self.node);
            let write = Write::Bytes { at: *at, bytes: taken.into() };
            crash::apply(&write, &mut node.seen);
            node.pending.push(write);
            Ok(())
        })?;
        *at += taken.len();
        if taken.len() < bytes.len() { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner()?.step(Step::Other, |inner| {
            let node = inner.state.node(self.node);
            let write = Write::Length(len as usize);
            crash::apply(&write, &mut node.seen);
            node.pending.push(write);
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.inner()?.step(Step::Sync, |inner| {
            if let Some((at, Fault::Sync { forgets })) = inner.fault
                && inner.steps == at + 1
            {
                let node = inner.state.node(self.node);
                node.on_disk = crash::some_of(node, &mut Draw::new(at));
                node.pending.clear();
                if forgets {
                    inner.forgotten.insert(self.node);
                }
                return Err(io::Error::other("the disk is broken"));
            }
            if !inner.lies(&self.path) {
                let node = inner.state.node(self.node);
                node.pending.drain(..).for_each(|write| crash::apply(&write, &mut node.on_disk));
            }
            Ok(())
        })
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        let mut inner = self.inner().map_err(TryLockError::Error)?;
        if inner.locked.insert(self.node) { Ok(()) } else { Err(TryLockError::WouldBlock) }
    }

    fn unlock(&self) -> io::Result<()> {
        self.inner()?.locked.remove(&self.node);
        Ok(())
    }
}
