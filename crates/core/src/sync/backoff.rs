//! Waiting for another thread, which may be nearly done, preempted, or absent after a fork.

use super::origin::{HELD_FOR_EVER, Origin};
use super::primitive::{spin_loop, yield_now};
use core::time::Duration;

/// Waits a little longer each time: first for a holder that is nearly done, then for one that is preempted.
#[derive(Debug, Default)]
pub struct Backoff {
    rounds: u32,
    /// Rounds that yielded the processor since other threads were last seen to make progress.
    yields: u32,
}

impl Backoff {
    /// Rounds that spin, each twice as long as the one before, before the processor is yielded.
    const SPINNING_ROUNDS: u32 = 6;
    /// Rounds that yield the processor before a wait counts as long.
    const SHORT_WAIT: u32 = 64;
    /// Rounds that sleep in a wait for something inherited, before its holder is presumed absent. A latch is
    /// held for microseconds, a mutex for milliseconds at most. Rounds are counted instead of time, because
    /// a process that was stopped meanwhile has not waited.
    const SLEEPING_ROUNDS: u32 = 1000;
    const SLEEP: Duration = Duration::from_millis(1);
    /// The sleep of a round of any long wait: the holder is preempted, and the more threads poll, the later
    /// it runs again.
    const NAP: Duration = Duration::from_micros(50);

    /// Waits for one round.
    pub fn wait(&mut self) {
        #[cfg(latchless_shuttle)]
        if super::steps::take(super::steps::Step::Wait) {
            return;
        }
        if cfg!(loom) || cfg!(miri) || self.rounds >= Self::SPINNING_ROUNDS {
            yield_now();
        } else {
            for _ in 0..1 << self.rounds {
                spin_loop();
            }
            self.rounds += 1;
        }
    }

    /// Waits for one round for something of this origin.
    ///
    /// # Panics
    /// If it was inherited by a fork and the wait has taken a second: its holder doesn't exist in this
    /// process.
    pub fn wait_at(&mut self, origin: &Origin) {
        self.wait();
        if self.rounds >= Self::SPINNING_ROUNDS {
            self.watch(origin);
        }
    }

    /// Records progress of other threads: what is waited for isn't held for ever.
    pub fn others_move(&mut self) {
        self.yields = 0;
    }

    #[cold]
    fn watch(&mut self, origin: &Origin) {
        self.yields += 1;
        if self.yields < Self::SHORT_WAIT {
            return;
        }
        if !origin.is_inherited() {
            self.yields = Self::SHORT_WAIT;
            std::thread::sleep(Self::NAP);
            return;
        }
        assert!(self.yields < Self::SHORT_WAIT + Self::SLEEPING_ROUNDS, "{HELD_FOR_EVER}");
        std::thread::sleep(Self::SLEEP);
    }
}

#[cfg(all(test, target_os = "linux", not(any(miri, loom))))]
mod tests {
    use super::*;
    use std::time::Instant;

    fn processor_time() -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
        let told = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(told, 0);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    #[test]
    fn a_long_wait_takes_little_of_the_processor() {
        let (start, before) = (Instant::now(), processor_time());
        let (mut backoff, mut rounds) = (Backoff::default(), 0);
        while start.elapsed() < Duration::from_millis(200) {
            backoff.wait_at(&Origin::here());
            rounds += 1;
        }
        let taken = processor_time() - before;
        assert!(taken < Duration::from_millis(60), "{taken:?} of 200 ms");
        assert!(rounds < 5_000, "{rounds} looks");
    }
}
