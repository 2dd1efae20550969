//! §6.4 to §6.7: mixed, skewed and range queries: Figures 9, 10, 11, 13 and 14.

use super::case::{Case, KEYS, SIZES};
use super::contestant::{Contestant, Form};
use super::measure::{measure, measure_series};
use super::rows::{driven, row, throughputs};
use super::traffic::{NODES, Skewed, Traffic};
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use latchless_papers::pi::batch::pool::threads_per_node;

const PERCENT: Scaled<&[u32]> = Scaled::new(&[0, 20, 40, 60, 80, 100], &[0, 100]);
const FIXED: Contestant = Contestant::Pi(Form { self_adjusted: false, ..Form::PAPER });
const ZIPF: &str = "The paper's threads per node (3, 2, 2, 1 and 4, 2, 1, 1) are those of a Zipf distribution over the \
                    four nodes' ranges of keys; one over the keys in their order would ask the first node for half \
                    of the queries at θ = 0.5 and for nine tenths at 0.9. So ranges are drawn by Zipf, and keys \
                    evenly within.";

const WHOLE: &str = "Whole threads can't follow shares exactly: with 3, 2, 2, 1 of them the last node's one thread has \
                     18 % of the queries instead of 12.5, with 4, 2, 1, 1 one of the single threads has 17 %. \"times θ = 0, \
                     at most\" is what that thread leaves of the throughput: measured on four nodes with one thread \
                     each, all of which have as many queries. Such a thread has its node's cache alone, and no \
                     neighbour to hand queries to.";

const SINGLE: &str = "The paper says that searches alone are faster at θ = 0.5 than at 0, \"probably\" because threads use \
                      their caches better, and that skew has only a little impact. \"single keys\" are drawn by Zipf over \
                      the keys, in an order of popularity that has nothing to do with theirs: then nodes have equal \
                      shares, and caches hold what is popular.";

/// "A slight decrease" (§6.4).
const SLIGHT_DECREASE: Published = Published::Within(0.8, 1.0);
/// "Only a little impact" (§6.5).
const LITTLE_IMPACT: Published = Published::Within(0.8, 1.2);
/// "Rarely affects the performance" (§6.6).
const NO_EFFECT: Published = Published::About(1.0);
/// "Does significantly enhance the throughput" (§6.5): by more than what counts as about the same.
const ENHANCED: Published = Published::AtLeast(1.1);

const MASSTREE: &str = "The paper says the same of Masstree, whose place OLFIT's tree with keys of 64 bits takes on the \
                        model, and natively if the build hasn't Masstree.";

pub(super) const FIG_9: Experiment = driven(
    "fig-9",
    "Throughput by the share of inserts",
    &["The paper says: a slight decrease, here from 1 to 0.8 times the searches.", MASSTREE],
    "inserts, percent",
    fig_9,
);

fn fig_9(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let percents = PERCENT.at(scale);
    for (&keys, panel) in KEYS.at(scale).iter().zip(SIZES) {
        let case = |&inserts_percent: &u32| {
            let traffic = Traffic { inserts_percent, ..Traffic::SEARCHES };
            Case { keys, traffic, ..Case::usual(on, scale) }
        };
        let cases: Vec<Case> = percents.iter().map(case).collect();
        for contestant in [Contestant::PI, Contestant::masstree(on)] {
            let measured = measure_series(on, contestant, &cases)?;
            let (name, searches) = (contestant.name(), measured[0].throughput());
            for (&percent, measured) in percents.iter().zip(&measured) {
                let (x, over) = (f64::from(percent), measured.throughput() / searches);
                rows.extend(throughputs(panel, on, name, x, measured));
                let published = (percent > 0).then_some(SLIGHT_DECREASE);
                let unit = "times searches alone";
                rows.push(row(panel, on, name, x, (unit, over), measured).beside(published));
            }
        }
    }
    Ok(rows)
}

pub(super) const FIG_10: Experiment = driven(
    "fig-10",
    "Skew, with threads that follow the load",
    &[ZIPF, WHOLE, SINGLE, MASSTREE],
    "inserts, percent",
    fig_10,
);

pub(super) const FIG_11: Experiment = driven(
    "fig-11",
    "Skew, with two threads a node whatever the load",
    &[
        ZIPF,
        "\"times without\" is the throughput with threads that follow the load over that without. Only on the model: on one \
         node there is nothing to follow.",
    ],
    "inserts, percent",
    fig_11,
);

