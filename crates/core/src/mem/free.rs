//! Free lists of a space's units, one per kind. The links lie outside of the nodes, four bytes per unit: a
//! freed node keeps its content, which readers with a stale reference may still read.
//!
//! The link of a unit is allocated when the unit is first handed out, where an allocation may fail. So
//! freeing a unit needs no memory.

use super::node_ref::NodeRef;
use super::refusal::reserve;
use crate::base::error::Result;

/// The number of kinds of units. Trees, whose kind is the level, have fewer levels.
pub(super) const KINDS: usize = 64;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct FreeUnits {
    /// The head of each kind's list.
    first: [NodeRef; KINDS],
    /// The link of each unit, by its number. Grows with the units that were handed out.
    next: Vec<NodeRef>,
}

impl FreeUnits {
    /// Creates empty lists, without memory.
    pub(super) const fn none() -> Self {
        Self { first: [NodeRef::NIL; KINDS], next: Vec::new() }
    }

    /// Makes room for the links of the units with numbers below `units`.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory); nothing has changed then.
    pub(super) fn reserve(&mut self, units: usize) -> Result<()> {
        let more = units.saturating_sub(self.next.len());
        reserve(&mut self.next, more)
    }

    /// Frees a unit with this number. Needs no memory.
    ///
    /// # Panics
    /// If no room was made for its link, or there is no such kind: bugs of the caller.
    pub(super) fn push(&mut self, kind: usize, number: usize, unit: NodeRef) {
        assert!(number < self.next.capacity(), "unit {number} was never handed out");
        if number >= self.next.len() {
            self.next.resize(number + 1, NodeRef::NIL);
        }
        self.next[number] = core::mem::replace(&mut self.first[kind], unit);
    }

    /// Removes and returns the unit of a kind that was freed last. `number_of` returns a unit's number.
    pub(super) fn pop(&mut self, kind: usize, number_of: impl Fn(NodeRef) -> usize) -> Option<NodeRef> {
        let first = self.first.get_mut(kind).filter(|first| !first.is_nil())?;
        let next = self.next[number_of(*first)];
        Some(core::mem::replace(first, next))
    }

    /// Returns the bytes of the links.
    pub(super) fn bytes(&self) -> usize {
        self.next.capacity() * size_of::<NodeRef>()
    }

    /// Removes every unit. The room for links stays.
    pub(super) fn clear(&mut self) {
        self.first = [NodeRef::NIL; KINDS];
        self.next.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(number: usize) -> NodeRef {
        NodeRef::from_word(3 * number as u32)
    }

    fn number(unit: NodeRef) -> usize {
        unit.to_word() as usize / 3
    }

    #[test]
    fn units_come_back_by_kind_the_last_one_first() {
        let mut free = FreeUnits::none();
        assert_eq!(free.pop(0, number), None);
        free.reserve(10).unwrap();
        for at in [9, 2, 5, 0, 7] {
            free.push(at % 2, at, unit(at));
        }
        let room = free.next.capacity();
        for (kind, expected) in [(0, Some(0)), (0, Some(2)), (1, Some(7)), (0, None), (1, Some(5))] {
            assert_eq!(free.pop(kind, number), expected.map(unit));
        }
        free.push(KINDS - 1, 2, unit(2));
        assert_eq!(free.pop(KINDS - 1, number), Some(unit(2)));
        assert_eq!(free.pop(KINDS, number), None);
        assert_eq!(free.next.capacity(), room, "nothing but `reserve` takes memory");
        free.clear();
        assert_eq!(free.pop(1, number), None);
    }

    #[test]
    #[should_panic(expected = "unit 1000 was never handed out")]
    fn a_unit_without_room_for_its_link_is_caught() {
        let mut free = FreeUnits::none();
        free.reserve(10).unwrap();
        free.push(0, 1000, unit(1000));
    }
}
