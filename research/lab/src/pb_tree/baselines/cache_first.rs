//! A *cache-first* fractal pB+-Tree (Chen, Gibbons, Mowry, Valentin: *Fractal Prefetching B+-Trees*, SIGMOD
//! 2002): a pB+-Tree whose nodes are eleven lines wide, put into disk pages so that a search reads few of
//! them.
//!
//! Adjacent leaves share a page. An inner node has as many of its children in its own page as fit; of the
//! others, those right above the leaves fill pages together, and higher ones begin separate pages.

use super::disk_pages::{DiskPages, LINE_WORDS, PAGE_WORDS, last_up_to, prefetch, read, read_half, set_half};
use super::page_tree::{find_in_node, write_node};
use latchless_core::mem::touch::{Trace, Work};

const NODE: usize = 11 * LINE_WORDS;
/// Nodes of a page.
const SLOTS: usize = PAGE_WORDS / NODE;
/// Entries of a leaf.
const PAIRS: usize = (NODE - 1) / 2;
/// Children of an inner node: a key, a page, and a slot in sixteen bits.
const CHILDREN: usize = (NODE - 1) * 4 / 10;
const PAGES_AT: usize = 1 + CHILDREN;
const SLOTS_AT: usize = 1 + 2 * CHILDREN;

/// The place of a node.
type Place = (usize, usize);
/// A node's children by their first keys: their places on the level below.
type Children = Vec<(u32, usize)>;

/// The tree. It can't be changed.
pub(super) struct CacheFirst<T> {
    pages: DiskPages<T>,
    root: Option<Place>,
    levels: usize,
}

impl<T: Trace> CacheFirst<T> {
    /// A tree of full nodes with these entries, which ascend.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let mut pages = DiskPages::new();
        let leaves: Vec<&[(u32, u32)]> = entries.chunks(PAIRS).collect();
        let mut places: Vec<Place> = Vec::with_capacity(leaves.len());
        for (nth, pairs) in leaves.iter().enumerate() {
            let page = if nth % SLOTS == 0 { pages.add() } else { places[nth - 1].0 };
            places.push((page, nth % SLOTS));
            write_node(node_mut(&mut pages, (page, nth % SLOTS)), PAIRS, pairs);
        }
        let mut level: Children = leaves.iter().enumerate().map(|(nth, pairs)| (pairs[0].0, nth)).collect();
        let mut levels: Vec<Vec<Children>> = Vec::new();
        while level.len() > 1 {
            let nodes: Vec<Children> = level.chunks(CHILDREN).map(<[_]>::to_vec).collect();
            level = nodes.iter().enumerate().map(|(nth, children)| (children[0].0, nth)).collect();
            levels.push(nodes);
        }
        let inner = placed(&levels, &mut pages);
        for (nodes, own) in levels.iter().zip(&inner) {
            for (children, &at) in nodes.iter().zip(own) {
                write_inner(node_mut(&mut pages, at), children, &places);
            }
            places.clone_from(own);
        }
        Self { pages, root: places.first().copied(), levels: 1 + levels.len() }
    }

    fn node(&self, (page, slot): Place) -> &[u32] {
        &self.pages.words(page)[slot * NODE..][..NODE]
    }

    fn child(&self, at: Place, key: u32) -> Place {
        T::work(Work::Visit);
        let node = self.node(at);
        prefetch::<T>(node);
        let child = last_up_to::<T>(&node[1..][..read::<T>(&node[0]) as usize], key);
        (read::<T>(&node[PAGES_AT + child]) as usize, read_half::<T>(&node[SLOTS_AT..], child))
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let leaf = (1..self.levels).fold(self.root?, |at, _| self.child(at, key));
        T::work(Work::Visit);
        let node = self.node(leaf);
        prefetch::<T>(node);
        let (found, value) = find_in_node::<T>(node, PAIRS, key);
        (found == key).then_some(value)
    }

    /// Pages that the search of a key reads.
    pub(super) fn pages_of(&self, key: u32) -> usize {
        let Some(root) = self.root else { return 0 };
        let (mut at, mut pages) = (root, 1);
        for _ in 1..self.levels {
            let child = self.child(at, key);
            pages += usize::from(child.0 != at.0);
            at = child;
        }
        pages
    }
}

fn node_mut<T: Trace>(pages: &mut DiskPages<T>, (page, slot): Place) -> &mut [u32] {
    &mut pages.words_mut(page)[slot * NODE..][..NODE]
}

fn write_inner(node: &mut [u32], children: &Children, places: &[Place]) {
    node[0] = children.len() as u32;
    for (at, &(key, child)) in children.iter().enumerate() {
        let (page, slot) = places[child];
        (node[1 + at], node[PAGES_AT + at]) = (key, page as u32);
        set_half(&mut node[SLOTS_AT..], at, slot);
    }
}

/// Returns the places of the inner nodes of each level, the lowest level first.
fn placed<T: Trace>(levels: &[Vec<Children>], pages: &mut DiskPages<T>) -> Vec<Vec<Place>> {
    let mut places: Vec<Vec<Option<Place>>> = levels.iter().map(|nodes| vec![None; nodes.len()]).collect();
    // The next slot of the pages that nodes above leaves share.
    let mut shared: Place = (0, SLOTS);
    for level in (0..levels.len()).rev() {
        for (nth, children) in levels[level].iter().enumerate() {
            if places[level][nth].is_some() {
                continue;
            }
            if level == 0 && levels.len() > 1 {
                if shared.1 == SLOTS {
                    shared = (pages.add(), 0);
                }
                places[0][nth] = Some(shared);
                shared.1 += 1;
                continue;
            }
            let page = pages.add();
            places[level][nth] = Some((page, 0));
            if level > 0 {
                let own = children.iter().take(SLOTS - 1).enumerate();
                own.for_each(|(slot, &(_, child))| places[level - 1][child] = Some((page, 1 + slot)));
            }
        }
    }
    places.into_iter().map(|level| level.into_iter().flatten().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds_every_key_and_no_other;
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn pages_have_hardly_less_room_for_nodes() {
        assert_eq!((SLOTS, PAIRS, CHILDREN), (23, 87, 70));
        assert_eq!(SLOTS * PAIRS, 2001);
        const { assert!(SLOTS_AT + CHILDREN.div_ceil(2) <= NODE) };
    }

    #[test]
    fn finds_every_key() {
        finds_every_key_and_no_other(|entries| {
            let tree = CacheFirst::<NoTrace>::new(entries);
            Box::new(move |key| tree.get(key))
        });
    }

    #[test]
    fn children_share_the_page_of_their_parent_as_far_as_they_fit() {
        let entries: Vec<(u32, u32)> = (0..(30 * PAIRS * CHILDREN) as u32).map(|key| (key, key)).collect();
        // Above thirty nodes that are above leaves there is one.
        let tree = CacheFirst::<NoTrace>::new(&entries);
        assert_eq!(tree.levels, 3);
        let below = (PAIRS * CHILDREN) as u32;
        let pages = |child: u32| tree.pages_of(child * below + 5);
        assert!((0..SLOTS as u32 - 1).all(|child| pages(child) == 2));
        assert!((SLOTS as u32 - 1..30).all(|child| pages(child) == 3));
        assert_eq!(CacheFirst::<NoTrace>::new(&entries[..PAIRS]).pages_of(3), 1);
    }
}
