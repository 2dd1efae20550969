//! Lookups and ranges on the model of the paper's machine: the contestants, which report their accesses, and
//! the events of a query.
//!
//! Keys and queries are those of the native figures. A structure is loaded without being heard, so its pages
//! are numbered in the order in which queries touch them: nothing says which physical pages a program gets.

use super::bpt::{Bpt, Walk};
use super::data::{Spread, in_no_order, present, ranges};
use super::who::{PAPER_S_LANES, entries};
use crate::error::{LabError, Result};
use crate::experiment::{Scale, Scaled};
use crate::model::{Counters, Listener, Machine, Parameters};
use latchless::{Direction, FillFactor};
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::{Trace, Traced, TracedBranching, Work, listen};
use latchless_core::search::Kernel;
use latchless_measure::apart::{Blocks, apart_as};
use latchless_papers::cssl::{CsslMap, Member, Options, Pinned};
use latchless_papers::{pb_tree, spiderman};
use std::cell::RefCell;
use std::ops::Bound::Included;

/// A contestant of Figures 6 and 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// With nine lanes, and without a table that guesses: as in the paper (§5).
    Cssl(Member),
    /// Filled in random order: its leaves don't lie in the order of their keys.
    Art,
    /// Half full, as after inserts in ascending order of which each full node was split in halves.
    Csb,
    /// Loaded full.
    CsbFull,
    BinarySearch,
    /// The B+-Tree that the paper cites, whose ranges walk to the last leaf.
    Bpt,
}

pub(super) const CSSL5: Subject = Subject::Cssl(Member::Cssl5);
pub(super) const CSSL2: Subject = Subject::Cssl(Member::Cssl2);
/// In the order of Figure 6's columns.
pub(super) const SUBJECTS: [Subject; 6] =
    [CSSL5, CSSL2, Subject::Art, Subject::Csb, Subject::BinarySearch, Subject::Bpt];

/// And beside them.
pub(super) const BESIDE: [Subject; 1] = [Subject::CsbFull];

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Lookups,
    /// Ranges that wide, in percent of n.
    Ranges(f64),
    /// As many lookups as ranges that wide, in turn.
    Mixed(f64),
}

/// The number of queries that fill the caches, and of those that are counted.
#[derive(Debug, Clone, Copy)]
struct Amount {
    warming: usize,
    counted: usize,
}

impl Subject {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cssl(Member::Cssl2) => "cssl2, nine lanes",
            Self::Cssl(_) => "cssl5, nine lanes",
            Self::Art => "ART",
            Self::Csb => "csb",
            Self::CsbFull => "csb, full",
            Self::BinarySearch => "binary search",
            Self::Bpt => "bpt",
        }
    }

    /// The paper's machine. ART and the CSB+-Tree have searches without branches there, as the paper's have
    /// by their counters (Figure 8: none, and 1 to 3 in a whole lookup).
    const fn machine(self) -> Parameters {
        match self {
            Self::Art | Self::Csb | Self::CsbFull => Parameters::cssl_without_branches(),
            Self::Cssl(_) | Self::BinarySearch | Self::Bpt => Parameters::cssl(),
        }
    }

    /// A lookup touches few lines, so that many are needed to fill the caches; a wide range replaces them.
    fn amount(self, kind: Kind, scale: Scale) -> Amount {
        let of = |warming, counted| Amount { warming, counted };
        let paper = match (kind, self) {
            (Kind::Lookups, _) => of(150_000, 25_000),
            (_, Self::Cssl(_)) => of(64, 64),
            (_, Self::BinarySearch) => of(16, 16),
            (_, Self::Csb | Self::CsbFull | Self::Art) => of(4, 8),
            (_, Self::Bpt) => of(2, 8),
        };
        let small = if kind == Kind::Lookups { of(500, 500) } else { of(4, 4) };
        Scaled::new(paper, small).at(scale)
    }
}

/// A structure that answers, and reports its accesses.
trait Answers {
    fn holds(&self, key: u32) -> bool;
    fn count(&self, low: u32, high: u32) -> usize;
}

/// The events of one query, on average.
#[derive(Debug, Clone, Copy)]
pub(super) struct Events {
    pub(super) cycles: f64,
    pub(super) mispredictions: f64,
    /// Lines that a query requested and its secondary cache didn't have, and the third had.
    pub(super) hits: f64,
    /// Lines that the third didn't have.
    pub(super) misses: f64,
    /// Pages for which neither level had a translation.
    pub(super) tlb_misses: f64,
    /// Lines that the prefetcher fetched.
    pub(super) streamed: f64,
    pub(super) instructions: f64,
}

/// Loads `subject` and counts the events of its queries.
///
/// # Errors
/// When memory is refused, or an answer is wrong.
pub(super) fn events(
    subject: Subject,
    kind: Kind,
    spread: Spread,
    count: usize,
    scale: Scale,
) -> Result<Events> {
    let keys = spread.keys(count);
    // Where a block begins within its lines and pages must not depend on what the process did before. The
    // cited B+-Tree's are glibc's.
    let blocks = if subject == Subject::Bpt { Blocks::OfGlibc } else { Blocks::Lines };
    let events = apart_as(blocks, || events_apart(subject, kind, &keys, scale))?;
    Ok(events)
}

