//! The T-Tree (Lehman and Carey, *A Study of Index Structures for Main Memory Database Management Systems*,
//! VLDB 1986): a balanced binary tree whose nodes hold several entries each. Loaded, not updated.
//!
//! A search compares with the first key of each node alone, goes right if its key isn't smaller, and in
//! the end searches the last node at which it went right (the improved search of the same authors).

use super::lines::{Lines, WORDS};
use latchless_core::mem::touch::{Trace, Work};

/// Entries of a node.
const PLACES: usize = 6;
/// The positions of a node's children, count, keys and values in its line.
const LEFT: usize = 0;
const RIGHT: usize = 1;
const COUNT: usize = 2;
const KEYS: usize = 3;
const VALUES: usize = KEYS + PLACES;
/// No child.
const NIL: u32 = u32::MAX;

/// The tree. It can't be changed.
pub(super) struct TTree<T> {
    nodes: Lines<T>,
    root: u32,
}

impl<T: Trace> TTree<T> {
    /// A tree of full nodes with these entries, which ascend; as balanced as can be.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let nodes: Vec<&[(u32, u32)]> = entries.chunks(PLACES).collect();
        let mut words = vec![[NIL; WORDS]; nodes.len()];
        let root = place(&nodes, 0, &mut words);
        let words: Vec<u32> = words.into_iter().flatten().collect();
        Self { nodes: Lines::new(words.into_iter()), root }
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let (mut node, mut candidate) = (self.root, None);
        while node != NIL {
            T::work(Work::Visit);
            let line = self.nodes.line(node as usize);
            let right = Lines::<T>::read(&line[KEYS]) <= key;
            T::work(Work::Probe);
            if right {
                candidate = Some(line);
            }
            node = Lines::<T>::read(&line[if right { RIGHT } else { LEFT }]);
        }
        let line = candidate?;
        let keys = &line[KEYS..][..Lines::<T>::read(&line[COUNT]) as usize];
        let at = Lines::<T>::below(keys, key);
        (at < keys.len() && keys[at] == key).then(|| Lines::<T>::read(&line[VALUES + at]))
    }
}

/// Writes the nodes of a part of the tree, which are numbered from `first` on, and returns its root.
fn place(nodes: &[&[(u32, u32)]], first: usize, words: &mut [[u32; WORDS]]) -> u32 {
    let middle = nodes.len() / 2;
    let Some(entries) = nodes.get(middle) else { return NIL };
    let (left, right) = (&nodes[..middle], &nodes[middle + 1..]);
    let children = (place(left, first, words), place(right, first + middle + 1, words));
    let node = &mut words[first + middle];
    (node[LEFT], node[RIGHT], node[COUNT]) = (children.0, children.1, entries.len() as u32);
    for (at, &(key, value)) in entries.iter().enumerate() {
        (node[KEYS + at], node[VALUES + at]) = (key, value);
    }
    (first + middle) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn finds_every_key_and_no_other_at_every_size() {
        for len in (0..60).chain([1_000, 40_000]) {
            let entries: Vec<(u32, u32)> = (0..len).map(|key| (10 * key + 5, key)).collect();
            let tree = TTree::<NoTrace>::new(&entries);
            for key in (0..len).step_by(if len > 1_000 { 7 } else { 1 }) {
                assert_eq!(tree.get(10 * key + 5), Some(key), "{key} of {len}");
                assert_eq!(
                    (tree.get(10 * key + 4), tree.get(10 * key + 6)),
                    (None, None),
                    "beside {key} of {len}"
                );
            }
            assert_eq!((tree.get(0), tree.get(u32::MAX)), (None, None), "{len}");
        }
    }
}
