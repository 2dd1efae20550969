//! Range scans that pause when the caller's buffer is full and resume where they stopped.
//!
//! Forward scans follow the leaves' links, backward ones the root-to-leaf path. Trees with jump pointers
//! prefetch the leaves ahead, unless the scan is short: below
//! [`TreeOptions::short_scan_entries`](super::TreeOptions) the start-up costs more than it gains (§4.3).
//! The size of the caller's buffer and the distance to the end key give the length.

use super::ahead::Ahead;
use super::sink::Sink;
use super::{ScanPrefetch, Tree, TreeOptions};
use crate::pb_tree::node::{Jump, Layout, Shape};
use crate::pb_tree::path::Path;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// A range of lanes, both ends included. Never inverted: an empty range is `None` of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneRange<B> {
    /// The smallest lane of the range.
    pub low: B,
    /// The largest lane of the range.
    pub high: B,
}

/// A scan over a range of a tree.
#[derive(Debug)]
pub struct Scan<'a, S: Shape> {
    tree: &'a Tree<S>,
    range: LaneRange<S::Bits>,
    forward: bool,
    /// The path to `leaf`, as long as it is known: always backward, forward until the first step.
    path: Option<Path>,
    leaf: NodeRef,
    /// The entries of `leaf` that are still to come: positions `from..to`.
    from: usize,
    to: usize,
    ended: bool,
    ahead: Option<Ahead>,
    seen: usize,
    /// Entries that the caller will read after those that a sink has room for.
    more: usize,
}

impl<S: Shape> Tree<S> {
    /// A scan over `range` from its low end upwards (`forward`) or from its high end downwards.
    pub fn scan(&self, range: Option<LaneRange<S::Bits>>, forward: bool) -> Scan<'_, S> {
        let Some(range) = range.filter(|_| self.len > 0) else {
            return Scan::empty(self, forward);
        };
        let mut path = Path::EMPTY;
        let found = self.find(if forward { range.low } else { range.high }, &mut path);
        let mut scan = Scan {
            tree: self,
            range,
            forward,
            path: Some(path),
            leaf: found.leaf,
            from: 0,
            to: found.count,
            ended: false,
            ahead: None,
            seen: 0,
            more: 0,
        };
        if forward {
            scan.from = found.at;
            scan.cut_behind(found.count);
        } else {
            scan.to = found.at + usize::from(found.here);
            scan.cut_before();
        }
        scan
    }

    /// Returns the number of keys in `range`. O(leaves in the range).
    pub fn count(&self, range: Option<LaneRange<S::Bits>>) -> usize {
        self.scan(range, true).fill(&mut super::Tally)
    }
}

impl<'a, S: Shape> Scan<'a, S> {
    fn empty(tree: &'a Tree<S>, forward: bool) -> Self {
        let range = LaneRange { low: S::Bits::default(), high: S::Bits::default() };
        let leaf = tree.root;
        let (path, ahead) = (None, None);
        Self { tree, range, forward, path, leaf, from: 0, to: 0, ended: true, ahead, seen: 0, more: 0 }
    }

    /// Announces that the caller will read that many entries after those that the next sink has room for,
    /// so that prefetching leaves beyond that room pays. The announcement doesn't change the entries.
    pub fn expect_more(&mut self, entries: usize) {
        self.more = entries;
    }

    /// Returns the number of entries so far.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Passes the next entries to `sink` until it has no room or the range ends; returns their number.
    pub fn fill<K: Sink<S::Bits>>(&mut self, sink: &mut K) -> usize {
        S::Trace::work(Work::Operation);
        let before = self.seen;
        self.prepare(sink);
        loop {
            let entries = (self.to - self.from).min(sink.room());
            if entries > 0 {
                self.give(sink, entries);
            }
            // When the room is used up, the next leaf is left for the next call.
            if sink.room() == 0 || self.ended || !self.step(sink) {
                return self.seen - before;
            }
        }
    }

    fn give<K: Sink<S::Bits>>(&mut self, sink: &mut K, entries: usize) {
        let nodes = &self.tree.nodes;
        let at = if self.forward { self.from } else { self.to - entries };
        if K::VALUES {
            nodes.tell_pairs_read(self.leaf, at, entries, K::KEYS);
        }
        let keys = &nodes.keys(self.leaf, at + entries)[at..];
        let values = &nodes.values(self.leaf, at + entries)[at..];
        if self.forward {
            sink.take::<S::Trace>(keys, values);
            self.from += entries;
        } else {
            sink.take_reversed::<S::Trace>(keys, values);
            self.to -= entries;
        }
        self.seen += entries;
    }

