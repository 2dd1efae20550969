//! The nearest entries on both sides of a key, as of one moment.
//!
//! Usually the key's leaf has both, and is read in one version. If it lacks one, leaves on that side are
//! passed, as in the search for one entry (`nearest.rs`), with the same rule: after the last leaf has been
//! read, all others must still have the version that was read. At the first read of the last leaf all of
//! them were at rest, and together they covered everything from the one answer to the other.

use super::blink::BlinkTree;
use super::group::{Descents, groups};
use super::latched::beside_latched;
use super::nearest::{Nearest, Passed, Restart, TRIES};
use super::nearest_each::still;
use super::sides::{Beside, Own, Starts};
use super::tuners::{Group, Requests};
use crate::blink::{Levels, Mode};
use crate::node::Leaf;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{next, previous};
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The content of the key's leaf.
#[derive(Clone, Copy)]
struct OwnLeaf<B> {
    found: Beside<B>,
    low: B,
    high: B,
}

/// The key's leaf, read at rest.
struct ReadLeaf<B> {
    own: OwnLeaf<B>,
    node: NodeRef,
    /// `None`: it was read under its latch.
    version: Option<Version>,
}

impl<B: Bits> OwnLeaf<B> {
    #[inline(always)]
    fn read<S: Search>(leaf: Leaf<'_, B>, starts: Starts<B>) -> Self {
        Self { found: starts.in_leaf::<S>(leaf), low: leaf.low(), high: leaf.high() }
    }

    /// Returns whether other leaves may have what this one lacks.
    #[inline(always)]
    fn lacks_any(&self, starts: Starts<B>) -> bool {
        let Beside { before, after } = self.found;
        let lacks_before = before.is_none() && starts.before.is_some() && self.low != B::MIN;
        lacks_before || after.is_none() && starts.after.is_some() && self.high != B::MAX
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Returns the nearest entries on both sides of a key, as of one moment.
    #[inline]
    pub fn beside<M: Mode>(&self, key: B, own: Own) -> Beside<B> {
        let starts = Starts::of(key, own);
        self.store().run(FindBeside { tree: self, key, starts, mode: PhantomData::<M> })
    }

    /// Returns the nearest entries on both sides of many keys, in the keys' order. Each answer is of one
    /// moment. See [`BlinkTree::beside`].
    #[inline]
    pub fn beside_each<M: Mode>(
        &self,
        len: usize,
        group: Group,
        own: Own,
        key_at: impl Fn(usize) -> B,
        answer: impl FnMut(usize, Beside<B>),
    ) {
        self.store().run(BesideEach { tree: self, len, group, own, key_at, answer, mode: PhantomData::<M> });
    }
}

/// Finds the entries beside a key whose leaf has changed, or lacks one.
#[cold]
#[inline(never)]
fn beside_again<B: Bits, M: Mode>(tree: &BlinkTree<B>, key: B, own: Own) -> Beside<B> {
    tree.beside::<M>(key, own)
}

struct FindBeside<'a, B, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    starts: Starts<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> FindBeside<'_, B, M> {
    /// Reads the key's leaf.
    #[inline(always)]
    fn look<S: Search>(&self) -> ReadLeaf<B> {
        let start = self.tree.finder().descend::<S>(self.key);
        let starts = self.starts;
        let (own, node, version) = self
            .tree
            .finder()
            .read_leaf_from::<M, _>(start, self.key, |leaf| OwnLeaf::read::<S>(leaf, starts));
        ReadLeaf { own, node, version }
    }

    /// Continues from the key's leaf, which lacks one of the entries.
    #[inline(never)]
    fn search(&self, own: ReadLeaf<B>) -> Beside<B> {
        let mut own = Some(own);
        for _ in 0..TRIES {
            let leaf = own.take().unwrap_or_else(|| self.look::<Scalar>());
            if let Ok(found) = self.pass(leaf) {
                return found;
            }
            self.tree.store().counts().count_restart();
        }
        beside_latched::<_, M>(self.tree, self.key, self.starts)
    }

    /// Passes leaves on the sides where the key's leaf has no entry.
    fn pass(&self, leaf: ReadLeaf<B>) -> Result<Beside<B>, Restart> {
        let ReadLeaf { own: OwnLeaf { mut found, low, high }, node, version } = leaf;
        let mut passed = Passed::default();
        if M::SHARED {
            passed.push(node, version)?;
        }
        if found.before.is_none() && self.starts.before.is_some() {
            found.before = self.go_on(previous(low), Direction::Reverse, &mut passed)?;
        }
        if found.after.is_none() && self.starts.after.is_some() {
            found.after = self.go_on(next(high), Direction::Forward, &mut passed)?;
        }
        if passed.still(self.tree) { Ok(found) } else { Err(Restart) }
    }

    /// Finds the first entry from a leaf's end on, in a direction. Records all leaves that it reads.
    fn go_on(
        &self,
        mut from: Option<B>,
        direction: Direction,
        passed: &mut Passed,
    ) -> Result<Option<(B, B)>, Restart> {
        while let Some(start) = from {
            let search = Nearest { tree: self.tree, from: start, direction, mode: PhantomData::<M> };
            let seen = search.look::<Scalar>(start);
            if M::SHARED {
                passed.push(seen.node, seen.version)?;
            }
            if seen.found.is_some() {
                return Ok(seen.found);
            }
            from = search.after(&seen);
        }
        Ok(None)
    }
}

impl<B: Bits, M: Mode> Operation for FindBeside<'_, B, M> {
    type Output = Beside<B>;

    #[inline(always)]
    fn run<S: Search>(self) -> Beside<B> {
        let leaf = self.look::<S>();
        if leaf.own.lacks_any(self.starts) { self.search(leaf) } else { leaf.own.found }
    }
}

struct BesideEach<'a, B, F, G, M> {
    tree: &'a BlinkTree<B>,
    len: usize,
    group: Group,
    own: Own,
    key_at: F,
    answer: G,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Beside<B>)> Operation
    for BesideEach<'_, B, F, G, M>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let (tree, own) = (self.tree, self.own);
        let mut descents = Descents::new(tree);
        for (start, len) in groups(tree, Requests::Looks, self.len, self.group) {
            descents.len = len;
            for at in 0..len {
                descents.keys[at] = (self.key_at)(start + at);
            }
            descents.descend::<S>(tree);
            descents.name_blocks::<S, false>(tree, |_| false);
            for at in 0..len {
                let (key, node) = (descents.keys[at], descents.nodes[at]);
                let (leaf, starts) = (node.leaf::<B>(), Starts::of(key, own));
                let version = descents.versions[at].filter(|_| leaf.covers(key));
                let read = OwnLeaf::read::<S>(leaf, starts);
                let is_told = still::<M>(node, version) && !read.lacks_any(starts);
                let found = if is_told { read.found } else { beside_again::<_, M>(tree, key, own) };
                (self.answer)(start + at, found);
            }
        }
    }
}
