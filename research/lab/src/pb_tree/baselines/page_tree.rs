//! Trees of disk pages: every node is a page. A page has its own form: an array that is searched by
//! halves, as in databases (*disk-optimized*), or a small tree of nodes that are prefetched whole
//! (*disk-first*, Chen, Gibbons, Mowry, Valentin: *Fractal Prefetching B+-Trees*, SIGMOD 2002).

use super::disk_pages::{DiskPages, LINE_WORDS, PAGE_WORDS, last_up_to, prefetch, read, read_half, set_half};
use super::frames::Frames;
use core::marker::PhantomData;
use latchless_core::mem::touch::{Trace, Work};

/// The form of a page: entries, in ascending order of their keys.
pub(super) trait InPage {
    /// The number of entries that it has room for.
    const ENTRIES: usize;
    /// Writes the entries of a fresh page.
    fn write(page: &mut [u32; PAGE_WORDS], entries: &[(u32, u32)]);
    /// The last entry whose key is at most `key`, or the first.
    fn find<T: Trace>(page: &[u32; PAGE_WORDS], key: u32) -> (u32, u32);
}

/// A count, all keys, all values.
pub(super) struct OneArray;

impl InPage for OneArray {
    const ENTRIES: usize = (PAGE_WORDS - 1) / 2;

    fn write(page: &mut [u32; PAGE_WORDS], entries: &[(u32, u32)]) {
        write_node(page, Self::ENTRIES, entries);
    }

    fn find<T: Trace>(page: &[u32; PAGE_WORDS], key: u32) -> (u32, u32) {
        T::work(Work::Visit);
        find_in_node::<T>(page, Self::ENTRIES, key)
    }
}

/// A root of three lines above leaves of eight: for each leaf its first key and, in sixteen bits, its
/// place. As many leaves as the root has room for fill the page.
pub(super) struct TwoLevels;

impl TwoLevels {
    const ROOT: usize = 3 * LINE_WORDS;
    const LEAF: usize = 8 * LINE_WORDS;
    const PAIRS: usize = (Self::LEAF - 1) / 2;
    /// Six bytes a child and the count.
    const CHILDREN: usize = (Self::ROOT - 1) * 4 / 6;
    const PLACES_AT: usize = 1 + Self::CHILDREN;
}

impl InPage for TwoLevels {
    const ENTRIES: usize = Self::CHILDREN * Self::PAIRS;

    fn write(page: &mut [u32; PAGE_WORDS], entries: &[(u32, u32)]) {
        for (nth, pairs) in entries.chunks(Self::PAIRS).enumerate() {
            let at = Self::ROOT + nth * Self::LEAF;
            page[0] += 1;
            page[1 + nth] = pairs[0].0;
            set_half(&mut page[Self::PLACES_AT..Self::ROOT], nth, at);
            write_node(&mut page[at..at + Self::LEAF], Self::PAIRS, pairs);
        }
    }

    fn find<T: Trace>(page: &[u32; PAGE_WORDS], key: u32) -> (u32, u32) {
        T::work(Work::Visit);
        let root = &page[..Self::ROOT];
        prefetch::<T>(root);
        let child = last_up_to::<T>(&root[1..][..read::<T>(&root[0]) as usize], key);
        let at = read_half::<T>(&root[Self::PLACES_AT..], child);
        let leaf = &page[at..at + Self::LEAF];
        T::work(Work::Visit);
        prefetch::<T>(leaf);
        find_in_node::<T>(leaf, Self::PAIRS, key)
    }
}

/// Writes a node with a count, room for that many keys, and their values.
pub(super) fn write_node(node: &mut [u32], room: usize, entries: &[(u32, u32)]) {
    node[0] = entries.len() as u32;
    for (at, &(key, value)) in entries.iter().enumerate() {
        (node[1 + at], node[1 + room + at]) = (key, value);
    }
}

