//! `bpt`: the B+-Tree of the paper's figures, which its reference list names as [1]: `bpt.c`, a program for
//! teaching. Written from its description.
//!
//! * Order 4: a node has up to three keys and four pointers.
//! * A node is three blocks of the allocator: a struct, an array of keys, an array of pointers. Each key's
//!   record is a block as well.
//! * The keys of a node are compared one by one.
//! * Keys are inserted one by one. After ascending ones a leaf has two keys and an inner node two children,
//!   so that 16M keys have 23 levels.
//! * Its walk over a range compares the keys of each leaf with the range's end, and doesn't stop there: it
//!   follows the leaves' links to the end of the list ([`Walk::ToTheLastLeaf`]).
//!
//! All blocks are allocated when their key is inserted. Leaves are linked when all keys are in; then the
//! tree can't be changed.

use core::marker::PhantomData;
use core::mem::swap;
use core::ptr::from_ref;
use latchless_core::mem::touch::{Trace, Work};
use latchless_papers::common::words::one_by_one;
use std::sync::{Arc, OnceLock};

/// Pointers of a node.
const ORDER: usize = 4;
/// Keys of a node.
const KEYS: usize = ORDER - 1;
/// Keys that stay in a leaf that is split, and those that stay in an inner node.
const KEPT_IN_LEAF: usize = KEYS.div_ceil(2);
const KEPT_IN_INNER: usize = ORDER.div_ceil(2) - 1;

type Keys = Box<[u32; KEYS]>;
type Children = Box<[Option<Arc<Node>>; ORDER]>;

/// A node's struct. With the two counts of its `Arc` it has 40 bytes, as in C, where a reference to the
/// parent and a link for printing are in their place.
enum Node {
    Inner { count: u32, keys: Keys, children: Children },
    Leaf { count: u32, keys: Keys, pointers: Box<Pointers> },
}

/// A leaf's array of pointers: to its records, and to the next leaf.
#[derive(Default)]
struct Pointers {
    records: [Option<Box<u32>>; KEYS],
    next: OnceLock<Arc<Node>>,
}

/// The place at which a range's walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// At the last leaf of the tree, as in the cited program.
    ToTheLastLeaf,
    /// At the first key beyond the range.
    ToItsEnd,
}

/// The tree.
pub(super) struct Bpt<T> {
    root: Arc<Node>,
    size: Size,
    trace: PhantomData<T>,
}

/// Numbers of the blocks of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Size {
    levels: usize,
    leaves: usize,
    inner_nodes: usize,
    records: usize,
}

impl<T: Trace> Bpt<T> {
    /// A tree into which these entries were inserted in their order. Keys are distinct.
    pub(super) fn new(entries: &[(u32, u32)]) -> Self {
        let mut root = leaf(Box::default());
        for &(key, value) in entries {
            let record = Box::new(value);
            if let Some((separator, right)) = insert(&mut root, key, record) {
                let mut keys = Keys::default();
                keys[0] = separator;
                let children = Box::new([Some(root), Some(right), None, None]);
                root = Arc::new(Node::Inner { count: 1, keys, children });
            }
        }
        let mut size = Size::default();
        link(&root, &mut None, 1, &mut size);
        Self { root, size, trace: PhantomData }
    }

