//! Disturbed schedules, for tests: windows that are too short for another thread to run in become long. Only
//! under `--cfg latchless_perturb`; otherwise this file is empty.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// May pause the calling thread here, for a moment or for a while.
pub fn perturb() {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static STATE: Cell<u64> = Cell::new(THREADS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let drawn = STATE.try_with(|state| {
        let mut next = state.get();
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        state.set(next);
        next >> 40
    });
    match drawn.unwrap_or(1) {
        drawn if drawn % 2048 == 0 => std::thread::sleep(Duration::from_micros(20)),
        drawn if drawn % 32 == 0 => std::thread::yield_now(),
        _ => {}
    }
}
