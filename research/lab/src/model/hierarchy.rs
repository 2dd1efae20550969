//! The path of a line: the processors' private caches, the directory that keeps them coherent, and the
//! memories below them.
//!
//! # Modelled
//! - The secondary cache includes the primary one: a line that leaves it leaves both. Write-backs from the
//!   primary to the secondary cache are free.
//! - A line that a secondary cache doesn't have is served by memory, or, if another processor has changed
//!   it, by that one's cache, which then shares it and has it written back on the way.
//! - Processors of a node may share a third cache. Every line that arrives at one of them is put there,
//!   too, and stays until it is evicted or a processor of another node writes it. Lines from there take no
//!   access of memory. Modified lines that leave a secondary cache are written to memory as well.
//! - A write to a line that others hold as well invalidates their copies. If the writer holds it already,
//!   that takes no data, but the time of the messages.
//! - Every fetch, write-back and such message takes one access of the memory that the line belongs to, so
//!   that memory, or the bus to it, can be the bottleneck.
//! - A line that is in flight to a writer continues to the next only when it has arrived: processors that
//!   contend for a line get it one after the other.
//! - A stream prefetcher, if there is one, sees what each secondary cache requests. Its lines use the
//!   memories like others. They count as accesses neither of caches nor of memory: what is counted is
//!   demanded.
//! - On a machine of several nodes, transfers between nodes take longer.

use super::cache::{Cache, Hold};
use super::counters::Counters;
use super::directory::{Directory, Set, members};
use super::homes::Homes;
use super::memory::{Memory, MissHandlers};
use super::parameters::Parameters;
use super::streams::{Ahead, Streams};

/// The result of an access to one line. Times in slots.
#[derive(Debug, Clone, Copy)]
pub struct Fetched {
    /// When it was begun: a miss waits for a free handler.
    pub started: u64,
    /// The arrival of the line, for writing if that was requested.
    pub ready: u64,
    /// The processors that lost the line to this access.
    pub lost_by: Set,
}

/// One processor's private part.
#[derive(Debug)]
struct Private {
    l1: Cache,
    l2: Cache,
    handlers: MissHandlers,
    streams: Option<Streams>,
    /// The line of the last access.
    last: Option<u64>,
    counters: Counters,
}

impl Private {
    fn new(parameters: &Parameters) -> Self {
        Self {
            l1: Cache::new(parameters.l1),
            l2: Cache::new(parameters.l2),
            handlers: MissHandlers::new(parameters.miss_handlers),
            streams: parameters.streams.map(Streams::new),
            last: None,
            counters: Counters::default(),
        }
    }

    /// Invalidates `line` and returns whether it was modified.
    fn lose(&mut self, line: u64) -> bool {
        self.l1.invalidate(line) | self.l2.invalidate(line)
    }

    /// Shares `line` with other readers and returns whether it was modified.
    fn share(&mut self, line: u64) -> bool {
        self.l1.demote(line) | self.l2.demote(line)
    }
}

/// Latencies in slots.
#[derive(Debug, Clone, Copy)]
struct Latencies {
    l2: u64,
    shared: u64,
    memory: u64,
    transfer: u64,
    upgrade: u64,
    remote: u64,
}

/// The source of a line for a secondary cache, or a change of its hold.
#[derive(Debug, Clone, Copy)]
struct Supply {
    ready: u64,
    hold: Hold,
    lost_by: Set,
}

/// The memory hierarchy of a machine.
#[derive(Debug)]
pub struct Hierarchy {
    latencies: Latencies,
    private: Vec<Private>,
    /// One for each node, if processors share a cache.
    shared: Vec<Cache>,
    /// One for each node.
    memories: Vec<Memory>,
    /// The node of each line.
    pub homes: Homes,
    directory: Directory,
}

impl Hierarchy {
    /// Empty caches and idle memories. The parameters have been checked.
    pub fn new(parameters: &Parameters) -> Self {
        let system = &parameters.system;
        let slots = |cycles: u64| cycles * parameters.issue_width;
        let outstanding = parameters.miss_handlers * system.processors;
        let memory = || Memory::new(slots(parameters.memory_interval_cycles), outstanding);
        Self {
            latencies: Latencies {
                l2: slots(parameters.l2_latency_cycles),
                shared: slots(parameters.l3.map_or(0, |shared| shared.latency_cycles)),
                memory: slots(parameters.memory_latency_cycles),
                transfer: slots(system.transfer_latency_cycles),
                upgrade: slots(system.upgrade_latency_cycles),
                remote: slots(system.remote_latency_cycles),
            },
            private: (0..system.processors).map(|_| Private::new(parameters)).collect(),
            shared: parameters
                .l3
                .iter()
                .flat_map(|shared| (0..system.nodes).map(|_| Cache::new(shared.shape)))
                .collect(),
            memories: (0..system.nodes).map(|_| memory()).collect(),
            homes: Homes::new(system, parameters.granule),
            directory: Directory::new(system.processors),
        }
    }

