//! The paper's analytical model (§2.2, §3.3): the cost of a search, the optimal width of a node, the
//! prefetch distance of a scan. Pure functions of the machine and the tree's form.

use core::ops::RangeInclusive;

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
        levels(keys, width_lines * children_per_line) * self.visit_cycles(width_lines)
    }

    /// [`Self::search_stall_cycles`] averaged over trees of every whole number of keys in `sizes`; 0.0
    /// over none. In closed form: O(levels).
    pub fn mean_stall_cycles(
        self,
        sizes: RangeInclusive<u64>,
        width_lines: u64,
        children_per_line: u64,
    ) -> f64 {
        let count = (u128::from(*sizes.end()) + 1).saturating_sub(u128::from(*sizes.start()));
        if count == 0 {
            return 0.0;
        }
        let mean_levels = all_levels(sizes, width_lines * children_per_line) as f64 / count as f64;
        mean_levels * self.visit_cycles(width_lines) as f64
    }

    /// The width in lines, from 1 to `widest`, that minimises [`Self::mean_stall_cycles`]; the narrowest
    /// of equals.
    ///
    /// With m = 8 and trees of 10^3 to 10^9 keys it is 8 at B = 15 and 22 at B = 50, as the paper says
    /// (§2.2). The paper doesn't say how its sizes are spaced: over powers of ten, where small trees
    /// weigh as much as large ones, the equation gives 8 and 13.
    pub fn optimal_width_lines(self, sizes: RangeInclusive<u64>, children_per_line: u64, widest: u64) -> u64 {
        let mean = |width: u64| self.mean_stall_cycles(sizes.clone(), width, children_per_line);
        (1..=widest).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(1)
    }

    /// Returns the stall of one visit of a node, in cycles: its lines are prefetched at once, and three
    /// quarters of them are needed on average.
    fn visit_cycles(self, width_lines: u64) -> u64 {
        self.full_cycles + ((3 * width_lines).div_ceil(4).max(1) - 1) * self.next_cycles
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

/// [`levels`] of trees of every whole number of keys in `sizes`, summed: one level each, and one more for
/// each capacity that a tree exceeds.
fn all_levels(sizes: RangeInclusive<u64>, fanout: u64) -> u128 {
    let fanout = u128::from(fanout.max(2));
    let (first, end) = (u128::from(*sizes.start()), u128::from(*sizes.end()) + 1);
    let (mut sum, mut capacity) = (end.saturating_sub(first), fanout - 1);
    while capacity + 1 < end {
        sum += end.saturating_sub(first.max(capacity + 1));
        capacity *= fanout;
    }
    sum
}

/// Returns the space of a jump pointer as a share of its full leaf, 1/(2(d−2)): one 4-byte pointer beside
/// d − 2 pairs of 8 bytes (§3.3). 0.0 below three children, because there is no such leaf.
pub fn jump_pointer_share(fanout: u64) -> f64 {
    if fanout > 2 { 1.0 / (2 * (fanout - 2)) as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's trees: 10^3 to 10^9 keys.
    const SIZES: RangeInclusive<u64> = 1_000..=1_000_000_000;
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
    fn the_paper_s_optimal_widths() {
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(SIZES, 8, 64), 8);
        assert_eq!(FASTER.normalized_bandwidth(), 50.0);
        assert_eq!(FASTER.optimal_width_lines(SIZES, 8, 64), 22);
    }

    #[test]
    fn a_mean_is_the_sum_of_all_over_their_number() {
        for (sizes, width, per_line) in
            [(0..=5_000, 1, 8), (448..=449, 1, 8), (7..=7, 2, 1), (1_000..=4_000, 3, 5)]
        {
            let all = sizes.clone().map(|keys| FASTER.search_stall_cycles(keys, width, per_line));
            let (count, sum) = all.fold((0, 0), |(count, sum), cycles| (count + 1, sum + cycles));
            assert_eq!(FASTER.mean_stall_cycles(sizes, width, per_line), sum as f64 / f64::from(count));
        }
    }

    #[test]
    fn no_sizes_leave_the_narrowest_node() {
        let none = RangeInclusive::new(2, 1);
        assert_eq!(FASTER.mean_stall_cycles(none.clone(), 8, 8), 0.0);
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(none, 8, 64), 1);
        assert_eq!(MemoryLatency::PAPER.optimal_width_lines(SIZES, 8, 0), 1);
        assert!(FASTER.mean_stall_cycles(0..=u64::MAX, 1, 1) > 0.0);
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
