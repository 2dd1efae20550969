//! Data nodes, and a segment of them.

use super::tall::Tall;
use crate::pi::ask::ask;
use crate::pi::mem::budget::Budget;
use crate::pi::mem::slabs::{Slab, SlabAllocator};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::touch::{Trace, Work};
use std::sync::Arc;

/// The link of a segment's last node.
pub(super) const END: u32 = (1 << 26) - 1;
/// The bits of a link that are the next node's place.
const NEXT: u32 = END;
/// The position of the height.
const HEIGHT_SHIFT: u32 = 26;
/// The bit of deleted nodes.
const FLAG: u32 = 1 << 31;

/// A data node (Definition 1): key, value, height, flag, and where the next one is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Node<B> {
    pub(super) key: B,
    value: B,
    /// Next node's place, height, flag.
    links: u32,
}

impl<B: Bits> Node<B> {
    pub(super) fn new(key: B, value: B, height: u16, flagged: bool, next: u32) -> Self {
        let flag = if flagged { FLAG } else { 0 };
        Self { key, value, links: next | u32::from(height) << HEIGHT_SHIFT | flag }
    }

    #[inline(always)]
    pub(super) fn next(&self) -> u32 {
        self.links & NEXT
    }

    #[inline(always)]
    fn link(&mut self, next: u32) {
        self.links = self.links & !NEXT | next;
    }

    pub(super) fn height(&self) -> u16 {
        ((self.links & !FLAG) >> HEIGHT_SHIFT) as u16
    }

    #[inline(always)]
    pub(super) fn is_flagged(&self) -> bool {
        self.links & FLAG != 0
    }

    #[inline(always)]
    pub(super) fn value(&self) -> B {
        self.value
    }

    /// Returns the value, if this is the key's node and the key is present.
    #[inline(always)]
    pub(super) fn value_of(&self, key: B) -> Option<B> {
        if self.key == key && !self.is_flagged() { Some(self.value) } else { None }
    }
}

/// The owner of a segment's nodes.
#[derive(Debug)]
enum SegmentNodes<B> {
    Own(Slab<Node<B>>),
    Shared(Arc<Slab<Node<B>>>),
}

/// A run of the list, in separate memory.
#[derive(Debug)]
pub(super) struct Segment<B> {
    held: SegmentNodes<B>,
    /// Nodes that were inserted or flagged since the segment was laid out.
    pub(super) drift: u32,
}

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change<B> {
    /// The previous value under the key.
    pub(super) before: Option<B>,
    /// The place of its node, or of the one before it.
    pub(super) place: u32,
    /// Whether the list's shape drifts: a node was added or flagged.
    pub(super) drifts: bool,
}