    /// Returns the events of `who`'s caches so far.
    pub fn counters(&self, who: usize) -> Counters {
        self.private[who].counters
    }

    /// Counts a line that `who` prefetched.
    pub fn count_prefetch(&mut self, who: usize) {
        self.private[who].counters.prefetches += 1;
    }

    /// Returns whether `who` has `line`, or waits for it.
    pub fn holds(&self, who: usize, line: u64) -> bool {
        self.private[who].l2.holds(line)
    }

    /// Empties all caches; discards writes. Memory still delivers what is in flight.
    pub fn clear(&mut self) {
        for private in &mut self.private {
            private.l1.clear();
            private.l2.clear();
            private.streams.iter_mut().for_each(Streams::clear);
        }
        self.shared.iter_mut().for_each(Cache::clear);
        self.directory.clear();
    }

    /// Brings `line`, requested at `asked`, into `who`'s primary cache.
    pub fn fetch(&mut self, who: usize, line: u64, asked: u64, write: bool) -> Fetched {
        let own = &mut self.private[who];
        own.counters.l1_accesses += 1;
        own.counters.lines += u64::from(own.last.replace(line) != Some(line));
        if let Some(found) = own.l1.access(line, write) {
            own.counters.late_reads += u64::from(found.ready > asked && !write);
            if !write || found.hold != Hold::Shared {
                return Fetched { started: asked, ready: found.ready.max(asked), lost_by: 0 };
            }
            let started = own.handlers.claim(asked);
            let supply = self.upgrade(who, line, started.max(found.ready));
            self.private[who].handlers.release_at(supply.ready);
            return Fetched { started, ready: supply.ready, lost_by: supply.lost_by };
        }
        own.counters.l2_accesses += 1;
        let started = own.handlers.claim(asked);
        let l2_ready = started + self.latencies.l2;
        let supply = match own.l2.access(line, false) {
            Some(found) if write && found.hold == Hold::Shared => {
                self.upgrade(who, line, found.ready.max(l2_ready))
            }
            Some(found) => Supply { ready: found.ready.max(l2_ready), hold: found.hold, lost_by: 0 },
            None => self.miss(who, line, started, write),
        };
        let own = &mut self.private[who];
        own.handlers.release_at(supply.ready);
        let hold = match supply.hold {
            _ if write => Hold::Modified,
            Hold::Shared => Hold::Shared,
            Hold::Exclusive | Hold::Modified => Hold::Exclusive,
        };
        if let Some(victim) = own.l1.fill(line, supply.ready, hold)
            && victim.dirty
        {
            own.l2.mark_dirty(victim.line);
        }
        self.run_ahead(who, line, started);
        Fetched { started, ready: supply.ready, lost_by: supply.lost_by }
    }

    /// Fetches the lines that `who`'s stream prefetcher wants after a request for `line`.
    fn run_ahead(&mut self, who: usize, line: u64, at: u64) {
        let Some(streams) = &mut self.private[who].streams else { return };
        for ahead in streams.see(line).into_iter().flatten() {
            let own = &mut self.private[who];
            let is_free = own.streams.as_ref().is_some_and(|streams| streams.handlers.has_free(at));
            let (Ahead::Near(line) | Ahead::Far(line)) = ahead;
            if !is_free || own.l2.holds(line) {
                continue;
            }
            let before = own.counters;
            let ready = match ahead {
                Ahead::Near(line) => self.miss(who, line, at, false).ready,
                Ahead::Far(line) => match self.prefetch_into_shared(who, line, at) {
                    Some(ready) => ready,
                    None => continue,
                },
            };
            let own = &mut self.private[who];
            let (streamed, write_backs) = (before.streamed + 1, own.counters.write_backs);
            own.counters = Counters { streamed, write_backs, ..before };
            if let Some(streams) = &mut own.streams {
                streams.handlers.claim(at);
                streams.handlers.release_at(ready);
            }
        }
    }

