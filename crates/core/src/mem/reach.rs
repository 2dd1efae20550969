//! Where the nodes of a space are: a node's number leads to its address.
//!
//! Nodes lie in pieces of memory, one after the other. A piece begins at a power of two and holds as many
//! nodes as all pieces before it, so a number's highest bit names its piece, and a table holds one address
//! per bit. That address is *biased*: it is where node 0 would be if the piece reached down to it, so
//! that nothing is subtracted.
//!
//! Where the system grants less than a whole piece, the numbers from there on are *far*: their pieces may
//! begin anywhere and are looked up in a list. That happens under a limit on address space alone.
//!
//! # Thread safety
//! One thread at a time adds pieces; any thread looks nodes up. A bound is published after the address of
//! the piece that it opens, so a number that is below the bound has an address.
//!
//! # Invariants
//! 1. Bounds only rise, and addresses of nodes below them don't change, while the reach is shared.
//! 2. `far` pieces continue where `near` ends, without gaps; while there are any, `near` stays as it is.

use crate::mem::node_ref::NodeRef;
use crate::sync::{Address, Word, unseen};
use core::ops::Range;
use std::sync::OnceLock;

/// The most pieces that are far.
pub(super) const FAR_MAX: usize = 64;
/// Entries of the table: one per number of leading zeros.
const ENTRIES: usize = u32::BITS as usize + 1;

/// See the file's head.
#[derive(Debug)]
pub(super) struct Reach {
    /// Nodes that may be accessed by the table. First field: every access checks against it.
    near: Word,
    /// Biased addresses, by the leading zeros of a number.
    bases: [Address; ENTRIES],
    far: OnceLock<Box<[Far; FAR_MAX]>>,
}

/// A piece that the table doesn't name.
#[derive(Debug)]
struct Far {
    /// The first number after the nodes of the piece that may be accessed; 0: no piece yet.
    end: Word,
    base: Address,
}

impl Reach {
    /// No node yet.
    pub(super) const fn none() -> Self {
        Self { near: Word::new(0), bases: [const { Address::null() }; ENTRIES], far: OnceLock::new() }
    }

    /// The address of a node that may be accessed.
    ///
    /// # Panics
    /// When there is no such node: a bug of the caller.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeRef, node_bytes: usize) -> *mut u8 {
        let at = node.to_word();
        // It only grows: no step at which others matter.
        if u64::from(at) < unseen(|| self.near.follow()) {
            self.base(at).wrapping_add(at as usize * node_bytes)
        } else {
            self.far_at(at, node_bytes).expect("a reference to no node of this arena")
        }
    }

    /// As [`Reach::at`], if there is such a node and the table has it: without a call.
    #[inline(always)]
    pub(super) fn near(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        let at = node.to_word();
        // It only grows: no step at which others matter.
        let is_near = u64::from(at) < unseen(|| self.near.follow());
        is_near.then(|| self.base(at).wrapping_add(at as usize * node_bytes))
    }

    /// As [`Reach::at`], if there is such a node.
    #[inline(always)]
    pub(super) fn find(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        let at = node.to_word();
        if u64::from(at) < unseen(|| self.near.follow()) {
            Some(self.base(at).wrapping_add(at as usize * node_bytes))
        } else {
            self.far_at(at, node_bytes)
        }
    }

    /// Where a node is, or, for a number that has no node or a far one, anywhere: an address to prefetch.
    #[inline(always)]
    pub(super) fn guess(&self, node: NodeRef, node_bytes: usize) -> *const u8 {
        let at = node.to_word();
        self.base(at).wrapping_add(at as usize * node_bytes)
    }

    /// The biased address of the piece of a number.
    #[inline(always)]
    fn base(&self, at: u32) -> *mut u8 {
        self.bases[at.leading_zeros() as usize].load_relaxed()
    }

    #[cold]
    #[inline(never)]
    fn far_at(&self, at: u32, node_bytes: usize) -> Option<*mut u8> {
        let far = self.far.get()?;
        // From when there are far pieces the near bound stays; the caller may have seen an earlier one.
        let base = if u64::from(at) < self.near.follow() {
            self.base(at)
        } else {
            far.iter().find(|piece| u64::from(at) < piece.end.follow())?.base.load_relaxed()
        };
        Some(base.wrapping_add(at as usize * node_bytes))
    }

    /// Notes where a piece is, before its first node may be accessed.
    pub(super) fn place(&self, piece: PieceSlot, base: *mut u8) {
        match piece {
            PieceSlot::Near { bits } => {
                bits.for_each(|bits| self.bases[ENTRIES - 1 - bits].store_relaxed(base))
            }
            PieceSlot::Far(nth) => {
                let far = self.far.get_or_init(|| Box::new([const { Far::none() }; FAR_MAX]));
                far[nth].base.store_relaxed(base);
            }
        }
    }

    /// Lets the nodes of a piece below `end` be accessed.
    pub(super) fn open(&self, piece: &PieceSlot, end: usize) {
        let bound = match piece {
            PieceSlot::Near { .. } => &self.near,
            PieceSlot::Far(nth) => match self.far.get() {
                Some(far) => &far[*nth].end,
                None => return,
            },
        };
        bound.publish(end as u64);
    }

    /// Forgets all pieces.
    pub(super) fn clear(&mut self) {
        *self = Self::none();
    }
}

impl Far {
    const fn none() -> Self {
        Self { end: Word::new(0), base: Address::null() }
    }
}

/// How a piece is found.
#[derive(Debug, Clone)]
pub(super) enum PieceSlot {
    /// By the table, for numbers of this many bits.
    Near {
        /// From which number of bits to which.
        bits: Range<usize>,
    },
    /// As the nth of the list.
    Far(usize),
}
