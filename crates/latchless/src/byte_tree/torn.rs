//! Nodes with arbitrary words: everything that a reader may find while a node is being changed, and worse.
//! For tests and fuzz targets.
//!
//! A [`TornNode`] is a node of a tree, any word of which may be overwritten, as may be those of long
//! strings. [`TornNode::read`] does with it everything that readers do before they validate. None of that
//! may panic, read beyond the node, or loop for ever, whatever the words are; every answer must be an entry
//! that the node has.

use super::get::{Own, Wanted, find_near, get_near};
use super::key_room::KeyRoom;
use super::leaf_copy::{Bounds, Extent, LeafCopy, first_from};
use super::near::{Border, look};
use super::newest::{Newest, WithEnd};
use super::node::{Image, Node, Toward, Words};
use super::shape::{HEADER_LEN_MAX, LEN_MAX, LONG, LongRef, WORDS};
use super::take::{Kept, OneWord, Take};
use super::text::Seed;
use super::tree::ByteTree;
use super::usual::UsualRecords;
use crate::blink::{BlinkOptions, Edit, Levels};
use crate::node::operation::{Operation, Run, Search};
use crate::tree::Share;
use core::cell::Cell;
use core::ops::Bound;
use latchless_core::base::bytes_value::{Kind, Raw};
use latchless_core::base::index::Direction;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel, Scalar};

/// More words of a node than any query reads. A header may claim that fences have 64 KB.
const READS_MAX: usize = HEADER_LEN_MAX;

/// A node's words, whose reader doesn't go on for ever: it panics.
#[derive(Debug, Clone, Copy)]
struct Counted<'a> {
    words: &'a Image,
    reads: &'a Cell<usize>,
}

impl Words for Counted<'_> {
    fn word(self, at: usize) -> u64 {
        self.reads.set(self.reads.get() + 1);
        assert!(self.reads.get() <= READS_MAX, "a reader goes on for ever");
        self.words.word(at)
    }
}

/// See the file's head.
#[derive(Debug)]
pub struct TornNode {
    tree: ByteTree,
    node: NodeRef,
}

