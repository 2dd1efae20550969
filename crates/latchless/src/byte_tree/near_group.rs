//! The nearest entries to several keys: while the memory of one key is on its way, the others proceed.

use super::finder::{Aim, Start, StartBy};
use super::group::{GROUP, Way, descend_those};
use super::key_room::KeyRoom;
use super::near::{Border, Nearest, nearest_elsewhere};
use super::take::Take;
use super::tree::ByteTree;
use crate::blink::Levels;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::mem::node_ref::NodeRef;

/// A key and its taken value.
type Found<'k, T> = Option<(&'k [u8], <T as Take>::Value)>;

impl ByteTree {
    /// Finds the nearest entries to at most [`GROUP`] keys, each as of one moment. `border` makes a key a
    /// border. Calls `done` for each key in order with the entry, if there is one; `take` takes the values.
    pub fn nearest_group<T: Take>(
        &self,
        keys: &[&[u8]],
        border: &dyn Fn(&'_ [u8]) -> Border<'_>,
        take: &mut T,
        done: &mut dyn FnMut(Found<'_, T>, &T),
    ) {
        self.store.dispatch().run(NearestGroup { tree: self, keys, border, take, done });
    }
}

struct NearestGroup<'a, T: Take> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    border: &'a dyn Fn(&'_ [u8]) -> Border<'_>,
    take: &'a mut T,
    done: &'a mut dyn FnMut(Found<'_, T>, &T),
}

impl<T: Take> Operation for NearestGroup<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { tree, keys, border, take, done } = self;
        let ways = starts_near::<S>(tree, keys);
        let mut key = KeyRoom::default();
        for (&own, way) in keys.iter().zip(ways) {
            let border = border(own);
            let found = Nearest { tree, border, key: &mut key, take: &mut *take }.from::<S>(way.at, own);
            let found = found.or_else(|| nearest_elsewhere(tree, border, &mut key, take));
            done(found.map(|value| (key.bytes(), value)), take);
        }
    }
}

/// Where searches for the neighbours of these keys begin. The lines that they read are prefetched. A key
/// needn't be there, so its hash gives no guess.
#[inline(always)]
fn starts_near<S: Search>(tree: &ByteTree, keys: &[&[u8]]) -> [Way; GROUP] {
    let ByteTree { store, finder, .. } = tree;
    let (mut ways, mut places) = ([Way::NONE; GROUP], [0; GROUP]);
    let slots = finder.prefetch_slots(keys, Aim::Find, &mut places);
    let (root, levels) = store.root().get();
    let (mut unguessed, mut count) = ([0u8; GROUP], 0);
    for (at, (way, place)) in ways.iter_mut().zip(places).take(keys.len()).enumerate() {
        if let Some(start) = slots.and_then(|slots| finder.start_by_slot(store, slots, place)) {
            way.at = start;
            continue;
        }
        way.at = Start::new(root, StartBy::Descent);
        unguessed[count] = at as u8;
        count += 1;
    }
    descend_those::<S>(store, keys, &mut ways, &unguessed[..count], levels);
    debug_assert!(ways[..keys.len()].iter().all(|way| way.at.leaf != NodeRef::NIL));
    ways
}
