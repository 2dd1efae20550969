//! The prefetches of a sweep, ahead of its reader.

use super::lines::{lines_of, prefetch_lines};
use super::{LINES_IN_FLIGHT, Sweep};
use crate::node::operation::Search;
use crate::node::{self, Inner, LINES, Leaf};
use crate::tree::blink::BlinkTree;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;

impl<B: Bits, const ROOM: usize> Sweep<B, ROOM> {
    /// Prefetches lines up to line `to`, but no more than the remaining entries may fill from line `from`
    /// on; both are counted from the first line of the leaf to read next.
    #[inline(always)]
    pub(in crate::tree) fn ask(&mut self, tree: &BlinkTree<B>, from: usize, to: usize) {
        let wanted = lines_of::<B>(self.expected);
        let to = to.min(from.saturating_add(wanted)).min((self.len - self.at) * LINES);
        while self.asked < to {
            let leaf = self.asked / LINES;
            let address = tree.store().arena().address(self.ahead[self.at + leaf]);
            let end = to.min((leaf + 1) * LINES);
            prefetch_lines(node::line_address(address, self.asked), end - self.asked);
            self.asked = end;
        }
    }

    /// Prefetches the predicted leaf of the key at which a long range begins, the one after it, and the
    /// inner node that has the leaves after these.
    #[inline(always)]
    pub(super) fn ask_by_guess(&self, tree: &BlinkTree<B>, key: B) {
        tree.finder().ask_for_way(key);
        let guess = tree.finder().guesses().guess_two(key.to_u64());
        let Some((leaf, share, next)) = guess else { return };
        let (address, first) = (tree.store().arena().address(leaf), Leaf::<B>::first_likely_line(share));
        prefetch_read(address);
        prefetch_lines(node::line_address(address, first), LINES - first);
        if next != leaf {
            prefetch_lines(tree.store().arena().address(next), LINES);
        }
    }

    /// Prefetches as far ahead as a reader of whole leaves needs. In the middle of a long range that is all
    /// lines of one leaf: these aren't prefetched, and their address is returned instead, because so many
    /// requests at once would stall the processor. See [`Sweep::ask`].
    #[inline(always)]
    pub(super) fn ask_but_one(&mut self, tree: &BlinkTree<B>, from: usize) -> Option<*const u8> {
        const LAST: usize = LINES_IN_FLIGHT / LINES;
        let to = LINES + LINES_IN_FLIGHT;
        if self.asked == LAST * LINES && self.len - self.at > LAST && lines_of::<B>(self.expected) >= to {
            self.asked = to;
            return Some(tree.store().arena().address(self.ahead[self.at + LAST]));
        }
        self.ask(tree, from, to);
        None
    }

    /// Prefetches the first line of the leaf to read next, and those of its other lines that the key
    /// probably needs.
    #[inline(always)]
    pub(super) fn ask_from_share<S: Search>(&mut self, tree: &BlinkTree<B>, inner: Inner<'_, B>, key: B) {
        prefetch_read(tree.store().arena().address(self.ahead[0]));
        let inside = self.direction == Direction::Forward && self.read == 0;
        let share = if inside { inner.child_and_share::<S>(key).1 } else { 0 };
        self.asked = self.asked.max(share.saturating_sub(1).max(1));
    }

    /// Prefetches the first lines only. See [`Sweep::ask`].
    #[inline(always)]
    pub(super) fn ask_for_headers(&mut self, tree: &BlinkTree<B>) {
        let to = (1 + LINES_IN_FLIGHT).min(self.len - self.at);
        for at in self.asked.div_ceil(LINES)..to {
            prefetch_read(tree.store().arena().address(self.ahead[self.at + at]));
        }
        self.asked = self.asked.max(to * LINES);
    }
}
