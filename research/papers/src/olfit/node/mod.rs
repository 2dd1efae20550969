//! Nodes for OLFIT and its rivals (Cha et al., VLDB 2001, §4 and §5): B+-Tree nodes and CSB+-Tree node
//! groups of a size that is chosen at run time, made of words as wide as a lane, with the fan-outs of the
//! paper's Table 1 under every scheme.
//!
//! # Thread safety
//! Words are atomics, so reading a node that is being written isn't undefined behaviour, only useless: the
//! scheme determines which threads may write and how readers detect it. A word of a node that is being
//! written has one of the values that were stored in it, and sizes never exceed the node's capacity,
//! because a node is reused for its own level only, or when no thread can read it.

mod common;
mod inner;
mod layout;
mod leaf;
mod scheme;

pub use common::{Flag, Meta, Node, Way};
pub use layout::{At, BPlus, CsbPlus, Family, Fields, Kind, Layout, NODE_BYTES, Of, WordOf};
pub use scheme::{
    Concurrent, LockCoupling, NodeLatch, Olfit, OlfitAtOnce, OlfitPrefetched, OneLatch, Scheme, TreeLatch,
    VersionedNodes, VersionedTree, Without,
};
