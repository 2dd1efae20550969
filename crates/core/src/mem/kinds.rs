//! Debug builds record the kind of every unit of a space: a unit that is freed as another kind, or twice,
//! panics at once. Otherwise only a reader with a stale reference could notice, by words of an unexpected
//! kind, which is too rare for any test. In release builds this file is empty.

use crate::base::error::Result;

/// The kind of each unit. See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    #[cfg(debug_assertions)]
    by_unit: Vec<u8>,
    /// Whether units may be freed as any kind.
    #[cfg(debug_assertions)]
    mixed: bool,
}

/// Set for a freed unit; the other bits are its kind.
#[cfg(debug_assertions)]
const BACK: u8 = 1 << 7;
/// The kind of a unit of a run whose kind is unknown: it may be freed as any.
#[cfg(debug_assertions)]
const UNTOLD: u8 = BACK - 1;

#[cfg(debug_assertions)]
impl Kinds {
    /// Allows units to be freed as any kind from now on: they are reused only when no stale reference can be
    /// left.
    pub(super) fn mix(&mut self) {
        self.mixed = true;
    }

    /// Returns the record of a unit of this kind.
    fn byte(&self, kind: usize) -> u8 {
        let kind = if self.mixed { 0 } else { kind };
        u8::try_from(kind).ok().filter(|&kind| kind < UNTOLD).expect("trees have few levels")
    }

    /// Makes room for the records of the units with numbers below `units`.
    pub(super) fn reserve(&mut self, units: usize) -> Result<()> {
        let more = units.saturating_sub(self.by_unit.len());
        super::refusal::reserve(&mut self.by_unit, more)
    }

    /// Records that fresh units are handed out, `first` being the number of the first one.
    pub(super) fn hand_out(&mut self, first: usize, count: usize) {
        self.by_unit.resize(self.by_unit.len().max(first + count), UNTOLD);
    }

    /// Records the kind of fresh units.
    pub(super) fn tell(&mut self, first: usize, count: usize, kind: usize) {
        let byte = self.byte(kind);
        let units = &mut self.by_unit[first..first + count];
        assert!(units.iter().all(|&own| own == UNTOLD), "units of a kind are told to be of another, {kind}");
        units.fill(byte);
    }

    /// Records that a freed unit is handed out again.
    pub(super) fn hand_out_again(&mut self, unit: usize, kind: usize) {
        let byte = self.byte(kind);
        let own = core::mem::replace(&mut self.by_unit[unit], byte);
        assert_eq!(own, BACK | byte, "unit {unit} didn't come back as kind {kind}");
    }

    /// Records that a free unit of one kind becomes one of another.
    pub(super) fn convert(&mut self, unit: usize, (from, to): (usize, usize)) {
        let (from, to) = (self.byte(from), self.byte(to));
        let own = core::mem::replace(&mut self.by_unit[unit], to);
        assert_eq!(own, from, "unit {unit} isn't of the kind that it is converted from");
    }

    /// Records that a unit is freed.
    pub(super) fn take_back(&mut self, unit: usize, kind: usize) {
        let byte = self.byte(kind);
        let own = core::mem::replace(&mut self.by_unit[unit], BACK | byte);
        assert!(own & BACK == 0, "unit {unit} comes back twice, now as kind {kind}");
        assert!(own == UNTOLD || own == byte, "unit {unit} of kind {own} comes back as kind {kind}");
    }

    /// Returns whether a unit is in use and of this kind, as far as is known.
    pub(super) fn is(&self, unit: usize, kind: usize) -> bool {
        self.by_unit.get(unit).is_some_and(|&own| own == self.byte(kind) || own == UNTOLD)
    }

    /// Removes the records of all units.
    pub(super) fn clear(&mut self) {
        self.by_unit.clear();
    }
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unused_self, reason = "nothing is remembered")]
impl Kinds {
    pub(super) fn mix(&mut self) {}
    #[expect(clippy::unnecessary_wraps, reason = "in debug builds memory may be refused")]
    pub(super) fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }
    pub(super) fn hand_out(&mut self, _: usize, _: usize) {}
    pub(super) fn tell(&mut self, _: usize, _: usize, _: usize) {}
    pub(super) fn hand_out_again(&mut self, _: usize, _: usize) {}
    pub(super) fn convert(&mut self, _: usize, _: (usize, usize)) {}
    pub(super) fn take_back(&mut self, _: usize, _: usize) {}
    pub(super) fn is(&self, _: usize, _: usize) -> bool {
        true
    }
    pub(super) fn clear(&mut self) {}
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    fn handed_out() -> Kinds {
        let mut kinds = Kinds::default();
        kinds.hand_out(0, 4);
        kinds.tell(1, 2, 1);
        kinds
    }

    #[test]
    fn units_come_and_go_as_their_kind() {
        let mut kinds = handed_out();
        kinds.take_back(0, 5);
        kinds.take_back(1, 1);
        assert!(!kinds.is(1, 1) && kinds.is(2, 1) && !kinds.is(2, 0) && kinds.is(3, 0) && !kinds.is(4, 0));
        kinds.hand_out_again(1, 1);
        assert!(kinds.is(1, 1));
    }

    #[test]
    fn where_kinds_mix_a_unit_comes_back_as_any() {
        let mut kinds = Kinds::default();
        kinds.mix();
        kinds.hand_out(0, 1);
        kinds.tell(0, 1, 3);
        kinds.take_back(0, 0);
        kinds.hand_out_again(0, 2);
        assert!(kinds.is(0, 1));
    }

    #[test]
    #[should_panic(expected = "unit 2 of kind 1 comes back as kind 2")]
    fn a_unit_that_comes_back_as_another_kind_is_caught() {
        handed_out().take_back(2, 2);
    }

    #[test]
    #[should_panic(expected = "unit 2 comes back twice")]
    fn a_unit_that_comes_back_twice_is_caught() {
        let mut kinds = handed_out();
        kinds.take_back(2, 1);
        kinds.take_back(2, 1);
    }

    #[test]
    #[should_panic(expected = "didn't come back as kind 0")]
    fn a_unit_from_another_kinds_list_is_caught() {
        let mut kinds = handed_out();
        kinds.take_back(2, 1);
        kinds.hand_out_again(2, 0);
    }
}
