//! The keys and values of a race: lanes that workloads make and indexes store.

use latchless::Key;
use latchless_core::Fits;
use latchless_workload::Lane;

/// `u32` or `u64`, as key and as value.
pub trait Word: Lane + Key<Bits = Self> + latchless_core::base::key::Bits + Fits<Self> {
    /// The name on the command line.
    const NAME: &'static str;
}

impl Word for u32 {
    const NAME: &'static str = "u32";
}

impl Word for u64 {
    const NAME: &'static str = "u64";
}

/// Returns the lane as a number. (Two traits of the same lane offer it; this function selects one.)
#[inline(always)]
pub fn number<L: Word>(lane: L) -> u64 {
    Lane::to_u64(lane)
}
