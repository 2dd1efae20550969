//! Scans in pages. A page has all entries of every key in it, so the next one begins after the last key:
//! nothing is held between pages, neither latch nor pin, and entries that are present throughout are seen
//! once, whatever concurrent updates do.
//!
//! A page is filled leaf by leaf to the right. A page of a reverse scan is one leaf, with the remaining
//! entries of its last key: leaves have no link to the left, so the next page is found from the root.

use super::OlfitTree;
use super::guard::Access;
use super::path::{Coupling, Path};
use crate::common::pages::{Page, PageEnd, Pages, TOGETHER_MAX};
use crate::olfit::node::{At, Fields, Flag, Kind, Node, NodeLatch, Scheme, Way};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::latch::{OptimisticLatch, Version};
use latchless_core::mem::touch::{Trace, Work};

/// How the filling of a page ended.
enum End<B> {
    At(PageEnd<B>),
    /// The entries of one key alone need more room.
    NoRoom,
}

/// The result of filling a page.
struct Tried<B> {
    end: End<B>,
    /// After which key the first leaf begins, if the page was begun from its end.
    begin: Option<B>,
    /// Whether there was room for another leaf.
    had_room: bool,
}

/// The end of a leaf that was read, and its successor.
enum Beyond<B> {
    /// It is the last one.
    Nothing,
    /// It ends with a key.
    More(Edge<B>),
}

/// The right edge of a leaf that was read.
#[derive(Clone, Copy)]
pub(super) struct Edge<B> {
    /// The last key that belongs to the leaf.
    pub(super) upper: B,
    /// The right neighbour when the leaf was read, unless its group names it. A split since then has
    /// inserted nodes between the two whose entries were read already.
    pub(super) right: Option<At>,
    /// The leaf's version at that time, if its latch was free.
    version: Option<Version>,
}

impl<K: Kind> Pages for OlfitTree<K> {
    type Lane = K::Bits;
    type Trace = K::Trace;

    fn empty_page(&self, expected: usize) -> Page<K::Bits> {
        Page::of(expected.min(TOGETHER_MAX) + self.layout.leaf_places)
    }

    fn page_up(&self, low: K::Bits, high: K::Bits, page: &mut Page<K::Bits>) -> PageEnd<K::Bits> {
        K::Trace::work(Work::Operation);
        loop {
            let tried = self.try_page(low, low, high, page);
            match tried.end {
                End::NoRoom => page.grow(self.layout.leaf_places),
                End::At(found) => return found,
            }
        }
    }

    fn page_down(&self, low: K::Bits, high: K::Bits, page: &mut Page<K::Bits>) -> PageEnd<K::Bits> {
        K::Trace::work(Work::Operation);
        loop {
            let tried = self.try_page(high, low, high, page);
            match (tried.end, tried.begin) {
                (End::At(PageEnd::All), Some(begin)) if begin >= low => return PageEnd::UpTo(begin),
                (End::At(PageEnd::All), _) => return PageEnd::All,
                // The entries of the last key aren't all there.
                _ if !tried.had_room => page.grow(self.layout.leaf_places),
                _ => self.restarts.add(1),
            }
        }
    }
}

impl<K: Kind> OlfitTree<K> {
    /// Fills a page with entries of `low..=high`, from the leaf on that `from` belongs to. If that isn't
    /// `low`, entries of the key after which that leaf begins are left out.
    fn try_page(
        &self,
        from: K::Bits,
        low: K::Bits,
        high: K::Bits,
        page: &mut Page<K::Bits>,
    ) -> Tried<K::Bits> {
        page.truncate(0);
        let latches = if K::Scheme::NODE_LATCH == NodeLatch::Shared { self.root().1 + 2 } else { 0 };
        let inside = self.enter(Access::Read);
        let mut path = Path::new(Coupling::ReadingOn, latches);
        let mut beyond = self.copy_first(from, (low, high), &mut path, page);
        let begin = if from == low { None } else { path.low };
        let (end, had_room) = loop {
            let Beyond::More(edge) = beyond else { break (End::At(PageEnd::All), true) };
            let upper = edge.upper;
            if upper > high || (upper == high && !self.duplicates) {
                break (End::At(PageEnd::All), true);
            }
            let reads_on = page.keys.len() + self.layout.leaf_places <= page.room;
            if reads_on && let Some(next) = self.copy_next(edge, (low, high), &mut path, page) {
                beyond = next;
                continue;
            }
            break (self.end_page(upper, reads_on, page), reads_on);
        };
        path.let_go();
        drop(inside);
        if let Some(begin) = begin {
            let skipped = page.keys.partition_point(|&key| key <= begin);
            page.keys.drain(..skipped);
            page.values.drain(..skipped);
        }
        Tried { end, begin, had_room }
    }

