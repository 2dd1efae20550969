//! Figures 6 and 8, and what the text says of Figures 4, 7 and 9, on the model of the paper's machine.

use super::data::Spread;
use super::modelled::{BESIDE, CSSL2, CSSL5, Events, Kind, SUBJECTS, Subject, events};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::model::Parameters;
use crate::on::On;
use crate::row::Row;

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
/// Percent of n that a range is wide.
const WIDTHS: [f64; 3] = [0.1, 1.0, 10.0];
/// Ranges of 500K among 16M keys (§5.3).
const MIXED_WIDTH: f64 = 100.0 / 32.0;

const COUNTED: &str = "Counted per query, after others have filled the caches. \"level 3 hits\" and \"level 3 \
    misses\" are lines that a query itself requested and its secondary cache didn't have; the prefetcher's are \
    beside them. \"TLB misses\" are accesses to pages that neither level had. \"mispredicted branches\" are those \
    of searches and of the ends of runs: with n ways that are equally likely, n - 1 of n times.";
pub(super) const FORMS: &str = "On the model CSSL searches its lanes key by key, as in Algorithm 1; binary search \
    branches; ART and the CSB+-Tree compute their next step, as the paper's do by their counters (Figure 8). The paper \
    doesn't say how its trees were filled; what it published says it. The CSB+-Tree takes more memory than CSSL5 \
    (Figure 11), so its nodes can't be full: \"csb\" is half full, as after inserts in ascending order. ART misses the \
    TLB once for each key of a range (Figure 6), so its leaves aren't in the keys' order: it is filled in random order.";

pub(super) const FIG_6: Experiment = Experiment {
    name: "fig-6",
    title: "A 10 % range among 16M keys: cycles, mispredicted branches, misses of the third level and of the TLB",
    remarks: &[COUNTED, FORMS],
    body: Body::Driven { x_label: "keys", rows: |on, scale| counters(on, scale, Kind::Ranges(WIDTHS[2])) },
};

pub(super) const FIG_8: Experiment = Experiment {
    name: "fig-8",
    title: "A lookup among 16M keys: cycles, mispredicted branches, misses of the third level and of the TLB",
    remarks: &[COUNTED, FORMS],
    body: Body::Driven { x_label: "keys", rows: |on, scale| counters(on, scale, Kind::Lookups) },
};

/// Returns the rows of a figure that has a form on the model and a native one.
pub(super) fn either(
    on: On,
    scale: Scale,
    model: fn(Scale) -> Result<Vec<Row>>,
    native: fn(Scale) -> Result<Vec<Row>>,
) -> Result<Vec<Row>> {
    if on == On::Model { model(scale) } else { native(scale) }
}

/// A counter of Figures 6 and 8.
struct Counter {
    name: &'static str,
    ours: fn(&Events) -> f64,
    /// The figures, dense and sparse, by the subjects' order; ranges, then lookups.
    published: [[[f64; 6]; 2]; 2],
}

/// Columns: CSSL5, CSSL2, ART, CSB+-Tree, binary search, B+-Tree.
const COUNTERS: [Counter; 5] = [
    Counter {
        name: "cycles",
        ours: |events| events.cycles,
        published: [
            [[202e3, 661e3, 501e6, 27e6, 3.4e6, 1_070e6], [5e3, 13e3, 4.5e6, 620e3, 59e3, 1_095e6]],
            [
                [927.0, 956.0, 209.0, 1_068.0, 1_036.0, 5_889.0],
                [926.0, 951.0, 383.0, 1_054.0, 1_029.0, 5_789.0],
            ],
        ],
    },
    Counter {
        name: "mispredicted branches",
        ours: |events| events.mispredictions,
        published: [
            [[12.0, 15.0, 813e3, 46.0, 13.0, 1.4e3], [13.0, 16.0, 16e3, 4.6e3, 13.0, 832.0]],
            [[9.0, 13.0, 0.0, 1.0, 12.0, 12.0], [9.0, 13.0, 0.0, 3.0, 12.0, 12.0]],
        ],
    },
    Counter {
        name: "level 3 hits",
        ours: |events| events.hits,
        published: [
            [[8e3, 24e3, 1.3e6, 49e3, 21e3, 1.6e3], [139.0, 373.0, 14e3, 364.0, 325.0, 1.8e3]],
            [[11.0, 8.0, 2.0, 3.0, 21.0, 28.0], [11.0, 8.0, 5.0, 3.0, 20.0, 29.0]],
        ],
    },
    Counter {
        name: LEVEL_3_MISSES,
        ours: |events| events.misses,
        published: [
            [[21.0, 7.3e3, 2.7e6, 243e3, 7.4e3, 7.8e6], [23.0, 165.0, 28e3, 5.7e3, 278.0, 7.4e6]],
            [[5.0, 8.0, 2.0, 5.0, 9.0, 39.0], [5.0, 8.0, 3.0, 4.0, 10.0, 38.0]],
        ],
    },
    Counter {
        name: TLB_MISSES,
        ours: |events| events.tlb_misses,
        published: [
            [[5.0, 13.0, 1.6e6, 99.0, 24.0, 381e3], [3.0, 5.0, 19e3, 958.0, 10.0, 369e3]],
            [[1.0, 3.0, 2.0, 3.0, 4.0, 20.0], [1.0, 3.0, 4.0, 5.0, 4.0, 20.0]],
        ],
    },
];

