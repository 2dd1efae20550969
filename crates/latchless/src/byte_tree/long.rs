//! Long strings, stored outside of nodes: chains of blocks of 256 bytes.
//!
//! Blocks are parts of nodes: a node that carries blocks is in no tree meanwhile. So nodes and long strings
//! share one memory, and memory that one has freed serves the other:
//! * A node that was never in a tree, or in none since all of its blocks last came back, carries eight
//!   blocks. When all of them have come back, it may become a node of any level: its latch is free then,
//!   whatever was written there.
//! * If there is no such node, one that was emptied and has left the tree carries blocks. Readers may still
//!   reach it and find by its header that it is dead; so its first part, which has the header, stays as it
//!   is. When all of its blocks have come back, it may become a node of its level again.
//!
//! # Thread safety
//! A string is written before a node names it, and is freed after the last node that named it was changed.
//! A reader follows a name that it found in a node while that node may change; its result counts only if
//! the node's version is the same afterwards. So a block may be reused at once, also as a part of a node:
//! before the new content is written, a fence orders it after the change of the node that had the old name.
//! In the other direction, a block is written after such a fence, too, and the node that carries it has
//! died before.
//!
//! A chain is never followed further than its length says, and blocks are never unmapped: so reading ends,
//! whatever the words are.

use super::shape::{LATCH, LEN_MAX, LINES, LongRef, NodeLines, Nodes};
use super::text::{word, words_of};
use core::cmp::Ordering;
use latchless_core::base::error::{Error, Result};
use latchless_core::latch::before_reuse;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::refusal::reserve;
use latchless_core::mem::space::ANY_KIND;
use latchless_core::sync::{Line, Mutex, Word};

/// Cache lines in a block.
const BLOCK_LINES: usize = 4;
/// Blocks of a node.
const PARTS: usize = LINES / BLOCK_LINES;
/// Words of a block that hold bytes; the first word is the link.
const PAYLOAD: usize = 8 * BLOCK_LINES - 1;
/// Bytes in a block.
const BYTES: usize = 8 * PAYLOAD;
/// The parts of a node with any, and those without the header, a bit for each.
const ALL_PARTS: u8 = u8::MAX;
const BEHIND_THE_HEADER: u8 = ALL_PARTS << 1;
/// Nodes from here on carry no blocks: a block's number has 32 bits.
const CARRIERS_MAX: usize = u32::MAX as usize / PARTS;

/// Refuses keys that are longer than any may be.
#[inline(always)]
pub fn check_length(key: &[u8]) -> Result<()> {
    if key.len() <= LEN_MAX { Ok(()) } else { Err(Error::KeyTooLong { len: key.len(), limit: LEN_MAX }) }
}

/// The memory of nodes and long strings. See the file's head.
#[derive(Debug)]
pub struct LongStrings {
    pub(super) nodes: Nodes,
    books: Mutex<Books>,
}

/// Which nodes carry blocks, and which of these are free.
#[derive(Debug, Default)]
struct Books {
    /// By a node's number.
    carriers: Vec<Carrier>,
    /// Nodes that have free blocks; some had.
    open: Vec<u32>,
    /// How many nodes carry blocks.
    count: usize,
    /// How many blocks are in use.
    in_use: usize,
}

/// The contents of a carrying node.
#[derive(Debug, Clone, Copy)]
struct Carrier {
    /// A bit for each block that is free.
    free: u8,
    /// The kind as which the node is freed. [`NO_CARRIER`]: it carries nothing.
    kind: u8,
    /// Whether it is among the open ones.
    is_open: bool,
}

const NO_CARRIER: u8 = u8::MAX;

/// Blocks reserved before a latch is taken. Unused ones go back.
#[derive(Debug)]
pub struct Blocks<'a> {
    of: &'a LongStrings,
    blocks: Vec<NodeRef>,
}

impl Carrier {
    const NONE: Self = Self { free: 0, kind: NO_CARRIER, is_open: false };

