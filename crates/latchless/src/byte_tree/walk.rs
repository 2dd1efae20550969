//! Visiting a range, leaf by leaf.
//!
//! The next leaf begins where the previous one ended, so a key that is there throughout is seen exactly
//! once, however leaves change meanwhile.

use super::finder::{Start, StartBy};
use super::key_room::KeyRoom;
use super::leaf_copy::{Bounds, Extent, LeafCopy};
use super::node::{Target, Toward};
use super::shape::LINES;
use super::store::Store;
use super::take::Take;
use super::tree::ByteTree;
use crate::blink::Levels;
use core::ops::{Bound, ControlFlow, Range};
use latchless_core::base::index::Direction;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;

impl ByteTree {
    /// Copies the leaf in which a range begins.
    pub fn load_first(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) {
        self.load_leaf(leaf, bounds, Which::First);
    }

    /// Copies the leaf in which a range ends.
    pub fn load_last(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) {
        self.load_leaf(leaf, bounds, Which::Last);
    }

    /// Copies the leaf after this one, if the range goes on there.
    pub fn load_next(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) -> bool {
        let goes_on = self.load_after(bounds, leaf);
        if goes_on {
            ask_ahead(&self.store, leaf).rest();
        }
        goes_on
    }

    /// Loads the next leaf without prefetching the one after it.
    #[inline(always)]
    fn load_after(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) -> bool {
        let goes_on = leaf.goes_on();
        if goes_on {
            self.load_leaf(leaf, bounds, Which::Next);
        }
        goes_on
    }

    /// Copies the leaf before this one, if the range begins before it.
    pub fn load_previous(&self, bounds: Bounds<'_>, leaf: &mut LeafCopy) -> bool {
        let goes_on = leaf.goes_on_before();
        if goes_on {
            self.load_leaf(leaf, bounds, Which::Previous);
        }
        goes_on
    }

