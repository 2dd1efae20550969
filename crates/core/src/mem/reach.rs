//! The mapping from a node's number to its address.
//!
//! Nodes lie in consecutive pieces of memory. A piece begins at a power of two and holds as many nodes as
//! all earlier pieces together, so a number's highest bit identifies its piece, and a table holds one
//! address per bit. That address is *biased*: it is where node 0 would be if the piece extended down to it,
//! so that nothing has to be subtracted.
//!
//! If the system grants less than a whole piece, the numbers from there on are *far*: their pieces may begin
//! anywhere and are looked up in a list. That happens only under a limit on address space.
//!
//! # Thread safety
//! One thread at a time adds pieces; any thread looks up nodes. A bound is published after the address of
//! its piece, so a number below the bound has an address.
//!
//! # Invariants
//! 1. Bounds only rise, and addresses of nodes below them don't change, while the reach is shared.
//! 2. `far` pieces continue where `near` ends, without gaps; while there are any, `near` stays as it is.

use crate::mem::node_ref::NodeRef;
use crate::sync::{Address, Word, unseen};
use core::ops::Range;
use std::sync::OnceLock;

/// The maximum number of far pieces.
pub(super) const FAR_MAX: usize = 64;
/// Entries of the table: one per number of leading zeros.
const ENTRIES: usize = u32::BITS as usize + 1;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Reach {
    /// The number of nodes that the table covers. First field: every access checks against it.
    near: Word,
    /// Biased addresses, by the leading zeros of a number.
    bases: [Address; ENTRIES],
    far: OnceLock<Box<[Far; FAR_MAX]>>,
}

/// A piece that isn't in the table.
#[derive(Debug)]
struct Far {
    /// The number after the piece's last accessible node; 0: no piece yet.
    end: Word,
    base: Address,
}

impl Reach {
    /// Creates a reach without nodes.
    pub(super) const fn none() -> Self {
        Self { near: Word::new(0), bases: [const { Address::null() }; ENTRIES], far: OnceLock::new() }
    }

    /// Returns the address of an accessible node.
    ///
    /// # Panics
    /// If there is no such node: a bug of the caller.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeRef, node_bytes: usize) -> *mut u8 {
        let at = node.to_word();
        // The bound only grows, so no scheduling point is needed.
        if u64::from(at) < unseen(|| self.near.follow()) {
            self.base(at).wrapping_add(at as usize * node_bytes)
        } else {
            self.far_at(at, node_bytes).expect("a reference to no node of this arena")
        }
    }

    /// Returns the address of a node, if it exists and the table covers it. Makes no call.
    #[inline(always)]
    pub(super) fn near(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        let at = node.to_word();
        // The bound only grows, so no scheduling point is needed.
        let is_near = u64::from(at) < unseen(|| self.near.follow());
        is_near.then(|| self.base(at).wrapping_add(at as usize * node_bytes))
    }

    /// Returns the address of a node, if it exists.
    #[inline(always)]
    pub(super) fn find(&self, node: NodeRef, node_bytes: usize) -> Option<*mut u8> {
        let at = node.to_word();
        if u64::from(at) < unseen(|| self.near.follow()) {
            Some(self.base(at).wrapping_add(at as usize * node_bytes))
        } else {
            self.far_at(at, node_bytes)
        }
    }

    /// Returns the address of a node to prefetch. For a number without a node or with a far one it may be
    /// any address.
    #[inline(always)]
    pub(super) fn guess(&self, node: NodeRef, node_bytes: usize) -> *const u8 {
        let at = node.to_word();
        self.base(at).wrapping_add(at as usize * node_bytes)
    }

    /// Returns the biased address of the piece of a number.
    #[inline(always)]
    fn base(&self, at: u32) -> *mut u8 {
        self.bases[at.leading_zeros() as usize].load_relaxed()
    }

    #[cold]
    #[inline(never)]
    fn far_at(&self, at: u32, node_bytes: usize) -> Option<*mut u8> {
        let far = self.far.get()?;
        // Once there are far pieces the near bound is final; the caller may have seen an earlier one.
        let base = if u64::from(at) < self.near.follow() {
            self.base(at)
        } else {
            far.iter().find(|piece| u64::from(at) < piece.end.follow())?.base.load_relaxed()
        };
        Some(base.wrapping_add(at as usize * node_bytes))
    }

    /// Sets the address of a piece, before its first node may be accessed.
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

    /// Makes the nodes of a piece below `end` accessible.
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

    /// Removes all pieces.
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
    /// In the table, for numbers of this many bits.
    Near {
        /// The range of numbers of bits.
        bits: Range<usize>,
    },
    /// At this position of the list.
    Far(usize),
}