    /// All blocks that it has.
    fn all(self) -> u8 {
        if usize::from(self.kind) == ANY_KIND { ALL_PARTS } else { BEHIND_THE_HEADER }
    }
}

/// The node of a block, and which part of it the block is.
#[inline(always)]
fn place_of(block: NodeRef) -> (usize, usize) {
    let number = block.to_word() as usize;
    (number / PARTS, number % PARTS)
}

impl Books {
    /// A free block of the open nodes.
    fn pop(&mut self) -> Option<NodeRef> {
        while let Some(&node) = self.open.last() {
            let carrier = &mut self.carriers[node as usize];
            let part = carrier.free.trailing_zeros();
            carrier.free &= carrier.free.wrapping_sub(1);
            if carrier.free == 0 {
                carrier.is_open = false;
                self.open.pop();
            }
            if part < u8::BITS {
                self.in_use += 1;
                return Some(NodeRef::from_word(node * PARTS as u32 + part));
            }
        }
        None
    }

    /// Makes room for a node's bookkeeping. Nothing more is needed as long as it carries blocks.
    fn make_room(&mut self, node: usize) -> Result<()> {
        let more = (node + 1).saturating_sub(self.carriers.len());
        reserve(&mut self.carriers, more)?;
        let nodes = self.carriers.len() + more;
        let beyond = nodes - self.open.len();
        reserve(&mut self.open, beyond)?;
        self.carriers.resize(nodes, Carrier::NONE);
        Ok(())
    }

    /// A node carries blocks from now on, or others of its blocks are free.
    fn note_open(&mut self, node: usize) {
        if !core::mem::replace(&mut self.carriers[node].is_open, true) {
            self.open.push(node as u32);
        }
    }

    /// Takes a block back. Returns its node and the node's kind if that carries nothing any more.
    fn push(&mut self, block: NodeRef) -> Option<(usize, NodeRef)> {
        let (node, part) = place_of(block);
        let carrier = &mut self.carriers[node];
        debug_assert!(
            carrier.kind != NO_CARRIER && carrier.free >> part & 1 == 0,
            "{block:?} comes back twice"
        );
        carrier.free |= 1 << part;
        self.in_use -= 1;
        if carrier.free != carrier.all() {
            self.note_open(node);
            return None;
        }
        self.count -= 1;
        // If it is among the open ones, it goes from there when a block is looked for.
        let kind = core::mem::replace(&mut carrier.kind, NO_CARRIER);
        carrier.free = 0;
        Some((kind.into(), NodeRef::from_word(node as u32)))
    }
}

impl LongStrings {
    /// No strings yet, and no nodes.
    pub fn new(nodes: Nodes) -> Self {
        Self { nodes, books: Mutex::default() }
    }

    /// Blocks for a string of this length.
    pub const fn blocks_for(len: usize) -> usize {
        len.div_ceil(BYTES)
    }

