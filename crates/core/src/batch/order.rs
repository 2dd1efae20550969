//! The order of a batch by key, and how to cut it so that no two parts touch the same leaf (PI's partition
//! of a query set).

use crate::base::key::Bits;

/// A batch's keys in ascending order, each with its position in the batch; equal keys in the batch's order.
pub type Order<B> = Vec<(B, u32)>;

/// Cuts an ordered batch into at most `parts` parts of about equal length. `end_of` returns the largest key
/// that belongs together with a given one; keys that belong together stay in one part.
///
/// ```
/// use latchless_core::batch::cut;
/// let order = [(1u64, 0), (2, 5), (8, 1), (9, 2), (9, 3), (30, 4)];
/// // Leaves of ten keys each: 0 to 9, 10 to 19, …
/// let parts = cut(&order, 3, |key| key / 10 * 10 + 9);
/// assert_eq!(parts, [&order[..5], &order[5..]]);
/// ```
pub fn cut<B: Bits>(order: &[(B, u32)], parts: usize, end_of: impl Fn(B) -> B) -> Vec<&[(B, u32)]> {
    let mut cut = Vec::with_capacity(parts);
    let mut rest = order;
    for left in (1..=parts).rev() {
        let wanted = rest.len().div_ceil(left);
        if wanted == 0 {
            break;
        }
        let end = end_of(rest[wanted - 1].0);
        let (part, behind) = rest.split_at(rest.partition_point(|&(key, _)| key <= end).max(wanted));
        cut.push(part);
        rest = behind;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_batch_and_never_share_a_leaf() {
        for len in [0usize, 1, 2, 7, 100, 1000] {
            for parts in 1..6 {
                for leaf in [1u64, 10, 5000] {
                    let order: Vec<_> = (0..len).map(|at| ((at * at / 3) as u64, at as u32)).collect();
                    let cut = cut(&order, parts, |key| key / leaf * leaf + (leaf - 1));
                    assert!(cut.len() <= parts && cut.iter().all(|part| !part.is_empty()));
                    assert_eq!(cut.concat(), order);
                    for pair in cut.windows(2) {
                        assert_ne!(pair[0].last().unwrap().0 / leaf, pair[1][0].0 / leaf);
                    }
                }
            }
        }
    }
}
