//! Long strings, stored outside of nodes: chains of blocks of 256 bytes.
//!
//! # Thread safety
//! A string is written before a node names it, and is given back after the last node that named it was
//! changed. A reader follows a name that it found in a node while that may change; what it reads counts
//! only if the node's version is the same afterwards. So a block may be used again at once: before the new
//! content is written, a fence orders it after the change of the old name's node.
//!
//! A chain is never followed further than its length says, and blocks are never unmapped: whatever a
//! reader finds, it comes to an end.

use super::shape::LongRef;
use super::text::{word, words_of};
use crate::tree::SharedArena;
use core::cmp::Ordering;
use latchless_core::base::error::Result;
use latchless_core::latch::before_reuse;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::{Line, Word};

/// Cache lines in a block.
const LINES: usize = 4;
/// Words of a block that hold bytes; the first word is the link.
const PAYLOAD: usize = 8 * LINES - 1;
/// Bytes in a block.
const BYTES: usize = 8 * PAYLOAD;
/// All blocks are of one kind.
const KIND: usize = 0;

/// The longest string: lengths are 16 bits.
pub const LEN_MAX: usize = 0xFFFF;

/// The memory of long strings.
#[derive(Debug)]
pub struct LongStrings {
    blocks: SharedArena<LINES>,
}

/// Blocks put aside before a latch is taken. What isn't used goes back.
#[derive(Debug)]
pub struct Blocks<'a> {
    of: &'a LongStrings,
    blocks: Vec<NodeRef>,
}

impl LongStrings {
    /// No strings yet.
    pub fn new(limit_bytes: Option<usize>, huge_pages: bool, references: u32) -> Result<Self> {
        Ok(Self { blocks: SharedArena::new(limit_bytes, huge_pages, references)? })
    }

    /// With memory that another thread makes ready ahead of need.
    pub fn prefaulted(self) -> Self {
        Self { blocks: self.blocks.prefaulted() }
    }

    /// Blocks for a string of this length.
    pub const fn blocks_for(len: usize) -> usize {
        len.div_ceil(BYTES)
    }

    /// No blocks put aside yet.
    pub fn put_aside(&self) -> Blocks<'_> {
        Blocks { of: self, blocks: Vec::new() }
    }

    fn block(&self, at: NodeRef) -> Option<&[Line; LINES]> {
        self.blocks.find(at)
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

    /// Adds a stored string to the end of `to`. Says whether all of it was there.
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

    /// Gives the blocks of a string back that no node names any more.
    pub fn free(&self, string: LongRef) {
        let mut at = string.first;
        for _ in 0..Self::blocks_for(string.len) {
            let next = NodeRef::from_word(self.blocks.node(at)[0][0].load_relaxed() as u32);
            self.blocks.free(KIND, at);
            at = next;
        }
    }

    /// Overwrites a word of a block, if there is such a block.
    #[cfg(any(test, fuzzing))]
    pub fn overwrite(&self, block: NodeRef, at: usize, to: u64) {
        if let Some(block) = self.block(block) {
            block.as_flattened()[at % (8 * LINES)].store_relaxed(to);
        }
    }

    /// Bytes of blocks that were ever in use.
    pub fn held_bytes(&self) -> usize {
        self.blocks.held_bytes()
    }

    /// Bytes of blocks in use.
    pub fn live_bytes(&self) -> usize {
        self.blocks.live_bytes()
    }

    /// Forgets all strings.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }
}

impl Blocks<'_> {
    /// Puts blocks aside until there are this many.
    pub fn reserve(&mut self, blocks: usize) -> Result<()> {
        while self.blocks.len() < blocks {
            self.blocks.push(self.of.blocks.allocate(KIND)?);
        }
        Ok(())
    }

    /// How many are put aside.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Stores a string in blocks that were put aside.
    ///
    /// # Panics
    /// When they are too few: a bug of the caller.
    pub fn store(&mut self, bytes: &[u8]) -> LongRef {
        debug_assert!(bytes.len() <= LEN_MAX);
        before_reuse();
        let mut next = NodeRef::NIL;
        for at in (0..LongStrings::blocks_for(bytes.len())).rev() {
            let own = self.blocks.pop().expect("blocks were put aside");
            let block = self.of.blocks.node(own).as_flattened();
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
        self.blocks.drain(..).for_each(|block| self.of.blocks.free(KIND, block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_all_lengths_come_back_and_their_blocks_are_used_again() {
        let long = LongStrings::new(None, false, u32::MAX).unwrap();
        for _ in 0..3 {
            let lengths =
                if cfg!(miri) { vec![1, 247, 249, 900] } else { vec![1, 8, 247, 248, 249, 5000, LEN_MAX] };
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
        assert_eq!(long.live_bytes(), 0);
        let most: usize = if cfg!(miri) { 8 } else { 300 };
        assert!(long.held_bytes() <= most * 256, "{} bytes", long.held_bytes());
    }
}
