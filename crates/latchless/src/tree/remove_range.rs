//! Removing everything between two keys.

use super::blink::BlinkTree;
use crate::blink::{Held, Levels, Mode, merge_around};
use crate::node::operation::{Operation, Search};
use crate::node::{Entries, Leaf, LeafEditor, LeafReader};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::base::span::behind;

impl<B: Bits> BlinkTree<B> {
    /// Removes the keys of `low..=high` and returns their number. It works leaf by leaf: others may see some
    /// of them removed and others still present.
    pub fn remove_range<M: Mode>(&self, low: B, high: B) -> usize {
        self.store().run(RemoveRange { tree: self, low, high, mode: PhantomData::<M> })
    }
}

struct RemoveRange<'a, B, M> {
    tree: &'a BlinkTree<B>,
    low: B,
    high: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for RemoveRange<'_, B, M> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        let (tree, mut low, mut removed) = (self.tree, self.low, 0);
        let mut entries = Entries::default();
        while low <= self.high {
            let (at, mut held) = tree.finder().latch_leaf::<M>(tree.finder().descend::<S>(low), low);
            let leaf = at.leaf::<B>();
            let (end, count) = (leaf.high(), leaf.len());
            LeafReader(leaf).copy_out::<S>(&mut entries);
            entries.cut_out(low, self.high);
            let left = entries.keys().len();
            if left < count {
                held.changing();
                LeafEditor(leaf).keep(&entries);
                tree.ranks().outdate(leaf, &mut held);
            }
            drop(held);
            tree.store().counts().count_entries::<M>(left as i64 - count as i64);
            removed += count - left;
            if left < count {
                tree.note_change::<M>(low..=self.high.min(end));
            }
            if left < count && left <= Leaf::<B>::CAPACITY / 4 {
                merge_around::<_, M>(tree, 0, &low);
            }
            if end >= self.high {
                break;
            }
            low = behind(end);
        }
        removed
    }
}