/// Counters whose numbers are one comparison: the paper says of two only how they compare.
const TOGETHER: [&str; 3] = ["level 3 hits", LEVEL_3_MISSES, TLB_MISSES];
const LEVEL_3_MISSES: &str = "level 3 misses";
const TLB_MISSES: &str = "TLB misses";

fn counters(on: On, scale: Scale, kind: Kind) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let count = KEYS.at(scale);
    for (of_spread, &spread) in Spread::BOTH.iter().enumerate().filter(|_| on == On::Model) {
        let mut all = Vec::new();
        for (column, subject) in SUBJECTS.into_iter().chain(BESIDE).enumerate() {
            let events = events(subject, kind, spread, count, scale)?;
            all.push((subject, events));
            let at = Point { spread, x: count as f64 };
            rows.extend(COUNTERS.iter().map(|counter| {
                let stated = counter.published[usize::from(kind == Kind::Lookups)][of_spread].get(column);
                let row = at.row(subject, counter.name, (counter.ours)(&events));
                let row = row.beside(stated.copied().map(Published::About));
                if !TOGETHER.contains(&counter.name) {
                    return row;
                }
                Row { panel: "", series: format!("{}, {}", subject.name(), spread.name()), ..row }
            }));
            rows.push(at.row(subject, "instructions", events.instructions));
            rows.push(at.row(subject, "lines that the prefetcher fetched", events.streamed));
        }
        rows.extend(in_words(&all, Point { spread, x: count as f64 }, kind));
    }
    Ok(rows)
}

/// How the text compares misses (§5.1 and §5.2).
fn in_words(all: &[(Subject, Events)], at: Point, kind: Kind) -> Vec<Row> {
    let of = |counter: &Counter, wanted: Subject| {
        all.iter().find(|(subject, _)| *subject == wanted).map_or(f64::NAN, |found| (counter.ours)(&found.1))
    };
    let over = |counter: &Counter, subject: Subject, other: Subject, said: Published| {
        let unit = format!("{}, times {}'s", counter.name, other.name());
        at.row(subject, unit, of(counter, subject) / of(counter, other)).beside(Some(said))
    };
    let mut rows = Vec::new();
    for counter in COUNTERS.iter().filter(|counter| [LEVEL_3_MISSES, TLB_MISSES].contains(&counter.name)) {
        // "CSSL utilizes most prefetched cache lines, which leads to only few cache misses"; "as in the case
        // of range queries, CSSL produces only few cache and TLB misses."
        let rivals = [Subject::Art, Subject::Csb, Subject::BinarySearch, Subject::Bpt];
        let of_ranges = kind != Kind::Lookups && counter.name == LEVEL_3_MISSES;
        // In lookups ART has "only few" as well, and the CSB+-Tree as many.
        let more = rivals.into_iter().filter(|rival| {
            of_ranges || (kind == Kind::Lookups && ![Subject::Art, Subject::Csb].contains(rival))
        });
        rows.extend(more.map(|rival| over(counter, rival, CSSL5, Published::MoreThan(1.0))));
        // "CSB+ is able to reduce cache misses significantly compared to B+-tree."
        if of_ranges {
            rows.push(over(counter, Subject::Csb, Subject::Bpt, Published::LessThan(1.0)));
        }
        // "B+-tree shows the worst performance parameters."
        if kind == Kind::Lookups {
            let others = SUBJECTS.into_iter().filter(|&other| other != Subject::Bpt);
            let worst = others.map(|other| of(counter, other)).fold(0.0, f64::max);
            let unit = format!("{}, times the most of the others", counter.name);
            let row = at.row(Subject::Bpt, unit, of(counter, Subject::Bpt) / worst);
            rows.push(row.beside(Some(Published::MoreThan(1.0))));
        }
    }
    rows
}

/// The cycles of a query, by subject.
type Cycles = Vec<(Subject, f64)>;

/// A place on a figure's x axis.
#[derive(Debug, Clone, Copy)]
struct Point {
    spread: Spread,
    x: f64,
}

impl Point {
    fn row(self, subject: Subject, unit: impl Into<String>, ours: f64) -> Row {
        Row { panel: self.spread.name(), on: On::Model, ..Row::new(subject.name(), self.x, unit, ours) }
    }

    /// Returns the throughput of each.
    fn throughputs(self, cycles: &Cycles) -> Vec<Row> {
        let hertz = Parameters::cssl().clock_mhz as f64 * 1e6;
        let row = |&(subject, cycles): &(Subject, f64)| Row {
            cost: Some(cycles),
            cost_unit: "cycles/query".to_string(),
            ..self.row(subject, "queries a second", hertz / cycles)
        };
        cycles.iter().map(row).collect()
    }