impl TornNode {
    /// A node of a tree of these keys: of this level, if there is one.
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k [u8]>, level: usize) -> Self {
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let tree = ByteTree::new(options, Kind::Word).expect("a leaf finds room");
        for (value, key) in (0..).zip(keys) {
            tree.edit(key, Edit::Put(value)).expect("a key finds room");
        }
        let level = level.min(tree.store.root().get().1 - 1);
        let node = tree.store.descend::<Scalar>(level, &[], Toward::Key).expect("there is such a level");
        Self { tree, node }
    }

    fn word(&self, at: usize) -> u64 {
        self.tree.store.at(self.node).1.words[at % WORDS].load_relaxed()
    }

    /// Overwrites a word.
    pub fn set(&self, at: usize, to: u64) {
        self.tree.store.at(self.node).1.words[at % WORDS].store_relaxed(to);
    }

    /// The node as it is.
    pub fn image(&self) -> [u64; WORDS] {
        let mut image = [0; WORDS];
        self.tree.store.at(self.node).1.copy_from::<Scalar>(0, &mut image);
        image
    }

    /// Damages the node, or the blocks of long strings, in one of several ways.
    pub fn tear(&self, way: u8, at: u8, by: u64) {
        let (at, word) = (usize::from(at), self.word(usize::from(at)));
        let blocks = self.tree.store.long().end();
        // One that there is, usually.
        let block = NodeRef::from_word((by % (blocks as u64 + 2)) as u32);
        match way % 8 {
            0 => self.set(at, word ^ 1 << (by % 64)),
            1 => self.set(at, by),
            2 => self.set(at, self.word(by as usize)),
            3 => self.set(at, [0, 1, u64::MAX >> 1, u64::MAX][by as usize % 4]),
            4 => {
                let (shift, byte) = (by % 8 * 8, [0, 1, u64::from(LONG) - 1, u64::from(LONG)][at % 4]);
                self.set(at, word & !(0xFF << shift) | byte << shift);
            }
            5 => self.set(at, LongRef { first: block, len: (by >> 32) as usize & HEADER_LEN_MAX }.to_word()),
            6 => {
                self.tree.store.long().overwrite(NodeRef::from_word(at as u32), 0, u64::from(block.to_word()))
            }
            _ => self.tree.store.long().overwrite(block, at, by),
        }
    }

    /// Runs every read of a key that readers do before they validate the node.
    ///
    /// # Panics
    /// If an answer is impossible, or a reader doesn't terminate.
    pub fn read(&self, key: &[u8]) {
        for dispatch in Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok()) {
            dispatch.run(Find { torn: self, key });
        }
        let image = self.image();
        for toward in [Toward::Key, Toward::Before, Toward::Last] {
            // The child may be anything: it counts only if the node is valid.
            let _ = self.tree.store.child::<Scalar>(self.node, key, toward);
        }
        let counted = |ask: &dyn Fn(Node<'_, Counted<'_>>)| {
            let reads = Cell::new(0);
            ask(Node { words: Counted { words: &image, reads: &reads }, long: self.tree.store.long() });
        };
        counted(&|node| {
            let (rank, is_there) = node.rank::<Scalar>(node.shape(), key);
            assert!(rank <= node.shape().len() && !(is_there && rank == node.shape().len()), "rank {rank}");
        });
        for toward in [Toward::Key, Toward::Before, Toward::Last] {
            counted(&|node| _ = node.side_toward(key, toward));
        }
        counted(&read_fences);
        counted(&|node| {
            let shape = node.shape();
            assert!(node.long_strings().count() <= shape.len() + 2);
            let mut whole = Vec::new();
            for at in 0..shape.len() {
                whole.clear();
                node.key_to(shape, at, &mut whole);
                assert!(whole.len() <= LEN_MAX, "an entry's key has {} bytes", whole.len());
            }
        });
        for kind in [Kind::Words(8), Kind::Bytes] {
            counted(&|node| {
                let (shape, mut kept) = (node.shape(), Kept::of(kind));
                for at in 0..shape.len() {
                    kept.take(node, shape, at);
                    assert!(matches!(kept.raw(), Raw::Words([_, _, _, _, _, _, _, _]) | Raw::Bytes(..)));
                    assert!(node.words_of_entry(shape, at) <= WORDS);
                }
            });
        }
        for (after, from) in [(false, Bound::Included(key)), (true, Bound::Excluded(key))] {
            counted(&|node| assert!(first_from(node, key, after) <= node.shape().len()));
            for direction in [Direction::Forward, Direction::Reverse] {
                counted(&|node| {
                    let [mut found, mut fence] = [(); 2].map(|()| KeyRoom::default());
                    look(node, Border { from, direction }, &mut found, &mut fence, &mut OneWord);
                    assert!(found.bytes().len().max(fence.bytes().len()) <= LEN_MAX);
                });
            }
        }
    }
}

/// The fences, as far as a reader gets.
fn read_fences(node: Node<'_, Counted<'_>>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    node.low_to(&mut low);
    node.high_to(&mut high);
    assert!(low.len() <= LEN_MAX && high.len() <= LEN_MAX, "fences of {} and {}", low.len(), high.len());
}

struct Find<'a> {
    torn: &'a TornNode,
    key: &'a [u8],
}

