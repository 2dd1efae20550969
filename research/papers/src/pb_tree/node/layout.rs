//! The offset of each field of a node: the key count first, all keys next, pointers and values last, so
//! that a search can begin before the whole node has arrived (§2.1).
//!
//! ```text
//! inner, 4-byte lanes   count │ keys ……………… │ children ………………………  (the last child slot of a bottom
//!                                                                  node: its right sibling, p_i only)
//! inner, node group     count │ keys …………………………………………………… │ group
//! leaf, 4-byte lanes    count │ keys ……………… │ values ……………… │ next │ hint   (hint: p_e only)
//!
//! 8-byte lanes need their keys at a multiple of eight; the four bytes after the count, lost
//! otherwise, hold the sibling, the group or the next leaf.
//! ```

use super::shape::{Children, Jump, Shape};
use crate::pb_tree::arena::Block;
use core::marker::PhantomData;
use latchless_core::base::key::Bits;

/// Bytes of a node reference, a key count or a hint.
const WORD: usize = 4;

/// The layout of a shape's nodes: pure numbers, known at compile time.
#[derive(Debug)]
pub struct Layout<S>(PhantomData<S>);

impl<S: Shape> Layout<S> {
    const LANE: usize = S::Bits::BYTES;
    const BYTES: usize = S::Block::BYTES;
    /// The word after the count, free where lanes are wider than words.
    const WIDE: bool = Self::LANE > WORD;

    /// The offset of the key count, in every node.
    pub const COUNT_AT: usize = 0;
    /// The offset of the keys, in every node.
    pub const KEYS_AT: usize = Self::LANE;

    /// Keys in a full inner node.
    pub const INNER_KEYS: usize = match S::CHILDREN {
        // One child more than keys.
        Children::References => (Self::BYTES - Self::KEYS_AT - WORD) / (Self::LANE + WORD),
        Children::Group => (Self::BYTES - Self::KEYS_AT - if Self::WIDE { 0 } else { WORD }) / Self::LANE,
    };
    /// The offset of an inner node's children, or of its one group reference.
    pub const CHILDREN_AT: usize = match S::CHILDREN {
        Children::Group if Self::WIDE => WORD,
        _ => Self::KEYS_AT + Self::INNER_KEYS * Self::LANE,
    };
    /// Keys in a full inner node right above the leaves: one fewer where a sibling reference takes
    /// a child's place (p_i with 4-byte lanes).
    pub const BOTTOM_KEYS: usize = match S::JUMP {
        Jump::Internal if !Self::WIDE => Self::INNER_KEYS - 1,
        _ => Self::INNER_KEYS,
    };
    /// The offset of a bottom inner node's right sibling (p_i only).
    pub const SIBLING_AT: usize = if Self::WIDE { WORD } else { Self::CHILDREN_AT + Self::INNER_KEYS * WORD };

    /// Pairs in a full leaf.
    pub const LEAF_PAIRS: usize = {
        let next = if Self::WIDE { 0 } else { WORD };
        let hint = match S::JUMP {
            Jump::External => Self::LANE,
            _ => 0,
        };
        (Self::BYTES - Self::KEYS_AT - next - hint) / (2 * Self::LANE)
    };
    /// The offset of a leaf's values.
    pub const VALUES_AT: usize = Self::KEYS_AT + Self::LEAF_PAIRS * Self::LANE;
    /// The offset of a leaf's reference to the next leaf.
    pub const NEXT_AT: usize = match S::JUMP {
        _ if Self::WIDE => WORD,
        Jump::External => Self::HINT_AT - WORD,
        _ => Self::BYTES - WORD,
    };
    /// The offset of a leaf's hint (p_e only): the word that readers may write.
    pub const HINT_AT: usize = Self::BYTES - WORD;

    /// Children of a full inner node, and so the length of a full node group.
    pub const FANOUT: usize = Self::INNER_KEYS + 1;
    /// Blocks that are allocated together.
    pub const RUN_BLOCKS: usize = match S::CHILDREN {
        Children::References => 1,
        Children::Group => Self::FANOUT,
    };

