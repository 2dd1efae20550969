//! The experiments of Xie, Cai, Jagadish, Ooi and Wong, *PI: a Parallel in-memory skip list based Index*
//! (2016), §5 and §6; and this library's additions: latency, tuned batch sizes, builds.
//!
//! The figures are images; the comparable results are the factors and the orders that the text states. The
//! paper's machine has four NUMA nodes, so its statements on nodes are checked on the model.

mod ablation;
mod analysis;
mod build;
mod contestant;
mod entries;
mod latency;
mod machines;
mod modelled;
mod native;
mod pages;
mod parts;
mod size;
mod skew;
mod sorting;
mod traffic;

pub use contestant::{Contestant, Form};
pub use traffic::{Keys, NODES, Skewed, Source, Traffic};

use crate::error::Result;
use crate::experiment::{Body, Experiment, Paper, Published, Scale, Scaled};
use crate::model::Change;
use crate::row::{On, Row};
use latchless_papers::pi::Query;

/// The paper's default threads.
const THREADS: usize = 8;
/// The paper's default queries of a batch, for each thread.
const BATCH: Scaled<usize> = Scaled::new(8192, 1024);
/// Batches of searches before those of a case on the model: each node's 18 MB of shared cache are then full.
const WARMING: Scaled<usize> = Scaled::new(8, 4);
/// A set that fits the caches of all nodes needs twice as many, until it is in them but for a fiftieth.
const FITS_CACHES: usize = 4 << 20;
/// The small, the medium and the large data set (§6).
const KEYS: Scaled<&[usize]> = Scaled::new(&[2 << 20, 16 << 20, 128 << 20], &[2_000, 20_000]);
/// The names of series by these sizes.
const SIZES: [&str; 3] = ["2M keys", "16M keys", "128M keys"];
/// The medium one.
const MEDIUM: Scaled<usize> = Scaled::new(16 << 20, 100_000);
const THROUGHPUT: &str = "M queries/s";
const SLOWEST: &str = "M queries/s, slowest round";
const FASTEST: &str = "M queries/s, fastest round";

/// The paper.
pub const PAPER: Paper = Paper {
    name: "pi",
    title: "Xie, Cai, Jagadish, Ooi, Wong: PI: a Parallel in-memory skip list based Index (2016)",
    experiments: &[
        analysis::SECTION_5,
        analysis::LINES,
        build::BUILD,
        parts::PARTS,
        size::FIG_6,
        size::FIG_7,
        size::FIG_8,
        skew::FIG_9,
        skew::FIG_10,
        skew::FIG_11,
        skew::FIG_13,
        skew::FIG_14,
        ablation::FIG_15,
        machines::MACHINES,
        machines::REBUILDS,
        machines::LATCHED,
        sorting::SORTING,
        pages::HUGE_PAGES,
        entries::ENTRY_KEYS,
        latency::AUTO_BATCH,
        latency::LATENCY,
    ],
};

/// Returns an experiment with its own driver.
const fn driven(
    name: &'static str,
    title: &'static str,
    remarks: &'static [&'static str],
    x_label: &'static str,
    rows: fn(On, Scale) -> Result<Vec<Row>>,
) -> Experiment {
    Experiment { name, title, remarks, body: Body::Driven { x_label, rows } }
}

/// A measurement.
#[derive(Debug, Clone, Copy)]
struct Case {
    keys: usize,
    threads: usize,
    /// Queries of a batch, for each thread.
    batch: usize,
    traffic: Traffic,
    /// Rounds that count: on the model of a batch each.
    rounds: usize,
    /// Searches for each node that fill its caches on the model before the case's own queries; twice as many
    /// in sets that fit them.
    warming: usize,
    /// The difference from the paper's machine; only on the model.
    change: Change,
}

impl Case {
    /// Evenly spread searches of the medium data set: as many threads as the paper has, or as this machine.
    fn usual(on: On, scale: Scale) -> Self {
        let threads = if on == On::Native { 2 } else { THREADS };
        let rounds = if on == On::Native { 7 } else { 1 };
        let (keys, batch) = (MEDIUM.at(scale), BATCH.at(scale));
        let warming = WARMING.at(scale) * batch * THREADS / NODES;
        Self { keys, threads, batch, traffic: Traffic::SEARCHES, rounds, warming, change: Change::Nothing }
    }

