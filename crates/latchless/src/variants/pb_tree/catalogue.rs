//! The members of the family by name, made as trait objects.

use crate::search::Kernel;

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
    /// Eight-line nodes; scans sweep the root-to-leaf path ahead of themselves (§5).
    P8Sweep,
    /// The CSB+-Tree: one-line nodes, children in one contiguous group.
    Csb,
    /// The CSB+-Tree with eight-line nodes, prefetched whole.
    P8Csb,
}

impl Member {
    /// The whole family, the baseline first.
    pub const ALL: [Self; 10] = [
        Self::BPlus,
        Self::P2,
        Self::P4,
        Self::P8,
        Self::P16,
        Self::P8External,
        Self::P8Internal,
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
}

impl Default for Options {
    fn default() -> Self {
        Self { limit_bytes: None, huge_pages: true, kernel: None, scan_ahead_leaves: 3 }
    }
}
