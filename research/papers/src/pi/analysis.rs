//! The paper's performance model (§5): the cache lines per query, the size of an index, the time of a
//! rebuild. Pure functions.

/// An index as the model sees it (Table 1).
///
/// ```
/// use latchless_papers::pi::analysis::Model;
/// let paper = Model { keys: 512 << 10, ..Model::PAPER };
/// assert_eq!(paper.height(), 10);
/// assert_eq!(paper.lines_of_index_layer(), 9);
/// assert_eq!(paper.lines_of_search().ceil(), 12.0); // "about 12"
/// assert_eq!((paper.bytes() / (1024.0 * 1024.0)).round(), 18.0); // "18M"
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Data nodes, N.
    pub keys: u64,
    /// The share of a level's keys that are in the next one, P.
    pub share: f64,
    /// Keys of an entry, M.
    pub entry_keys: u64,
    /// Bytes of an entry with its routing table, S_e.
    pub entry_bytes: u64,
    /// Bytes of a data node, S_n.
    pub node_bytes: u64,
    /// Bytes of a cache line, S_l.
    pub line_bytes: u64,
}

impl Model {
    /// The paper's implementation (§5.1): P = 0.25, entries of four 32-bit keys with routes of 8 bytes,
    /// nodes of 20 bytes; 16M keys, the experiments' default.
    pub const PAPER: Self =
        Self { keys: 16 << 20, share: 0.25, entry_keys: 4, entry_bytes: 48, node_bytes: 20, line_bytes: 64 };

    /// Returns this library's form with entries of that many lanes of that many bytes: routes of 4 bytes.
    pub const fn of(keys: u64, entry_keys: u64, lane_bytes: u64) -> Self {
        let node_bytes = (2 * lane_bytes + 4).next_multiple_of(lane_bytes);
        Self {
            keys,
            share: 0.25,
            entry_keys,
            entry_bytes: entry_keys * (lane_bytes + 4),
            node_bytes,
            line_bytes: 64,
        }
    }

    /// Levels of the index, the storage layer counted: H = ⌈−log_P N⌉.
    pub fn height(&self) -> u64 {
        (-(self.keys.max(2) as f64).ln() / self.share.ln()).ceil() as u64
    }

    /// Keys that a search compares with on a level, (1 + P) / 2P.
    pub fn keys_per_level(&self) -> f64 {
        (1.0 + self.share) / (2.0 * self.share)
    }

    /// Entries that a search compares with on a level of the index layer, ⌈(1 + P) / 2PM⌉.
    pub fn entries_per_level(&self) -> u64 {
        (self.keys_per_level() / self.entry_keys as f64).ceil() as u64
    }

    /// Cache lines that a search reads of the index layer, (H − 1) ⌈S_e/S_l⌉ ⌈(1 + P) / 2PM⌉.
    pub fn lines_of_index_layer(&self) -> u64 {
        (self.height() - 1) * self.entry_bytes.div_ceil(self.line_bytes) * self.entries_per_level()
    }

    /// Returns the number of data nodes that a search visits after `queries` queries of which a share of
    /// `inserts` were inserts of new keys, evenly distributed: (1 + iR/N)(1 + P) / 2P.
    pub fn nodes_of_search(&self, queries: u64, inserts: f64) -> f64 {
        (1.0 + queries as f64 * inserts / self.keys as f64) * self.keys_per_level()
    }

    /// Cache lines that a search reads, right after a rebuild: those of the index layer and one for each
    /// data node. The paper rounds 11.5 to 12.
    pub fn lines_of_search(&self) -> f64 {
        let node_lines = self.node_bytes.div_ceil(self.line_bytes) as f64;
        self.lines_of_index_layer() as f64 + node_lines * self.nodes_of_search(0, 0.0)
    }

    /// Time of a search in an index that the cache holds, `lines · T_c`.
    pub fn search_seconds(&self, line_seconds: f64) -> f64 {
        self.lines_of_search().ceil() * line_seconds
    }

    /// Bytes of the index as the paper counts them: a node a key, and an *entry* for each of the N·P/(1−P)
    /// keys of the index layer. (An entry holds M of them; §5.1's example counts one.)
    pub fn bytes(&self) -> f64 {
        let nodes = self.keys as f64 * self.node_bytes as f64;
        nodes + self.keys_of_index_layer() * self.entry_bytes as f64
    }

    /// Bytes of the index with M keys an entry.
    pub fn bytes_of_full_entries(&self) -> f64 {
        let entries = self.keys_of_index_layer() / self.entry_keys as f64;
        self.keys as f64 * self.node_bytes as f64 + entries * self.entry_bytes as f64
    }

    /// Keys of all levels of the index layer, N · P / (1 − P).
    pub fn keys_of_index_layer(&self) -> f64 {
        self.keys as f64 * self.share / (1.0 - self.share)
    }

    /// Time of a rebuild (§5.2): a memory access for each data node, and two for each entry that is written,
    /// (1 + P) N L / (1 − P), shared by `threads` threads.
    pub fn rebuild_seconds(&self, access_seconds: f64, threads: u64) -> f64 {
        let accesses = (1.0 + self.share) * self.keys as f64 / (1.0 - self.share);
        accesses * access_seconds / threads.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_example_comes_out() {
        let paper = Model { keys: 512 << 10, ..Model::PAPER };
        assert_eq!((paper.height(), paper.entries_per_level(), paper.keys_per_level()), (10, 1, 2.5));
        assert_eq!(paper.lines_of_search(), 11.5);
        assert_eq!(paper.search_seconds(1.0), 12.0);
        assert_eq!(paper.bytes(), (512 << 10) as f64 * (20.0 + 16.0));
        assert!(paper.bytes_of_full_entries() < paper.bytes());
    }

    #[test]
    fn narrow_entries_are_passed_more_often() {
        let of = |entry_keys| Model { entry_keys, ..Model::PAPER }.entries_per_level();
        assert_eq!([1, 2, 3, 4, 16].map(of), [3, 2, 1, 1, 1]);
    }

    #[test]
    fn inserts_lengthen_the_way_and_threads_shorten_a_rebuild() {
        assert_eq!(Model::PAPER.nodes_of_search(0, 1.0), 2.5);
        assert_eq!(Model::PAPER.nodes_of_search(Model::PAPER.keys, 0.5), 3.75);
        let (one, two) = (Model::PAPER.rebuild_seconds(1e-7, 1), Model::PAPER.rebuild_seconds(1e-7, 2));
        assert!((one - (16 << 20) as f64 * 1.25 / 0.75 * 1e-7).abs() < 1e-9 && one == 2.0 * two);
    }

    #[test]
    fn our_entries_are_as_laid_out() {
        assert_eq!(Model::of(1, 8, 4).entry_bytes, 64);
        assert_eq!((Model::of(1, 8, 8).entry_bytes, Model::of(1, 8, 8).node_bytes), (96, 24));
        assert_eq!(Model::of(1, 4, 4).node_bytes, 12);
    }
}