    /// The value under a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        T::work(Work::Operation);
        let (keys, pointers) = self.leaf_of(key);
        let at = one_by_one::<T, _>(keys, |&other| other != key);
        let pointer = pointers.records.get(at).filter(|_| at < keys.len())?;
        T::read(from_ref(pointer).cast(), size_of_val(pointer));
        let record = pointer.as_deref()?;
        T::read(from_ref(record).cast(), size_of_val(record));
        Some(*record)
    }

    /// Calls `each` with the keys from `low` to `high`, both included, and with the places of their values.
    #[inline]
    pub(super) fn range(&self, low: u32, high: u32, walk: Walk, mut each: impl FnMut(u32, &u32)) {
        T::work(Work::Operation);
        let (mut keys, mut pointers) = self.leaf_of(low);
        let mut from = one_by_one::<T, _>(keys, |&key| key < low);
        loop {
            let mut at = from;
            for (key, pointer) in keys.iter().zip(&pointers.records).skip(from) {
                T::read(from_ref(key).cast(), size_of_val(key));
                if *key > high {
                    break;
                }
                T::read(from_ref(pointer).cast(), size_of_val(pointer));
                if let Some(record) = pointer {
                    each(*key, record);
                }
                at += 1;
            }
            if at > from {
                T::work(Work::Copy(at - from));
            }
            if walk == Walk::ToItsEnd && at < keys.len() {
                return;
            }
            T::read(from_ref(&pointers.next).cast(), size_of::<usize>());
            let Some(next) = pointers.next.get() else { return };
            let Node::Leaf { count, keys: more, pointers: further } = Self::visited(next) else { return };
            (keys, pointers, from) = (&more[..*count as usize], further, 0);
        }
    }

    /// Bytes of its blocks as glibc's allocator gives them, and as they were requested.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let total = |bytes_of: fn(usize) -> usize| {
            let node =
                bytes_of(2 * size_of::<usize>() + size_of::<Node>()) + bytes_of(size_of::<[u32; KEYS]>());
            self.size.inner_nodes * (node + bytes_of(size_of::<[Option<Arc<Node>>; ORDER]>()))
                + self.size.leaves * (node + bytes_of(size_of::<Pointers>()))
                + self.size.records * bytes_of(size_of::<u32>())
        };
        (total(bytes_by_glibc), total(|bytes| bytes))
    }

    /// The keys and pointers of the leaf that may hold a key.
    #[inline(always)]
    fn leaf_of(&self, key: u32) -> (&[u32], &Pointers) {
        let mut node = &self.root;
        loop {
            match Self::visited(node) {
                Node::Leaf { count, keys, pointers } => return (&keys[..*count as usize], pointers),
                Node::Inner { count, keys, children } => {
                    let at = one_by_one::<T, _>(&keys[..*count as usize], |&separator| separator <= key);
                    T::read(from_ref(&children[at]).cast(), size_of::<usize>());
                    node = children[at].as_ref().expect(ONE_MORE);
                }
            }
        }
    }

    /// Reports the visit of a node.
    #[inline(always)]
    fn visited(node: &Arc<Node>) -> &Node {
        T::work(Work::Visit);
        T::read(from_ref(&**node).cast(), size_of::<Node>());
        node
    }
}

const ONE_MORE: &str = "an inner node has one child more than keys";

/// Returns the bytes that a block of glibc's allocator takes: eight for its size, in steps of sixteen, at
/// least 32.
const fn bytes_by_glibc(requested: usize) -> usize {
    let bytes = (requested + size_of::<usize>()).next_multiple_of(16);
    if bytes < 32 { 32 } else { bytes }
}

fn leaf(pointers: Box<Pointers>) -> Arc<Node> {
    Arc::new(Node::Leaf { count: 0, keys: Keys::default(), pointers })
}

