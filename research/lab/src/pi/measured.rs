//! The result of a measurement.

/// The result of a measurement.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The median round's; on the model there is one.
    pub seconds: f64,
    /// The shortest and the longest round; natively.
    pub range: Option<(f64, f64)>,
    pub queries: usize,
    /// On the model.
    pub per_query: Option<PerQuery>,
    pub threads_per_node: Vec<usize>,
}

/// The model's counts per query.
#[derive(Debug, Clone, Copy)]
pub struct PerQuery {
    /// Lines that were read, written or prefetched, in caches or not; consecutive accesses to one line
    /// count once.
    pub lines: f64,
    /// Lines that were served by memory or another core's cache.
    pub misses: f64,
    /// Those of them that were served by another node.
    pub remote: f64,
    /// Entries of the index layer that were read.
    pub entries: f64,
    /// Lines that were prefetched.
    pub prefetches: f64,
}

impl Measured {
    pub fn throughput(&self) -> f64 {
        self.throughput_in(self.seconds)
    }

    pub fn throughput_in(&self, seconds: f64) -> f64 {
        self.queries as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6
    }

    pub fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.queries.max(1) as f64
    }
}
