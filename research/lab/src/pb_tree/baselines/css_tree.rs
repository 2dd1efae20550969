//! The full CSS-Tree (Rao and Ross, *Cache Conscious Indexing for Decision-Support in Main Memory*, VLDB
//! 1999): a sorted array, and above it levels of one-line nodes without a pointer.
//!
//! A node has sixteen keys, the greatest of its first sixteen children, and seventeen children; those of
//! node i are the nodes 17 · i to 17 · i + 16 of the level below. The lowest are lines of the array: eight
//! keys, and then their values, so that a search finds both in one line, as in the other trees.

use super::lines::{Lines, WORDS};
use latchless_core::mem::touch::{Trace, Work};

const CHILDREN: usize = WORDS + 1;
/// Entries in a line of the array.
const PAIRS: usize = WORDS / 2;

/// The tree. It can't be changed.
pub(super) struct CssTree<T> {
    /// The array; the places after the last key hold the greatest one.
    array: Lines<T>,
    /// The levels above the array, the lowest first.
    levels: Vec<Lines<T>>,
    len: usize,
}

impl<T: Trace> CssTree<T> {
    /// A tree of these entries, which ascend.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let chunks = entries.chunks(PAIRS);
        let line = |pairs: &[(u32, u32)]| {
            let pair = |at: usize| pairs.get(at).copied().unwrap_or((u32::MAX, 0));
            core::array::from_fn::<u32, WORDS, _>(
                |at| if at < PAIRS { pair(at).0 } else { pair(at - PAIRS).1 },
            )
        };
        let words: Vec<u32> = chunks.clone().flat_map(line).collect();
        // The greatest key of each line, then of each node.
        let mut greatest: Vec<u32> = chunks.map(|pairs| pairs[pairs.len() - 1].0).collect();
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
        Self { array: Lines::new(words.into_iter()), levels, len: entries.len() }
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        if self.len == 0 {
            return None;
        }
        let mut node = 0;
        for level in self.levels.iter().rev() {
            T::work(Work::Visit);
            node = CHILDREN * node + Lines::<T>::below(level.line(node), key);
        }
        T::work(Work::Visit);
        let (keys, values) = self.array.line(node).split_at(PAIRS);
        let at = Lines::<T>::below(keys, key);
        let found = at < PAIRS && node * PAIRS + at < self.len && Lines::<T>::read(&keys[at]) == key;
        found.then(|| Lines::<T>::read(&values[at]))
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