impl Operation for Find<'_> {
    type Output = ();

    /// The part that is compiled for each kernel: the search for a tag, and copies.
    fn run<S: Search>(self) {
        let Self { torn, key } = self;
        let store = &torn.tree.store;
        let leaf = store.at(torn.node).1;
        let shape = leaf.shape();
        let is_place = |at: usize| at < shape.len();
        for tag in [Seed::tag(store.hash(key)), leaf.tag(0), 0] {
            assert!(leaf.find::<S>(key, tag).is_none_or(is_place), "an entry is found that there isn't");
            let likely = leaf.likely_place::<S>(tag);
            assert!(likely.is_none_or(|(head, place)| head.max(place) < WORDS), "{likely:?}");
        }
        for newest in [0, key.len() / 2, key.len()].map(Newest) {
            let found = newest.find::<S>(leaf, key, Seed::tag(store.hash(key)));
            assert!(found.is_none_or(is_place), "a version is found that there isn't");
            let (at, mut take) = (found.unwrap_or_default(), OneWord);
            let (end, _) = WithEnd(&mut take).take(leaf, shape, at);
            let _ = (end.number(newest), newest.is_certain(leaf, at, key), newest.is_absent(leaf, key));
        }
        for share in [Share::default(), Share::any(shape.0 >> 40, shape.0 >> 20 & 0x7FF)] {
            if let Some(near) = find_near::<S>(store, torn.node, key, share) {
                let _ = get_near(&torn.tree, Own, torn.node, near, key, &mut OneWord);
                let newest = Newest(key.len() / 2);
                let _ = get_near(&torn.tree, newest, torn.node, near, key, &mut WithEnd(&mut OneWord));
            }
            let usual = UsualRecords::any(shape.0);
            store.prefetch().record(torn.node, share, usual);
            store.prefetch().record_onwards(torn.node, share, usual);
            store.prefetch().range_onwards(torn.node, share, usual);
            store.prefetch().slots(torn.node, Some(share), shape);
        }
        let mut copy = LeafCopy::default();
        let borders = [Bound::Unbounded, Bound::Included(key), Bound::Excluded(key)];
        let share = Share::any(shape.0 >> 40, shape.0 >> 20 & 0x7FF);
        let extents = [Extent::All, Extent::FromStart(None), Extent::FromStart(Some(share))];
        for (at, extent) in (0..borders.len()).flat_map(|at| extents.map(|extent| (at, extent))) {
            let (low, high) = (borders[at], borders[(at + 1) % 3]);
            copy.copy(store, leaf, Bounds { low, high }, extent);
            let within = copy.within();
            assert!(within.start <= within.end && within.end <= copy.entry_count(), "{within:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{Form, SHAPE, SLOTS, Shape};
    use super::super::tests::{CLASSES, Model, key_of, nearest, see_all, tree};
    use super::*;
    use latchless_core::sync::Word;
    use latchless_core::testing::{Rng, random_cases, sample};
    use proptest::prelude::*;

    /// Keys of a class; enough for two levels, usually.
    fn keys(class: &str, count: u64) -> Vec<Vec<u8>> {
        (0..count).map(|number| key_of(class, number)).collect()
    }

    fn node_of(keys: &[Vec<u8>], level: usize) -> TornNode {
        TornNode::new(keys.iter().map(|key| &key[..]), level)
    }

    /// Keys of the node's tree, some that aren't in it, and the longest.
    fn read(torn: &TornNode, keys: &[Vec<u8>], random: &mut Rng) {
        let at = random.below(keys.len() as u64) as usize;
        torn.read(&keys[at]);
        torn.read(&[&keys[at][..], b"+"].concat());
        torn.read(&keys[at][..random.below(keys[at].len() as u64 + 1) as usize]);
        if !cfg!(miri) && random.below(16) == 0 {
            torn.read(&vec![keys[at].first().copied().unwrap_or(0); HEADER_LEN_MAX]);
        }
    }

    #[test]
    fn each_bit_of_the_header_may_be_wrong() {
        let mut random = Rng(1);
        for (own, class) in CLASSES.into_iter().enumerate().step_by(sample(4)) {
            let keys = keys(class, if cfg!(miri) { 8 } else { 200 });
            for level in 0..2 {
                let torn = node_of(&keys, level);
                let image = torn.image();
                for bit in (own % 3..64 * SLOTS).step_by(if cfg!(miri) { 211 } else { 3 }) {
                    torn.set(bit / 64, image[bit / 64] ^ 1 << (bit % 64));
                    read(&torn, &keys, &mut random);
                    torn.set(bit / 64, image[bit / 64]);
                }
            }
        }
    }

    #[test]
    fn each_word_may_be_wrong() {
        let mut random = Rng(2);
        for (own, class) in CLASSES.into_iter().enumerate().step_by(sample(4)) {
            let keys = keys(class, if cfg!(miri) { 8 } else { 200 });
            for level in 0..2 {
                let torn = node_of(&keys, level);
                let image = torn.image();
                for at in (own % 5..WORDS).step_by(if cfg!(miri) { 131 } else { 5 }) {
                    for way in 1..6 {
                        torn.tear(way, at as u8, random.next());
                        read(&torn, &keys, &mut random);
                    }
                    torn.set(at, image[at]);
                }
            }
        }
    }

    #[test]
    fn chains_of_long_strings_may_lead_anywhere() {
        let mut random = Rng(3);
        let keys = keys("long at the end", if cfg!(miri) { 8 } else { 40 });
        let (torn, longest) = (node_of(&keys, 0), if cfg!(miri) { 1023 } else { HEADER_LEN_MAX });
        let blocks = torn.tree.store.long().end();
        // Each leads to itself: only a string's length ends it.
        for block in 0..blocks as u32 {
            torn.tree.store.long().overwrite(NodeRef::from_word(block), 0, u64::from(block));
        }
        let image = torn.image();
        for round in 0..if cfg!(miri) { 2 } else { 10 } {
            for (at, &word) in image.iter().enumerate().skip(SLOTS) {
                let len = if round == 0 { longest } else { random.next() as usize & longest };
                let first = NodeRef::from_word(random.below(blocks as u64 + 1) as u32);
                let is_name = random.below(if cfg!(miri) { 64 } else { 8 }) == 0;
                torn.set(at, if is_name { LongRef { first, len }.to_word() } else { word });
            }
            read(&torn, &keys, &mut random);
        }
    }

    proptest! {
        #![proptest_config(random_cases(600))]
        #[test]
        fn anything_may_be_in_a_node(
            (class, count, level) in (0..CLASSES.len(), 1u64..300, 0usize..2),
            seed: u64,
            // Of random bytes alone few look like a node.
            fill in 0u8..4,
            tears in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u64>()), 0..60),
        ) {
            let keys = keys(CLASSES[class], if cfg!(miri) { count / 10 + 1 } else { count });
            let torn = node_of(&keys, level);
            let mut random = Rng(seed);
            if fill < 2 {
                (0..WORDS).for_each(|at| torn.set(at, random.next()));
            }
            if fill == 1 {
                let prefix = random.below(12) as usize;
                let values = 0xF << Shape::VALUES;
                let flags = random.next() & (Shape::NO_HIGH | Shape::LOW_LONG | Shape::HIGH_LONG | values);
                let slots = 8 * random.below(17) as usize;
                let shape = Shape::new(Form::Slots(slots), 0, prefix, flags);
                let records = (random.below(2) * random.below(256)) << Shape::RECORDS;
                torn.set(SHAPE, shape.0 | records | random.below(256));
            }
            tears.into_iter().for_each(|(way, at, by)| torn.tear(way, at, by));
            read(&torn, &keys, &mut random);
        }
    }

    /// A writer fills nodes of all levels with nonsense under their latches, and then brings their content
    /// back.
    #[test]
    fn readers_beside_a_writer_of_nonsense_answer_right() {
        for class in ["shared", "long at the end", "prefixes"] {
            let (tree, is_over) = (tree(), Word::new(0));
            let mut model = Model::new();
            for (value, key) in (0..).zip(keys(class, if cfg!(miri) { 20 } else { 150 })) {
                tree.edit(&key, Edit::Put(value)).unwrap();
                model.insert(key, value);
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut random = Rng(4);
                    for _ in 0..if cfg!(miri) { 10 } else { 5_000 } {
                        scribble(&tree, &key_of(class, random.below(150)), &mut random);
                    }
                    is_over.publish(1);
                });
                let mut random = Rng(5);
                while is_over.follow() == 0 {
                    let key = key_of(class, random.below(200));
                    assert_eq!(tree.get(&key), model.get(&key).copied());
                    let from = Bound::Excluded(&key[..]);
                    let mut next = Vec::new();
                    let found = nearest(&tree, from, Direction::Forward, &mut next);
                    let expected = model.range::<[u8], _>((from, Bound::Unbounded)).next();
                    assert_eq!(found.map(|value| (&next, value)), expected.map(|(key, &value)| (key, value)));
                    if random.below(16) == 0 {
                        let seen = see_all(&tree, Bounds::ALL, random.below(2) == 0);
                        assert_eq!(seen.into_iter().collect::<Model>(), model);
                    }
                }
            });
            tree.check_invariants().unwrap();
        }
    }

    /// Fills the node of a key, of any level, with nonsense for some moments. No other thread changes it.
    fn scribble(tree: &ByteTree, key: &[u8], random: &mut Rng) {
        let level = random.below(tree.store.root().get().1 as u64) as usize;
        let node = tree.store.descend::<Scalar>(level, key, Toward::Key).expect("there is such a level");
        let mut image = [0; WORDS];
        tree.store.at(node).1.copy_from::<Scalar>(0, &mut image);
        let mut nonsense = image;
        let every = [1, 4, 16][random.below(3) as usize];
        for word in &mut nonsense {
            if random.below(every) == 0 {
                let moved = image[random.below(WORDS as u64) as usize];
                *word = if random.below(4) == 0 { moved } else { random.next() };
            }
        }
        for _ in 0..8 {
            // Readers begin while the node is at rest.
            (0..random.below(200)).for_each(|_| core::hint::spin_loop());
            let (at, mut held) = tree.store.latch(tree.store.at(node));
            held.changing();
            at.1.write(&nonsense);
            at.1.write(&image);
        }
    }
}