    /// Advances to the next leaf; false at the end.
    fn step<K: Sink<S::Bits>>(&mut self, sink: &K) -> bool {
        let nodes = &self.tree.nodes;
        let next = if self.forward {
            self.path = None;
            Some(nodes.next(self.leaf)).filter(|next| !next.is_nil())
        } else {
            self.path.as_mut().and_then(|path| path.advance(nodes, false))
        };
        let Some(leaf) = next else {
            self.ended = true;
            return false;
        };
        self.leaf = leaf;
        self.arrive(sink);
        let count = nodes.count(leaf);
        (self.from, self.to) = (0, count);
        if self.forward {
            self.cut_behind(count);
        } else {
            self.cut_before();
        }
        true
    }

    /// Prefetches on coming to a leaf: the leaf k ahead, or, without jump pointers, this one.
    fn arrive<K: Sink<S::Bits>>(&mut self, sink: &K) {
        S::Trace::work(Work::Visit);
        let asked = self.ahead.as_mut().is_some_and(Ahead::arrive);
        if !asked {
            self.tree.nodes.prefetch(self.leaf);
            prefetch_room::<S, K>(sink, 0);
        }
        self.top_up(sink);
    }

    /// Start-up: decides whether the leaves ahead are prefetched, and prefetches the first k.
    fn prepare<K: Sink<S::Bits>>(&mut self, sink: &K) {
        if self.ended && self.from == self.to {
            return;
        }
        if self.ahead.is_none()
            && S::JUMP != Jump::None
            && self.expected(sink.room()) >= self.tree.options.short_scan_entries
        {
            let path = self.path.unwrap_or_else(|| {
                let mut path = Path::EMPTY;
                self.tree.find(self.tree.nodes.key(self.leaf, 0), &mut path);
                path
            });
            self.ahead = Some(Ahead::from(self.tree, &path, self.leaf, self.forward));
        }
        if self.seen == 0 {
            prefetch_room::<S, K>(sink, 0);
        }
        self.top_up(sink);
    }

    fn top_up<K: Sink<S::Bits>>(&mut self, sink: &K) {
        let TreeOptions { scan_ahead_leaves, scan_prefetch, .. } = self.tree.options;
        let mean_pairs = self.mean_pairs();
        let Some(ahead) = self.ahead.as_mut().filter(|_| !self.ended) else { return };
        let target = match scan_prefetch {
            ScanPrefetch::Whole => scan_ahead_leaves,
            // Leaves that the caller won't reach aren't prefetched.
            ScanPrefetch::Needed => {
                let wanted = sink.room().saturating_add(self.more);
                let reach = wanted.saturating_sub(self.to - self.from).div_ceil(mean_pairs);
                reach.min(scan_ahead_leaves)
            }
        };
        ahead.top_up(self.tree, target, |lead| prefetch_room::<S, K>(sink, lead));
    }

    /// Estimates the number of entries that the scan will read: those that there is room for, and those
    /// that the caller has announced, unless the end key is near.
    fn expected(&self, room: usize) -> usize {
        let to_end = match self.path.as_ref().and_then(Path::bottom) {
            Some((bottom, at)) => {
                let end = if self.forward { self.range.high } else { self.range.low };
                let end_at = self.tree.position_in(bottom, end);
                let inside = if self.forward { end_at < self.tree.nodes.count(bottom) } else { end_at > 0 };
                if inside { end_at.abs_diff(at) * self.mean_pairs() } else { usize::MAX }
            }
            None => usize::MAX,
        };
        self.seen.saturating_add(room).saturating_add(self.more).min(to_end)
    }

    fn mean_pairs(&self) -> usize {
        (self.tree.len / self.tree.leaves).max(1)
    }

    /// Forward: entries above the range are none of ours, and neither are the leaves after them.
    fn cut_behind(&mut self, count: usize) {
        if self.range.high == <S::Bits as latchless_core::base::key::Bits>::MAX || count == 0 {
            return;
        }
        if self.tree.nodes.key(self.leaf, count - 1) > self.range.high {
            self.to = self.tree.up_to_in(self.leaf, self.range.high).max(self.from);
            self.ended = true;
        } else if self.tree.nodes.key(self.leaf, count - 1) == self.range.high {
            self.ended = true;
        }
    }

    /// Backward: entries below the range are none of ours, and neither are the leaves before them.
    fn cut_before(&mut self) {
        let nodes = &self.tree.nodes;
        if self.to > 0 && nodes.key(self.leaf, 0) <= self.range.low {
            let keys = nodes.keys(self.leaf, self.to);
            self.from = keys.partition_point(|&key| key < self.range.low);
            self.ended = true;
        }
    }
}

/// Prefetches the buffer's places for the entries of the leaf that is `lead` leaves ahead, assumed to be
/// full (§3.3).
fn prefetch_room<S: Shape, K: Sink<S::Bits>>(sink: &K, lead: usize) {
    if S::PREFETCH {
        let pairs = Layout::<S>::LEAF_PAIRS;
        sink.prefetch::<S::Trace>(lead * pairs, pairs);
    }
}
