//! One difference from the paper's machine, to find the cause of a result.

use super::branches::{Branches, Depends};
use super::parameters::{Parameters, Translation};
use super::prices::{Price, Prices};
use super::system::System;

/// One difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    /// None.
    #[default]
    Nothing,
    /// A prefetch that finds all miss handlers taken waits for one.
    PrefetchesWait,
    /// A processor can have this many outstanding misses.
    MissHandlers(usize),
    /// Memory has this latency in cycles.
    MemoryLatency(u64),
    /// Memory starts an access every this many cycles.
    MemoryInterval(u64),
    /// The memory of another node has this latency beyond that of the node's own, in cycles.
    RemoteLatency(u64),
    /// Addresses are translated.
    Translated(Translation),
    /// Whether the lines of one read are requested in parallel, because their addresses are known.
    RunsOverlap(bool),
    /// Moving entries costs no instruction, as if vectors did it.
    FreeShifts,
    /// Branches of a search, on what loads depend, and the instructions in flight.
    Reordered(Branches, Depends, u64),
}

impl Parameters {
    /// The machine, changed.
    pub const fn changed(self, change: Change) -> Self {
        match change {
            Change::Nothing => self,
            Change::PrefetchesWait => Self { prefetches_wait: true, ..self },
            Change::MissHandlers(miss_handlers) => Self { miss_handlers, ..self },
            Change::MemoryLatency(memory_latency_cycles) => Self { memory_latency_cycles, ..self },
            Change::MemoryInterval(memory_interval_cycles) => Self { memory_interval_cycles, ..self },
            Change::RemoteLatency(remote_latency_cycles) => {
                Self { system: System { remote_latency_cycles, ..self.system }, ..self }
            }
            Change::Translated(translation) => Self { translation: Some(translation), ..self },
            Change::RunsOverlap(runs_overlap) => Self { runs_overlap, ..self },
            Change::FreeShifts => {
                Self { prices: Prices { shift: Price { busy: 0, other: 0 }, ..self.prices }, ..self }
            }
            Change::Reordered(branches, depends, reorder_buffer_instructions) => {
                Self { branches, depends, reorder_buffer_instructions, ..self }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Machine, PAGE_BYTES};
    use latchless_core::mem::touch::{Sink, Work};

    #[test]
    fn a_change_changes_one_thing() {
        let own = Parameters::spiderman(4);
        assert_eq!(own.changed(Change::Nothing), own);
        assert_eq!(own.changed(Change::PrefetchesWait), Parameters { prefetches_wait: true, ..own });
        assert_eq!(own.changed(Change::MissHandlers(2)), Parameters { miss_handlers: 2, ..own });
        assert_eq!(own.changed(Change::MemoryLatency(9)), Parameters { memory_latency_cycles: 9, ..own });
        assert_eq!(own.changed(Change::MemoryInterval(9)), Parameters { memory_interval_cycles: 9, ..own });
        let far = System { remote_latency_cycles: 9, ..own.system };
        assert_eq!(own.changed(Change::RemoteLatency(9)), Parameters { system: far, ..own });
        let translation = Translation { pages: 64, ways: 4, miss_cycles: 9, second: None };
        let translated = Parameters { translation: Some(translation), ..own };
        assert_eq!(own.changed(Change::Translated(translation)), translated);
        for runs_overlap in [false, true] {
            assert_eq!(own.changed(Change::RunsOverlap(runs_overlap)), Parameters { runs_overlap, ..own });
        }
        assert_eq!(
            own.changed(Change::FreeShifts).prices,
            Prices { shift: Price { busy: 0, other: 0 }, ..own.prices }
        );
        let (branches, depends) = (Branches::None, Depends::WithinVisit);
        let reordered = Parameters { branches, depends, reorder_buffer_instructions: 9, ..own };
        assert_eq!(own.changed(Change::Reordered(branches, depends, 9)), reordered);
    }

    /// Cycles that the last of these reads waits, each of another page, with `between` before it.
    fn last_wait(change: Change, between: Work) -> f64 {
        let mut machine = Machine::new(Parameters::PB_TREE.changed(change)).unwrap();
        machine.start();
        let mut waited = 0;
        for page in 0..3 {
            machine.work(between);
            let before = machine.counters();
            machine.read(page * PAGE_BYTES, 4);
            waited = (machine.counters() - before).data_stall_slots;
        }
        machine.cycles(waited)
    }

    const fn reordered(branches: Branches, depends: Depends) -> Change {
        Change::Reordered(branches, depends, 1_000)
    }

    #[test]
    fn a_guessed_branch_lets_the_next_key_be_loaded_early() {
        let wait = |branches| last_wait(reordered(branches, Depends::OnLastLine), Work::Probe);
        assert!(wait(Branches::Waited) > 145.0, "a line after the other");
        assert!(wait(Branches::None) < 30.0, "all of them side by side");
        // The last of the three comes after a mispredicted branch.
        assert!(wait(Branches::HalfGuessed) > 100.0);
        assert!(last_wait(reordered(Branches::None, Depends::OnLastLine), Work::Visit) > 140.0, "pointers");
    }

    /// A machine that has been at work: more instructions than the hundred in flight lie behind it.
    fn at_work(branches: Branches, depends: Depends) -> Machine {
        let change = Change::Reordered(branches, depends, 100);
        let mut machine = Machine::new(Parameters::PB_TREE.changed(change)).unwrap();
        machine.start();
        (0..1_000).for_each(|_| machine.work(Work::Visit));
        machine
    }

    /// Cycles from a search's first read on until the last of its four, each of another page.
    fn search(branches: Branches) -> f64 {
        let mut machine = at_work(branches, Depends::OnLastLine);
        machine.read(0, 4);
        let before = machine.counters();
        for page in 1..5 {
            machine.read(page * PAGE_BYTES, 4);
            machine.work(Work::Probe);
        }
        machine.cycles((machine.counters() - before).data_stall_slots)
    }

    #[test]
    fn a_predicted_search_requests_its_first_key_with_the_others() {
        assert!(search(Branches::Waited) > 3.5 * 150.0, "one after the other");
        // Those after the first one wait for it where the next key is computed from it.
        assert!((250.0..350.0).contains(&search(Branches::None)), "{}", search(Branches::None));
        assert!((100.0..200.0).contains(&search(Branches::Predicted)), "{}", search(Branches::Predicted));
    }

    #[test]
    fn one_guess_in_eight_is_wrong_at_any_step_of_a_search() {
        let mut machine = at_work(Branches::WrongOnceIn(8), Depends::OnLastLine);
        let mut wrong = [0; 7];
        for _ in 0..800 {
            // With the end of the search these are eight guesses.
            machine.work(Work::Operation);
            for wrong in &mut wrong {
                let before = machine.counters();
                machine.work(Work::Probe);
                *wrong += (machine.counters() - before).mispredictions;
            }
        }
        assert!(wrong.iter().all(|wrong| (90..=110).contains(wrong)), "{wrong:?}");
        let [right, twice, always] = [1_000_000, 2, 1].map(|n| search(Branches::WrongOnceIn(n)));
        assert!(right == search(Branches::Predicted) && always == search(Branches::Waited));
        assert!(right < twice && twice < always, "{right}, {twice}, {always}");
    }

    #[test]
    fn what_is_known_beforehand_is_loaded_early() {
        for (depends, operations, visits) in [
            (Depends::OnLastLine, false, false),
            (Depends::WithinOperation, true, false),
            (Depends::WithinVisit, true, true),
        ] {
            for (work, early) in [(Work::Operation, operations), (Work::Visit, visits)] {
                let wait = last_wait(reordered(Branches::None, depends), work);
                assert_eq!(wait < 30.0, early, "{depends:?}, {work:?}: {wait}");
            }
        }
    }

    #[test]
    fn walks_that_take_turns_do_not_depend_on_each_other() {
        let wait = |depends, in_turns| {
            let mut machine = at_work(Branches::None, depends);
            for page in 0..4 {
                machine.work(if in_turns { Work::Walk } else { Work::Jump(0) });
                machine.read(page * PAGE_BYTES, 4);
            }
            machine.cycles(machine.counters().data_stall_slots)
        };
        assert!(wait(Depends::OnLastLine, true) > 3.5 * 150.0, "one after the other");
        assert!(wait(Depends::WithinOperation, false) > 3.5 * 150.0, "it is one walk");
        assert!(wait(Depends::WithinOperation, true) < 190.0, "side by side");
    }

    #[test]
    fn lines_of_a_run_are_asked_for_side_by_side() {
        let wait = |change| {
            let mut machine = Machine::new(Parameters::PB_TREE.changed(change)).unwrap();
            machine.start();
            // More instructions than the reorder buffer holds, so that it looks back at some.
            (0..8).for_each(|_| machine.work(Work::Visit));
            machine.read(0, 4 * 64);
            machine.cycles(machine.counters().data_stall_slots)
        };
        assert!(wait(Change::Nothing) > 3.5 * 150.0, "one after the other");
        assert!(wait(Change::RunsOverlap(true)) < 150.0 + 3.0 * 10.0 + 1.0);
    }
}
