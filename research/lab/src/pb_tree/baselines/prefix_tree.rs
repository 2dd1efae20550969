//! A p8 whose nodes store the common prefix of their keys once (key compression, which the pB+-Tree paper
//! names in §5 as a complement of wider nodes): if all keys of a node are within 2^16 of its first one, it
//! has that key and, for each entry, the sixteen bits by which it is greater.
//!
//! ```text
//! plain        count         │ 63 keys                                │ 63 values or children
//! compressed   count, marked │ first key │ 84 differences, two a word │ 84 values or children
//! ```

use super::disk_pages::{LINE_WORDS, last_that, prefetch, read, read_half, set_half};
use super::lines::Lines;
use super::page_tree::{find_in_node, write_node};
use latchless_core::mem::touch::{Trace, Work};

const NODE_LINES: usize = 8;
const NODE: usize = NODE_LINES * LINE_WORDS;
const PAIRS: usize = (NODE - 1) / 2;
/// Entries of a compressed node: a word and a half each, after the count and the first key.
const MORE_PAIRS: usize = (NODE - 2) * 2 / 3;
const DIFFERENCES_AT: usize = 2;
const VALUES_AT: usize = DIFFERENCES_AT + MORE_PAIRS / 2;
const MARK: u32 = 1 << 31;
/// The most by which a key is greater than its node's first one.
const DIFFERENCE_MAX: u32 = 0xFFFF;

type Node = [u32; NODE];

/// The tree. It can't be changed.
pub(super) struct PrefixTree<T> {
    lines: Lines<T>,
    nodes: usize,
    levels: usize,
}

impl<T: Trace> PrefixTree<T> {
    /// A tree of full nodes with these entries, which ascend.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let (mut nodes, mut levels) = (Vec::new(), 0);
        let mut level = entries.to_vec();
        while levels == 0 && !level.is_empty() || level.len() > 1 {
            let (mut rest, mut above) = (&level[..], Vec::new());
            while let Some(&(first, _)) = rest.first() {
                let near = rest.iter().take(MORE_PAIRS).take_while(|entry| entry.0 - first <= DIFFERENCE_MAX);
                let near = near.count();
                let (own, later) = rest.split_at(near.max(PAIRS).min(rest.len()));
                above.push((first, nodes.len() as u32));
                nodes.push(if near > PAIRS { compressed(own) } else { plain(own) });
                rest = later;
            }
            level = above;
            levels += 1;
        }
        Self { lines: Lines::new(nodes.as_flattened().iter().copied()), nodes: nodes.len(), levels }
    }

    fn node(&self, nth: usize) -> &[u32] {
        self.lines.lines(nth * NODE_LINES, NODE_LINES)
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let mut node = self.node(self.nodes.checked_sub(1)?);
        for _ in 1..self.levels {
            node = self.node(find::<T>(node, key).1 as usize);
        }
        let (found, value) = find::<T>(node, key);
        (found == key).then_some(value)
    }

    /// Levels, and bytes of all nodes.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.levels, self.nodes * size_of::<Node>())
    }
}

fn plain(entries: &[(u32, u32)]) -> Node {
    let mut node = [0; NODE];
    write_node(&mut node, PAIRS, entries);
    node
}

fn compressed(entries: &[(u32, u32)]) -> Node {
    let (mut node, first) = ([0; NODE], entries[0].0);
    (node[0], node[1]) = (entries.len() as u32 | MARK, first);
    for (at, &(key, value)) in entries.iter().enumerate() {
        set_half(&mut node[DIFFERENCES_AT..VALUES_AT], at, (key - first) as usize);
        node[VALUES_AT + at] = value;
    }
    node
}

/// The last entry of a node whose key is at most `key`, or the first.
fn find<T: Trace>(node: &[u32], key: u32) -> (u32, u32) {
    T::work(Work::Visit);
    prefetch::<T>(node);
    let count = read::<T>(&node[0]);
    if count & MARK == 0 {
        return find_in_node::<T>(node, PAIRS, key);
    }
    let first = read::<T>(&node[1]);
    let difference = |at: usize| read_half::<T>(&node[DIFFERENCES_AT..], at) as u32;
    let wanted = key.saturating_sub(first);
    let at = last_that::<T>((count & !MARK) as usize, |at| difference(at) <= wanted);
    (first + difference(at), read::<T>(&node[VALUES_AT + at]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds_every_key_and_no_other;
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn finds_every_key() {
        finds_every_key_and_no_other(|entries| {
            let tree = PrefixTree::<NoTrace>::new(entries);
            Box::new(move |key| tree.get(key))
        });
    }

    /// Differences of 2^16 and of one less, dense and sparse stretches, the greatest key.
    #[test]
    fn nodes_are_compressed_where_their_keys_are_near() {
        let dense = |len: u32| (0..len).map(|key| (key, !key)).collect::<Vec<_>>();
        assert_eq!(PrefixTree::<NoTrace>::new(&dense(84)).size(), (1, 512));
        assert_eq!(PrefixTree::<NoTrace>::new(&dense(85)).size(), (2, 3 * 512));
        let sparse: Vec<(u32, u32)> = (0..84).map(|key| (key << 16, !key)).collect();
        assert_eq!(PrefixTree::<NoTrace>::new(&sparse).size(), (2, 3 * 512));
        for step in [1, 780, 790, 1_057, 65_535, 65_536, 40_000_000] {
            let entries: Vec<(u32, u32)> =
                (0..20_000).map_while(|nth| u32::checked_mul(nth, step).map(|key| (key, nth))).collect();
            let tree = PrefixTree::<NoTrace>::new(&entries);
            for &(key, value) in &entries {
                assert_eq!(tree.get(key), Some(value), "{key} by steps of {step}");
                assert_eq!(tree.get(key + 1), (step == 1 && key < 19_999).then_some(value + 1));
            }
        }
    }
}
