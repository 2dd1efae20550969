//! What a key is to a race: a lane that workloads make and indexes hold, as key and as value.

use latchless::{Fits, Key};
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

/// The lane as a number. (Two traits of the same lane offer it; this one picks.)
#[inline(always)]
pub fn number<L: Word>(lane: L) -> u64 {
    Lane::to_u64(lane)
}
