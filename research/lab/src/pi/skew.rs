//! §6.4 to §6.7: mixed, skewed and range queries: Figures 9, 10, 11, 13 and 14.

use super::{Case, Contestant, Form, KEYS, SIZES, Skewed, Traffic, driven, measure_series, row, throughputs};
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale, Scaled};
use crate::row::{On, Row};

const PERCENT: Scaled<&[u32]> = Scaled::new(&[0, 20, 40, 60, 80, 100], &[0, 100]);
const FIXED: Contestant = Contestant::Pi(Form { self_adjusted: false, ..Form::WHOLE });
const ZIPF: &str = "The paper's threads per node (3, 2, 2, 1 and 4, 2, 1, 1) are those of a Zipf distribution over the \
                    four nodes' ranges of keys; one over the keys in their order would ask the first node for half \
                    of the queries at θ = 0.5 and for nine tenths at 0.9. So ranges are drawn by Zipf, and keys \
                    evenly within.";

const WHOLE: &str = "Whole threads can't follow shares exactly: with 3, 2, 2, 1 of them the last node's one thread \
                     has 18 % of the queries instead of 12.5. So at most 0.69 of the throughput can be left at θ = 0.5, \
                     as with two threads a node, and 0.74 at θ = 0.9, where two threads a node leave 0.55.";

const SINGLE: &str = "The paper says that searches alone are faster at θ = 0.5 than at 0, \"probably\" because threads use \
                      their caches better, and that skew has only a little impact. \"single keys\" are drawn by Zipf over \
                      the keys, in an order of popularity that has nothing to do with theirs: then nodes have equal \
                      shares, and caches hold what is popular.";

pub(super) const FIG_9: Experiment = driven(
    "fig-9",
    "Throughput by the share of inserts",
    &["The paper says: a slight decrease."],
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
        let measured = measure_series(on, Contestant::PI, &cases)?;
        let searches = measured[0].throughput();
        for (&percent, measured) in percents.iter().zip(&measured) {
            let (x, over) = (f64::from(percent), measured.throughput() / searches);
            rows.extend(throughputs(panel, on, "pi", x, measured));
            let published = (percent > 0).then_some(Published::LessThan(1.0));
            rows.push(row(panel, on, "pi", x, ("times searches alone", over), measured).beside(published));
        }
    }
    Ok(rows)
}

pub(super) const FIG_10: Experiment = driven(
    "fig-10",
    "Skew, with threads that follow the load",
    &[ZIPF, WHOLE, SINGLE],
    "inserts, percent",
    |on, scale| skewed(on, scale, Contestant::PI),
);

pub(super) const FIG_11: Experiment = driven(
    "fig-11",
    "Skew, with two threads a node whatever the load",
    &[ZIPF, WHOLE, SINGLE],
    "inserts, percent",
    |on, scale| skewed(on, scale, FIXED),
);

/// The Zipf-distributed quantity, and the skew.
const SKEWS: [(&str, f64, Skewed); 5] = [
    ("θ = 0", 0.0, Skewed::Ranges),
    ("θ = 0.5", 0.5, Skewed::Ranges),
    ("θ = 0.9", 0.9, Skewed::Ranges),
    ("θ = 0.5, single keys", 0.5, Skewed::Keys),
    ("θ = 0.9, single keys", 0.9, Skewed::Keys),
];

fn skewed(on: On, scale: Scale, contestant: Contestant) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &percent in PERCENT.at(scale) {
        let cases = SKEWS.map(|(_, theta, skewed)| {
            let traffic = Traffic { theta, skewed, inserts_percent: percent, range: None };
            Case { traffic, ..Case::usual(on, scale) }
        });
        let measured = measure_series(on, contestant, &cases)?;
        let even = measured[0].throughput();
        for ((panel, theta, skewed), measured) in SKEWS.into_iter().zip(&measured) {
            let (x, name) = (f64::from(percent), contestant.name());
            rows.extend(throughputs(panel, on, name, x, measured));
            let over = row(panel, on, name, x, ("times θ = 0", measured.throughput() / even), measured);
            // "Even higher than in the case of no query skewness" with searches alone (§6.5).
            let higher = percent == 0 && contestant == Contestant::PI && (0.4..0.6).contains(&theta);
            rows.push(over.beside(higher.then_some(Published::MoreThan(1.0))));
            if skewed == Skewed::Ranges {
                rows.extend(threads_of_nodes(panel, on, (theta, x), contestant, measured));
            }
        }
    }
    Ok(rows)
}

fn threads_of_nodes(
    panel: &'static str,
    on: On,
    (theta, x): (f64, f64),
    contestant: Contestant,
    measured: &super::Measured,
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

pub(super) const FIG_13: Experiment = driven("fig-13", "YCSB's three mixes, by skew", &[ZIPF], "θ", fig_13);

fn fig_13(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let thetas: &[f64] = if scale == Scale::Small { &[0.0, 0.9] } else { &[0.0, 0.3, 0.5, 0.7, 0.9] };
    for (panel, inserts_percent) in [("half updates", 50), ("5 % updates", 5), ("no updates", 0)] {
        let case = |&theta: &f64| {
            let traffic = Traffic { theta, inserts_percent, ..Traffic::SEARCHES };
            Case { traffic, ..Case::usual(on, scale) }
        };
        let cases: Vec<Case> = thetas.iter().map(case).collect();
        let measured = measure_series(on, Contestant::PI, &cases)?;
        let even = measured[0].throughput();
        for (&theta, measured) in thetas.iter().zip(&measured) {
            let over = measured.throughput() / even;
            rows.extend(throughputs(panel, on, "pi", theta, measured));
            rows.push(row(panel, on, "pi", theta, ("times θ = 0", over), measured));
        }
    }
    Ok(rows)
}

pub(super) const FIG_14: Experiment = driven(
    "fig-14",
    "Range queries, by the number of entries that one returns",
    &[
        "The paper draws both axes by powers of ten and says: a decrease at a constant rate, a little slower for smaller \
         sets. Ranges end at a key, as the paper's do.",
    ],
    "entries",
    fig_14,
);

fn fig_14(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let lengths: &[usize] = if scale == Scale::Small { &[1, 100] } else { &[1, 10, 100, 1000] };
    for (&keys, panel) in KEYS.at(scale).iter().zip(SIZES) {
        let case = |&entries: &usize| {
            let traffic = Traffic { range: (entries > 1).then_some(entries), ..Traffic::SEARCHES };
            let usual = Case::usual(on, scale);
            // A modelled range of a thousand takes as long as a hundred searches.
            let batch = if on == On::Model { usual.batch / 8 } else { usual.batch };
            Case { keys, traffic, batch, ..usual }
        };
        let cases: Vec<Case> = lengths.iter().map(case).collect();
        let measured = measure_series(on, Contestant::PI, &cases)?;
        let mut before = None;
        for (&entries, measured) in lengths.iter().zip(&measured) {
            let (x, throughput) = (entries as f64, measured.throughput());
            rows.extend(throughputs(panel, on, "pi", x, measured));
            if let Some(before) = before.replace(throughput) {
                let over = row(panel, on, "pi", x, ("times the shorter ones", throughput / before), measured);
                rows.push(over.beside(Some(Published::LessThan(1.0))));
            }
        }
    }
    Ok(rows)
}
