//! Batches: requests descend in groups, so that their cache misses overlap.
//!
//! A group descends together, level by level, in two passes per level: one reads the nodes' first lines and
//! prefetches the blocks that the hints name, the next reads the blocks and prefetches the children. So
//! every line is prefetched a whole group of requests before it is read.

use super::blink::BlinkTree;
use super::directory::{DEPTH_MAX, Entry, Routes};
use super::edit::{ask_for_split, edit_with_split, edit_without_split};
use super::ends::edit_at_ends;
use super::get::{get_again, get_with};
use super::store::At;
use super::tuners::{Group, Requests};
use crate::blink::{Edit, Edited, Levels, Mode};
use crate::node::LeafReader;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read_later;
use latchless_core::mem::node_ref::NodeRef;

/// In place of a block: the request goes to the first or the last leaf.
const AT_END: u8 = u8::MAX;

/// Levels at the top that are in the nearest caches anyway.
const CACHED_LEVELS: usize = 2;

/// Requests that descend together.
pub(super) struct Descents<'a, B> {
    pub(super) keys: [B; Group::MAX],
    pub(super) nodes: [At<'a>; Group::MAX],
    pub(super) blocks: [u8; Group::MAX],
    levels: [u8; Group::MAX],
    /// The keys' places in the prediction table, while their leaves are predicted.
    places: [u64; Group::MAX],
    /// The requests that go through inner nodes, the first `rest_len`: the leaves of the others were
    /// predicted.
    rest: [u8; Group::MAX],
    rest_len: usize,
    pub(super) versions: [Option<Version>; Group::MAX],
    pub(super) len: usize,
}

impl<'a, B: Bits> Descents<'a, B> {
    #[inline(always)]
    pub(super) fn new(tree: &'a BlinkTree<B>) -> Self {
        Self {
            keys: [B::MIN; Group::MAX],
            nodes: [tree.store().at(tree.store().root().get().0); Group::MAX],
            blocks: [0; Group::MAX],
            levels: [0; Group::MAX],
            places: [0; Group::MAX],
            rest: [0; Group::MAX],
            rest_len: 0,
            versions: [None; Group::MAX],
            len: 0,
        }
    }

    /// Finds the keys' leaves and prefetches their first lines.
    #[inline(always)]
    pub(super) fn descend<S: Search>(&mut self, tree: &'a BlinkTree<B>) {
        self.descend_or_stay::<S>(tree, |_| false);
    }

    /// Finds the leaves of all keys but those that `adds` and that probably belong to the first or the last
    /// leaf: these get [`AT_END`] in place of a block. See [`Descents::descend`].
    #[inline(always)]
    fn descend_but_ends<S: Search>(&mut self, tree: &'a BlinkTree<B>, adds: impl Fn(usize) -> bool) {
        self.blocks[..self.len].fill(0);
        self.descend_or_stay::<S>(tree, adds);
    }

    #[inline(always)]
    fn descend_or_stay<S: Search>(&mut self, tree: &'a BlinkTree<B>, stays: impl Fn(usize) -> bool) {
        if self.guess(tree, stays) {
            self.go_to_ends(tree);
        }
        if self.rest_len == 0 {
            return;
        }
        let level = self.start::<S>(tree);
        let levels = tree.store().root().get().1;
        for level in (1..=level).rev() {
            self.descend_one::<S>(tree, levels.saturating_sub(level) <= CACHED_LEVELS);
        }
    }

    /// Prefetches the leaves that can be predicted, and lists the other requests. Returns whether the first
    /// or the last leaf probably has one of these. Requests for which `stays` is true are only marked.
    #[inline(always)]
    fn guess(&mut self, tree: &'a BlinkTree<B>, stays: impl Fn(usize) -> bool) -> bool {
        let slots = tree.finder().guesses().slots();
        let ((high, low), mut at_ends) = (tree.finder().guesses().end_fences(), false);
        self.rest_len = 0;
        if let Some(slots) = slots {
            for (place, key) in self.places.iter_mut().zip(&self.keys[..self.len]) {
                *place = slots.ask(key.to_u64());
            }
        }
        for at in 0..self.len {
            let key = self.keys[at].to_u64();
            let is_at_end = (key <= high) | (low <= key);
            if is_at_end && stays(at) {
                self.blocks[at] = AT_END;
            } else if let Some((leaf, _)) = slots.and_then(|slots| slots.guess_at(self.places[at].into())) {
                self.go_to(tree, at, leaf);
            } else {
                self.rest[self.rest_len] = at as u8;
                self.rest_len += 1;
                at_ends |= is_at_end;
            }
        }
        at_ends
    }

