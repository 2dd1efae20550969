//! The events of a modelled processor, and the parts of its time.

use core::ops::{Add, Sub};

/// Time in graduation slots, and events. Differences of two readings describe what lies between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Slots in which an instruction graduated.
    pub busy_slots: u64,
    /// Slots lost while waiting for data that no cache of level one had ready.
    pub data_stall_slots: u64,
    /// Slots lost to dependences and mispredicted branches.
    pub other_stall_slots: u64,
    /// Slots in which a latch that another processor held was waited for.
    pub wait_slots: u64,
    /// Lines looked up in the primary cache, by reads, writes and prefetches.
    pub l1_accesses: u64,
    /// The same, but consecutive accesses to one line count once.
    pub lines: u64,
    /// Lines looked up in the secondary cache.
    pub l2_accesses: u64,
    /// Lines that neither the secondary cache nor the one that its node shares had: fetched from memory or
    /// from another's cache.
    pub memory_accesses: u64,
    /// Lines that the secondary cache missed and the node's shared cache had.
    pub shared_hits: u64,
    /// Those of `memory_accesses` to lines that this processor had and lost to another's write: coherence
    /// misses. All others are cold or capacity misses.
    pub coherence_misses: u64,
    /// Those of them that were served by the cache of the processor that had changed them.
    pub transfers: u64,
    /// Those of them that were served by another node.
    pub remote_accesses: u64,
    /// Writes to a line that was held but shared: no data moved, but others lost it.
    pub upgrades: u64,
    /// Lines written back to memory.
    pub write_backs: u64,
    /// Lines prefetched.
    pub prefetches: u64,
    /// Accesses to pages whose translation missed the TLB, in all of its levels.
    pub translation_misses: u64,
    /// Accesses to pages whose translation missed the first level of the TLB and hit the second.
    pub second_translations: u64,
    /// Lines that the stream prefetcher fetched. They count as accesses of no cache and of no memory.
    pub streamed: u64,
    /// Branches that were guessed wrongly, or that aren't guessed.
    pub mispredictions: u64,
    /// Reads that found their line still on its way and waited for the rest.
    pub late_reads: u64,
    /// Reads-and-writes in one locked step.
    pub exchanges: u64,
    /// Visited nodes.
    pub visits: u64,
    /// Times that a latch held by another was waited for.
    pub waits: u64,
}

impl Counters {
    /// Returns the total time, in slots.
    pub fn slots(&self) -> u64 {
        self.busy_slots + self.data_stall_slots + self.other_stall_slots + self.wait_slots
    }

    /// Returns the lines that were served by memory or another's cache, and not because of coherence.
    pub fn cold_and_capacity_misses(&self) -> u64 {
        self.memory_accesses - self.coherence_misses
    }

    /// The share of the time that went into data stalls, 0.0 to 1.0; 0.0 for no time at all.
    pub fn data_stall_share(&self) -> f64 {
        if self.slots() == 0 { 0.0 } else { self.data_stall_slots as f64 / self.slots() as f64 }
    }
}

impl Counters {
    /// The two readings, number by number.
    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            busy_slots: join(self.busy_slots, other.busy_slots),
            data_stall_slots: join(self.data_stall_slots, other.data_stall_slots),
            other_stall_slots: join(self.other_stall_slots, other.other_stall_slots),
            wait_slots: join(self.wait_slots, other.wait_slots),
            l1_accesses: join(self.l1_accesses, other.l1_accesses),
            lines: join(self.lines, other.lines),
            l2_accesses: join(self.l2_accesses, other.l2_accesses),
            memory_accesses: join(self.memory_accesses, other.memory_accesses),
            shared_hits: join(self.shared_hits, other.shared_hits),
            coherence_misses: join(self.coherence_misses, other.coherence_misses),
            transfers: join(self.transfers, other.transfers),
            remote_accesses: join(self.remote_accesses, other.remote_accesses),
            upgrades: join(self.upgrades, other.upgrades),
            write_backs: join(self.write_backs, other.write_backs),
            prefetches: join(self.prefetches, other.prefetches),
            translation_misses: join(self.translation_misses, other.translation_misses),
            second_translations: join(self.second_translations, other.second_translations),
            streamed: join(self.streamed, other.streamed),
            mispredictions: join(self.mispredictions, other.mispredictions),
            late_reads: join(self.late_reads, other.late_reads),
            exchanges: join(self.exchanges, other.exchanges),
            visits: join(self.visits, other.visits),
            waits: join(self.waits, other.waits),
        }
    }
}

impl Add for Counters {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        self.zip(more, |one, other| one + other)
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        self.zip(before, |after, before| after - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_happened_in_between() {
        let before = Counters { busy_slots: 10, prefetches: 1, ..Counters::default() };
        let after = Counters { busy_slots: 35, data_stall_slots: 75, prefetches: 4, ..before };
        let between = after - before;
        assert_eq!((between.slots(), between.prefetches), (100, 3));
        assert!((between.data_stall_share() - 0.75).abs() < 1e-12);
        assert_eq!(before + between, after);
    }

    #[test]
    fn no_time_has_no_stalls() {
        assert!(Counters::default().data_stall_share().abs() < 1e-12);
    }
}