    /// Shows the entries of a range in order, until `see` breaks off: the key, the first word of the value,
    /// and `take`, which took it.
    pub fn visit<T: Take, B>(
        &self,
        bounds: Bounds<'_>,
        leaf: &mut LeafCopy,
        take: &mut T,
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.load_leaf(leaf, bounds, Which::FirstPart);
        loop {
            let (mut ahead, within) = (ask_ahead(&self.store, leaf), leaf.within());
            // A few of the lines with every eighth entry.
            let some = (8 * ahead.count()).div_ceil(within.len().max(1));
            let entries = within.inspect(|&at| {
                if at.is_multiple_of(8) {
                    ahead.ask(some);
                }
            });
            self.show(leaf, entries, take, see)?;
            ahead.rest();
            if !self.load_after(bounds, leaf) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Visits a range from its end downwards.
    pub fn visit_back<T: Take, B>(
        &self,
        bounds: Bounds<'_>,
        leaf: &mut LeafCopy,
        take: &mut T,
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.load_last(bounds, leaf);
        loop {
            let within = leaf.within().rev();
            self.show(leaf, within, take, see)?;
            if !self.load_previous(bounds, leaf) {
                return ControlFlow::Continue(());
            }
        }
    }
}

impl ByteTree {
    /// Takes the value of an entry of a copy. Returns whether it still has one.
    #[inline(always)]
    pub fn take_copied<T: Take>(&self, copy: &mut LeafCopy, at: usize, take: &mut T) -> bool {
        let is_whole = take.take_copied(copy.value_words(at), self.store.long());
        is_whole || copy.is_up_to_date(&self.store) || self.get_by(copy.entry(at).0, take).is_some()
    }

    /// Shows entries of a copy until `see` breaks off: the key, the first word of the value, and `take`,
    /// which took it.
    #[inline(always)]
    fn show<T: Take, B>(
        &self,
        copy: &mut LeafCopy,
        entries: impl Iterator<Item = usize>,
        take: &mut T,
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if T::IS_ONE_WORD {
            return copy.show(entries, &mut |key, word| see(key, word, take));
        }
        for at in entries {
            if self.take_copied(copy, at, take) {
                let (key, word) = copy.entry(at);
                see(key, word, take)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Copies one of the leaves of a range.
    fn load_leaf(&self, leaf: &mut LeafCopy, bounds: Bounds<'_>, which: Which) {
        // A copy of the fence that leads on: the leaf's own is overwritten.
        let mut fence = KeyRoom::default();
        let (pivot, toward) = match (&which, bounds) {
            (
                Which::First | Which::FirstPart,
                Bounds { low: Bound::Included(key) | Bound::Excluded(key), .. },
            )
            | (Which::Last, Bounds { high: Bound::Included(key), .. }) => (key, Toward::Key),
            (Which::First | Which::FirstPart, _)
            | (Which::Last, Bounds { high: Bound::Excluded([]), .. }) => (&[][..], Toward::Key),
            (Which::Last, Bounds { high: Bound::Excluded(key), .. }) => (key, Toward::Before),
            (Which::Last, _) => (&[][..], Toward::Last),
            (Which::Next, _) => {
                fence.set(leaf.high());
                (fence.bytes(), Toward::Key)
            }
            (Which::Previous, _) => {
                fence.set(leaf.low());
                (fence.bytes(), Toward::Before)
            }
        };
        let start = match which {
            Which::Next => Start::new(leaf.link(), StartBy::Descent),
            Which::First | Which::FirstPart => self.finder.start_with_next(&self.store, pivot, toward),
            _ => self.finder.start_near(&self.store, pivot, toward),
        };
        if !matches!(which, Which::Next) {
            leaf.asked = NodeRef::NIL;
        }
        let extent =
            if matches!(which, Which::FirstPart) { Extent::FromStart(start.share) } else { Extent::All };
        if let Extent::FromStart(Some(share)) = extent
            && let Some(usual) = self.store.usual().records()
        {
            self.store.prefetch().range_onwards(start.leaf, share, usual);
        } else if start.leaf != leaf.asked {
            self.store.prefetch().all(start.leaf);
        }
        let after = match which {
            Which::Next => Some(Direction::Forward),
            Which::Previous => Some(Direction::Reverse),
            Which::First | Which::FirstPart | Which::Last => None,
        };
        let target = Target { key: pivot, toward };
        leaf.load(&self.store, start.leaf, target, bounds, after, extent);
        if toward == Toward::Key && !matches!(which, Which::Next) {
            self.finder.settle(&self.store, start, pivot, leaf.node());
        }
    }
}

/// Which lines of the leaf after a copied one to prefetch, if the range goes on there. Prefetches the
/// header of the leaf after that: both arrive while the copy's entries are shown.
#[inline(always)]
fn ask_ahead(store: &Store, leaf: &mut LeafCopy) -> Ahead {
    let next = leaf.link();
    if !leaf.goes_on() || leaf.asked == next {
        return Ahead { address: core::ptr::null(), lines: 0 };
    }
    leaf.asked = next;
    let (_, view) = store.at(next);
    store.prefetch().header(view.link());
    // It may be changing: then these lines are useless.
    let lines = view.shape().used_lines().into_iter().fold(0, |lines, range| lines | bits_of(range));
    Ahead { address: store.nodes().address(next), lines }
}

/// Lines of a leaf that are still to be prefetched. All at once would stall the processor: it has room for
/// only some twenty lines in flight.
struct Ahead {
    address: *const u8,
    /// A bit for each line.
    lines: u32,
}

impl Ahead {
    /// How many lines there are.
    #[inline(always)]
    fn count(&self) -> usize {
        self.lines.count_ones() as usize
    }

    /// Prefetches this many lines, or all.
    #[inline(always)]
    fn ask(&mut self, count: usize) {
        for _ in 0..count {
            if self.lines == 0 {
                return;
            }
            prefetch_read(self.address.wrapping_add(self.lines.trailing_zeros() as usize * LINE_BYTES));
            self.lines &= self.lines - 1;
        }
    }

    #[inline(always)]
    fn rest(mut self) {
        self.ask(self.count());
    }
}

/// A bit for each of these lines.
fn bits_of(lines: Range<usize>) -> u32 {
    const { assert!(LINES == 32) };
    ((1u64 << lines.end) - (1u64 << lines.start)) as u32
}

enum Which {
    First,
    /// The first one, without its entries before the range.
    FirstPart,
    Last,
    Next,
    Previous,
}
