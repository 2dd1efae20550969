//! Blocks of long strings, which are reused at once (`latchless/src/byte_tree/long.rs`): a reader that
//! follows a node's reference to a string that was replaced by another must detect that by the node's
//! version.
//!
//! The latch and [`before_reuse`] are the real ones; nodes and blocks are models of them. In the tree blocks
//! are reserved, then the node that gets the string is latched, then the string is stored. So the fence of
//! that latch would be enough (`a_latch_that_is_taken_first_orders_as_well`). The rule of the blocks is
//! checked separately: it doesn't depend on the order of their callers' actions.

use crate::{both, check, race};
use latchless_core::latch::{OptimisticLatch, before_reuse};
use latchless_core::sync::{AtomicU64, Ordering, Origin};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// All threads follow every rule.
const ALL_RULES: u8 = 0;
/// Blocks are overwritten without a fence before.
const NO_FENCE: u8 = 1;
/// Blocks are freed before the node that refers to them has changed.
const FREED_FIRST: u8 = 2;
/// A reader doesn't validate the node that refers to the string.
const NO_SECOND_LOOK: u8 = 3;
/// No fence, but the node that gets the string is latched after blocks are reserved and before they are
/// written.
const LATCHED_FIRST: u8 = 4;

/// The number of blocks of a string.
const BLOCKS: usize = 2;

/// Refers to the first block of a string, plus one; 0: none.
#[derive(Default)]
struct Node {
    latch: OptimisticLatch,
    name: AtomicU64,
}

impl Node {
    fn set(&self, name: u64) {
        let mut latched = self.latch.latch(&Origin::here());
        latched.changing();
        self.name.store(name, Ordering::Relaxed);
    }
}

/// The link to the next block, plus one, and some bytes. All words are relaxed, as in the tree.
#[derive(Default)]
struct Block {
    link: AtomicU64,
    bytes: AtomicU64,
}

/// Node 0 refers to a string of the bytes 1. Node 1 will refer to one of the bytes 2, in the same blocks.
struct Strings<const RULES: u8> {
    nodes: [Node; 2],
    blocks: [Block; BLOCKS],
    free: Mutex<Vec<usize>>,
}

impl<const RULES: u8> Strings<RULES> {
    fn new() -> Self {
        let own =
            Self { nodes: Default::default(), blocks: Default::default(), free: Mutex::new(vec![0, 1]) };
        own.nodes[0].set(own.store(own.put_aside().expect("two blocks are free"), 1));
        own
    }

    /// Reserves blocks for a string, if they are free.
    fn put_aside(&self) -> Option<Vec<usize>> {
        let mut free = self.free.lock().unwrap();
        (free.len() == BLOCKS).then(|| std::mem::take(&mut *free))
    }

    /// Stores a string from its end to its start, as `Blocks::store` does. Returns the reference to it.
    fn store(&self, put_aside: Vec<usize>, bytes: u64) -> u64 {
        if RULES != NO_FENCE && RULES != LATCHED_FIRST {
            before_reuse();
        }
        put_aside.into_iter().rev().fold(0, |next, own| {
            self.blocks[own].link.store(next, Ordering::Relaxed);
            self.blocks[own].bytes.store(bytes, Ordering::Relaxed);
            own as u64 + 1
        })
    }

    /// Removes the string of node 0, and frees its blocks in their order, by their links.
    fn remove(&self) {
        let name = self.nodes[0].name.load(Ordering::Relaxed);
        if RULES != FREED_FIRST {
            self.nodes[0].set(0);
        }
        let (mut at, mut blocks) = (name, Vec::new());
        while at != 0 {
            blocks.push(at as usize - 1);
            at = self.blocks[at as usize - 1].link.load(Ordering::Relaxed);
        }
        *self.free.lock().unwrap() = blocks;
        if RULES == FREED_FIRST {
            self.nodes[0].set(0);
        }
    }

    /// Stores another string, if there are blocks, and refers to it in node 1.
    fn add(&self) {
        let Some(blocks) = self.put_aside() else { return };
        if RULES == LATCHED_FIRST {
            let mut latched = self.nodes[1].latch.latch(&Origin::here());
            latched.changing();
            self.nodes[1].name.store(self.store(blocks, 2), Ordering::Relaxed);
        } else {
            self.nodes[1].set(self.store(blocks, 2));
        }
    }

    /// Reads the string to which a node refers. A chain is followed no further than a string is long.
    fn read(&self, node: usize) {
        let own = &self.nodes[node];
        let Some(version) = own.latch.stable_version() else { return };
        let mut at = own.name.load(Ordering::Relaxed);
        if at == 0 {
            return;
        }
        let mut found = Vec::with_capacity(BLOCKS);
        while at != 0 && found.len() < BLOCKS {
            let block = &self.blocks[at as usize - 1];
            found.push(block.bytes.load(Ordering::Relaxed));
            at = block.link.load(Ordering::Relaxed);
        }
        if RULES == NO_SECOND_LOOK || own.latch.validate(version) {
            assert_eq!(found, [node as u64 + 1; BLOCKS], "another string's bytes counted");
        }
    }
}

/// A thread removes a string and stores another one in its blocks, the other reads either.
fn reads_are_of_the_named_string<const RULES: u8>() {
    for node in [0, 1] {
        race(
            Strings::<RULES>::new,
            |strings| {
                strings.remove();
                strings.add();
            },
            move |strings| strings.read(node),
            |strings, _| (0..2).for_each(|node| strings.read(node)),
        );
    }
}

/// The same, but the thread that stores isn't the one that removes.
fn reads_are_of_the_named_string_of_others<const RULES: u8>() {
    check(|| {
        let strings = Arc::new(Strings::<RULES>::new());
        let shared = Arc::clone(&strings);
        let removes = thread::spawn(move || shared.remove());
        let ((), strings, ()) = both(strings, |strings| strings.read(0), |strings| strings.add());
        removes.join().unwrap();
        (0..2).for_each(|node| strings.read(node));
    });
}

#[test]
fn a_reader_believes_only_the_string_that_its_node_names() {
    reads_are_of_the_named_string::<ALL_RULES>();
}

#[test]
fn blocks_that_another_thread_gave_back_are_no_different() {
    reads_are_of_the_named_string_of_others::<ALL_RULES>();
}

/// The thread that removes has passed the fence of the removal's latch.
#[test]
fn a_thread_that_gave_the_blocks_back_itself_needs_no_fence() {
    reads_are_of_the_named_string::<NO_FENCE>();
}

#[test]
fn a_latch_that_is_taken_first_orders_as_well() {
    reads_are_of_the_named_string_of_others::<LATCHED_FIRST>();
}

#[test]
#[should_panic(expected = "another string's bytes counted")]
fn without_the_fence_a_reader_believes_another_threads_string() {
    reads_are_of_the_named_string_of_others::<NO_FENCE>();
}

#[test]
#[should_panic(expected = "another string's bytes counted")]
fn if_blocks_are_given_back_first_a_reader_believes_another_string() {
    reads_are_of_the_named_string_of_others::<FREED_FIRST>();
}

#[test]
#[should_panic(expected = "another string's bytes counted")]
fn without_a_second_look_a_reader_believes_another_string() {
    reads_are_of_the_named_string::<NO_SECOND_LOOK>();
}
