//! Hints made of picked bits, for leaves whose blocks two fields don't distinguish.
//!
//! Keys may cluster on several scales: positions with gaps of all sizes, digits or letters of eight bits
//! each, fractals. Two neighbours are distinguished by the highest bit in which they differ. So hints are
//! made of these bits only, of which a leaf has about eleven to fifteen. (The height-optimized trie, HOT,
//! picks bits in the same way.)
//!
//! Such hints are in order for the keys for which the bits were picked: two of them agree above the highest
//! bit in which they differ. If that bit wasn't picked, no lower one was, and their hints are the same. A
//! later key may differ from its neighbours in a bit that wasn't picked. So an insert compares the key's
//! hint with those of the adjacent keys, and rebuilds all hints if they are out of order: about one insert
//! in fifty does. With growing keys each insert would; where they are expected, no bits are picked. Inner
//! nodes have no such hints, because they are searched for keys that they don't contain.

use super::fields::{below, fields_for, neighbours_differ, top};
use super::hints::{Form, PICKED_BITS, PICKED_MAX, RAISED};
use crate::node::lines::Lines;
use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;

/// Returns the form of a leaf's hints: fields, if these distinguish all blocks. See
/// [`form_for`](super::fields::form_for).
pub(super) fn form_for_leaf<B: Bits>(keys: &[B], low: u64, span: u64, starts: &[usize]) -> Form {
    let differ = neighbours_differ(keys, starts);
    let form = fields_for::<B>(differ, low, span);
    if !form.tied || B::BYTES < 8 {
        return form;
    }
    let picked = pick(differ.all);
    let has_most = keys.last().is_some_and(|last| Scalar::bits_at(last.to_u64(), picked) >= PICKED_MAX);
    let tied = has_most || differ.borders & below(picked.trailing_zeros()) != 0;
    Form { shift: 0, lower: 0, width: 0, picked, tied }
}

