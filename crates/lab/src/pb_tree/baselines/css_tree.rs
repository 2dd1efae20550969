//! The full CSS-Tree (Rao and Ross, *Cache Conscious Indexing for Decision-Support in Main Memory*, VLDB
//! 1999): a sorted array, and above it levels of one-line nodes without a pointer.
//!
//! A node has sixteen keys, the greatest of its first sixteen children, and seventeen children; those of node
//! i are the nodes 17 · i to 17 · i + 16 of the level below. The lowest nodes are the array's own lines.

use super::lines::{Lines, WORDS};
use latchless_core::mem::touch::{Trace, Work};

const CHILDREN: usize = WORDS + 1;

/// The tree. It can't be changed.
pub(super) struct CssTree<T> {
    /// The array, in lines of keys; the places after the last key hold the greatest one.
    keys: Lines<T>,
    /// The value of each key.
    values: Lines<T>,
    /// The levels above the array, the lowest first.
    levels: Vec<Lines<T>>,
    len: usize,
}

impl<T: Trace> CssTree<T> {
    /// A tree of these entries, which ascend.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let keys = Lines::new(entries.iter().map(|entry| entry.0));
        // The greatest key of each line, then of each node.
        let mut greatest: Vec<u32> = entries.chunks(WORDS).map(|line| line[line.len() - 1].0).collect();
        let mut levels = Vec::new();
        while greatest.len() > 1 {
            let nodes = greatest.chunks(CHILDREN);
            // Whatever is greater than all belongs to the last child.
            let separators = |children: &[u32]| {
                let all_but_last = &children[..children.len() - 1];
                core::array::from_fn::<u32, WORDS, _>(|at| all_but_last.get(at).copied().unwrap_or(u32::MAX))
            };
            let words: Vec<u32> = nodes.clone().flat_map(separators).collect();
            levels.push(Lines::new(words.into_iter()));
            greatest = nodes.map(|children| children[children.len() - 1]).collect();
        }
        Self { keys, values: Lines::new(entries.iter().map(|entry| entry.1)), levels, len: entries.len() }
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let mut node = 0;
        for level in self.levels.iter().rev() {
            T::work(Work::Visit);
            node = CHILDREN * node + Lines::<T>::below(level.line(node), key);
        }
        if self.len == 0 {
            return None;
        }
        T::work(Work::Visit);
        let line = self.keys.line(node);
        let at = Lines::<T>::below(line, key);
        let found = at < WORDS && node * WORDS + at < self.len && Lines::<T>::read(&line[at]) == key;
        found.then(|| Lines::<T>::read(&self.values.line(node)[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn finds_every_key_and_no_other_at_every_size() {
        for len in (0..60).chain([271, 272, 273, 4_624, 4_625, 5_000, 80_000]) {
            let entries: Vec<(u32, u32)> = (0..len).map(|key| (10 * key + 5, key)).collect();
            let tree = CssTree::<NoTrace>::new(&entries);
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
        assert_eq!(CssTree::<NoTrace>::new(&[(u32::MAX, 3)]).get(u32::MAX), Some(3));
    }
}
