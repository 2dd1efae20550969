//! Statistics about the shape of an index.

/// The shape of a tree at one moment, and counts of its changes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Levels from the root to the leaves, both included. An empty tree has one.
    pub levels: usize,
    /// Nodes above the leaves.
    pub inner_nodes: usize,
    /// Leaves: an empty tree has one, an empty list of single entries none.
    pub leaves: usize,
    /// Share of the leaves' places that hold a key, 0.0 to 1.0.
    pub leaf_fill: f64,
    /// Splits of any node since the index was made (Fig. 13 counts them).
    pub splits: u64,
    /// Restarts since the index was made: an operation met a concurrent change and looked again. Zero for an
    /// index without concurrency.
    pub restarts: u64,
    /// The number of operations that reached a leaf outside of their key's range although no concurrent
    /// change interfered: a table that predicts the start of a descent or the leaf of a key was out of date.
    pub misled: u64,
}