    /// Leads the path to the leaf that `from` belongs to, and copies its entries.
    fn copy_first<'a>(
        &'a self,
        from: K::Bits,
        (low, high): (K::Bits, K::Bits),
        path: &mut Path<'a, K>,
        page: &mut Page<K::Bits>,
    ) -> Beyond<K::Bits> {
        loop {
            self.descend(0, from, path);
            let (at, high) = (path.at(0), self.high_on(path, high));
            let copied = self.look(at.node::<K>(), |leaf| {
                let begin = if Fields::<K>::LOW_FENCES { leaf.begins() } else { path.low };
                let here = leaf.way(at, from) == Way::Here;
                here.then(|| (begin, self.copy((leaf, at), low, high, 0, page)))
            });
            match copied {
                Some((begin, own)) => {
                    // In a group another node may be in this place by now.
                    path.low = begin;
                    return self.beyond(own, path);
                }
                // It was split or went, since the path led here.
                None => self.restarts.add(1),
            }
        }
    }

    /// Ends a page after a leaf that ends with `upper`. In an index with duplicates more entries of that
    /// key may follow, so those that were read don't count. If no others were read, more room is needed.
    fn end_page(&self, upper: K::Bits, had_room: bool, page: &mut Page<K::Bits>) -> End<K::Bits> {
        if !self.duplicates {
            return End::At(next(upper).map_or(PageEnd::All, PageEnd::UpTo));
        }
        if page.keys.last() == Some(&upper) {
            let run = page.last_run();
            page.truncate(run);
        }
        if page.keys.is_empty() && !had_room { End::NoRoom } else { End::At(PageEnd::UpTo(upper)) }
    }

    /// Appends the entries of `low..=high` in a leaf to the first `len` of a page, and returns the end of
    /// the leaf, if the leaf stores it and more may follow.
    #[inline(always)]
    fn copy(
        &self,
        (leaf, at): (Node<'_, K>, At),
        low: K::Bits,
        high: K::Bits,
        len: usize,
        page: &mut Page<K::Bits>,
    ) -> Option<Edge<K::Bits>> {
        page.truncate(len);
        let entries = leaf.entries();
        let first = leaf.lower(entries, low);
        for place in first..entries {
            let key = leaf.key(place);
            if key > high {
                break;
            }
            page.push(key, leaf.value(place));
        }
        K::Trace::work(Work::Copy(page.keys.len() - len));
        let edge = K::Scheme::LINKS.then(|| Self::edge_of(leaf, at))?;
        // Entries of the greatest key may be in several leaves.
        let goes_on = || self.duplicates && self.right_beside(at, edge.right).is_some();
        (edge.upper != K::Bits::MAX || goes_on()).then_some(edge)
    }

    /// The right edge of a leaf that is being read, of a tree with links.
    pub(super) fn edge_of(leaf: Node<'_, K>, at: At) -> Edge<K::Bits> {
        Edge {
            upper: leaf.high(),
            right: leaf.right(at, leaf.meta()),
            version: OptimisticLatch::of(leaf.latch_word()).stable_version(),
        }
    }

    /// Returns the successor of the path's leaf. `own`: the leaf's own link, under OL.
    fn beyond(&self, own: Option<Edge<K::Bits>>, path: &Path<'_, K>) -> Beyond<K::Bits> {
        let of_path = || self.upper(path).map(|upper| Edge { upper, right: None, version: None });
        let edge = if K::Scheme::LINKS { own } else { of_path() };
        edge.map_or(Beyond::Nothing, Beyond::More)
    }

    /// Appends the next leaf's entries, and leads the path there; `None`: another thread interfered.
    fn copy_next<'a>(
        &'a self,
        edge: Edge<K::Bits>,
        (low, high): (K::Bits, K::Bits),
        path: &mut Path<'a, K>,
        page: &mut Page<K::Bits>,
    ) -> Option<Beyond<K::Bits>> {
        let (at, len) = (path.at(0), page.keys.len());
        if !K::Scheme::LINKS {
            let turn = self.step_right(path)?;
            self.copy((self.node(path.at(0)), path.at(0)), low, self.high_on(path, high), len, page);
            // If the leaf before has left a tree of versions, its keys belong to this one by now.
            if K::Scheme::COPIES && self.node(path.at(turn)).meta().is(Flag::Dead) {
                page.truncate(len);
                return None;
            }
            return Some(self.beyond(None, path));
        }
        let right = self.right_beside(at, edge.right)?;
        let own = self.look(right.node::<K>(), |leaf| {
            let follows = !Fields::<K>::LOW_FENCES || leaf.begins() == Some(edge.upper);
            (follows && !leaf.meta().is(Flag::Dead)).then(|| self.copy((leaf, right), low, high, len, page))
        });
        // Without a low fence in the leaf itself, the previous one serves: if it is still in the tree, its
        // keys don't belong to this one. And a place of a group may have got another node that begins with
        // the same key.
        let tells = Fields::<K>::LOW_FENCES && !(K::GROUPS && self.duplicates);
        let stands = tells || self.still_before(right, at, edge);
        let Some(own) = own.filter(|_| stands) else {
            page.truncate(len);
            return None;
        };
        path.set(0, right);
        Some(self.beyond(own, path))
    }

    /// The last key of a range ending with `high` that belongs to the path's leaf. A leaf of a tree of
    /// versions may have more by now, if the one to its right has gone; they don't belong to this page.
    fn high_on(&self, path: &Path<'_, K>, high: K::Bits) -> K::Bits {
        let upper = if K::Scheme::COPIES { self.upper(path) } else { None };
        upper.map_or(high, |upper| upper.min(high))
    }

    /// Returns whether the leaf of an edge is still before `right`.
    pub(super) fn still_before(&self, right: At, at: At, edge: Edge<K::Bits>) -> bool {
        let node = self.node(at);
        if self.duplicates {
            // A leaf between the two may begin and end with the same key.
            let latch = OptimisticLatch::of(node.latch_word());
            K::Trace::read(node.latch_address(), K::Bits::BYTES);
            return edge.version.is_some_and(|version| latch.validate(version));
        }
        let beside = self.look(at.node::<K>(), |leaf| {
            let meta = leaf.meta();
            (!meta.is(Flag::Dead) && leaf.high() == edge.upper).then(|| leaf.right(at, meta))
        });
        beside.and_then(|in_group| self.right_beside(at, in_group)) == Some(right)
    }

    /// The value of the first entry of `key`.
    #[inline]
    pub fn get(&self, key: K::Bits) -> Option<K::Bits> {
        K::Trace::work(Work::Operation);
        let inside = self.enter(Access::Read);
        let (found, more) = self.look_at_leaf(key, |leaf| {
            let entries = leaf.entries();
            let place = leaf.lower(entries, key);
            if place < entries {
                return ((leaf.key(place) == key).then(|| leaf.value(place)), false);
            }
            (None, self.duplicates && (!K::Scheme::LINKS || leaf.high() == key))
        });
        drop(inside);
        if more { self.get_beyond(key) } else { found }
    }

    /// The value of the first entry of `key`, if that may be in a later leaf than the first.
    #[cold]
    fn get_beyond(&self, key: K::Bits) -> Option<K::Bits> {
        let mut page = self.empty_page(1);
        while let PageEnd::UpTo(_) = self.page_up(key, key, &mut page) {}
        page.values.first().copied()
    }
}