/// Inserts a key below a node. Returns the new node on the right if it was split, with the separator.
fn insert(node: &mut Arc<Node>, key: u32, record: Box<u32>) -> Option<(u32, Arc<Node>)> {
    match Arc::get_mut(node).expect("a node has one owner until the leaves are linked") {
        Node::Leaf { count, keys, pointers } => {
            let at = keys[..*count as usize].iter().take_while(|other| **other < key).count();
            let last_key = put(&mut keys[at..], key);
            let last_record = put(&mut pointers.records[at..], Some(record));
            if (*count as usize) < KEYS {
                *count += 1;
                return None;
            }
            let (mut right_keys, mut right_pointers) = (Keys::default(), Box::<Pointers>::default());
            for (to, from) in (KEPT_IN_LEAF..KEYS).enumerate() {
                (right_keys[to], right_pointers.records[to]) = (keys[from], pointers.records[from].take());
            }
            let moved = KEYS - KEPT_IN_LEAF;
            (right_keys[moved], right_pointers.records[moved]) = (last_key, last_record);
            *count = KEPT_IN_LEAF as u32;
            let (separator, count) = (right_keys[0], moved as u32 + 1);
            Some((separator, Arc::new(Node::Leaf { count, keys: right_keys, pointers: right_pointers })))
        }
        Node::Inner { count, keys, children } => {
            let at = keys[..*count as usize].iter().take_while(|separator| **separator <= key).count();
            let (separator, right) = insert(children[at].as_mut().expect(ONE_MORE), key, record)?;
            let last_key = put(&mut keys[at..], separator);
            let last_child = put(&mut children[at + 1..], Some(right));
            if (*count as usize) < KEYS {
                *count += 1;
                return None;
            }
            let (mut right_keys, mut right_children) = (Keys::default(), Children::default());
            let moved = KEYS - KEPT_IN_INNER - 1;
            for to in 0..=moved {
                let from = KEPT_IN_INNER + 1 + to;
                right_keys[to] = if to < moved { keys[from] } else { last_key };
                right_children[to] = children[from].take();
            }
            right_children[moved + 1] = last_child;
            *count = KEPT_IN_INNER as u32;
            let (separator, count) = (keys[KEPT_IN_INNER], moved as u32 + 1);
            Some((separator, Arc::new(Node::Inner { count, keys: right_keys, children: right_children })))
        }
    }
}

/// Puts an item before others, which move by one place. Returns the one that there is no room for.
fn put<V>(places: &mut [V], mut item: V) -> V {
    for place in places {
        swap(place, &mut item);
    }
    item
}

