//! One parameter with everything in which the nodes of two trees can differ.

use crate::pb_tree::arena::{Block, Hinted, Lines};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// How an inner node refers to its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Children {
    /// One reference for each child.
    References,
    /// One reference to a group in which all children are adjacent (CSB+-Tree).
    Group,
}

/// How a scan finds the leaves to prefetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// Not at all: it prefetches the lines of the leaf that it arrives at (p^w).
    None,
    /// An external jump-pointer array: chunks of leaf references, and a hint in each leaf (p_e).
    External,
    /// An internal one: bottom inner nodes linked to their right siblings (p_i).
    Internal,
    /// Neither: the scan keeps its root-to-leaf path and sweeps it ahead of itself (§5).
    Sweep,
}

/// Everything in which nodes can differ. One implementation of every algorithm is generic over it.
pub trait Shape: core::fmt::Debug + Send + Sync + 'static {
    /// The lane of keys and of values.
    type Bits: Bits;
    /// The node: the paper's w, as a block of lines.
    type Block: Block;
    /// A chunk of the external jump-pointer array: the paper's c, as a block of lines.
    type Chunk: Block;
    /// The tracing hook, to which the tree reports its reads, writes and prefetches.
    type Trace: Trace;
    /// How inner nodes refer to their children.
    const CHILDREN: Children;
    /// How scans prefetch.
    const JUMP: Jump;
    /// Whether a node is prefetched whole before it is searched. A node of one line isn't.
    const PREFETCH: bool = Self::Block::LINES > 1;
}

/// The part of a shape that is independent of lanes and listeners: width, children, jump pointers.
pub trait Form: core::fmt::Debug + Send + Sync + 'static {
    /// See [`Shape::Block`].
    type Block: Block;
    /// See [`Shape::Chunk`]; unused without such an array.
    type Chunk: Block;
    /// See [`Shape::CHILDREN`].
    const CHILDREN: Children = Children::References;
    /// See [`Shape::JUMP`].
    const JUMP: Jump = Jump::None;
}

/// Nodes of `W` lines: the B+-Tree (`W` = 1) and the p^w B+-Tree.
#[derive(Debug)]
pub struct Plain<const W: usize>;

/// Nodes of `W` lines and an external jump-pointer array with chunks of `C` lines: the p_e^w B+-Tree. The
/// paper's experiments have eight-line chunks; Eq. (3) gives the least C.
#[derive(Debug)]
pub struct External<const W: usize, const C: usize = 8>;

/// Nodes of `W` lines and an internal jump-pointer array: the p_i^w B+-Tree.
#[derive(Debug)]
pub struct Internal<const W: usize>;

/// Nodes of `W` lines, scans that sweep their path: no extra pointers at all (§5).
#[derive(Debug)]
pub struct Sweeping<const W: usize>;

/// Nodes of `W` lines in node groups: the CSB+-Tree (`W` = 1) and the p^w CSB+-Tree.
#[derive(Debug)]
pub struct Grouped<const W: usize>;

impl<const W: usize> Form for Plain<W> {
    type Block = Lines<W>;
    type Chunk = Lines<1>;
}

impl<const W: usize, const C: usize> Form for External<W, C> {
    type Block = Hinted<W>;
    type Chunk = Lines<C>;
    const JUMP: Jump = Jump::External;
}

impl<const W: usize> Form for Internal<W> {
    type Block = Lines<W>;
    type Chunk = Lines<1>;
    const JUMP: Jump = Jump::Internal;
}

impl<const W: usize> Form for Sweeping<W> {
    type Block = Lines<W>;
    type Chunk = Lines<1>;
    const JUMP: Jump = Jump::Sweep;
}

impl<const W: usize> Form for Grouped<W> {
    type Block = Lines<W>;
    type Chunk = Lines<1>;
    const CHILDREN: Children = Children::Group;
}

/// The shape with lanes `B`, form `F` and listener `T`.
#[derive(Debug)]
pub struct Shaped<B, F, T>(PhantomData<(B, F, T)>);

impl<B: Bits, F: Form, T: Trace> Shape for Shaped<B, F, T> {
    type Bits = B;
    type Block = F::Block;
    type Chunk = F::Chunk;
    type Trace = T;
    const CHILDREN: Children = F::CHILDREN;
    const JUMP: Jump = F::JUMP;
}
