//! The paper's analytical model (§2.2, §3.3): what a search costs, how wide a node should be, how
//! far ahead a scan should prefetch. Pure functions of the machine and the tree's form.

/// A memory system as the analysis sees it.
///
/// ```
/// use latchless_papers::pb_tree::analysis::MemoryLatency;
/// let paper = MemoryLatency::PAPER;
/// assert_eq!(paper.normalized_bandwidth(), 15.0);
/// assert_eq!(paper.prefetch_distance_leaves(8), 2);
/// assert_eq!(paper.chunk_lines(8), 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLatency {
    /// Latency of a full cache miss, T1, in cycles.
    pub full_cycles: u64,
    /// Time until one more pipelined miss completes, Tnext, in cycles; 0 counts as 1.
    pub next_cycles: u64,
}

impl MemoryLatency {
    /// The paper's machine: T1 = 150 cycles, Tnext = 10 cycles.
    pub const PAPER: Self = Self { full_cycles: 150, next_cycles: 10 };

    /// The normalized memory bandwidth B = T1 / Tnext (Eq. 4).
    pub fn normalized_bandwidth(self) -> f64 {
        self.full_cycles as f64 / self.next_cycles.max(1) as f64
    }

    /// Stall of one search, in cycles, with cold caches in a full tree of `keys` keys whose nodes
    /// are `width_lines` lines wide and hold `children_per_line` children a line (Eq. 1):
    /// ⌈log_d(N/(d−1)) + 1⌉ · (T1 + (⌈3w/4⌉ − 1) · Tnext), d = w·m. O(levels).
    pub fn search_stall_cycles(self, keys: u64, width_lines: u64, children_per_line: u64) -> u64 {
        let levels = levels(keys, width_lines * children_per_line);
        levels * (self.full_cycles + ((3 * width_lines).div_ceil(4).max(1) - 1) * self.next_cycles)
    }

    /// The width in lines, from 1 to `widest`, that minimises [`Self::search_stall_cycles`] summed
    /// over trees of `sizes` keys; the narrowest of equals.
    ///
    /// With m = 8 and N = 10^3, 10^4, … 10^9 it is 8 at B = 15, as the paper says. At B = 50 it is
    /// 13; the paper states 22 and doesn't say over which sizes it averaged.
    pub fn optimal_width_lines(self, sizes: &[u64], children_per_line: u64, widest: u64) -> u64 {
        let total = |width: &u64| -> u64 {
            sizes.iter().map(|&keys| self.search_stall_cycles(keys, *width, children_per_line)).sum()
        };
        (1..=widest).min_by_key(total).unwrap_or(1)
    }

    /// Leaves that a scan should prefetch ahead, k = ⌈B/w⌉ (Eq. 2), for leaves of `width_lines`
    /// lines.
    pub fn prefetch_distance_leaves(self, width_lines: u64) -> u64 {
        self.full_cycles.div_ceil((self.next_cycles * width_lines).max(1))
    }

    /// Lines that a chunk of an external jump-pointer array needs at least, c = ⌈B/2m⌉ (Eq. 3).
    pub fn chunk_lines(self, children_per_line: u64) -> u64 {
        self.full_cycles.div_ceil((self.next_cycles * 2 * children_per_line).max(1))
    }
}

/// Levels of a full tree of `keys` keys with `fanout` children a node, ⌈log_d(N/(d−1)) + 1⌉; one
/// for a tree that fits a leaf. In whole numbers, so that exact powers come out right. A fanout
/// below 2 counts as 2. O(levels).
///
/// ```
/// use latchless_papers::pb_tree::analysis::levels;
/// assert_eq!(levels(10_000_000, 8), 8);
/// assert_eq!(levels(10_000_000, 64), 4);
/// ```
pub fn levels(keys: u64, fanout: u64) -> u64 {
    let fanout = u128::from(fanout.max(2));
    let (mut levels, mut capacity) = (1, fanout - 1);
    while capacity < u128::from(keys) {
        capacity *= fanout;
        levels += 1;
    }
    levels
}

/// The space of a jump pointer as a share of its full leaf, 1/(2(d−2)): one 4-byte pointer beside
/// d − 2 pairs of 8 bytes (§3.3). 0.0 below three children, where there is no such leaf.
pub fn jump_pointer_share(fanout: u64) -> f64 {
    if fanout > 2 { 1.0 / (2 * (fanout - 2)) as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POWERS_OF_TEN: [u64; 7] =
        [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    const FASTER: MemoryLatency = MemoryLatency { full_cycles: 500, next_cycles: 10 };

    #[test]
    fn equation_1_is_as_printed() {
        // §2's example: 1000 keys in one-line nodes are four misses, 600 cycles; two lines wide,
        // three levels of (150 + 10).
        assert_eq!(MemoryLatency::PAPER.search_stall_cycles(1_000, 1, 8), 600);
        assert_eq!(MemoryLatency::PAPER.search_stall_cycles(1_000, 2, 8), 3 * 160);
        assert_eq!(MemoryLatency::PAPER.search_stall_cycles(10_000_000, 8, 8), 4 * (150 + 50));
    }

    #[test]
    fn whole_powers_have_no_level_too_many() {
        assert_eq!(levels(0, 8), 1);
        assert_eq!(levels(7, 8), 1);
        assert_eq!(levels(8, 8), 2);
        assert_eq!(levels(7 * 8 * 8, 8), 3);
        assert_eq!(levels(7 * 8 * 8 + 1, 8), 4);
        assert_eq!(levels(u64::MAX, 2), 65);
        assert_eq!(levels(3, 0), 3, "a fanout of nothing counts as 2");
    }

    #[test]
    fn levels_agree_with_the_logarithm() {
        for fanout in [8u64, 16, 32, 64, 128] {
            for keys in [1_000u64, 12_345, 1_000_000, 999_999_999] {
                let exact = (keys as f64 / (fanout - 1) as f64).ln() / (fanout as f64).ln() + 1.0;
                assert_eq!(levels(keys, fanout), exact.ceil() as u64, "{keys} keys, fanout {fanout}");
            }
        }
    }

    #[test]
    fn eight_lines_are_best_on_the_paper_s_machine() {
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(&POWERS_OF_TEN, 8, 64), 8);
    }

    /// The paper states 22; this is what its equation gives over the powers of ten.
    #[test]
    fn more_bandwidth_makes_wider_nodes_best() {
        assert_eq!(FASTER.normalized_bandwidth(), 50.0);
        assert_eq!(FASTER.optimal_width_lines(&POWERS_OF_TEN, 8, 64), 13);
    }

    #[test]
    fn no_sizes_leave_the_narrowest_node() {
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(&[], 8, 64), 1);
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(&POWERS_OF_TEN, 8, 0), 1);
    }

    #[test]
    fn equations_2_and_3_give_the_paper_s_numbers() {
        assert_eq!(MemoryLatency::PAPER.prefetch_distance_leaves(8), 2);
        assert_eq!(MemoryLatency::PAPER.prefetch_distance_leaves(1), 15);
        assert_eq!(MemoryLatency::PAPER.chunk_lines(8), 1);
        assert_eq!(FASTER.chunk_lines(8), 4);
    }

    #[test]
    fn a_jump_pointer_is_small_beside_a_wide_leaf() {
        assert_eq!(jump_pointer_share(64), 1.0 / 124.0);
        assert_eq!(jump_pointer_share(8), 1.0 / 12.0);
        assert_eq!(jump_pointer_share(2), 0.0);
    }
}
