//! Operations on several keys at once: while the memory of one key is on its way, the others proceed.
//!
//! The keys of a group go down one level at a time. Each step reads the lines that the previous step has
//! prefetched, and prefetches the lines of the next one.

use super::change::Tag;
use super::edit::edit_from;
use super::finder::{Aim, Start, StartBy};
use super::get::{Own, Wanted, find_near, get_at, get_near};
use super::long::check_length;
use super::node::Toward;
use super::store::Store;
use super::take::{OneWord, Take};
use super::text::{Hashed, Seed};
use super::tree::ByteTree;
use crate::blink::{Edit, Edited, Levels};
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The most keys that go down together.
pub const GROUP: usize = 16;

/// The largest group of edits. Each reads and writes some fifteen lines of its leaf: more leaves would
/// evict each other from the first-level cache.
pub const EDITS: usize = 8;

/// A key's way down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub hash: u64,
    /// The node that it has reached; at the end a leaf.
    pub at: Start,
}

impl Way {
    pub(super) const NONE: Self = Self { hash: 0, at: Start::new(NodeRef::NIL, StartBy::Descent) };
}

impl ByteTree {
    /// The values under at most [`GROUP`] keys.
    pub fn get_group(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) {
        let mut answers = answers.iter_mut();
        let done = |answer, _: &_| *answers.next().expect("a place for each answer") = answer;
        self.get_group_by(keys, &mut OneWord, done);
    }

    /// Looks up a group of keys; `take` takes the values. Calls `done` for each key in order with whether
    /// it has a value.
    #[inline]
    pub fn get_group_by<T: Take>(
        &self,
        keys: &[&[u8]],
        take: &mut T,
        done: impl FnMut(Option<T::Value>, &T),
    ) {
        self.look_up_group(&[Own; GROUP], keys, take, done);
    }

    /// Looks up a group of keys, of each of which an entry is wanted; otherwise as
    /// [`ByteTree::get_group_by`].
    #[inline(always)]
    pub(super) fn look_up_group<W: Wanted, T: Take>(
        &self,
        wanted: &[W],
        keys: &[&[u8]],
        take: &mut T,
        done: impl FnMut(Option<T::Value>, &T),
    ) {
        self.store.dispatch().run(GetGroup { tree: self, wanted, keys, take, done });
    }

    /// Applies edits, all with the same purpose, to the entries of at most [`GROUP`] keys, in order.
    /// Returns each previous value.
    ///
    /// # Errors
    /// The first error, and how many edits were done before it.
    pub fn edit_group(
        &self,
        keys: &[&[u8]],
        aim: Aim,
        edits: &mut dyn Iterator<Item = Edit<u64>>,
        done: &mut dyn FnMut(Edited<u64>),
    ) -> Result<()> {
        // So far only; the caller goes on after the key that is refused.
        let refused = keys.iter().position(|key| check_length(key).is_err()).unwrap_or(keys.len());
        self.store.dispatch().run(EditGroup { tree: self, keys: &keys[..refused], aim, edits, done })?;
        keys.get(refused).map_or(Ok(()), |key| check_length(key))
    }
}

/// Where edits of these keys begin. The lines that they read are prefetched.
#[inline(always)]
pub(super) fn starts_together<S: Search>(tree: &ByteTree, keys: &[&[u8]], aim: Aim) -> [Way; GROUP] {
    let ByteTree { store, finder, .. } = tree;
    let mut ways = [Way::NONE; GROUP];
    if let Some(at) = finder.start_at_end(store) {
        ways.iter_mut().zip(keys).for_each(|(way, key)| *way = Way { hash: store.hash(key), at });
        return ways;
    }
    descend_together::<S, _>(tree, &[Own; GROUP], keys, aim, &mut ways);
    for (way, key) in ways.iter_mut().zip(keys) {
        let hash = hash_of(store, Own, way, key);
        way.hash = hash;
        // An added key is usually absent.
        if aim == Aim::Find {
            prefetch_entry::<S>(store, way.at, Seed::tag(hash));
        }
        let shape = store.at(way.at.leaf).1.shape();
        store.prefetch().slots(way.at.leaf, way.at.share, shape);
    }
    ways
}

/// The leaves that are likely to have these keys: by guesses where there are any. Only keys without a
/// guess by position are hashed.
#[inline(always)]
fn descend_together<S: Search, W: Wanted>(
    tree: &ByteTree,
    wanted: &[W],
    keys: &[&[u8]],
    aim: Aim,
    ways: &mut [Way; GROUP],
) {
    let ByteTree { store, finder, .. } = tree;
    let mut places = [0; GROUP];
    let slots = finder.prefetch_slots(keys, aim, &mut places);
    if slots.is_none() {
        for ((way, key), wanted) in ways.iter_mut().zip(keys).zip(wanted) {
            way.hash = wanted.hash(store, key);
            finder.prefetch_guesses(way.hash);
        }
    }
    let (root, levels) = store.root().get();
    let mut unguessed = [0u8; GROUP];
    let mut count = 0;
    let those = ways.iter_mut().enumerate().zip(keys.iter().zip(places)).zip(wanted);
    for (((at, way), (key, place)), wanted) in those {
        let by_slot = finder.guess_at_slot(store, slots, place);
        if by_slot.is_none() && slots.is_some() {
            way.hash = wanted.hash(store, key);
        }
        if let Some(start) = finder.guess_at(by_slot, way.hash) {
            way.at = start;
            match start.share {
                Some(_) => store.prefetch().header(start.leaf),
                None => store.prefetch().node(start.leaf, 0),
            }
        } else {
            way.at.leaf = root;
            unguessed[count] = at as u8;
            count += 1;
        }
    }
    descend_those::<S>(store, keys, ways, &unguessed[..count], levels);
}

