//! Main memory and the handlers that remember what was asked of it.

/// Main memory: a pipeline that starts one access every so often. Shared by all processors.
#[derive(Debug)]
pub struct Memory {
    latency: u64,
    interval: u64,
    free_at: u64,
}

impl Memory {
    /// An idle memory; both times in graduation slots.
    pub fn new(latency: u64, interval: u64) -> Self {
        Self { latency, interval, free_at: 0 }
    }

    /// Starts a fetch at `at` or as soon after as the memory is free; when the line arrives.
    pub fn fetch(&mut self, at: u64) -> u64 {
        self.occupy(at) + self.latency
    }

    /// Writes a line back at `at` or as soon after as the memory is free. Nobody waits for it, but
    /// it takes the place of a fetch.
    pub fn write_back(&mut self, at: u64) {
        self.occupy(at);
    }

    /// Finishes everything that was started, at no cost in time.
    pub fn settle(&mut self) {
        self.free_at = 0;
    }

    fn occupy(&mut self, at: u64) -> u64 {
        let start = at.max(self.free_at);
        self.free_at = start + self.interval;
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
    /// So many idle handlers.
    pub fn new(limit: usize) -> Self {
        Self { busy_until: Vec::with_capacity(limit), limit }
    }

    /// Takes a handler at `at`, or the first one to come free after that; says when. The caller
    /// says with [`MissHandlers::release_at`] until when it needs it. O(handlers).
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

    /// Frees every handler.
    pub fn clear(&mut self) {
        self.busy_until.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_overlap_but_start_one_interval_apart() {
        let mut memory = Memory::new(600, 40);
        assert_eq!(memory.fetch(1000), 1600);
        assert_eq!(memory.fetch(1000), 1640);
        assert_eq!(memory.fetch(1010), 1680);
        assert_eq!(memory.fetch(5000), 5600, "an idle memory starts at once");
    }

    #[test]
    fn a_write_back_takes_a_fetch_s_place() {
        let mut memory = Memory::new(600, 40);
        memory.write_back(0);
        assert_eq!(memory.fetch(0), 640);
    }

    #[test]
    fn full_handlers_make_a_miss_wait_for_the_first_to_come_free() {
        let mut handlers = MissHandlers::new(2);
        for until in [700, 600] {
            assert_eq!(handlers.claim(0), 0);
            handlers.release_at(until);
        }
        assert_eq!(handlers.claim(10), 600);
        handlers.release_at(900);
        assert_eq!(handlers.claim(650), 700);
        handlers.release_at(950);
        assert_eq!(handlers.claim(901), 901, "what has arrived holds no handler");
    }

    #[test]
    fn cleared_handlers_are_free() {
        let mut handlers = MissHandlers::new(1);
        handlers.claim(0);
        handlers.release_at(600);
        handlers.clear();
        assert_eq!(handlers.claim(1), 1);
    }
}
