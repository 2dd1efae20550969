//! Free lists of a space's units, one per kind. The links lie outside of the nodes, four bytes per unit: a
//! freed node keeps its content, which readers with a stale reference may still read.
//!
//! The link of a unit is allocated when the unit is first handed out, where an allocation may fail. So
//! freeing a unit needs no memory. A space of one unit has no lists.

use super::node_ref::NodeRef;
use super::refusal::reserve;
use crate::base::error::Result;

/// The number of kinds of units. Trees, whose kind is the level, have fewer levels.
pub(super) const KINDS: usize = 64;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct FreeUnits {
    /// The head of each kind's list, and after these the link of each unit, by its number. Grows with the
    /// units that were handed out. Empty while there is one unit.
    lists: Vec<NodeRef>,
    /// That unit, if it is free, and its kind.
    only: Option<(usize, NodeRef)>,
}

impl FreeUnits {
    /// Creates empty lists, without memory.
    pub(super) const fn none() -> Self {
        Self { lists: Vec::new(), only: None }
    }

    /// Makes room for the links of the units with numbers below `units`.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory); nothing has changed then.
    pub(super) fn reserve(&mut self, units: usize) -> Result<()> {
        if units <= 1 {
            return Ok(());
        }
        let more = (KINDS + units).saturating_sub(self.lists.len());
        reserve(&mut self.lists, more)?;
        if self.lists.is_empty() {
            self.lists.resize(KINDS, NodeRef::NIL);
        }
        if let Some((kind, unit)) = self.only.take() {
            self.push(kind, 0, unit);
        }
        Ok(())
    }

    /// Frees a unit with this number. Needs no memory.
    ///
    /// # Panics
    /// If no room was made for its link, or there is no such kind: bugs of the caller.
    pub(super) fn push(&mut self, kind: usize, number: usize, unit: NodeRef) {
        assert!(kind < KINDS, "kind {kind} of {KINDS}");
        if number == 0 && self.lists.is_empty() {
            self.only = Some((kind, unit));
            return;
        }
        let at = KINDS + number;
        assert!(at < self.lists.capacity(), "unit {number} was never handed out");
        if at >= self.lists.len() {
            self.lists.resize(at + 1, NodeRef::NIL);
        }
        self.lists[at] = core::mem::replace(&mut self.lists[kind], unit);
    }

    /// Removes and returns the unit of a kind that was freed last. `number_of` returns a unit's number.
    pub(super) fn pop(&mut self, kind: usize, number_of: impl Fn(NodeRef) -> usize) -> Option<NodeRef> {
        if self.lists.is_empty() {
            return self.only.take_if(|(own, _)| *own == kind).map(|(_, unit)| unit);
        }
        let first = *self.lists[..KINDS].get(kind).filter(|first| !first.is_nil())?;
        self.lists[kind] = self.lists[KINDS + number_of(first)];
        Some(first)
    }

    /// Returns the bytes of the lists.
    pub(super) fn bytes(&self) -> usize {
        self.lists.capacity() * size_of::<NodeRef>()
    }

    /// Removes every unit. The room for links stays.
    pub(super) fn clear(&mut self) {
        self.only = None;
        self.lists.truncate(KINDS);
        self.lists.fill(NodeRef::NIL);
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
        let room = free.lists.capacity();
        for (kind, expected) in [(0, Some(0)), (0, Some(2)), (1, Some(7)), (0, None), (1, Some(5))] {
            assert_eq!(free.pop(kind, number), expected.map(unit));
        }
        free.push(KINDS - 1, 2, unit(2));
        assert_eq!(free.pop(KINDS - 1, number), Some(unit(2)));
        assert_eq!(free.pop(KINDS, number), None);
        assert_eq!(free.lists.capacity(), room, "nothing but `reserve` takes memory");
        free.clear();
        assert_eq!(free.pop(1, number), None);
    }

    #[test]
    fn the_only_unit_needs_no_list_and_is_in_one_as_soon_as_there_are_more() {
        let mut free = FreeUnits::none();
        free.reserve(1).unwrap();
        free.push(5, 0, unit(0));
        assert_eq!((free.bytes(), free.pop(4, number), free.pop(5, number)), (0, None, Some(unit(0))));
        assert_eq!(free.pop(5, number), None);
        free.push(6, 0, unit(0));
        free.reserve(2).unwrap();
        free.push(6, 1, unit(1));
        assert_eq!([(); 3].map(|()| free.pop(6, number)), [Some(unit(1)), Some(unit(0)), None]);
        free.push(7, 0, unit(0));
        free.clear();
        assert_eq!(free.pop(7, number), None);
        let mut free = FreeUnits::none();
        free.push(7, 0, unit(0));
        free.clear();
        assert_eq!(free.pop(7, number), None);
    }

    #[test]
    #[should_panic(expected = "unit 1000 was never handed out")]
    fn a_unit_without_room_for_its_link_is_caught() {
        let mut free = FreeUnits::none();
        free.reserve(10).unwrap();
        free.push(0, 1000, unit(1000));
    }
}