/// The hash of a key with this way. It isn't computed yet if the key's position gave the leaf.
#[inline(always)]
fn hash_of<W: Wanted>(store: &Store, wanted: W, way: &Way, key: &[u8]) -> u64 {
    if way.at.by == StartBy::Position { wanted.hash(store, key) } else { way.hash }
}

/// The tag of a key with this way. A closure in its place would be called.
struct TagOfWay<'a, W> {
    store: &'a Store,
    wanted: W,
    way: &'a Way,
    key: &'a [u8],
}

impl<W: Wanted> Tag for TagOfWay<'_, W> {
    #[inline(always)]
    fn tag(self) -> u8 {
        Seed::tag(hash_of(self.store, self.wanted, self.way, self.key))
    }
}

/// Takes these of the keys from the root to their leaves.
#[inline(always)]
pub(super) fn descend_those<S: Search>(
    store: &Store,
    keys: &[&[u8]],
    ways: &mut [Way; GROUP],
    those: &[u8],
    levels: usize,
) {
    for below in (0..levels - 1).rev() {
        for &at in those {
            let (node, key) = (&mut ways[usize::from(at)].at.leaf, keys[usize::from(at)]);
            // Nil: the descent was disturbed; it restarts at the end.
            if !node.is_nil() {
                *node = store.child::<S>(*node, key, Toward::Key).unwrap_or(NodeRef::NIL);
                store.prefetch().node(*node, below);
            }
        }
    }
    for &at in those {
        let (node, key) = (&mut ways[usize::from(at)].at.leaf, keys[usize::from(at)]);
        if node.is_nil() {
            *node = store.descend_to_leaf::<Scalar>(key, Toward::Key);
        }
    }
}

/// Prefetches the entry that a key's tag leads to, or the records around the likely place in a leaf of
/// records.
#[inline(always)]
fn prefetch_entry<S: Search>(store: &Store, Start { leaf, share, .. }: Start, tag: impl Tag) {
    let (_, view) = store.at(leaf);
    let shape = view.shape();
    if shape.is_of_records() {
        if let Some(share) = share {
            store.prefetch().heads_near(leaf, share, shape);
        }
    } else if let Some((head, place)) = view.likely_place::<S>(tag.tag()) {
        store.prefetch().word(leaf, head);
        store.prefetch().word(leaf, place);
    }
}

struct GetGroup<'a, W, T, D> {
    tree: &'a ByteTree,
    /// The wanted entries of the keys.
    wanted: &'a [W],
    keys: &'a [&'a [u8]],
    take: &'a mut T,
    done: D,
}

impl<W: Wanted, T: Take, D: FnMut(Option<T::Value>, &T)> Operation for GetGroup<'_, W, T, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { tree, wanted, keys, take, mut done } = self;
        let store = &tree.store;
        let mut ways = [Way::NONE; GROUP];
        descend_together::<S, W>(tree, wanted, keys, Aim::Find, &mut ways);
        for ((way, key), &wanted) in ways.iter().zip(keys).zip(wanted) {
            prefetch_entry::<S>(store, way.at, TagOfWay { store, wanted, way, key });
        }
        let mut nears = [None; GROUP];
        for ((near, way), key) in nears.iter_mut().zip(&ways).zip(keys) {
            if let Some(share) = way.at.share {
                *near = find_near::<S>(store, way.at.leaf, key, share);
            }
            if let Some(near) = *near {
                store.prefetch().word(way.at.leaf, near.record());
            }
        }
        let those = wanted.iter().zip(keys).zip(&ways).zip(nears);
        for (((&wanted, &key), &Way { hash, at }), near) in those {
            if let Some(near) = near
                && let Some(answer) = get_near(tree, wanted, at.leaf, near, key, take)
            {
                done(answer, take);
                continue;
            }
            let answer = get_at::<S, W, T>(tree, wanted, at, Hashed { key, hash }, take);
            done(answer, take);
        }
    }
}

struct EditGroup<'a> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    aim: Aim,
    edits: &'a mut dyn Iterator<Item = Edit<u64>>,
    done: &'a mut dyn FnMut(Edited<u64>),
}

impl Operation for EditGroup<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<()> {
        let ways = starts_together::<S>(self.tree, self.keys, self.aim);
        for ((key, way), mut edit) in self.keys.iter().zip(ways).zip(self.edits) {
            (self.done)(edit_from::<S, _>(self.tree, way.at, Hashed { key, hash: way.hash }, &mut edit)?);
        }
        Ok(())
    }
}
