//! The translations of pages that a processor has at hand, in one level or two.

use super::cache::{Cache, Hold};
use super::parameters::Parameters;

/// The way to a page's translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translated {
    /// It was at hand.
    AtHand,
    /// The second level had it; the access comes so many slots later.
    Second(u64),
    /// It is looked up in memory, which takes so many slots; the access comes later by that.
    Late(u64),
    /// The same, and the processor waits until it has it.
    Waits(u64),
}

/// See the file's head.
#[derive(Debug)]
pub struct Translations {
    first: Cache,
    second: Option<(Cache, u64)>,
    miss_slots: u64,
}

impl Translations {
    /// None at hand; nothing if translation takes no time. The parameters have been checked.
    pub fn new(parameters: &Parameters) -> Option<Self> {
        let own = parameters.translation?;
        let slots = |cycles: u64| cycles * parameters.issue_width;
        Some(Self {
            first: Cache::new(own.shape()),
            second: own.second.map(|second| (Cache::new(second.shape()), slots(second.hit_cycles))),
            miss_slots: slots(own.miss_cycles),
        })
    }

    /// Looks up a page, and has it at hand from then on.
    pub fn look_up(&mut self, page: u64) -> Translated {
        if self.first.access(page, false).is_some() {
            return Translated::AtHand;
        }
        self.first.fill(page, 0, Hold::Shared);
        let Some((second, hit_slots)) = &mut self.second else { return Translated::Waits(self.miss_slots) };
        if second.access(page, false).is_some() {
            return Translated::Second(*hit_slots);
        }
        second.fill(page, 0, Hold::Shared);
        Translated::Late(self.miss_slots)
    }
}