/// The Zipf-distributed quantity, and the skew.
const SKEWS: [(&str, f64, Skewed); 5] = [
    ("θ = 0", 0.0, Skewed::Ranges),
    ("θ = 0.5", 0.5, Skewed::Ranges),
    ("θ = 0.9", 0.9, Skewed::Ranges),
    ("θ = 0.5, single keys", 0.5, Skewed::Keys),
    ("θ = 0.9, single keys", 0.9, Skewed::Keys),
];
/// Those of them that the paper has.
const OF_RANGES: usize = 3;

fn skewed(on: On, scale: Scale, skew: (f64, Skewed), inserts_percent: u32) -> Case {
    let traffic = Traffic { theta: skew.0, skewed: skew.1, inserts_percent, range: None };
    Case { traffic, ..Case::usual(on, scale) }
}

fn fig_10(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &percent in PERCENT.at(scale) {
        let cases = SKEWS.map(|(_, theta, what)| skewed(on, scale, (theta, what), percent));
        let x = f64::from(percent);
        for contestant in [Contestant::PI, Contestant::masstree(on)] {
            let own = contestant == Contestant::PI;
            let name = contestant.name();
            let cases = if own { &cases[..] } else { &cases[..OF_RANGES] };
            let measured = measure_series(on, contestant, cases)?;
            let even = measured[0].throughput();
            for ((panel, theta, what), measured) in SKEWS.into_iter().zip(&measured) {
                rows.extend(throughputs(panel, on, name, x, measured));
                // "Even higher than in the case of no query skewness" with searches alone (§6.5).
                let higher = own && percent == 0 && theta == 0.5;
                let published = match (higher, what) {
                    (true, _) => Some(Published::MoreThan(1.0)),
                    (false, Skewed::Ranges) if theta > 0.0 => Some(LITTLE_IMPACT),
                    _ => None,
                };
                let over = ("times θ = 0", measured.throughput() / even);
                rows.push(row(panel, on, name, x, over, measured).beside(published));
                if own && what == Skewed::Ranges {
                    rows.extend(threads_of_nodes(panel, on, (theta, x), contestant, measured));
                }
                if own && what == Skewed::Ranges && theta > 0.0 && percent == 0 && on == On::Model {
                    rows.push(at_most(panel, theta, scale, even)?);
                }
            }
        }
    }
    Ok(rows)
}

/// The throughput over `even` that a single thread leaves which has the largest part of the queries.
fn at_most(panel: &'static str, theta: f64, scale: Scale, even: f64) -> Result<Row> {
    let usual = Case::usual(On::Model, scale);
    let shares = Traffic { theta, ..Traffic::SEARCHES }.shares();
    let queries = (usual.batch * usual.threads) as f64;
    let threads = threads_per_node(&shares.map(|share| (share * queries) as usize), usual.threads);
    let singles = shares.iter().zip(&threads).filter(|(_, threads)| **threads == 1);
    let part = singles.map(|(share, _)| share * queries).fold(0.0, f64::max);
    let case = Case { threads: NODES, batch: part as usize, ..usual };
    let measured = measure(On::Model, &[Contestant::PI], &case)?.remove(0);
    let most = queries / measured.seconds / 1e6;
    Ok(row(panel, On::Model, "pi", 0.0, ("times θ = 0, at most", most / even), &measured))
}

fn fig_11(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if on != On::Model {
        return Ok(rows);
    }
    for &percent in PERCENT.at(scale) {
        let x = f64::from(percent);
        let cases = SKEWS.map(|(_, theta, what)| skewed(on, scale, (theta, what), percent));
        let fixed = measure_series(on, FIXED, &cases[..OF_RANGES])?;
        let adjusted = measure_series(on, Contestant::PI, &cases[..OF_RANGES])?;
        let even = fixed[0].throughput();
        for ((panel, theta, _), (fixed, adjusted)) in SKEWS.into_iter().zip(fixed.iter().zip(&adjusted)) {
            rows.extend(throughputs(panel, on, FIXED.name(), x, fixed));
            let over = ("times θ = 0", fixed.throughput() / even);
            rows.push(row(panel, on, FIXED.name(), x, over, fixed));
            rows.extend(threads_of_nodes(panel, on, (theta, x), FIXED, fixed));
            let gain = ("times without", adjusted.throughput() / fixed.throughput());
            rows.push(row(panel, on, "pi", x, gain, adjusted).beside((theta > 0.0).then_some(ENHANCED)));
        }
    }
    Ok(rows)
}

