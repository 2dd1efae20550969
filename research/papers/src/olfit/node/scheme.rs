//! The differences between concurrency-control schemes: the words that nodes have for them, and what is
//! latched, copied and retired. A scheme is a table of constants; every algorithm is written once over it.

use core::fmt::Debug;

/// The latch that a node carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeLatch {
    /// None.
    None,
    /// A latch and a version in one word, the paper's `ccinfo` (§4): writers latch, readers look twice.
    Optimistic,
    /// A reader-writer latch: readers latch too.
    Shared,
    /// A latch for writers; readers ignore it.
    Writers,
}

/// The operations that take the latch of the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeLatch {
    /// None.
    None,
    /// Readers together, writers alone.
    Everybody,
    /// Only writers; readers ignore it.
    Writers,
}

/// A concurrency-control scheme: a table of constants.
pub trait Scheme: Debug + Send + Sync + 'static {
    /// The paper's two letters, in lower case.
    const NAME: &'static str;
    /// The latch that each node carries.
    const NODE_LATCH: NodeLatch = NodeLatch::None;
    /// The latch of the tree.
    const TREE_LATCH: TreeLatch = TreeLatch::None;
    /// Whether nodes have high keys and links to the right (§5.1), which lead a thread that arrives late
    /// to the new half of a split node.
    const LINKS: bool = false;
    /// Whether nodes that leave the tree are reused at once, and readers detect it: by the low fences that
    /// B+-Tree nodes then have as well (CSB+-Tree nodes with links always have room for them).
    const AT_ONCE: bool = true;
    /// Whether updates copy the nodes that they change and replace them by the copies.
    const COPIES: bool = false;
    /// Whether a descent prefetches all lines of a child before it reads the first one, as in a pB+-Tree.
    /// The paper's schemes don't.
    const PREFETCHES: bool = false;
    /// Whether many threads may use a tree at once.
    const CONCURRENT: bool = true;
}

/// A scheme under which many threads may use a tree at once.
pub trait Concurrent: Scheme {}

/// NO: no concurrency control. One thread at a time changes the tree, or many read it.
#[derive(Debug)]
pub struct Without;

/// OL: OLFIT, the paper's own scheme. Emptied nodes wait in the collector (§5.3).
#[derive(Debug)]
pub struct Olfit;

/// OL whose emptied nodes are reused at once: readers hold no pin, and detect a reused node by fences and
/// versions. With duplicates several nodes may begin with one key, so fences don't suffice; there emptied
/// nodes wait in the collector, as under [`Olfit`].
#[derive(Debug)]
pub struct OlfitAtOnce;

/// OL whose descents prefetch whole children, as a pB+-Tree's do. Not one of the paper's.
#[derive(Debug)]
pub struct OlfitPrefetched;

/// LC: lock coupling, the optimistic descent of Bayer and Schkolnick.
#[derive(Debug)]
pub struct LockCoupling;

/// TL: one reader-writer latch for the whole tree.
#[derive(Debug)]
pub struct OneLatch;

/// VN: physical versioning with latches on nodes.
#[derive(Debug)]
pub struct VersionedNodes;

/// VT: physical versioning, writers one at a time.
#[derive(Debug)]
pub struct VersionedTree;

impl Scheme for Without {
    const NAME: &'static str = "no";
    const CONCURRENT: bool = false;
}

impl Scheme for Olfit {
    const NAME: &'static str = "ol";
    const NODE_LATCH: NodeLatch = NodeLatch::Optimistic;
    const LINKS: bool = true;
    const AT_ONCE: bool = false;
}

impl Scheme for OlfitAtOnce {
    const NAME: &'static str = "ol-at-once";
    const NODE_LATCH: NodeLatch = NodeLatch::Optimistic;
    const LINKS: bool = true;
}

impl Scheme for OlfitPrefetched {
    const NAME: &'static str = "ol-prefetched";
    const NODE_LATCH: NodeLatch = NodeLatch::Optimistic;
    const LINKS: bool = true;
    const AT_ONCE: bool = false;
    const PREFETCHES: bool = true;
}

impl Scheme for LockCoupling {
    const NAME: &'static str = "lc";
    const NODE_LATCH: NodeLatch = NodeLatch::Shared;
}

impl Scheme for OneLatch {
    const NAME: &'static str = "tl";
    const TREE_LATCH: TreeLatch = TreeLatch::Everybody;
}

impl Scheme for VersionedNodes {
    const NAME: &'static str = "vn";
    const NODE_LATCH: NodeLatch = NodeLatch::Writers;
    const AT_ONCE: bool = false;
    const COPIES: bool = true;
}

impl Scheme for VersionedTree {
    const NAME: &'static str = "vt";
    const TREE_LATCH: TreeLatch = TreeLatch::Writers;
    const AT_ONCE: bool = false;
    const COPIES: bool = true;
}

macro_rules! concurrent {
    ($($scheme:ty),*) => {$(
        impl Concurrent for $scheme {}
        const _: () = assert!(<$scheme as Scheme>::CONCURRENT);
    )*};
}
concurrent!(Olfit, OlfitAtOnce, OlfitPrefetched, LockCoupling, OneLatch, VersionedNodes, VersionedTree);