    /// Removes those from the list that the first or the last leaf probably has.
    #[cold]
    #[inline(never)]
    fn go_to_ends(&mut self, tree: &'a BlinkTree<B>) {
        for i in 0..core::mem::take(&mut self.rest_len) {
            let at = usize::from(self.rest[i]);
            if let Some((leaf, _)) = tree.finder().guesses().at_an_end(self.keys[at].to_u64()) {
                self.go_to(tree, at, leaf);
            } else {
                self.rest[self.rest_len] = at as u8;
                self.rest_len += 1;
            }
        }
    }

    /// Finds the starts of the descents, and moves those that start higher up down to the level of the
    /// others, which it returns.
    #[inline(always)]
    fn start<S: Search>(&mut self, tree: &'a BlinkTree<B>) -> usize {
        let Some(routes) = tree.finder().directory().routes() else {
            let top = tree.finder().routing().top();
            let root = tree.store().at(top.node());
            self.rest[..self.rest_len].iter().for_each(|&at| self.nodes[usize::from(at)] = root);
            return self.go_on_together::<S>(tree, top.level());
        };
        let starts = self.find_starts(routes);
        let (mut lowest, mut highest) = (usize::MAX, 0);
        for i in 0..self.rest_len {
            let at = usize::from(self.rest[i]);
            let start = if starts[at].is_empty() { tree.finder().routing().top() } else { starts[at] };
            self.levels[at] = start.level() as u8;
            (lowest, highest) = (lowest.min(start.level()), highest.max(start.level()));
            self.go_to(tree, at, start.node());
        }
        if highest > lowest {
            self.catch_up::<S>(tree, lowest);
        }
        if self.rest_len == self.len && self.nodes[0].node == self.nodes[self.len - 1].node {
            lowest = self.go_on_together::<S>(tree, lowest);
        }
        lowest
    }

    /// Looks up the entries of the requests in the directory, one cell deeper in each pass: no branch
    /// depends on the number of cells on a key's way.
    #[inline(always)]
    fn find_starts(&self, routes: Routes<'_>) -> [Entry; Group::MAX] {
        let (mut entries, mut cells) = ([Entry::EMPTY; Group::MAX], [0; Group::MAX]);
        let (mut left, mut len) = (self.rest, self.rest_len);
        for _ in 0..DEPTH_MAX {
            let mut deeper = 0;
            for i in 0..len {
                let at = usize::from(left[i]);
                let entry = routes.entry_in(cells[at], self.keys[at].to_u64());
                routes.ask(entry.cell_number());
                (entries[at], cells[at], left[deeper]) = (entry, entry.cell_number(), at as u8);
                deeper += usize::from(entry.is_cell());
            }
            len = deeper;
            if len == 0 {
                break;
            }
        }
        // There can't be more, except in words that are being written.
        left[..len].iter().for_each(|&at| entries[usize::from(at)] = Entry::EMPTY);
        entries
    }

    /// Moves requests above this level down to it.
    #[inline(always)]
    fn catch_up<S: Search>(&mut self, tree: &'a BlinkTree<B>, level: usize) {
        for i in 0..self.rest_len {
            let at = usize::from(self.rest[i]);
            let own = usize::from(self.levels[at]);
            for _ in level..own {
                self.nodes[at] = tree.store().at(self.nodes[at].inner::<B>().child::<S>(self.keys[at]));
            }
            if own > level {
                prefetch_read_later(self.nodes[at].line_address(0));
            }
        }
    }