/// Picks the highest of these bits, as many as fit in a hint. If there are fewer, adds others in which later
/// keys probably differ: those above the lowest ones first.
fn pick(all: u64) -> u64 {
    let mut picked = all;
    // Places that can't be stored.
    if top(picked) >= u64::BITS - RAISED {
        picked &= !below(RAISED);
    }
    while picked.count_ones() > PICKED_BITS {
        picked &= picked - 1;
    }
    while picked.count_ones() < PICKED_BITS {
        let (lowest, highest) = (picked.trailing_zeros(), top(picked));
        let holes = !picked & below(highest) & !below(lowest);
        let room = if highest >= u64::BITS - RAISED { RAISED } else { 0 };
        picked |= match (holes, lowest > room) {
            (1.., _) => holes & holes.wrapping_neg(),
            (0, true) => 1 << (lowest - 1),
            (0, false) => return picked,
        };
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::super::hints::{Maker, NO_BLOCK, Shape, block_hint, set_block_hints};
    use super::super::leaf::Leaf;
    use super::super::leaf_editor::LeafEditor;
    use super::super::{LINES, NodeLines};
    use super::*;
    use core::array::from_fn;
    use latchless_core::search::Scalar;
    use latchless_core::sync::Word;
    use latchless_core::testing::Rng;

    fn blank() -> NodeLines {
        from_fn(|_| from_fn(|_| Word::new(0)))
    }

    /// Returns ascending keys whose gaps each are a multiple of the one before, and keys of decimal digits.
    fn on_several_scales() -> Vec<Vec<u64>> {
        let mut random = Rng(0x9E37_79B9_7F4A_7C15);
        let grown = |bits: u64| move |at: u64| (at % 4) << (at / 4 % 4 * bits) | (at / 16) << (4 * bits);
        let digits =
            |number: u64| (0..8).fold(0, |key, at| key << 8 | (number / 10u64.pow(7 - at) % 10 + 0x30));
        let mut sets: Vec<Vec<u64>> = [9, 11, 14].map(|bits| (0..44).map(grown(bits)).collect()).into();
        sets.push((0..44).map(|_| digits(7_000_000 + random.next() % 900_000)).collect());
        for set in &mut sets {
            set.sort_unstable();
            set.dedup();
        }
        sets
    }

    #[test]
    fn picked_bits_tell_keys_on_several_scales_apart_in_order() {
        for keys in on_several_scales() {
            let starts: Vec<_> = (0..keys.len()).step_by(3).collect();
            let form = form_for_leaf(&keys, keys[0], 2 * (keys[keys.len() - 1] - keys[0]), &starts);
            let has_most = Scalar::bits_at(keys[keys.len() - 1], form.picked) >= PICKED_MAX;
            assert!(form.picked != 0 && form.tied == has_most, "{form:?}: fields don't do");
            let maker = Maker::by_form(form, keys[0]);
            let hints: Vec<_> = keys.iter().map(|&key| maker.hint::<Scalar>(key)).collect();
            assert!(hints.is_sorted(), "{form:?}");
            assert!(starts[1..].iter().all(|&at| hints[at - 1] < hints[at]), "{form:?}");
        }
    }

    #[test]
    fn more_bits_than_can_be_picked_leave_blocks_tied() {
        let keys: Vec<u64> = (0..44).map(|at| 1 << at).collect();
        let starts: Vec<_> = (0..keys.len()).step_by(3).collect();
        let form = form_for_leaf(&keys, 0, u64::MAX, &starts);
        let maker = Maker::by_form(form, 0);
        let hints: Vec<_> = keys.iter().map(|&key| maker.hint::<Scalar>(key)).collect();
        assert!(form.picked != 0 && form.tied && hints.is_sorted(), "{form:?}");
        assert!(starts[1..].iter().any(|&at| hints[at - 1] == hints[at]), "{form:?}");
    }

    #[test]
    fn picked_bits_are_those_in_which_neighbours_differ_and_the_highest_of_them() {
        let all = 1 << 63 | 1 << 41 | 0b1011 << 7;
        let picked = pick(all);
        assert_eq!((picked & all, picked.count_ones()), (all, PICKED_BITS));
        assert_eq!(picked & !all & below(7), 0, "bits between are picked before lower ones");
        assert_eq!(pick(0x3_FFFF << 20), 0x1FFF << 25);
        assert_eq!(
            pick(1 << 63 | 0x3F),
            1 << 63 | pick(1 << 63) & !below(RAISED),
            "places that can't be told"
        );
        assert_eq!(pick(0b11), 0b11, "there are no others");
    }

    #[test]
    fn a_node_tells_which_bits_were_picked_whatever_its_hints_are() {
        let mut random = Rng(0x2545_F491_4F6C_DD1D);
        for round in 0..if cfg!(miri) { 20 } else { 2000 } {
            // Bits anywhere, in the lower part, or in the upper one.
            let all = random.next() & random.next() & [u64::MAX, below(40), !below(40)][round % 3];
            let picked = pick(all | 1 << (20 + random.next() % 40));
            let (node, form) = (blank(), Form { shift: 0, lower: 0, width: 0, picked, tied: false });
            let shape = Shape::<u64>::new(form);
            assert!(shape.is_picked() && !shape.is_plain() && shape.counts_from(0) == 0);
            let maker = Maker::by_form(form, 0);
            let hints: [u16; LINES - 1] =
                from_fn(|at| if at < 12 { maker.hint::<Scalar>(random.next()) } else { NO_BLOCK });
            set_block_hints(&node, &hints, picked);
            assert_eq!(shape.picked(&node), picked);
            let leaf = LeafEditor(Leaf::<u64>::new(&node));
            assert!((1..LINES - 1).all(|at| leaf.block_hint(shape, at) == hints[at]));
            leaf.set_block_hint(shape, 3, hints[4]);
            assert_eq!((leaf.block_hint(shape, 3), shape.picked(&node)), (hints[4], picked));
            assert!(block_hint(&node, 3) <= hints[4], "a hint of a key is at least that of its block");
            assert!(block_hint(&node, 12) > maker.hint::<Scalar>(u64::MAX), "no key is in no block");
        }
    }
}
