//! Going over a range, leaf by leaf.
//!
//! The next leaf begins where the last one ended, so a key that is there throughout is seen exactly once,
//! whatever becomes of the leaves meanwhile.

use super::leaf_copy::{Bounds, LeafCopy};
use super::node::Toward;
use super::tree::ByteTree;
use super::values::Take;
use crate::node::operation::{Operation, Run, Search};
use core::ops::{Bound, ControlFlow};
use latchless_core::base::index::Direction;
use latchless_core::mem::node_ref::NodeRef;

impl ByteTree {
    /// Copies the leaf in which a range begins.
    pub fn load_first(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) {
        self.dispatch.run(Load { tree: self, leaf, bounds, which: Which::First });
    }

    /// Copies the leaf in which a range ends.
    pub fn load_last(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) {
        self.dispatch.run(Load { tree: self, leaf, bounds, which: Which::Last });
    }

    /// Copies the leaf after this one, if the range goes on there.
    pub fn load_next(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) -> bool {
        let goes_on = leaf.goes_on();
        if goes_on {
            self.dispatch.run(Load { tree: self, leaf, bounds, which: Which::Next });
        }
        goes_on
    }

    /// Copies the leaf before this one, if the range begins before it.
    pub fn load_previous(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) -> bool {
        let goes_on = leaf.goes_on_before();
        if goes_on {
            self.dispatch.run(Load { tree: self, leaf, bounds, which: Which::Previous });
        }
        goes_on
    }

    /// Shows the entries of a range in order, until `see` breaks off: the key, the first word of the value,
    /// and `take`, which took it.
    pub fn visit<T: Take, B>(
        &self,
        bounds: Bounds<'_>,
        (leaf, take): (&mut LeafCopy, &mut T),
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.load_first(bounds, leaf);
        loop {
            self.ask_ahead(leaf);
            let within = leaf.within();
            leaf.show(self, within, take, see)?;
            if !self.load_next(bounds, leaf) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// As [`ByteTree::visit`], from the end of the range down.
    pub fn visit_back<T: Take, B>(
        &self,
        bounds: Bounds<'_>,
        (leaf, take): (&mut LeafCopy, &mut T),
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.load_last(bounds, leaf);
        loop {
            let within = leaf.within().rev();
            leaf.show(self, within, take, see)?;
            if !self.load_previous(bounds, leaf) {
                return ControlFlow::Continue(());
            }
        }
    }
}

impl ByteTree {
    /// Asks for the leaf after a copied one, if the range goes on there, and for the header of the leaf
    /// after that: they come while the copy's entries are shown.
    #[inline(always)]
    fn ask_ahead(&self, leaf: &mut LeafCopy) {
        let next = leaf.link();
        if leaf.goes_on() && leaf.asked != next {
            let (_, view) = self.at(next);
            // It may be changing: then these are lines that nobody wants.
            self.ask_for_used(next, view.shape());
            self.ask_for_header(view.link());
            leaf.asked = next;
        }
    }

    /// The leaf that is likely to have a key. Asks for the header of the next one.
    #[inline(always)]
    fn descend_with_next(&self, key: &[u8], toward: Toward) -> NodeRef {
        let parent = self.descend(1, key, toward);
        match parent.and_then(|parent| self.child_and_next(parent, key, toward)) {
            Some((child, next)) => {
                self.ask_for_header(next);
                child
            }
            None => self.descend_to_leaf(key, toward),
        }
    }
}

enum Which {
    First,
    Last,
    Next,
    Previous,
}

struct Load<'a> {
    tree: &'a ByteTree,
    leaf: &'a mut LeafCopy,
    bounds: Bounds<'a>,
    which: Which,
}

impl Operation for Load<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { tree, leaf, bounds, which } = self;
        let mut pivot = leaf.take_pivot();
        let toward = match (&which, bounds) {
            (Which::First, Bounds { low: Bound::Included(key) | Bound::Excluded(key), .. })
            | (Which::Last, Bounds { high: Bound::Included(key), .. }) => {
                pivot.extend_from_slice(key);
                Toward::Key
            }
            (Which::First, _) | (Which::Last, Bounds { high: Bound::Excluded([]), .. }) => Toward::Key,
            (Which::Last, Bounds { high: Bound::Excluded(key), .. }) => {
                pivot.extend_from_slice(key);
                Toward::Before
            }
            (Which::Last, _) => Toward::Last,
            (Which::Next, _) => {
                pivot.extend_from_slice(leaf.high());
                Toward::Key
            }
            (Which::Previous, _) => {
                pivot.extend_from_slice(leaf.low());
                Toward::Before
            }
        };
        let start = match which {
            Which::Next => leaf.link(),
            Which::First => tree.descend_with_next(&pivot, toward),
            _ => tree.descend_to_leaf(&pivot, toward),
        };
        if !matches!(which, Which::Next) {
            leaf.asked = NodeRef::NIL;
        }
        if start != leaf.asked {
            tree.ask_for_all(start);
        }
        let after = match which {
            Which::Next => Some(Direction::Forward),
            Which::Previous => Some(Direction::Reverse),
            Which::First | Which::Last => None,
        };
        leaf.load::<S>(tree, (start, &pivot, toward), (bounds, after));
        leaf.bring_pivot(pivot);
        if matches!(which, Which::Next) {
            tree.ask_ahead(leaf);
        }
    }
}