fn events_apart(subject: Subject, kind: Kind, keys: &[u32], scale: Scale) -> Result<Events> {
    let machine = Listener::new(Machine::new(subject.machine())?);
    let ask = |structure: &dyn Answers| {
        let amount = subject.amount(kind, scale);
        let asked = Queries::draw(kind, keys, amount.warming + amount.counted);
        let (before, found) = listen(Box::new(machine.clone()), || {
            machine.with(Machine::start);
            let warmed = asked.ask(structure, 0..amount.warming);
            let before = machine.with(|machine| machine.counters());
            (before, warmed + asked.ask(structure, amount.warming..amount.warming + amount.counted))
        });
        let expected = asked.expected(keys);
        if found != expected {
            return Err(LabError::Wrong { index: subject.name(), what: format!("{found}, not {expected}") });
        }
        Ok(machine.with(|machine| Events::of(machine, machine.counters() - before, amount.counted)))
    };
    match subject {
        Subject::Cssl(member) => {
            let own =
                Options { guess: false, lanes: Some(PAPER_S_LANES), huge_pages: false, ..Options::default() };
            let mut map = CsslMap::with_options(&member.options(&own))?;
            map.bulk_load(&entries(keys))?;
            let lists = Lists(map.pin_as::<TracedBranching>());
            ask(&lists)
        }
        Subject::Art => {
            let options = spiderman::Options { huge_pages: false, ..spiderman::Options::default() };
            let mut index = spiderman::build_traced::<u32, u32, Traced>(spiderman::Member::Art, &options)?;
            for (key, value) in in_no_order(entries(keys)) {
                index.insert(key, value)?;
            }
            ask(&Walked::new(index))
        }
        Subject::Csb | Subject::CsbFull => {
            let fill = if subject == Subject::Csb { FillFactor::new(0.5)? } else { FillFactor::FULL };
            let (kernel, huge_pages) = (Some(Kernel::Scalar), false);
            let options = pb_tree::Options { kernel, huge_pages, ..pb_tree::Options::default() };
            ask(&loaded(pb_tree::build_traced::<_, _, Traced>(pb_tree::Member::Csb, &options)?, keys, fill)?)
        }
        Subject::BinarySearch => ask(&Sorted::<TracedBranching>::new(keys)),
        Subject::Bpt => ask(&Bpt::<Traced>::new(&entries(keys))),
    }
}

impl Events {
    fn of(machine: &Machine, counted: Counters, queries: usize) -> Self {
        let each = |events: u64| events as f64 / queries as f64;
        Self {
            cycles: machine.cycles(counted.slots()) / queries as f64,
            mispredictions: each(counted.mispredictions),
            hits: each(counted.shared_hits),
            misses: each(counted.memory_accesses),
            tlb_misses: each(counted.translation_misses),
            streamed: each(counted.streamed),
            instructions: each(counted.busy_slots),
        }
    }
}

/// Queries in their order.
struct Queries {
    kind: Kind,
    keys: Vec<u32>,
    ranges: Vec<(u32, u32)>,
}

impl Queries {
    fn draw(kind: Kind, keys: &[u32], count: usize) -> Self {
        let wide = |percent: f64| ranges(keys, (keys.len() as f64 * percent / 100.0) as u32, count);
        let (wanted, ranges) = match kind {
            Kind::Lookups => (present(keys, count), Vec::new()),
            Kind::Ranges(percent) => (Vec::new(), wide(percent)),
            Kind::Mixed(percent) => (present(keys, count), wide(percent)),
        };
        Self { kind, keys: wanted, ranges }
    }

    /// Asks those of these numbers, and returns how many keys they found.
    fn ask(&self, structure: &dyn Answers, numbers: core::ops::Range<usize>) -> usize {
        let mut found = 0;
        for nth in numbers {
            if self.kind == Kind::Lookups || (matches!(self.kind, Kind::Mixed(_)) && nth % 2 == 0) {
                found += usize::from(structure.holds(self.keys[nth]));
            } else {
                let (low, high) = self.ranges[nth];
                found += structure.count(low, high);
            }
        }
        found
    }

    /// What all of them find.
    fn expected(&self, keys: &[u32]) -> usize {
        self.ask(
            &Sorted::<latchless_core::mem::touch::NoTrace>::new(keys),
            0..self.keys.len().max(self.ranges.len()),
        )
    }
}

struct Lists<'a>(Pinned<'a, u32, u32, TracedBranching>);

impl Answers for Lists<'_> {
    fn holds(&self, key: u32) -> bool {
        self.0.contains(key)
    }

    fn count(&self, low: u32, high: u32) -> usize {
        self.0.range_along_lane(low..=high).map_or(0, |run| run.count())
    }
}

/// An index whose ranges are walked. Entries are copied to buffers on the heap: where the stack lies isn't
/// the same in every run.
struct Walked {
    index: Box<dyn OrderedIndex<u32, u32>>,
    buffers: RefCell<[Vec<u32>; 2]>,
}