/// The last entry of such a node whose key is at most `key`, or the first.
pub(super) fn find_in_node<T: Trace>(node: &[u32], room: usize, key: u32) -> (u32, u32) {
    let at = last_up_to::<T>(&node[1..][..read::<T>(&node[0]) as usize], key);
    (read::<T>(&node[1 + at]), read::<T>(&node[1 + room + at]))
}

/// The tree. It can't be changed.
pub(super) struct PageTree<T, F> {
    pages: DiskPages<T>,
    root: Option<usize>,
    levels: usize,
    /// The buffer manager, if there is one.
    frames: Option<Frames<T>>,
    form: PhantomData<F>,
}

impl<T: Trace, F: InPage> PageTree<T, F> {
    /// A tree of full pages with these entries, which ascend.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let mut tree =
            Self { pages: DiskPages::new(), root: None, levels: 0, frames: None, form: PhantomData };
        let mut level = entries.to_vec();
        while tree.levels == 0 || level.len() > 1 {
            let pages = level.chunks(F::ENTRIES).map(|entries| {
                let page = tree.pages.add();
                F::write(tree.pages.words_mut(page), entries);
                (entries[0].0, page as u32)
            });
            level = pages.collect();
            tree.levels += 1;
        }
        tree.root = level.first().map(|&(_, root)| root as usize);
        tree
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let mut page = self.root?;
        for _ in 1..self.levels {
            page = self.find(page, key).1 as usize;
        }
        let (found, value) = self.find(page, key);
        (found == key).then_some(value)
    }

    fn find(&self, page: usize, key: u32) -> (u32, u32) {
        let Some(frames) = &self.frames else { return F::find::<T>(self.pages.words(page), key) };
        frames.fix(page);
        let found = F::find::<T>(self.pages.words(page), key);
        frames.unfix(page);
        found
    }

    /// Returns the same tree with a buffer manager.
    pub(super) fn buffered(self) -> Self {
        Self { frames: Some(Frames::new(self.pages.len())), ..self }
    }

    /// Pages that a search reads: one a level.
    pub(super) fn pages_of(&self, _: u32) -> usize {
        self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds_every_key_and_no_other;
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn pages_have_hardly_less_room_for_a_tree() {
        assert_eq!((OneArray::ENTRIES, TwoLevels::CHILDREN, TwoLevels::PAIRS), (2047, 31, 63));
        assert_eq!(TwoLevels::ENTRIES, 1953);
        const { assert!(TwoLevels::ROOT + TwoLevels::CHILDREN * TwoLevels::LEAF <= PAGE_WORDS) };
        const { assert!(TwoLevels::PLACES_AT + TwoLevels::CHILDREN.div_ceil(2) <= TwoLevels::ROOT) };
    }

    #[test]
    fn finds_every_key_of_either_form() {
        finds_every_key_and_no_other(|entries| {
            let tree = PageTree::<NoTrace, OneArray>::new(entries);
            Box::new(move |key| tree.get(key))
        });
        finds_every_key_and_no_other(|entries| {
            let tree = PageTree::<NoTrace, TwoLevels>::new(entries);
            Box::new(move |key| tree.get(key))
        });
        finds_every_key_and_no_other(|entries| {
            let tree = PageTree::<NoTrace, TwoLevels>::new(entries).buffered();
            Box::new(move |key| tree.get(key))
        });
    }

    #[test]
    fn a_level_is_a_page() {
        let entries: Vec<(u32, u32)> = (0..4_000).map(|key| (key, key)).collect();
        assert_eq!(PageTree::<NoTrace, OneArray>::new(&entries[..2047]).pages_of(0), 1);
        assert_eq!(PageTree::<NoTrace, OneArray>::new(&entries[..2048]).pages_of(0), 2);
        assert_eq!(PageTree::<NoTrace, TwoLevels>::new(&entries[..1954]).pages_of(0), 2);
    }
}
