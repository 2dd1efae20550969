//! Nodes for OLFIT and its rivals (Cha et al., VLDB 2001, §4 and §5): B+-Tree nodes and CSB+-Tree node
//! groups of a size that is chosen at run time, made of words as wide as a lane, with the fan-outs of the
//! paper's Table 1 under every scheme.
//!
//! # Thread safety
//! Words are atomics, so reading a node that somebody writes is no undefined behaviour, only of no use: the
//! scheme says who may write and how readers find out. What is read from a node that is being written is
//! one of the values that the words had, and sizes never exceed the room that there is, because a node is
//! used again for its own level only, or when nobody can be reading it.

mod common;
mod inner;
mod layout;
mod leaf;
mod scheme;

pub use common::{Flag, Meta, Node, Way};
pub use layout::{At, BPlus, CsbPlus, Family, Fields, Kind, Layout, NODE_BYTES, Of, WordOf};
pub use scheme::{
    Concurrent, LockCoupling, NodeLatch, Olfit, OlfitAtOnce, OneLatch, Scheme, TreeLatch, VersionedNodes,
    VersionedTree, Without,
};
