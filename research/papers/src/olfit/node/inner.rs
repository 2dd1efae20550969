//! Inner nodes: children, and a separator between adjacent children, the largest key that belongs to the
//! left one. Entries with a key that equals a separator may be on either side of it.
//!
//! If every child has a reference of one word, the two alternate: child, separator, child, and so on.

use super::common::Node;
use super::layout::{At, Fields, Kind};
use crate::common::words::{spaced_words_below, words_below};
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::BitsWord;

impl<K: Kind> Node<'_, K> {
    const SEPARATORS_AT: usize = Fields::<K>::INNER_KEYS_AT;
    const ALTERNATES: bool = Fields::<K>::ALTERNATES;

    /// Returns where the separator after a child is.
    #[inline(always)]
    fn separator_at(place: usize) -> usize {
        Self::SEPARATORS_AT + if Self::ALTERNATES { 2 * place } else { place }
    }

    /// Returns where a child's reference is, or the two of a wide word.
    #[inline(always)]
    fn child_at(self, place: usize) -> usize {
        if Self::ALTERNATES {
            Self::SEPARATORS_AT - 1 + 2 * place
        } else {
            self.layout.children_at + place / 2
        }
    }

    /// Returns whether an inner node has no room for another child.
    #[inline(always)]
    pub fn is_full_inner(self) -> bool {
        self.size() >= self.layout.inner_places
    }

    /// Returns the number of children, within the node's capacity even if the node is being reused.
    #[inline(always)]
    pub fn children(self) -> usize {
        self.size().clamp(1, self.layout.inner_places)
    }

    /// After which child a separator is.
    #[inline(always)]
    pub fn separator(self, place: usize) -> K::Bits {
        self.lane(Self::separator_at(place))
    }

    /// Sets the separator after a child.
    pub fn set_separator(self, place: usize, to: K::Bits) {
        self.set_lane(Self::separator_at(place), to);
    }

    /// The place of the first child that `key` may belong to.
    #[inline(always)]
    pub fn child_place(self, key: K::Bits) -> usize {
        let separators = self.children() - 1;
        let words = &self.words[Self::SEPARATORS_AT..Self::separator_at(separators)];
        if Self::ALTERNATES {
            spaced_words_below::<K::Bits, K::Trace, 2>(words, key)
        } else {
            words_below::<K::Bits, K::Trace>(words, key)
        }
    }

    /// The child at a place.
    #[inline(always)]
    pub fn child(self, place: usize) -> At {
        if K::GROUPS {
            return At { unit: self.reference(), index: place as u32 };
        }
        At::first(self.child_reference(place))
    }

    /// The group of an inner node's children.
    pub fn group(self) -> NodeRef {
        self.reference()
    }

    /// Names the group of an inner node's children.
    pub fn set_group(self, to: NodeRef) {
        self.set_reference(to);
    }

    #[inline(always)]
    fn child_reference(self, place: usize) -> NodeRef {
        let at = self.child_at(place);
        self.tell_read(at, 1);
        // It leads to a node that was written before it was published.
        let word = self.words[at].follow().to_u64();
        NodeRef::from_word(if Fields::<K>::WIDE { word >> (32 * (place % 2)) } else { word } as u32)
    }

    #[inline(always)]
    fn set_child_reference(self, place: usize, to: NodeRef) {
        let (at, to) = (self.child_at(place), u64::from(to.to_word()));
        if !Fields::<K>::WIDE {
            self.tell_write(at, 1);
            return self.words[at].publish(K::Bits::truncate(to));
        }
        let shift = 32 * (place % 2);
        let beside = self.words[at].load_relaxed().to_u64() & !(0xFFFF_FFFF << shift);
        self.tell_write(at, 1);
        self.words[at].publish(K::Bits::truncate(beside | to << shift));
    }

    /// Names another unit where the child at a place is: the child itself, or all children.
    pub fn set_unit(self, place: usize, to: NodeRef) {
        if K::GROUPS { self.set_reference(to) } else { self.set_child_reference(place, to) }
    }

    /// Makes room for a child after the one at `place`, which from now on ends with `separator`. `right`:
    /// the new child of a B+-Tree.
    pub fn insert_child(self, place: usize, separator: K::Bits, right: NodeRef) {
        let size = self.children();
        debug_assert!(place < size && size < self.layout.inner_places);
        let behind = size - 1 - place;
        K::Trace::work(Work::Shift(behind));
        if Self::ALTERNATES {
            self.shift(Self::separator_at(place), Self::separator_at(place + 1), 2 * behind);
        } else {
            self.shift(Self::separator_at(place), Self::separator_at(place + 1), behind);
            self.shift_wide_children(place + 1, place + 2, behind);
        }
        self.set_separator(place, separator);
        if !K::GROUPS {
            self.set_child_reference(place + 1, right);
        }
        self.set_size(size + 1);
    }

    /// Removes the child at a place. What belonged to it belongs to the next child, or to the one
    /// before if it was the last.
    pub fn remove_child(self, place: usize) {
        let size = self.children();
        debug_assert!(place < size && size > 1);
        let behind = size - 1 - place;
        K::Trace::work(Work::Shift(behind));
        if behind > 0 && Self::ALTERNATES {
            // The child and the separator after it.
            self.shift(self.child_at(place + 1), self.child_at(place), 2 * behind - 1);
        } else if behind > 0 {
            self.shift(Self::separator_at(place + 1), Self::separator_at(place), behind - 1);
            self.shift_wide_children(place + 1, place, behind);
        }
        self.set_size(size - 1);
    }

    fn shift_wide_children(self, from: usize, to: usize, children: usize) {
        if K::GROUPS {
            return;
        }
        let step = |i: usize| self.set_child_reference(to + i, self.child_reference(from + i));
        if from < to { (0..children).rev().for_each(step) } else { (0..children).for_each(step) }
    }

    /// Moves the children from place `cut` on to `right`, which was reset, and returns the separator with
    /// which this node now ends. The caller moves the nodes of a group.
    pub fn split_inner(self, right: Self, cut: usize) -> K::Bits {
        let moved = self.children() - cut;
        K::Trace::work(Work::Shift(moved));
        if Self::ALTERNATES {
            self.copy_words(self.child_at(cut), right, right.child_at(0), 2 * moved - 1);
        } else {
            self.copy_words(Self::separator_at(cut), right, Self::SEPARATORS_AT, moved - 1);
            if !K::GROUPS {
                (0..moved).for_each(|i| right.set_child_reference(i, self.child_reference(cut + i)));
            }
        }
        right.set_size(moved);
        self.set_size(cut);
        self.separator(cut - 1)
    }

    /// Makes a node that was reset have one child.
    pub fn plant_child(self, child: NodeRef) {
        self.set_unit(0, child);
        self.set_size(1);
    }

    /// Adds a child after all others, of which the last one ends with `separator`; for filling a node in
    /// order. `child`: of a B+-Tree.
    pub fn push_child(self, separator: Option<K::Bits>, child: NodeRef) {
        let size = self.size();
        if let (Some(separator), Some(last)) = (separator, size.checked_sub(1)) {
            self.set_separator(last, separator);
        }
        if !K::GROUPS {
            self.set_child_reference(size, child);
        }
        self.set_size(size + 1);
    }
}
