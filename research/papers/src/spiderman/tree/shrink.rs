//! Freeing pages: a page with few pairs left is merged with a neighbour below the same parent.

use super::OlcTree;
use super::hold::{Restart, Seen};
use crate::spiderman::page::Form;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

/// Why a pass down starts over.
enum Again {
    /// A page has gone, or has more pairs than before.
    Joined,
    /// Others were in the way.
    Disturbed,
}

impl From<Restart> for Again {
    fn from(Restart: Restart) -> Self {
        Self::Disturbed
    }
}

/// Two neighbours below one parent: the place of the left one, and both.
struct Pair {
    place: usize,
    left: NodeRef,
    right: NodeRef,
}

impl<T: Form> OlcTree<T> {
    /// Merges pages with few pairs on the path of a key, from the top down.
    #[cold]
    pub(super) fn shrink(&self, key: u64) {
        let mut backoff = Backoff::default();
        loop {
            match self.try_shrink(key) {
                Ok(()) => return,
                Err(Again::Joined) => {}
                Err(Again::Disturbed) => self.step_back(&mut backoff),
            }
        }
    }

    fn try_shrink(&self, key: u64) -> Result<(), Again> {
        let (mut at, levels) = self.see_root()?;
        if levels > 1 && self.page(at.page).size() == 1 {
            return Err(self.collapse_root(at, levels)?);
        }
        for level in (0..levels - 1).rev() {
            let child = self.down(at, key)?;
            let (children, pairs) = (self.page(at.page).size(), self.page(child.seen.page).size());
            self.check(child.seen)?;
            self.check(at)?;
            if children > 1 && pairs <= self.few(level) && self.join(at, child.place, child.seen, level)? {
                return Err(Again::Joined);
            }
            at = child.seen;
        }
        Ok(())
    }

    /// Returns the number of pairs up to which a page of this level has few.
    fn few(&self, level: usize) -> usize {
        if level == 0 { self.layout.places / 4 } else { (self.layout.places / 4).max(1) }
    }

    /// Makes the only child of the root the root.
    fn collapse_root(&self, root: Seen, levels: usize) -> Result<Again, Restart> {
        let mut held = self.upgrade(root)?;
        held.changing();
        let page = self.page(root.page);
        self.set_root(page.child(0), levels - 1);
        page.mark_dead();
        drop(held);
        self.arena.free::<T>(levels - 1, root.page);
        Ok(Again::Joined)
    }

    /// Merges a page that has few pairs with a neighbour, if they fit into one; a page that can't stay so
    /// takes some of its neighbour's. `false`: it is unchanged.
    fn join(&self, parent: Seen, place: usize, poor: Seen, level: usize) -> Result<bool, Restart> {
        let mut parent_held = self.upgrade(parent)?;
        let page = self.page(parent.page);
        let place = if place + 1 < page.size() { place } else { place - 1 };
        let pair = Pair { place, left: page.child(place), right: page.child(place + 1) };
        // Both can't go anywhere while their parent is held. They are tried: the order isn't top-down.
        let (mut left_held, mut right_held) = (self.try_latch(pair.left)?, self.try_latch(pair.right)?);
        let (left, right) = (self.page(pair.left), self.page(pair.right));
        let (total, own) = (left.size() + right.size(), self.page(poor.page).size());
        let must = own == 0 || (level > 0 && own == 1);
        let fits = total <= if must { self.layout.places } else { self.layout.places * 3 / 4 };
        if !fits && !must {
            return Ok(false);
        }
        parent_held.changing();
        left_held.changing();
        right_held.changing();
        let separator = page.key(pair.place);
        if fits {
            left.take_all_of(right, separator);
            if level == 0 {
                left.set_link(right.meta().link());
            }
            right.mark_dead();
            page.remove_child_behind(pair.place);
            drop((parent_held, left_held, right_held));
            self.arena.free::<T>(level, pair.right);
        } else {
            page.set_key(pair.place, left.share_with(right, separator, total / 2));
        }
        Ok(true)
    }
}
