//! The members of the family by name, made as trait objects.

use super::map::PbTree;
use crate::error::Result;
use crate::pb_tree::node::{External, Form, Grouped, Internal, Plain, Shaped, Sweeping};
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};
use latchless_core::search::Kernel;

/// A member of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// The B+-Tree with one-line nodes and no prefetch: the baseline.
    BPlus,
    /// Two-line nodes, prefetched whole (p²B+-Tree).
    P2,
    /// Four-line nodes.
    P4,
    /// Eight-line nodes: the paper's best width.
    P8,
    /// Sixteen-line nodes.
    P16,
    /// Eight-line nodes and an external jump-pointer array.
    P8External,
    /// Eight-line nodes and an internal jump-pointer array.
    P8Internal,
    /// Sixteen-line nodes and an internal jump-pointer array: no member of the paper's, but the best
    /// width on processors that fetch more lines at once than its machine did.
    P16Internal,
    /// Eight-line nodes; scans sweep the root-to-leaf path ahead of themselves (§5).
    P8Sweep,
    /// The CSB+-Tree: one-line nodes, children in one contiguous group.
    Csb,
    /// The CSB+-Tree with eight-line nodes, prefetched whole.
    P8Csb,
}

impl Member {
    /// The whole family, the baseline first.
    pub const ALL: [Self; 11] = [
        Self::BPlus,
        Self::P2,
        Self::P4,
        Self::P8,
        Self::P16,
        Self::P8External,
        Self::P8Internal,
        Self::P16Internal,
        Self::P8Sweep,
        Self::Csb,
        Self::P8Csb,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BPlus => "b-plus",
            Self::P2 => "p2",
            Self::P4 => "p4",
            Self::P8 => "p8",
            Self::P16 => "p16",
            Self::P8External => "p8e",
            Self::P8Internal => "p8i",
            Self::P16Internal => "p16i",
            Self::P8Sweep => "p8-sweep",
            Self::Csb => "csb",
            Self::P8Csb => "p8-csb",
        }
    }

    /// The member of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|member| member.name() == name)
    }
}

/// What an index of the family can be told when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The most memory that its nodes may take, in bytes. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether nodes stand on huge pages where the system offers them.
    pub huge_pages: bool,
    /// The in-node search kernel. `None`: the fastest that this processor has.
    pub kernel: Option<Kernel>,
    /// Leaves that a scan prefetches ahead: the paper's prefetch distance k (Eq. 2 gives 2 for its
    /// machine; its experiments use 3).
    pub scan_ahead_leaves: usize,
    /// How many nodes references can tell apart; `None`: 2^32 − 1. Tests make it tiny.
    pub node_references: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit_bytes: None,
            huge_pages: true,
            kernel: None,
            scan_ahead_leaves: 3,
            node_references: None,
        }
    }
}

/// An empty index of the family.
///
/// # Errors
/// [`Error::KernelUnavailable`](latchless_core::base::error::Error::KernelUnavailable), or when memory is refused.
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_touching::<K, V, NoTrace>(member, options)
}

/// An empty index of the family that tells the thread's memory-hierarchy model what it does.
///
/// # Errors
/// As [`build`].
#[cfg(feature = "model")]
pub fn build_modelled<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_touching::<K, V, latchless_core::mem::touch::Traced>(member, options)
}

fn build_touching<K: Key, V: Fits<K::Bits>, T: Trace>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    fn boxed<K: Key, V: Fits<K::Bits>, F: Form, T: Trace>(
        options: &Options,
    ) -> Result<Box<dyn OrderedIndex<K, V>>> {
        Ok(Box::new(PbTree::<K, V, Shaped<K::Bits, F, T>>::with_options(options)?))
    }
    match member {
        Member::BPlus => boxed::<K, V, Plain<1>, T>(options),
        Member::P2 => boxed::<K, V, Plain<2>, T>(options),
        Member::P4 => boxed::<K, V, Plain<4>, T>(options),
        Member::P8 => boxed::<K, V, Plain<8>, T>(options),
        Member::P16 => boxed::<K, V, Plain<16>, T>(options),
        Member::P8External => boxed::<K, V, External<8>, T>(options),
        Member::P8Internal => boxed::<K, V, Internal<8>, T>(options),
        Member::P16Internal => boxed::<K, V, Internal<16>, T>(options),
        Member::P8Sweep => boxed::<K, V, Sweeping<8>, T>(options),
        Member::Csb => boxed::<K, V, Grouped<1>, T>(options),
        Member::P8Csb => boxed::<K, V, Grouped<8>, T>(options),
    }
}