/// Links the leaves below a node to each other and to `last`, and counts the blocks.
fn link<'a>(node: &'a Arc<Node>, last: &mut Option<&'a Pointers>, level: usize, size: &mut Size) {
    size.levels = size.levels.max(level);
    match &**node {
        Node::Leaf { count, pointers, .. } => {
            size.leaves += 1;
            size.records += *count as usize;
            if let Some(last) = last.replace(pointers) {
                last.next.get_or_init(|| Arc::clone(node));
            }
        }
        Node::Inner { children, .. } => {
            size.inner_nodes += 1;
            children.iter().flatten().for_each(|child| link(child, last, level + 1, size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;
    use latchless_core::mem::touch::{NoTrace, Sink, Traced, listen};
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::seq::SliceRandom;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    fn ascending(len: u32) -> Vec<(u32, u32)> {
        (0..len).map(|key| (10 * key + 5, key)).collect()
    }

    fn found<T: Trace>(tree: &Bpt<T>, (low, high): (u32, u32), walk: Walk) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        tree.range(low, high, walk, |key, value| found.push((key, *value)));
        found
    }

    fn answers_as_the_model_does<T: Trace>(tree: &Bpt<T>, model: &BTreeMap<u32, u32>) {
        let len = model.len() as u32;
        for key in (0..10 * len + 10).step_by(if len > 100 { 37 } else { 1 }) {
            assert_eq!(tree.get(key), model.get(&key).copied(), "{key} of {len}");
            for high in [key, key + 5, key + 29, key + 10 * len / 3, u32::MAX] {
                let expected: Vec<_> = model.range(key..=high).map(|(&key, &value)| (key, value)).collect();
                for walk in [Walk::ToTheLastLeaf, Walk::ToItsEnd] {
                    assert_eq!(
                        found(tree, (key, high), walk),
                        expected,
                        "{key} to {high} of {len}, {walk:?}"
                    );
                }
            }
        }
        assert_eq!(tree.size.records, model.len());
    }

    #[test]
    fn answers_as_the_model_does_in_whatever_order_keys_come() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        for len in (0..40).chain([200, 1_000]) {
            let mut entries = ascending(len);
            let model = entries.iter().copied().collect();
            answers_as_the_model_does(&Bpt::<NoTrace>::new(&entries), &model);
            entries.reverse();
            answers_as_the_model_does(&Bpt::<NoTrace>::new(&entries), &model);
            entries.shuffle(&mut random);
            answers_as_the_model_does(&Bpt::<NoTrace>::new(&entries), &model);
            answers_as_the_model_does(&Bpt::<Traced>::new(&entries), &model);
        }
        let last = Bpt::<NoTrace>::new(&[(u32::MAX, 3), (0, 4)]);
        assert_eq!((last.get(u32::MAX), last.get(0), last.get(1)), (Some(3), Some(4), None));
        assert_eq!(found(&last, (1, u32::MAX), Walk::ToItsEnd), [(u32::MAX, 3)]);
    }

    #[test]
    fn ascending_keys_leave_two_keys_a_leaf_and_two_children_a_node() {
        let size = Bpt::<NoTrace>::new(&ascending(200_000)).size;
        // The right edge has as many children as fit.
        let expected = Size { levels: 17, leaves: 100_000, inner_nodes: 99_979, records: 200_000 };
        assert_eq!(size, expected);
    }

    #[test]
    fn blocks_have_the_sizes_of_those_in_c() {
        assert_eq!(2 * size_of::<usize>() + size_of::<Node>(), 40);
        assert_eq!(
            (bytes_by_glibc(4), bytes_by_glibc(12), bytes_by_glibc(24), bytes_by_glibc(25)),
            (32, 32, 32, 48)
        );
        assert_eq!(bytes_by_glibc(size_of::<Pointers>()), bytes_by_glibc(ORDER * size_of::<usize>()));
        let tree = Bpt::<NoTrace>::new(&ascending(100_000));
        let of_glibc = tree.bytes().0 as f64 / 100_000.0;
        assert!((of_glibc - 160.0).abs() < 0.1, "a key has a node and a record: {of_glibc}");
    }

    /// Events of a tree.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Events {
        visits: usize,
        compared: usize,
        loops: usize,
        /// By their number of bytes.
        reads: BTreeMap<usize, usize>,
    }

    #[derive(Clone, Default)]
    struct Recorder(Rc<RefCell<Events>>);

    impl Sink for Recorder {
        fn read(&mut self, _: usize, bytes: usize) {
            *self.0.borrow_mut().reads.entry(bytes).or_default() += 1;
        }

        fn write(&mut self, _: usize, _: usize) {}

        fn prefetch(&mut self, _: usize, _: usize) {}

        fn work(&mut self, work: Work) {
            self.0.borrow_mut().visits += usize::from(work == Work::Visit);
            self.0.borrow_mut().compared += usize::from(work == Work::Compare(1));
            self.0.borrow_mut().loops += usize::from(matches!(work, Work::Branch(_)));
        }
    }

    #[test]
    fn a_lookup_reads_struct_key_and_pointer_on_each_level_and_the_record() {
        let tree = Bpt::<Traced>::new(&ascending(1_024));
        let recorder = Recorder::default();
        assert_eq!(listen(Box::new(recorder.clone()), || tree.get(5)), Some(0));
        let levels = tree.size.levels;
        // The least key: one comparison a node. The record has four bytes, as a key has.
        let reads = BTreeMap::from([(24, levels), (4, levels + 1), (8, levels)]);
        assert_eq!(*recorder.0.borrow(), Events { visits: levels, compared: levels, loops: levels, reads });
    }

    #[test]
    fn only_the_cited_walk_goes_on_to_the_last_leaf() {
        let tree = Bpt::<Traced>::new(&ascending(1_024));
        let visits = |walk, range| {
            let recorder = Recorder::default();
            let count = listen(Box::new(recorder.clone()), || found(&tree, range, walk).len());
            (count, recorder.0.borrow().visits)
        };
        let (levels, leaves) = (tree.size.levels, tree.size.leaves);
        assert_eq!(visits(Walk::ToTheLastLeaf, (5, 5)), (1, levels + leaves - 1));
        assert_eq!(visits(Walk::ToTheLastLeaf, (5, u32::MAX)), (1_024, levels + leaves - 1));
        assert_eq!(visits(Walk::ToItsEnd, (5, 5)), (1, levels));
        assert_eq!(visits(Walk::ToItsEnd, (5, 95)), (10, levels + 5));
    }
}
