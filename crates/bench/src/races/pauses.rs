//! The processor time of single operations: the median, the tail, and the longest of all.
//!
//! Throughput doesn't show the one insert in a million that waits for a large allocation. Wall time would,
//! but on a busy machine it mostly shows preemption. So the clock is the thread's processor time: the
//! thread's own work, and the system's work for it, such as clearing a page. On systems without such a
//! clock, wall time is used. Each time includes reading the clock twice (about half a microsecond if that
//! is a system call).

use crate::clock::now_ns;
use hdrhistogram::Histogram;

/// The longest time that the histogram resolves, in nanoseconds.
const LONGEST_NS: u64 = 100_000_000_000;

/// The kind of operations that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Single {
    /// Gets
    Get,
    /// Inserts
    Insert,
    /// Removals
    Remove,
}

/// The times of many operations.
#[derive(Debug, Clone)]
pub struct Pauses(Histogram<u64>);

impl Pauses {
    /// Creates a histogram without times.
    pub fn none() -> Self {
        // The bounds and the digits are allowed ones.
        Self(Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("bounds of a histogram"))
    }

    /// Calls `work` and records its time.
    #[inline(always)]
    pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = now_ns();
        let done = work();
        self.0.saturating_record(now_ns() - start);
        done
    }

    /// Adds the times of another histogram.
    pub fn add(&mut self, others: &Self) {
        // Both have the same bounds.
        self.0.add(&others.0).expect("histograms of one form");
    }

    /// Returns the microseconds within which this share of the operations finished.
    pub fn within_us(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e3
    }

    /// Returns the microseconds of the longest operation.
    pub fn longest_us(&self) -> f64 {
        self.0.max() as f64 / 1e3
    }
}

/// Times the operations of one kind in a stream.
#[derive(Debug)]
pub struct Stopwatch {
    of: Option<Single>,
    pauses: Option<Box<Pauses>>,
}

impl Stopwatch {
    /// Creates a stopwatch for operations of that kind, if any.
    pub fn new(of: Option<Single>) -> Self {
        Self { of, pauses: of.map(|_| Box::new(Pauses::none())) }
    }

    /// Calls an operation, and times it if it is of that kind.
    #[inline(always)]
    pub fn time<R>(&mut self, kind: Single, work: impl FnOnce() -> R) -> R {
        match &mut self.pauses {
            Some(pauses) if self.of == Some(kind) => pauses.time(work),
            _ => work(),
        }
    }

    /// Returns the recorded times.
    pub fn stop(self) -> Option<Box<Pauses>> {
        self.pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    #[test]
    fn work_counts_and_sleep_does_not() {
        let mut pauses = Pauses::none();
        for _ in 0..999 {
            pauses.time(|| black_box(1));
        }
        pauses.time(|| std::thread::sleep(Duration::from_millis(50)));
        if cfg!(target_os = "linux") {
            assert!(pauses.longest_us() < 40_000.0, "{} µs", pauses.longest_us());
        }
        let start = now_ns();
        let busy = Instant::now();
        pauses.time(|| while now_ns() - start < 3_000_000 && busy.elapsed() < Duration::from_secs(60) {});
        assert!(pauses.longest_us() >= 2_990.0);
        assert!(pauses.within_us(0.5) < pauses.longest_us());
        let mut all = Pauses::none();
        all.add(&pauses);
        assert_eq!(all.longest_us(), pauses.longest_us());
    }

    #[test]
    fn only_the_operations_asked_for_are_timed() {
        let mut watch = Stopwatch::new(Some(Single::Get));
        assert_eq!((watch.time(Single::Get, || 1), watch.time(Single::Insert, || 2)), (1, 2));
        assert_eq!(watch.stop().map(|pauses| pauses.0.len()), Some(1));
        let mut none = Stopwatch::new(None);
        none.time(Single::Get, || 1);
        assert!(none.stop().is_none());
    }
}