    /// An empty reservation of blocks.
    pub fn put_aside(&self) -> Blocks<'_> {
        Blocks { of: self, blocks: Vec::new() }
    }

    /// Has one more node carry blocks.
    fn add_carrier(&self, books: &mut Books) -> Result<()> {
        let (node, kind) = self.carrier()?;
        let number = node.to_word() as usize;
        let room = if number < CARRIERS_MAX {
            books.make_room(number)
        } else {
            Err(Error::ReferencesExhausted { limit: CARRIERS_MAX as u64 })
        };
        if let Err(refused) = room {
            self.nodes.free(kind, node);
            return Err(refused);
        }
        let carrier = &mut books.carriers[number];
        carrier.kind = kind as u8;
        carrier.free = carrier.all();
        books.count += 1;
        books.note_open(number);
        Ok(())
    }

    /// A node that may carry blocks, and of which kind it is.
    fn carrier(&self) -> Result<(NodeRef, usize)> {
        if let Some(node) = self.nodes.reuse(ANY_KIND) {
            return Ok((node, ANY_KIND));
        }
        match self.nodes.allocate_run(1) {
            Ok(node) => {
                self.nodes.tell_kind(ANY_KIND, node, 1);
                Ok((node, ANY_KIND))
            }
            Err(refused) => {
                let emptied = (0..ANY_KIND).find_map(|kind| Some((self.nodes.reuse(kind)?, kind)));
                emptied.ok_or(refused)
            }
        }
    }

    fn block(&self, at: NodeRef) -> Option<&[Line; BLOCK_LINES]> {
        let (node, part) = place_of(at);
        let lines: &NodeLines = self.nodes.find(NodeRef::from_word(node as u32))?;
        lines.as_chunks().0.get(part)
    }

    /// The words of a string, as far as there are any.
    fn words(&self, string: LongRef) -> impl Iterator<Item = &Word> {
        let blocks = core::iter::successors(self.block(string.first), |block| {
            self.block(NodeRef::from_word(block[0][0].load_relaxed() as u32))
        });
        blocks.flat_map(|block| &block.as_flattened()[1..]).take(words_of(string.len))
    }

    /// How a stored string compares with another one.
    pub fn compare(&self, string: LongRef, other: &[u8]) -> Ordering {
        for (at, one) in self.words(string).take(words_of(other.len())).enumerate() {
            let (one, two) = (one.load_relaxed(), word(other, 8 * at));
            if one != two {
                return one.swap_bytes().cmp(&two.swap_bytes());
            }
        }
        string.len.cmp(&other.len())
    }

    /// Whether a stored string and another one begin with the same `prefix` bytes.
    pub fn begins_alike(&self, string: LongRef, other: &[u8], prefix: usize) -> bool {
        prefix <= string.len.min(other.len())
            && self.words(string).take(words_of(prefix)).enumerate().all(|(at, one)| {
                let different = one.load_relaxed() ^ word(other, 8 * at);
                let bytes = prefix - 8 * at;
                different == 0 || (bytes < 8 && different.trailing_zeros() as usize / 8 >= bytes)
            })
    }

    /// Adds a stored string to the end of `to`. Returns whether all of it was there.
    pub fn append(&self, string: LongRef, to: &mut Vec<u8>) -> bool {
        let end = to.len() + string.len;
        self.words(string).for_each(|word| to.extend_from_slice(&word.load_relaxed().to_le_bytes()));
        let is_whole = to.len() >= end;
        to.truncate(end);
        is_whole
    }

    /// Copies the bytes of a string from `at` on to `to`, as far as there are any.
    pub fn bytes_at(&self, string: LongRef, at: usize, to: &mut [u8]) {
        let mut next = at;
        let len = string.len.saturating_sub(at).min(to.len());
        let to = &mut to[..len];
        let end = at + to.len();
        for (number, word) in self.words(string).enumerate().take(words_of(end)).skip(at / 8) {
            let bytes = word.load_relaxed().to_le_bytes();
            while next < end.min(8 * number + 8) {
                to[next - at] = bytes[next % 8];
                next += 1;
            }
        }
    }

    /// Gives the blocks of a string back that no node names any more. Needs no memory.
    pub fn free(&self, string: LongRef) {
        let mut at = string.first;
        self.take_back((0..Self::blocks_for(string.len)).map(|_| {
            let block = self.block(at).expect("a string that is stored has its blocks");
            core::mem::replace(&mut at, NodeRef::from_word(block[0][0].load_relaxed() as u32))
        }));
    }

    fn take_back(&self, blocks: impl Iterator<Item = NodeRef>) {
        let mut books = self.books.lock();
        for block in blocks {
            if let Some((kind, node)) = books.push(block) {
                if kind == ANY_KIND {
                    // No reader has taken it for a node of a tree: it may begin with any version.
                    self.nodes.node(node).as_flattened()[LATCH].store_relaxed(0);
                }
                self.nodes.free(kind, node);
            }
        }
    }

    /// Overwrites a word of a block, if a node carries it.
    #[cfg(any(test, fuzzing))]
    pub fn overwrite(&self, block: NodeRef, at: usize, to: u64) {
        let (node, part) = place_of(block);
        let carrier = self.books.lock().carriers.get(node).copied();
        if carrier.is_some_and(|carrier| carrier.kind != NO_CARRIER && carrier.all() >> part & 1 != 0)
            && let Some(block) = self.block(block)
        {
            block.as_flattened()[at % (8 * BLOCK_LINES)].store_relaxed(to);
        }
    }

    /// Numbers of blocks end before this one.
    #[cfg(any(test, fuzzing))]
    pub fn end(&self) -> usize {
        self.books.lock().carriers.len() * PARTS
    }

    /// How many nodes are in trees, or reserved for them.
    pub fn tree_nodes(&self) -> usize {
        let carriers = self.books.lock().count;
        (self.nodes.live_bytes() / Nodes::NODE_BYTES).saturating_sub(carriers)
    }

    /// Bytes of blocks in use.
    pub fn live_bytes(&self) -> usize {
        self.books.lock().in_use * BLOCK_LINES * size_of::<Line>()
    }

    /// Forgets all strings and all nodes, and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.nodes.clear();
        *self.books.get_mut() = Books::default();
    }
}