impl<B: Bits> Segment<B> {
    /// Cuts a segment of these nodes with room for that many more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn cut(allocator: &mut SlabAllocator, nodes: &[Node<B>], room: usize) -> Result<Self> {
        Ok(Self { held: SegmentNodes::Own(allocator.cut(nodes, room)?), drift: 0 })
    }

    #[inline(always)]
    pub(super) fn nodes(&self) -> &[Node<B>] {
        self.slab()
    }

    /// Returns the nodes and their room.
    #[inline(always)]
    pub(super) fn slab(&self) -> &Slab<Node<B>> {
        match &self.held {
            SegmentNodes::Own(nodes) => nodes,
            SegmentNodes::Shared(nodes) => nodes,
        }
    }

    /// Returns whether a layout can share the segment unchanged.
    pub(super) fn can_stay(&self) -> bool {
        self.drift == 0 && matches!(self.held, SegmentNodes::Shared(_))
    }

    /// Returns another handle of the same nodes, which don't change from here on.
    pub(super) fn lend(&mut self) -> Self {
        let shared = match core::mem::replace(&mut self.held, SegmentNodes::Own(Slab::default())) {
            SegmentNodes::Own(nodes) => Arc::new(nodes),
            SegmentNodes::Shared(nodes) => nodes,
        };
        self.held = SegmentNodes::Shared(shared.clone());
        Self { held: SegmentNodes::Shared(shared), drift: self.drift }
    }

    /// Returns another handle of the same nodes, of a list that doesn't change.
    pub(super) fn share(&self) -> Option<Self> {
        match &self.held {
            SegmentNodes::Shared(nodes) => {
                Some(Self { held: SegmentNodes::Shared(nodes.clone()), drift: self.drift })
            }
            SegmentNodes::Own(_) => None,
        }
    }

    /// The nodes to be changed: a copy of them, if somebody else has them as well.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed then.
    #[inline(always)]
    fn own(&mut self) -> Result<&mut Slab<Node<B>>> {
        if let SegmentNodes::Shared(_) = self.held {
            self.part()?;
        }
        match &mut self.held {
            SegmentNodes::Own(nodes) => Ok(nodes),
            SegmentNodes::Shared(_) => unreachable!("they were just parted"),
        }
    }

    #[cold]
    fn part(&mut self) -> Result<()> {
        if let SegmentNodes::Shared(shared) =
            core::mem::replace(&mut self.held, SegmentNodes::Own(Slab::default()))
        {
            let copy = |shared: Arc<Slab<_>>| copied(&shared).map_err(|refused| (shared, refused));
            match Arc::try_unwrap(shared).or_else(copy) {
                Ok(nodes) => self.held = SegmentNodes::Own(nodes),
                Err((shared, refused)) => {
                    self.held = SegmentNodes::Shared(shared);
                    return Err(refused);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn ask_for_node<T: Trace>(&self, place: u32) {
        let at = self.nodes().as_ptr().wrapping_add(place as usize);
        ask::<T, _>(at);
        // A key's node is two or three after its anchor on average.
        ask::<T, _>(at.cast::<u8>().wrapping_add(LINE_BYTES));
    }

    /// Puts a value under a key whose predecessor is at `from` or after it.
    #[inline(always)]
    pub(super) fn put<T: Trace>(
        &mut self,
        from: u32,
        (key, value): (B, B),
        height: u16,
        budget: &Budget,
    ) -> Result<Change<B>> {
        let nodes = self.own()?;
        let place = seek::<B, T>(nodes, from, key);
        let node = &mut nodes[place as usize];
        if node.key == key {
            T::write(core::ptr::from_ref(node).cast(), size_of::<Node<B>>());
            let before = node.value_of(key);
            (node.value, node.links) = (value, node.links & !FLAG);
            // A key that returns to its node changes no shape.
            return Ok(Change { before, place, drifts: false });
        }
        let next = node.next();
        let new = nodes.len() as u32;
        if nodes.len() == nodes.capacity() {
            grow(nodes, budget)?;
        }
        T::work(Work::Allocate);
        T::write(nodes.as_ptr().wrapping_add(nodes.len()).cast(), size_of::<Node<B>>());
        nodes.push(Node::new(key, value, height, false, next));
        T::write(core::ptr::from_ref(&nodes[place as usize].links).cast(), size_of::<u32>());
        nodes[place as usize].link(new);
        self.drift += 1;
        Ok(Change { before: None, place: new, drifts: true })
    }

    /// Flags a key whose predecessor is at `from` or after it.
    #[inline(always)]
    pub(super) fn take<T: Trace>(&mut self, from: u32, key: B) -> Change<B> {
        let place = seek::<B, T>(self.nodes(), from, key);
        let before = self.nodes()[place as usize].value_of(key);
        if before.is_none() {
            return Change { before, place, drifts: false };
        }
        // A removal can't be refused.
        let node = &mut self.own().expect("there is memory for a copy of a segment")[place as usize];
        T::write(core::ptr::from_ref(node).cast(), size_of::<Node<B>>());
        node.links |= FLAG;
        self.drift += 1;
        Change { before, place, drifts: true }
    }
}

/// The place of the node with the largest key up to `key`, from a node with such a key on.
#[inline(always)]
pub(super) fn seek<B: Bits, T: Trace>(nodes: &[Node<B>], from: u32, key: B) -> u32 {
    let mut at = from;
    let mut node = &nodes[at as usize];
    debug_assert!(node.key <= key, "a search begins at a node that the key isn't before");
    T::read(core::ptr::from_ref(node).cast(), size_of::<Node<B>>());
    loop {
        let next = node.next();
        if next == END {
            return at;
        }
        node = &nodes[next as usize];
        T::work(Work::Probe);
        T::read(core::ptr::from_ref(node).cast(), size_of::<Node<B>>());
        if node.key > key {
            return at;
        }
        at = next;
    }
}

/// Copies shared nodes, with as much room as they had, or as growing gives.
fn copied<B: Bits>(shared: &Slab<Node<B>>) -> Result<Slab<Node<B>>> {
    let room = (shared.capacity() - shared.len()).max(room_to_grow(shared.len()));
    // Without the room rather than not at all.
    Slab::with_room(shared, room).or_else(|_| Slab::with_room(shared, 0))
}

/// Returns the number of nodes by which a full segment grows: a quarter.
fn room_to_grow(nodes: usize) -> usize {
    (nodes / 4).max(4)
}

#[cold]
fn grow<B: Bits>(nodes: &mut Slab<Node<B>>, budget: &Budget) -> Result<()> {
    if nodes.len() as u32 >= END {
        return Err(Error::ReferencesExhausted { limit: u64::from(END) });
    }
    let more = room_to_grow(nodes.len());
    let bytes = more * size_of::<Node<B>>();
    budget.claim(bytes)?;
    nodes.try_reserve_exact(more).inspect_err(|_| budget.give_back(bytes))
}

impl<B: Bits> Tall<B> {
    pub(super) fn of(node: &Node<B>, place: usize) -> Self {
        Self { key: node.key, place: place as u16, height: node.height() }
    }
}