/// Entries that are copied at once.
const COPIED: usize = 128;

impl Walked {
    fn new(index: Box<dyn OrderedIndex<u32, u32>>) -> Self {
        Self { index, buffers: RefCell::new([(); 2].map(|()| vec![0; COPIED])) }
    }

    fn copy(&self, low: u32, high: u32) -> latchless::Result<usize> {
        let mut scanner = self.index.scanner((Included(low), Included(high)), Direction::Forward)?;
        let [keys, values] = &mut *self.buffers.borrow_mut();
        let mut copied = 0;
        loop {
            match scanner.fill(keys, values)? {
                0 => return Ok(copied),
                more => copied += more,
            }
        }
    }
}

fn loaded(mut index: Box<dyn OrderedIndex<u32, u32>>, keys: &[u32], fill: FillFactor) -> Result<Walked> {
    index.bulk_load(&entries(keys), fill)?;
    Ok(Walked::new(index))
}

impl Answers for Walked {
    fn holds(&self, key: u32) -> bool {
        self.index.get(key).is_some()
    }

    fn count(&self, low: u32, high: u32) -> usize {
        // A refusal is a wrong answer.
        self.copy(low, high).unwrap_or(0)
    }
}

impl Answers for Bpt<Traced> {
    fn holds(&self, key: u32) -> bool {
        self.get(key).is_some()
    }

    fn count(&self, low: u32, high: u32) -> usize {
        let mut found = 0;
        self.range(low, high, Walk::ToTheLastLeaf, |_, _| found += 1);
        found
    }
}

/// A sorted array: a binary search that branches, and a walk that compares key by key.
struct Sorted<T> {
    keys: Vec<u32>,
    touch: core::marker::PhantomData<T>,
}

impl<T: Trace> Sorted<T> {
    fn new(keys: &[u32]) -> Self {
        Self { keys: keys.to_vec(), touch: core::marker::PhantomData }
    }

    /// Returns how many keys are smaller.
    fn below(&self, key: u32) -> usize {
        T::work(Work::Operation);
        self.keys.partition_point(|other| {
            T::read(core::ptr::from_ref(other).cast(), size_of::<u32>());
            T::work(Work::Probe);
            *other < key
        })
    }
}

impl<T: Trace> Answers for Sorted<T> {
    fn holds(&self, key: u32) -> bool {
        let at = self.below(key);
        T::work(Work::Compare(1));
        self.keys.get(at) == Some(&key)
    }

    fn count(&self, low: u32, high: u32) -> usize {
        const OF_LINE: usize = 16;
        let start = self.below(low);
        let mut end = start;
        // A line's keys at a time.
        while let Some(line) =
            self.keys.get(end..).map(|rest| &rest[..rest.len().min(OF_LINE - end % OF_LINE)])
            && !line.is_empty()
        {
            let passed = line.iter().take_while(|&&key| key <= high).count();
            let read = line.len().min(passed + 1);
            T::work(Work::Compare(read));
            T::read(line.as_ptr().cast(), read * size_of::<u32>());
            end += passed;
            if passed < line.len() {
                break;
            }
        }
        T::work(Work::Branch(end - start + 1));
        end - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_answers_and_has_events() {
        for spread in Spread::BOTH {
            for subject in SUBJECTS.into_iter().chain(BESIDE) {
                for kind in [Kind::Lookups, Kind::Ranges(10.0), Kind::Mixed(3.0)] {
                    let events = events(subject, kind, spread, 2_000, Scale::Small).unwrap();
                    assert!(
                        events.cycles > 20.0 && events.instructions > 20.0,
                        "{subject:?} {kind:?}: {events:?}"
                    );
                }
            }
        }
    }

    /// Memory that was allocated before, and a stack that lies elsewhere, change nothing.
    #[test]
    fn events_are_the_same_wherever_memory_lies() {
        fn deeper<R>(act: impl FnOnce() -> R) -> R {
            let room = std::hint::black_box([1u8; 5_000]);
            let result = act();
            std::hint::black_box(room);
            result
        }
        for subject in SUBJECTS {
            let run = || events(subject, Kind::Mixed(3.0), Spread::Dense, 5_000, Scale::Small).unwrap();
            let first = run();
            let _held = [vec![1u8; 1_001], vec![2; 77_777]];
            assert_eq!(format!("{:?}", deeper(run)), format!("{first:?}"), "{subject:?}");
        }
    }

    #[test]
    fn a_range_of_a_sorted_array_has_its_ends() {
        let sorted =
            Sorted::<latchless_core::mem::touch::NoTrace>::new(&(0..500).map(|i| i * 2).collect::<Vec<_>>());
        for (low, high) in [(0, 0), (1, 1), (3, 62), (64, 999), (998, 5_000), (2_000, 3_000)] {
            let expected = (0..500).filter(|i| (low..=high).contains(&(i * 2))).count();
            assert_eq!(sorted.count(low, high), expected, "{low}..={high}");
        }
    }
}