impl Blocks<'_> {
    /// Reserves blocks until there are this many. The caller holds no latch.
    pub fn reserve(&mut self, blocks: usize) -> Result<()> {
        self.of.nodes.budget().relieved(|| self.allocate(blocks))
    }

    fn allocate(&mut self, blocks: usize) -> Result<()> {
        let more = blocks.saturating_sub(self.blocks.len());
        if more == 0 {
            return Ok(());
        }
        reserve(&mut self.blocks, more)?;
        let books = &mut *self.of.books.lock();
        while self.blocks.len() < blocks {
            match books.pop() {
                Some(block) => self.blocks.push(block),
                None => self.of.add_carrier(books)?,
            }
        }
        Ok(())
    }

    /// How many are reserved.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Stores a string in reserved blocks.
    ///
    /// # Panics
    /// If there are too few: a bug of the caller.
    pub fn store(&mut self, bytes: &[u8]) -> LongRef {
        debug_assert!(bytes.len() <= LEN_MAX);
        before_reuse();
        let mut next = NodeRef::NIL;
        for at in (0..LongStrings::blocks_for(bytes.len())).rev() {
            let own = self.blocks.pop().expect("blocks were put aside");
            let block = self.of.block(own).expect("a node carries it").as_flattened();
            block[0].store_relaxed(u64::from(next.to_word()));
            let part = &bytes[at * BYTES..bytes.len().min((at + 1) * BYTES)];
            for (at, to) in block[1..][..words_of(part.len())].iter().enumerate() {
                to.store_relaxed(word(part, 8 * at));
            }
            next = own;
        }
        LongRef { first: next, len: bytes.len() }
    }
}

