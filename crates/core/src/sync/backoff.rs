//! Waiting for another thread, which is about to be done, or has lost its processor, or doesn't exist.

use super::origin::{HELD_FOR_EVER, Origin};
use super::primitive::{spin_loop, yield_now};
use core::time::Duration;

/// Waits a little longer each time: for a holder that is about to be done, then for one that has
/// lost its processor.
#[derive(Debug, Default)]
pub struct Backoff {
    rounds: u32,
    /// Rounds in which the processor was given up, since others were last seen to move.
    yields: u32,
}

impl Backoff {
    /// Rounds that spin, each twice as long as the one before, before the processor is given up.
    const SPINNING_ROUNDS: u32 = 6;
    /// Rounds that give the processor up, before a wait is a long one.
    const SHORT_WAIT: u32 = 64;
    /// Rounds of a wait for something inherited that sleep, before its holder is given up. A latch is held
    /// for microseconds, a mutex for milliseconds at most. Rounds are counted instead of time, because a
    /// process that was stopped meanwhile has not waited.
    const SLEEPING_ROUNDS: u32 = 1000;
    const SLEEP: Duration = Duration::from_millis(1);
    /// How long a round of any long wait sleeps: its holder has lost its processor, and takes the longer to
    /// get one back the more threads ask for one only to look again.
    const NAP: Duration = Duration::from_micros(50);

    /// Waits.
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

    /// Waits for something of this origin.
    ///
    /// # Panics
    /// When it was inherited by a fork and a second of waiting was in vain: its holder doesn't exist here.
    pub fn wait_at(&mut self, origin: &Origin) {
        self.wait();
        if self.rounds >= Self::SPINNING_ROUNDS {
            self.watch(origin);
        }
    }

    /// Others move: what is waited for isn't held for ever.
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