fn threads_of_nodes(
    panel: &'static str,
    on: On,
    (theta, x): (f64, f64),
    contestant: Contestant,
    measured: &super::measured::Measured,
) -> Vec<Row> {
    let published: Option<[f64; 4]> = match (contestant == Contestant::PI, (theta * 10.0) as u32) {
        (true, 5) => Some([3.0, 2.0, 2.0, 1.0]),
        (true, 9) => Some([4.0, 2.0, 1.0, 1.0]),
        _ => None,
    };
    let nodes = measured.threads_per_node.iter().enumerate().filter(|_| on != On::Native);
    nodes
        .map(|(node, &threads)| {
            let unit = format!("threads of node {node}");
            let row = row(panel, on, contestant.name(), x, (&unit, threads as f64), measured);
            row.beside(published.map(|published| Published::Exactly(published[node])))
        })
        .collect()
}

pub(super) const FIG_13: Experiment =
    driven("fig-13", "YCSB's three mixes, by skew", &[ZIPF, WHOLE, MASSTREE], "θ", fig_13);

fn fig_13(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let thetas: &[f64] = if scale == Scale::Small { &[0.0, 0.9] } else { &[0.0, 0.3, 0.5, 0.7, 0.9] };
    for (panel, inserts_percent) in [("half updates", 50), ("5 % updates", 5), ("no updates", 0)] {
        let case = |&theta: &f64| {
            let traffic = Traffic { theta, inserts_percent, ..Traffic::SEARCHES };
            Case { traffic, ..Case::usual(on, scale) }
        };
        let cases: Vec<Case> = thetas.iter().map(case).collect();
        for contestant in [Contestant::PI, Contestant::masstree(on)] {
            let measured = measure_series(on, contestant, &cases)?;
            let (name, even) = (contestant.name(), measured[0].throughput());
            for (&theta, measured) in thetas.iter().zip(&measured) {
                let over = ("times θ = 0", measured.throughput() / even);
                rows.extend(throughputs(panel, on, name, theta, measured));
                let published = (theta > 0.0).then_some(NO_EFFECT);
                rows.push(row(panel, on, name, theta, over, measured).beside(published));
            }
        }
    }
    Ok(rows)
}

pub(super) const FIG_14: Experiment = driven(
    "fig-14",
    "Range queries, by the number of entries that one returns",
    &[
        "The paper draws both axes by powers of ten and says: a decrease at a constant rate, a little slower for smaller \
         sets, and from 100 to 1000 much faster for the large one. Ranges end at a key, as the paper's do.",
        "\"rate over the mean rate\" is the logarithm of a step's ratio over the mean of the three steps': a constant rate is \
         1.",
    ],
    "entries",
    fig_14,
);

fn fig_14(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let lengths: &[usize] = if scale == Scale::Small { &[1, 10, 100] } else { &[1, 10, 100, 1000] };
    let mut smaller: Option<Vec<f64>> = None;
    for (&keys, panel) in KEYS.at(scale).iter().zip(SIZES) {
        let case = |&entries: &usize| {
            let traffic = Traffic { range: (entries > 1).then_some(entries), ..Traffic::SEARCHES };
            Case { keys, traffic, ..Case::usual(on, scale) }
        };
        let cases: Vec<Case> = lengths.iter().map(case).collect();
        let measured = measure_series(on, Contestant::PI, &cases)?;
        let steps: Vec<f64> =
            measured.windows(2).map(|pair| pair[1].throughput() / pair[0].throughput()).collect();
        let whole = steps.iter().product::<f64>();
        for (nth, (&entries, measured)) in lengths.iter().zip(&measured).enumerate() {
            let x = entries as f64;
            rows.extend(throughputs(panel, on, "pi", x, measured));
            let Some(step) = nth.checked_sub(1).map(|at| steps[at]) else { continue };
            let mut compare = |unit: &str, ours: f64, published: Published| {
                rows.push(row(panel, on, "pi", x, (unit, ours), measured).beside(Some(published)));
            };
            compare("times the shorter ones", step, Published::LessThan(1.0));
            let rate = step.ln() / (whole.ln() / steps.len() as f64);
            compare("rate over the mean rate", rate, Published::About(1.0));
            let Some(smaller) = smaller.as_ref().filter(|_| nth == steps.len()) else { continue };
            let over = whole / smaller.iter().product::<f64>();
            compare("decrease from 1 on, over the smaller set's", over, Published::LessThan(1.0));
            if keys == KEYS.at(scale)[KEYS.at(scale).len() - 1] {
                // "Much faster": by more than what counts as about the same.
                let last = step / smaller[nth - 1];
                compare("last decrease, over the smaller set's", last, Published::AtMost(0.9));
            }
        }
        smaller = Some(steps);
    }
    Ok(rows)
}