    /// Returns the batches, for all threads together, of the case of this number: no two draw the same.
    fn batches(&self, nth: usize) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        self.batches_of(self.traffic, 2016 + nth as u64)
    }

    /// Returns batches of about so many searches for each node, as skewed as the case's queries, or twice as
    /// many.
    fn searches(&self, count: usize, nth: usize) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        let searches = Traffic { inserts_percent: 0, range: None, ..self.traffic };
        let count = if self.keys <= FITS_CACHES { 2 * count } else { count };
        let batches = (count * NODES.min(self.threads)).div_ceil(self.batch * self.threads);
        self.batches_of(searches, 1600 + nth as u64).take(batches)
    }

    fn batches_of(&self, traffic: Traffic, seed: u64) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        let (keys, mut source) = (Keys::new(self.keys), Source::new(seed));
        let len = self.batch * self.threads;
        core::iter::repeat_with(move || source.batch(keys, traffic, len))
    }
}

/// The result of a measurement.
#[derive(Debug, Clone)]
struct Measured {
    /// The median round's; on the model there is one.
    seconds: f64,
    /// The shortest and the longest round; natively.
    range: Option<(f64, f64)>,
    queries: usize,
    /// On the model.
    per_query: Option<PerQuery>,
    threads_per_node: Vec<usize>,
}

/// The model's counts per query.
#[derive(Debug, Clone, Copy)]
struct PerQuery {
    /// Lines that were read, written or prefetched, in caches or not; consecutive accesses to one line
    /// count once.
    lines: f64,
    /// Lines that were served by memory or another core's cache.
    misses: f64,
    /// Those of them that were served by another node.
    remote: f64,
    /// Entries of the index layer that were read.
    entries: f64,
    /// Lines that were prefetched.
    prefetches: f64,
}

impl Measured {
    fn throughput(&self) -> f64 {
        self.throughput_in(self.seconds)
    }

    fn throughput_in(&self, seconds: f64) -> f64 {
        self.queries as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6
    }

    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.queries.max(1) as f64
    }
}

/// Measures all contestants on a case.
fn measure(on: On, contestants: &[Contestant], case: &Case) -> Result<Vec<Measured>> {
    match on {
        On::Native => native::measure(contestants, case),
        _ => {
            let alone = |&one: &Contestant| Ok(modelled::measure_series(one, &[*case])?.remove(0));
            contestants.iter().map(alone).collect()
        }
    }
}

/// Measures one contestant on cases that differ in their queries, on one index.
fn measure_series(on: On, contestant: Contestant, cases: &[Case]) -> Result<Vec<Measured>> {
    match on {
        On::Native => native::measure_series(contestant, cases),
        _ => modelled::measure_series(contestant, cases),
    }
}

/// A contestant's throughput; natively that of its slowest and its fastest round, too.
fn throughputs(panel: &'static str, on: On, name: &str, x: f64, measured: &Measured) -> Vec<Row> {
    let mut rows = vec![row(panel, on, name, x, (THROUGHPUT, measured.throughput()), measured)];
    if let Some((shortest, longest)) = measured.range {
        for (unit, seconds) in [(SLOWEST, longest), (FASTEST, shortest)] {
            rows.push(row(panel, on, name, x, (unit, measured.throughput_in(seconds)), measured));
        }
    }
    rows
}

/// Returns a row of a panel, with the cost of a query.
fn row(
    panel: &'static str,
    on: On,
    name: &str,
    x: f64,
    (unit, ours): (&str, f64),
    measured: &Measured,
) -> Row {
    let cost = Some(measured.nanoseconds());
    Row { panel, on, cost, cost_unit: "ns/query".to_string(), ..Row::new(name, x, unit, ours) }
}

/// Returns each contestant's throughput, and the ratio of the last ones to the first one, with the paper's
/// numbers.
fn compared(
    panel: &'static str,
    on: On,
    x: f64,
    contestants: &[Contestant],
    case: &Case,
    published: impl Fn(Contestant) -> Option<Published>,
) -> Result<Vec<Row>> {
    let measured = measure(on, contestants, case)?;
    let each = contestants.iter().zip(&measured);
    let mut rows: Vec<Row> =
        each.clone().flat_map(|(one, measured)| throughputs(panel, on, one.name(), x, measured)).collect();
    let first = &measured[0];
    for (&other, theirs) in each.skip(1) {
        let unit = format!("times {}", other.name());
        let times = first.throughput() / theirs.throughput();
        let name = contestants[0].name();
        rows.push(row(panel, on, name, x, (&unit, times), first).beside(published(other)));
    }
    Ok(rows)
}

/// PI's yardsticks: on the model OLFIT's tree with keys of 64 bits, which like Masstree has latches and
/// doesn't know of nodes; natively the published maps that the build has as well.
fn opponents(on: On) -> Vec<Contestant> {
    let mut all = vec![Contestant::PI, Contestant::BLinkWide];
    if on == On::Native {
        all.push(Contestant::Flagship);
        all.extend(Contestant::rivals());
    }
    all
}

/// Returns what the paper says of Masstree, if this contestant takes its place.
fn of_masstree(on: On, other: Contestant, published: Published) -> Option<Published> {
    (other == Contestant::masstree(on)).then_some(published)
}