impl Drop for Blocks<'_> {
    fn drop(&mut self) {
        if !self.blocks.is_empty() {
            self.of.take_back(self.blocks.drain(..));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_all_lengths_come_back_and_their_blocks_are_used_again() {
        let long = LongStrings::new(Nodes::new(None, false, u32::MAX).unwrap());
        for _ in 0..3 {
            let lengths =
                if cfg!(miri) { vec![1, 247, 249, 900] } else { vec![1, 8, 247, 248, 249, 5000, 65_535] };
            let strings: Vec<Vec<u8>> =
                lengths.iter().map(|&len| (0..len).map(|at| (at * 7 % 251) as u8).collect()).collect();
            let stored: Vec<_> = strings
                .iter()
                .map(|bytes| {
                    let mut blocks = long.put_aside();
                    blocks.reserve(LongStrings::blocks_for(bytes.len())).unwrap();
                    blocks.store(bytes)
                })
                .collect();
            for (bytes, &string) in strings.iter().zip(&stored) {
                let mut back = b"x".to_vec();
                assert!(long.append(string, &mut back) && back[1..] == bytes[..]);
                assert_eq!(long.compare(string, bytes), Ordering::Equal);
                assert_eq!(long.compare(string, &bytes[..bytes.len() - 1]), Ordering::Greater);
                let mut other = bytes.clone();
                *other.last_mut().unwrap() += 1;
                assert_eq!(long.compare(string, &other), Ordering::Less);
                let alike = |prefix: usize| long.begins_alike(string, &other, prefix);
                assert!(alike(bytes.len() - 1) && !alike(bytes.len()) && !alike(bytes.len() + 1));
            }
            stored.into_iter().for_each(|string| long.free(string));
        }
        assert_eq!((long.live_bytes(), long.nodes.live_bytes()), (0, 0));
        let most: usize = if cfg!(miri) { 8 } else { 304 };
        assert!(long.nodes.held_bytes() <= most * 256, "{} bytes", long.nodes.held_bytes());
    }

    fn stored(long: &LongStrings, bytes: &[u8]) -> Result<LongRef> {
        let mut blocks = long.put_aside();
        blocks.reserve(LongStrings::blocks_for(bytes.len()))?;
        Ok(blocks.store(bytes))
    }

    /// Strings of one block until memory is refused.
    fn fill(long: &LongStrings) -> Vec<LongRef> {
        core::iter::from_fn(|| stored(long, &[0xFF; BYTES]).ok()).collect()
    }

    #[test]
    fn what_strings_have_given_up_nodes_can_have() {
        let long = LongStrings::new(Nodes::new(Some(10 * Nodes::NODE_BYTES), false, u32::MAX).unwrap());
        let strings = fill(&long);
        assert_eq!((strings.len(), long.live_bytes()), (80, 80 * 256));
        assert!(long.nodes.allocate(3).is_err());
        strings.into_iter().for_each(|string| long.free(string));
        // Of any level, with free latches.
        let nodes: Vec<_> = (0..10).map(|at| long.nodes.allocate(at % 3).unwrap()).collect();
        assert!(nodes.iter().all(|&node| long.nodes.node(node).as_flattened()[LATCH].load_relaxed() == 0));
        assert!(long.nodes.allocate(0).is_err() && stored(&long, &[1]).is_err());
        assert_eq!((long.tree_nodes(), long.live_bytes(), long.nodes.held_bytes()), (10, 0, 20480));
    }

    #[test]
    fn what_nodes_have_given_up_strings_can_have_and_the_header_stays() {
        let long = LongStrings::new(Nodes::new(Some(10 * Nodes::NODE_BYTES), false, u32::MAX).unwrap());
        let nodes: Vec<_> = (0..10).map(|at| (at % 2, long.nodes.allocate(at % 2).unwrap())).collect();
        let header = |node| &long.nodes.node(node).as_flattened()[..8 * BLOCK_LINES];
        for &(level, node) in &nodes {
            header(node).iter().zip(1..).for_each(|(word, at)| word.store_relaxed(2 * at));
            long.nodes.free(level, node);
        }
        let strings = fill(&long);
        assert_eq!((strings.len(), long.tree_nodes(), long.live_bytes()), (70, 0, 70 * 256));
        let stays = |node| header(node).iter().zip(1..).all(|(word, at)| word.load_relaxed() == 2 * at);
        assert!(nodes.iter().all(|&(_, node)| stays(node)));
        strings.into_iter().for_each(|string| long.free(string));
        // Of their own level, and of no other.
        let again: Vec<_> = (0..5).map(|_| long.nodes.allocate(1).unwrap()).collect();
        assert!(again.iter().all(|node| nodes.contains(&(1, *node)) && stays(*node)));
        assert!(long.nodes.allocate(1).is_err() && long.nodes.allocate(0).is_ok());
    }
}