    /// Keys in a full inner node on `level` (1 is right above the leaves).
    #[inline(always)]
    pub const fn inner_keys(level: usize) -> usize {
        if level == 1 { Self::BOTTOM_KEYS } else { Self::INNER_KEYS }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{External, Grouped, Internal, Plain, Shaped};
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    type Paper<F> = Layout<Shaped<u32, F, NoTrace>>;
    type Wide<F> = Layout<Shaped<u64, F, NoTrace>>;

    /// The fan-outs that §4.1 states for 4-byte keys, references and tuple ids.
    #[test]
    fn fanouts_are_the_papers() {
        assert_eq!((Paper::<Plain<1>>::INNER_KEYS, Paper::<Plain<1>>::LEAF_PAIRS), (7, 7));
        assert_eq!((Paper::<Plain<2>>::INNER_KEYS, Paper::<Plain<2>>::LEAF_PAIRS), (15, 15));
        assert_eq!((Paper::<Plain<4>>::INNER_KEYS, Paper::<Plain<4>>::LEAF_PAIRS), (31, 31));
        assert_eq!((Paper::<Plain<8>>::INNER_KEYS, Paper::<Plain<8>>::LEAF_PAIRS), (63, 63));
        assert_eq!((Paper::<Plain<16>>::INNER_KEYS, Paper::<Plain<16>>::LEAF_PAIRS), (127, 127));
        assert_eq!((Paper::<External<8>>::INNER_KEYS, Paper::<External<8>>::LEAF_PAIRS), (63, 62));
        assert_eq!((Paper::<Internal<8>>::INNER_KEYS, Paper::<Internal<8>>::BOTTOM_KEYS), (63, 62));
        assert_eq!(Paper::<Internal<8>>::LEAF_PAIRS, 63);
        assert_eq!((Paper::<Grouped<1>>::INNER_KEYS, Paper::<Grouped<1>>::LEAF_PAIRS), (14, 7));
        assert_eq!((Paper::<Grouped<8>>::INNER_KEYS, Paper::<Grouped<8>>::LEAF_PAIRS), (126, 63));
    }

    #[test]
    fn wide_lanes_lose_no_more_than_they_must() {
        assert_eq!((Wide::<Plain<1>>::INNER_KEYS, Wide::<Plain<1>>::LEAF_PAIRS), (4, 3));
        assert_eq!((Wide::<Plain<8>>::INNER_KEYS, Wide::<Plain<8>>::LEAF_PAIRS), (41, 31));
        assert_eq!(Wide::<External<8>>::LEAF_PAIRS, 31);
        assert_eq!(Wide::<Internal<8>>::BOTTOM_KEYS, 41);
        assert_eq!((Wide::<Grouped<1>>::INNER_KEYS, Wide::<Grouped<8>>::INNER_KEYS), (7, 63));
    }

    /// Asserts that fields are within the node and don't overlap.
    fn fields_are_apart<S: Shape>() {
        let lane = S::Bits::BYTES;
        let mut leaf = vec![
            (Layout::<S>::COUNT_AT, WORD),
            (Layout::<S>::KEYS_AT, Layout::<S>::LEAF_PAIRS * lane),
            (Layout::<S>::VALUES_AT, Layout::<S>::LEAF_PAIRS * lane),
            (Layout::<S>::NEXT_AT, WORD),
        ];
        if S::JUMP == Jump::External {
            leaf.push((Layout::<S>::HINT_AT, WORD));
            assert_eq!(Layout::<S>::HINT_AT, S::Block::SLICED_BYTES);
        }
        let children = if S::CHILDREN == Children::Group { 1 } else { Layout::<S>::BOTTOM_KEYS + 1 };
        let mut inner = vec![
            (Layout::<S>::COUNT_AT, WORD),
            (Layout::<S>::KEYS_AT, Layout::<S>::BOTTOM_KEYS * lane),
            (Layout::<S>::CHILDREN_AT, children * WORD),
        ];
        if S::JUMP == Jump::Internal {
            inner.push((Layout::<S>::SIBLING_AT, WORD));
        }
        for mut fields in [leaf, inner] {
            fields.sort();
            for pair in fields.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{fields:?}");
            }
            let &(at, bytes) = fields.last().unwrap();
            assert!(at + bytes <= S::Block::BYTES, "{fields:?}");
        }
    }

    #[test]
    fn no_field_overlaps_another() {
        macro_rules! check {
            ($($form:ty),*) => {$(
                fields_are_apart::<Shaped<u32, $form, NoTrace>>();
                fields_are_apart::<Shaped<u64, $form, NoTrace>>();
            )*};
        }
        check!(Plain<1>, Plain<2>, Plain<4>, Plain<8>, Plain<16>, External<8>, Internal<8>);
        check!(External<1>, Internal<1>, Internal<2>, Grouped<1>, Grouped<8>);
    }
}
