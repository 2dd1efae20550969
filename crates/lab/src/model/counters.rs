//! What a modelled processor has done, and where its time went.

use core::ops::Sub;

/// Time in graduation slots, and events. Differences of two readings describe what lies between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Slots in which an instruction graduated.
    pub busy_slots: u64,
    /// Slots lost while waiting for data that no cache of level one had ready.
    pub data_stall_slots: u64,
    /// Slots lost to dependences and mispredicted branches.
    pub other_stall_slots: u64,
    /// Lines looked up in the primary cache, by reads, writes and prefetches.
    pub l1_accesses: u64,
    /// Lines looked up in the secondary cache.
    pub l2_accesses: u64,
    /// Lines fetched from memory.
    pub memory_accesses: u64,
    /// Lines written back to memory.
    pub write_backs: u64,
    /// Lines asked for ahead of use.
    pub prefetches: u64,
    /// Reads that found their line still on its way and waited for the rest.
    pub late_reads: u64,
}

impl Counters {
    /// All the time, in slots.
    pub fn slots(&self) -> u64 {
        self.busy_slots + self.data_stall_slots + self.other_stall_slots
    }

    /// The share of the time that went into data stalls, 0.0 to 1.0; 0.0 for no time at all.
    pub fn data_stall_share(&self) -> f64 {
        if self.slots() == 0 { 0.0 } else { self.data_stall_slots as f64 / self.slots() as f64 }
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            busy_slots: self.busy_slots - before.busy_slots,
            data_stall_slots: self.data_stall_slots - before.data_stall_slots,
            other_stall_slots: self.other_stall_slots - before.other_stall_slots,
            l1_accesses: self.l1_accesses - before.l1_accesses,
            l2_accesses: self.l2_accesses - before.l2_accesses,
            memory_accesses: self.memory_accesses - before.memory_accesses,
            write_backs: self.write_backs - before.write_backs,
            prefetches: self.prefetches - before.prefetches,
            late_reads: self.late_reads - before.late_reads,
        }
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
    }

    #[test]
    fn no_time_has_no_stalls() {
        assert!(Counters::default().data_stall_share().abs() < 1e-12);
    }
}