    /// Moves keys that are at one node to the lowest node on the way to all their leaves, if they ascend,
    /// which makes that easy to find. Returns its level.
    #[inline(always)]
    fn go_on_together<S: Search>(&mut self, tree: &'a BlinkTree<B>, mut level: usize) -> usize {
        let (mut node, keys) = (self.nodes[0], &self.keys[..self.len]);
        if self.rest_len == self.len && self.len > 1 && keys[0] <= keys[self.len - 1] && keys.is_sorted() {
            while level > 0 {
                let child = node.inner::<B>().child::<S>(keys[0]);
                if child != node.inner::<B>().child::<S>(keys[self.len - 1]) {
                    break;
                }
                (node, level) = (tree.store().at(child), level - 1);
            }
            self.nodes[..self.len].fill(node);
        }
        level
    }

    /// Moves all keys down one level, and prefetches the first lines of their nodes. `cached`: this level is
    /// in the nearest caches.
    #[inline(always)]
    fn descend_one<S: Search>(&mut self, tree: &'a BlinkTree<B>, cached: bool) {
        if cached {
            for i in 0..self.rest_len {
                let at = usize::from(self.rest[i]);
                self.go_to(tree, at, self.nodes[at].inner::<B>().child::<S>(self.keys[at]));
            }
            return;
        }
        for i in 0..self.rest_len {
            let at = usize::from(self.rest[i]);
            self.blocks[at] = self.nodes[at].inner::<B>().ask_for_named::<S>(self.keys[at]) as u8;
        }
        for i in 0..self.rest_len {
            let at = usize::from(self.rest[i]);
            let inner = self.nodes[at].inner::<B>();
            self.go_to(tree, at, inner.child_in::<S>(usize::from(self.blocks[at]), self.keys[at]));
        }
    }

    /// Moves a request to a node, and prefetches its first line.
    #[inline(always)]
    fn go_to(&mut self, tree: &'a BlinkTree<B>, at: usize, node: NodeRef) {
        self.nodes[at] = tree.store().at(node);
        prefetch_read_later(self.nodes[at].line_address(0));
    }

    /// Reads the leaves' first lines and prefetches the blocks that they name; for requests that `adds`
    /// marks as possible inserts also the lines that make room for the entry, and what a split needs.
    #[inline(always)]
    pub(super) fn name_blocks<S: Search, const SOME_AT_ENDS: bool>(
        &mut self,
        tree: &BlinkTree<B>,
        adds: impl Fn(usize) -> bool,
    ) {
        let mut full = None;
        for at in 0..self.len {
            let found = self.nodes[at];
            if SOME_AT_ENDS && self.blocks[at] == AT_END {
                continue;
            }
            self.versions[at] = found.latch().stable_version();
            let leaf = found.leaf::<B>();
            let block = leaf.ask_for_named::<S>(self.keys[at]);
            // Keys in order belong to one leaf.
            if adds(at) && full != Some(found.node) && LeafReader(leaf).ask_for_room(block) {
                ask_for_split(tree, found, self.keys[at]);
                full = Some(found.node);
            }
            self.blocks[at] = block as u8;
        }
    }

    /// Returns the value of one of the keys.
    #[inline(always)]
    fn answer<S: Search, M: Mode>(&self, tree: &'a BlinkTree<B>, at: usize) -> Option<B> {
        let (found_at, key) = (self.nodes[at], self.keys[at]);
        let leaf = found_at.leaf::<B>();
        let block = usize::from(self.blocks[at]);
        if !M::SHARED && leaf.covers(key) {
            return leaf.get_in::<S>(block, key);
        }
        if let Some(version) = self.versions[at] {
            let inside = leaf.covers(key);
            let found = leaf.get_in::<S>(block, key);
            if inside && found_at.latch().validate(version) {
                return found;
            }
        }
        get_again::<_, M>(tree, found_at, key)
    }
}

/// Splits a batch into groups, each with its first request and its length.
#[inline(always)]
pub(super) fn groups<B: Bits>(
    tree: &BlinkTree<B>,
    kind: Requests,
    len: usize,
    group: Group,
) -> impl Iterator<Item = (usize, usize)> {
    tree.tuners().groups(kind, len, group, tree.store().root().get().1)
}

