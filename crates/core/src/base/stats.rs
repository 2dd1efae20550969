//! What an index says about its own form.

/// The form of a tree at one moment, and how often it had to change it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Levels from the root to the leaves, both counted. An empty tree has one.
    pub levels: usize,
    /// Nodes above the leaves.
    pub inner_nodes: usize,
    /// Leaves: an empty tree has one, an empty list of single entries none.
    pub leaves: usize,
    /// Share of the leaves' places that hold a key, 0.0 to 1.0.
    pub leaf_fill: f64,
    /// Splits of any node since the index was made (Fig. 13 counts them).
    pub splits: u64,
    /// How often an operation found others in its way and looked again, since the index was made.
    /// Zero for an index without concurrency.
    pub restarts: u64,
    /// How often an operation came to a leaf that its key doesn't belong to, although no change was in
    /// its way: a table that tells where descents begin, or which leaf a key is in, was out of date.
    pub misled: u64,
}