    /// Returns how many times faster than `other` `subject` is.
    fn times(self, cycles: &Cycles, subject: Subject, other: Subject, published: Published) -> Row {
        let unit = format!("times {}", other.name());
        self.row(subject, unit, of(cycles, other) / of(cycles, subject)).beside(Some(published))
    }

    /// "BS is the second best competitor followed by CSB+, ART and B+" (§5.1; §5.3 says the same).
    fn order(self, cycles: &Cycles) -> Vec<Row> {
        let [csb, art, bpt] = [Subject::Csb, Subject::Art, Subject::Bpt];
        let behind = [csb, art, bpt]
            .map(|rival| self.times(cycles, rival, Subject::BinarySearch, Published::LessThan(1.0)));
        let among = [(csb, art), (art, bpt)]
            .map(|(one, next)| self.times(cycles, one, next, Published::MoreThan(1.0)));
        behind.into_iter().chain(among).collect()
    }
}

fn of(cycles: &Cycles, wanted: Subject) -> f64 {
    cycles.iter().find(|(subject, _)| *subject == wanted).map_or(f64::NAN, |found| found.1)
}

fn cycles(kind: Kind, spread: Spread, scale: Scale) -> Result<Cycles> {
    let count = KEYS.at(scale);
    let of = |subject| Ok((subject, events(subject, kind, spread, count, scale)?.cycles));
    SUBJECTS.into_iter().chain(BESIDE).map(of).collect()
}

pub(super) fn figure_4(scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for spread in Spread::BOTH {
        let lead = match spread {
            Spread::Dense => 16.8,
            Spread::Sparse => 10.4,
        };
        let mut before = None;
        for x in WIDTHS {
            let (cycles, at) = (cycles(Kind::Ranges(x), spread, scale)?, Point { spread, x });
            rows.extend(at.throughputs(&cycles));
            let widest = x == WIDTHS[2];
            // "Both CSSL configurations outperform all contestants for … all evaluated range sizes."
            let said = if widest { Published::About(lead) } else { Published::MoreThan(1.0) };
            rows.push(at.times(&cycles, CSSL5, Subject::BinarySearch, said));
            rows.push(at.times(&cycles, CSSL2, Subject::BinarySearch, Published::MoreThan(1.0)));
            rows.push(at.times(&cycles, CSSL5, CSSL2, Published::MoreThan(1.0)));
            rows.extend(at.order(&cycles));
            // "The speedup factor is the highest for large ranges."
            let own = of(&cycles, Subject::BinarySearch) / of(&cycles, CSSL5);
            rows.extend(before.replace(own).map(|before| {
                let row = at.row(CSSL5, "lead, times that in ranges a tenth as wide", own / before);
                row.beside(Some(Published::MoreThan(1.0)))
            }));
        }
    }
    Ok(rows)
}

pub(super) fn figure_7(scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let x = KEYS.at(scale) as f64;
    let all = Spread::BOTH.map(|spread| cycles(Kind::Lookups, spread, scale).map(|cycles| (spread, cycles)));
    let [dense, sparse] = all;
    let (dense, sparse) = (dense?, sparse?);
    for ((spread, cycles), art) in [(&dense, 4.4), (&sparse, 2.4)] {
        let at = Point { spread: *spread, x };
        rows.extend(at.throughputs(cycles));
        rows.push(at.times(cycles, Subject::Art, CSSL5, Published::About(art)));
        // "An identical performance."
        rows.push(at.times(cycles, CSSL2, CSSL5, Published::About(1.0)));
        // "CSSL achieves the second best performance."
        for slower in [Subject::BinarySearch, Subject::Csb] {
            rows.push(at.times(cycles, slower, CSSL5, Published::LessThan(1.0)));
            rows.push(at.times(cycles, slower, Subject::Bpt, Published::MoreThan(1.0)));
        }
    }
    // "ART is the only competitor that can boost performance on dense keys; the remaining competitors show
    // identical results."
    let at = Point { spread: dense.0, x };
    for subject in SUBJECTS {
        let said = if subject == Subject::Art { Published::MoreThan(1.0) } else { Published::About(1.0) };
        let gain = of(&sparse.1, subject) / of(&dense.1, subject);
        rows.push(at.row(subject, "times its own on sparse keys", gain).beside(Some(said)));
    }
    Ok(rows)
}

pub(super) fn figure_9(scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for spread in Spread::BOTH {
        let at = Point { spread, x: KEYS.at(scale) as f64 };
        let cycles = cycles(Kind::Mixed(MIXED_WIDTH), spread, scale)?;
        rows.extend(at.throughputs(&cycles));
        for own in [CSSL5, CSSL2] {
            rows.push(at.times(&cycles, own, Subject::BinarySearch, Published::MoreThan(1.0)));
        }
        rows.extend(at.order(&cycles));
    }
    Ok(rows)
}