    /// Brings `line` into the shared cache of `who`'s node alone, and returns its arrival; nothing if it is
    /// there, or if there is no such cache.
    fn prefetch_into_shared(&mut self, who: usize, line: u64, at: u64) -> Option<u64> {
        let node = self.homes.node_of(who);
        self.shared.get(node).filter(|near| !near.holds(line))?;
        let home = self.homes.of(line);
        let remote = if home == node { 0 } else { self.latencies.remote };
        let ready = self.memories[home].start(at) + self.latencies.memory + remote;
        self.shared[node].fill(line, ready, Hold::Shared);
        Some(ready)
    }

    /// Brings `line` into `who`'s secondary cache.
    fn miss(&mut self, who: usize, line: u64, at: u64, write: bool) -> Supply {
        let supply = self.supply(who, line, at, write);
        let own = &mut self.private[who];
        if let Some(victim) = own.l2.fill(line, supply.ready, supply.hold) {
            let dirty_above = own.l1.invalidate(victim.line);
            if victim.dirty || dirty_above {
                own.counters.write_backs += 1;
                self.memories[self.homes.of(victim.line)].start(at);
            }
            self.directory.leave(victim.line, who);
        }
        supply
    }

    /// Has `line`, which `who` doesn't hold, sent to it by its node's shared cache, by memory, or by the
    /// processor that changed it.
    fn supply(&mut self, who: usize, line: u64, at: u64, write: bool) -> Supply {
        let answer = self.directory.ask(line, who, write);
        let mut supplier = None;
        let lost_by = if write { answer.others } else { 0 };
        for other in members(lost_by) {
            if self.private[other].lose(line) {
                supplier = Some(other);
            }
        }
        if let Some(owner) = answer.owner.filter(|_| !write)
            && self.private[owner].share(line)
        {
            supplier = Some(owner);
        }
        if write {
            self.lose_elsewhere(line, who);
        }
        let alone = write || answer.others == 0;
        let hold = if alone { Hold::Exclusive } else { Hold::Shared };
        let (node, home) = (self.homes.node_of(who), self.homes.of(line));
        let moment = at.max(answer.from);
        let near = self.shared.get_mut(node).filter(|_| supplier.is_none());
        if let Some(found) = near.and_then(|near| near.access(line, false)) {
            let ready = found.ready.max(moment + self.latencies.shared);
            self.directory.gets(line, ready, write);
            self.private[who].counters.shared_hits += 1;
            return Supply { ready, hold, lost_by };
        }
        let start = self.memories[home].start(moment);
        let (latency, from) = match supplier {
            Some(other) => (self.latencies.transfer, self.homes.node_of(other)),
            None => (self.latencies.memory, home),
        };
        let remote = from != node;
        let ready = start + latency + if remote { self.latencies.remote } else { 0 };
        self.directory.gets(line, ready, write);
        if let Some(near) = self.shared.get_mut(node)
            && near.access(line, false).is_none()
        {
            near.fill(line, ready, Hold::Shared);
        }
        let counters = &mut self.private[who].counters;
        counters.memory_accesses += 1;
        counters.coherence_misses += u64::from(answer.coherence);
        counters.transfers += u64::from(supplier.is_some());
        counters.remote_accesses += u64::from(remote);
        Supply { ready, hold, lost_by }
    }

    /// Records that `who` writes `line`: copies in other nodes' shared caches are invalidated.
    fn lose_elsewhere(&mut self, line: u64, who: usize) {
        let own = self.homes.node_of(who);
        for (node, shared) in self.shared.iter_mut().enumerate() {
            if node != own {
                shared.invalidate(line);
            }
        }
    }

    /// Invalidates all other copies of `line`, which `who` holds but shares.
    fn upgrade(&mut self, who: usize, line: u64, at: u64) -> Supply {
        let answer = self.directory.ask(line, who, true);
        self.lose_elsewhere(line, who);
        let (home, node) = (self.homes.of(line), self.homes.node_of(who));
        let mut remote = home != node;
        for other in members(answer.others) {
            self.private[other].lose(line);
            remote |= self.homes.node_of(other) != node;
        }
        let start = self.memories[home].start(at.max(answer.from));
        let ready = start + self.latencies.upgrade + if remote { self.latencies.remote } else { 0 };
        self.directory.gets(line, ready, true);
        let own = &mut self.private[who];
        own.l1.set_hold(line, ready, Hold::Modified);
        own.l2.set_hold(line, ready, Hold::Exclusive);
        own.counters.upgrades += 1;
        Supply { ready, hold: Hold::Exclusive, lost_by: answer.others }
    }
}
