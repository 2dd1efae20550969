//! §3.2 of the OLFIT paper: the cost of latching every node, and how often nodes are really updated.

/// The fill of nodes that random inserts have built and split.
pub const FILL: f64 = 0.69;

/// Eq. (1): how likely a processor that latches a node misses it because another has latched it since,
/// if all of them do the same and every cache holds every node. 0.0 for no processor.
///
/// ```
/// use latchless_lab::olfit::coherence_miss_probability;
///
/// assert_eq!(coherence_miss_probability(1), 0.0);
/// assert_eq!(coherence_miss_probability(8), 0.875);
/// ```
pub const fn coherence_miss_probability(processors: usize) -> f64 {
    if processors == 0 { 0.0 } else { (processors - 1) as f64 / processors as f64 }
}

/// Eq. (2): how likely an insert updates a node of `level` (the root's is 1, the leaves' is `height`) in
/// a tree of maximum fan-out `fanout`. A node is updated when a child splits, and a node of `fanout` · 0.69
/// entries takes about as many inserts until it does. Levels below the leaves count as leaves.
///
/// ```
/// use latchless_lab::olfit::update_probability;
///
/// assert_eq!(update_probability(15, 7, 7), 1.0);
/// assert!((update_probability(15, 7, 6) - 0.0966).abs() < 1e-4);
/// ```
pub fn update_probability(fanout: usize, height: usize, level: usize) -> f64 {
    let above_leaves = height.saturating_sub(level);
    (1.0 / (FILL * fanout as f64)).powf(above_leaves as f64)
}

/// Returns the height that the paper expects of a tree of maximum fan-out `fanout` with that many keys:
/// the logarithm of their number to the base of 0.69 times the fan-out, rounded to whole levels. At least
/// 1, and 1 if nodes are too small to branch.
///
/// ```
/// use latchless_lab::olfit::expected_height;
///
/// assert_eq!(expected_height(15, 10_000_000), 7);
/// ```
pub fn expected_height(fanout: usize, keys: usize) -> usize {
    let base = FILL * fanout as f64;
    if base <= 1.0 || keys == 0 {
        return 1;
    }
    ((keys as f64).ln() / base.ln()).round().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_1_approaches_certainty() {
        let of = |processors| coherence_miss_probability(processors);
        assert_eq!([of(0), of(1), of(2), of(4)], [0.0, 0.0, 0.5, 0.75]);
        assert!((2..64).all(|processors| of(processors) < of(processors + 1)));
        assert!(of(usize::MAX) <= 1.0);
    }

    #[test]
    fn equation_2_falls_by_the_same_factor_at_every_level() {
        for level in 1..7 {
            let ratio = update_probability(15, 7, level + 1) / update_probability(15, 7, level);
            assert!((ratio - 10.35).abs() < 1e-9, "{ratio} at {level}");
        }
        assert!(update_probability(15, 7, 1) < 1e-6);
        assert!((update_probability(15, 7, 9) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_paper_s_tree_has_seven_levels() {
        assert_eq!(expected_height(15, 10_000_000), 7);
        assert_eq!(expected_height(15, 100), 2);
        assert_eq!([expected_height(15, 0), expected_height(15, 1), expected_height(1, 100)], [1; 3]);
    }
}