impl<B: Bits> BlinkTree<B> {
    /// Returns the values of `len` keys, in their order.
    #[inline]
    pub fn get_each<M: Mode>(
        &self,
        len: usize,
        group: Group,
        key_at: impl Fn(usize) -> B,
        answer: impl FnMut(usize, Option<B>),
    ) {
        self.store().run(GetEach { tree: self, len, group, key_at, answer, mode: PhantomData::<M> });
    }

    /// Applies `len` edits, in their order. `edit_at` is called several times for each of them.
    #[inline]
    pub fn edit_each<M: Mode>(
        &self,
        len: usize,
        group: Group,
        edit_at: impl Fn(usize) -> (B, Edit<B>),
        done: impl FnMut(usize, Result<Edited<B>>),
    ) {
        self.store().run(EditEach { tree: self, len, group, edit_at, done, mode: PhantomData::<M> });
    }
}

struct GetEach<'a, B, F, G, M> {
    tree: &'a BlinkTree<B>,
    len: usize,
    group: Group,
    key_at: F,
    answer: G,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Option<B>)> Operation for GetEach<'_, B, F, G, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let mut descents = Descents::new(self.tree);
        for (start, len) in groups(self.tree, Requests::Looks, self.len, self.group) {
            descents.len = len;
            for at in 0..len {
                descents.keys[at] = (self.key_at)(start + at);
            }
            descents.descend::<S>(self.tree);
            descents.name_blocks::<S, false>(self.tree, |_| false);
            for at in 0..len {
                (self.answer)(start + at, descents.answer::<S, M>(self.tree, at));
            }
        }
    }
}

struct EditEach<'a, B, F, G, M> {
    tree: &'a BlinkTree<B>,
    len: usize,
    group: Group,
    edit_at: F,
    done: G,
    mode: PhantomData<M>,
}

impl<B, M, F, G> Operation for EditEach<'_, B, F, G, M>
where
    B: Bits,
    M: Mode,
    F: Fn(usize) -> (B, Edit<B>),
    G: FnMut(usize, Result<Edited<B>>),
{
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let mut descents = Descents::new(self.tree);
        for (start, len) in groups(self.tree, Requests::Edits, self.len, self.group) {
            // The edits are requested again where they are needed, so the compiler sees their kind, if all
            // have the same one.
            let edit_at = |at: usize| (self.edit_at)(start + at);
            descents.len = len;
            for at in 0..len {
                descents.keys[at] = edit_at(at).0;
            }
            let adds = |at: usize| edit_at(at).1.may_add();
            descents.descend_but_ends::<S>(self.tree, adds);
            descents.name_blocks::<S, true>(self.tree, adds);
            let (mut has_split, mut next) = (false, 0);
            while next < len {
                let at = next;
                next += 1;
                let (key, (_, edit)) = (descents.keys[at], edit_at(at));
                let done = &mut self.done;
                if descents.blocks[at] == AT_END {
                    let stays = descents.blocks[at..len].iter().take_while(|&&block| block == AT_END).count();
                    next = at + stays;
                    edit_at_ends::<_, M>(self.tree, at..next, edit_at, |at, edited| done(start + at, edited));
                    continue;
                }
                if edit == Edit::Look {
                    // Earlier edits of the group may have moved the key; the way down is cached.
                    let before = get_with::<_, S, M>(self.tree, key);
                    done(start + at, Ok(Edited { before, applied: false }));
                    continue;
                }
                // An earlier edit of the group may have split the leaf.
                let mut found = descents.nodes[at];
                if has_split && !found.leaf::<B>().covers(key) {
                    found = self.tree.finder().descend::<S>(key);
                }
                // Two calls: at the first, which nearly all edits reach, the compiler sees that there was no
                // error.
                match edit_without_split::<_, S, M>(self.tree, found, key, edit) {
                    Ok(edited) => done(start + at, Ok(edited)),
                    Err(full) => {
                        done(start + at, edit_with_split::<_, M>(self.tree, full, key, edit));
                        has_split = true;
                    }
                }
            }
        }
    }
}
