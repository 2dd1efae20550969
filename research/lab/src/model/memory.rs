//! Main memory and the handlers of outstanding misses.

use std::collections::VecDeque;

/// Main memory and the way to it: a pipeline that starts one access every so often. Shared by all
/// processors; on a machine of several nodes each has one.
///
/// Accesses are reported in program order, but a load that was issued early accesses memory at an earlier
/// moment than a store that was reported before it. So starts are kept in a calendar, and an access takes
/// the first gap from its own moment on.
#[derive(Debug)]
pub struct Memory {
    interval: u64,
    /// The starts of the latest accesses, ascending and at least one interval apart.
    starts: VecDeque<u64>,
    /// Starts that are remembered. What lies before them is taken for busy.
    remembered: usize,
}

impl Memory {
    /// Starts that are remembered at least.
    const REMEMBERED_MIN: usize = 128;

    /// An idle memory, `interval` slots between the starts of two accesses, of which `outstanding` can
    /// be waited for at once.
    pub fn new(interval: u64, outstanding: usize) -> Self {
        let remembered = Self::REMEMBERED_MIN.max(2 * outstanding);
        Self { interval, starts: VecDeque::with_capacity(remembered + 1), remembered }
    }

    /// Starts an access at `at` or in the first gap of one interval after that; returns its start.
    /// O(accesses that start after `at`).
    pub fn start(&mut self, at: u64) -> u64 {
        let full = self.starts.len() >= self.remembered;
        let mut start = if full { at.max(self.starts.front().copied().unwrap_or(at)) } else { at };
        let mut position = self.starts.partition_point(|&other| other + self.interval <= start);
        while let Some(&other) = self.starts.get(position) {
            if start + self.interval <= other {
                break;
            }
            start = other + self.interval;
            position += 1;
        }
        self.starts.insert(position, start);
        if self.starts.len() > self.remembered {
            self.starts.pop_front();
        }
        start
    }
}

/// The miss handlers of one processor: how many misses it can have outstanding.
#[derive(Debug)]
pub struct MissHandlers {
    busy_until: Vec<u64>,
    limit: usize,
}

impl MissHandlers {
    /// Creates that many idle handlers.
    pub fn new(limit: usize) -> Self {
        Self { busy_until: Vec::with_capacity(limit), limit }
    }

    /// Returns whether a handler is free at `at`. O(handlers).
    pub fn has_free(&self, at: u64) -> bool {
        self.busy_until.iter().filter(|&&until| until > at).count() < self.limit
    }

    /// Takes a handler at `at`, or the first one that becomes free after that; returns the moment. The
    /// caller sets the end of its use with [`MissHandlers::release_at`]. O(handlers).
    pub fn claim(&mut self, at: u64) -> u64 {
        self.busy_until.retain(|&until| until > at);
        if self.busy_until.len() < self.limit {
            return at;
        }
        let first = (0..self.busy_until.len()).min_by_key(|&index| self.busy_until[index]);
        first.map_or(at, |index| self.busy_until.swap_remove(index))
    }

    /// The handler that was claimed last is free again at `until`.
    pub fn release_at(&mut self, until: u64) {
        self.busy_until.push(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_overlap_but_start_one_interval_apart() {
        let mut memory = Memory::new(40, 32);
        assert_eq!(memory.start(1000), 1000);
        assert_eq!(memory.start(1000), 1040);
        assert_eq!(memory.start(1010), 1080);
        assert_eq!(memory.start(5000), 5000, "an idle memory starts at once");
    }

    #[test]
    fn a_load_that_was_issued_early_does_not_queue_behind_a_later_store() {
        let mut memory = Memory::new(40, 32);
        assert_eq!(memory.start(1100), 1100);
        assert_eq!(memory.start(1000), 1000, "in front of it");
        assert_eq!(memory.start(1030), 1040, "in the gap between the two");
        assert_eq!(memory.start(1035), 1140, "there is no gap before 1140");
        assert_eq!(memory.starts, [1000, 1040, 1100, 1140]);
    }

    #[test]
    fn a_full_calendar_forgets_its_oldest_starts() {
        let mut memory = Memory::new(40, 32);
        for nth in 0..1000 {
            assert_eq!(memory.start(0), 40 * nth);
        }
        assert!(memory.starts.len() <= Memory::REMEMBERED_MIN);
    }

    #[test]
    fn the_calendar_holds_all_that_can_be_outstanding() {
        assert_eq!(Memory::new(8, 1000).remembered, 2000);
    }

    #[test]
    fn full_handlers_make_a_miss_wait_for_the_first_to_come_free() {
        let mut handlers = MissHandlers::new(2);
        for until in [700, 600] {
            assert_eq!(handlers.claim(0), 0);
            handlers.release_at(until);
        }
        assert!(!handlers.has_free(599) && handlers.has_free(600));
        assert_eq!(handlers.claim(10), 600);
        handlers.release_at(900);
        assert_eq!(handlers.claim(650), 700);
        handlers.release_at(950);
        assert_eq!(handlers.claim(901), 901, "what has arrived holds no handler");
    }
}
