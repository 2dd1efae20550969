//! Figures 9 to 13 natively, on a tree whose searches compute their next key, and on one whose searches
//! branch, so that a processor speculates: whether the gains of batches come from lines that aren't
//! fetched speculatively.

use super::ways::{PAPER, naive};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Scale, Scaled, Way};
use crate::on::On;
use crate::row::Row;
use crate::runner::{Loaded, median, serve, together};
use latchless_core::mem::touch::{Branching, NoTrace};
use latchless_papers::spiderman::Options;
use latchless_papers::spiderman::page::Form;
use latchless_workload::Workload;

/// Fewer than the paper's 50M: two trees are in memory at the same time.
const RECORDS: Scaled<usize> = Scaled::new(20_000_000, 10_000);
/// Requests of a round.
const REQUESTS: Scaled<usize> = Scaled::new(64 << 10, 512);
const ROUNDS: Scaled<usize> = Scaled::new(11, 3);
const WAYS: [Way; 6] = [
    Way::NONE,
    naive("naive 1", 1, PAPER),
    naive("naive 8", 8, PAPER),
    naive("naive 16", 16, PAPER),
    naive("4", 16, &[4]),
    naive(ONE, 16, &[1]),
];
const ONE: &str = "1";
const WORKLOADS: [(&str, Workload); 4] = [
    ("A", Workload::SpidermanA),
    ("B", Workload::SpidermanB),
    ("C", Workload::SpidermanC),
    ("D", Workload::SpidermanD),
];

pub(super) const BRANCHING: Experiment = Experiment {
    name: "branching",
    title: "Figures 9 to 13 on one thread: searches that compute where they go on, and searches that branch",
    remarks: &[
        "Searches in pages here compute their next key, so a processor can't ask for it before the last one is there. \
         \"branching\" searches a tree of the same keys by branches, of which a processor guesses half rightly, and asks \
         for lines early. \"4\" and \"1\" are Figure 13's: batches of sixteen with these options alone.",
        "The two trees and the ways take turns, round by round; of each way the median round counts, and is compared with \
         no batching on the same tree.",
    ],
    body: Body::Timed { x_label: "threads", rows },
};

/// The kind of its searches, and the seconds of each way, per round.
type Tried = (&'static str, Vec<Vec<f64>>);

fn rows(scale: Scale) -> Result<Vec<Row>> {
    let (mut computed, mut branched) = (None, None);
    let computed = Loaded::<NoTrace>::of::<NoTrace>(&mut computed, RECORDS.at(scale), &Options::default())?;
    let branched =
        Loaded::<Branching>::of::<Branching>(&mut branched, RECORDS.at(scale), &Options::default())?;
    let mut rows = Vec::new();
    for (panel, workload) in WORKLOADS {
        let mut tried: [Tried; 2] =
            ["computed", "branching"].map(|name| (name, vec![Vec::new(); WAYS.len()]));
        // The first round warms the caches.
        for round in 0..=ROUNDS.at(scale) {
            for (nth, way) in WAYS.iter().enumerate() {
                let seconds =
                    [asked(computed, way, workload, scale)?, asked(branched, way, workload, scale)?];
                for ((_, ways), seconds) in tried.iter_mut().zip(seconds).filter(|_| round > 0) {
                    ways[nth].push(seconds);
                }
            }
        }
        let none = median(&mut tried[0].1[0].clone());
        for (name, mut ways) in tried {
            let medians: Vec<f64> = ways.iter_mut().map(|seconds| median(seconds)).collect();
            let one = WAYS.iter().position(|way| way.name == ONE).map_or(f64::NAN, |one| medians[one]);
            for (way, &seconds) in WAYS.iter().zip(&medians) {
                let row = |unit: &str, ours| {
                    let cost = Some(1e9 * seconds / REQUESTS.at(scale) as f64);
                    let series = format!("{name}, {}", way.name);
                    let cost_unit = "ns/transaction".to_string();
                    Row { panel, on: On::Native, cost, cost_unit, ..Row::new(series, 1.0, unit, ours) }
                };
                rows.push(row("throughput over no batching", medians[0] / seconds));
                rows.push(row("throughput over 1", one / seconds));
                rows.push(row("throughput over no batching, computed", none / seconds));
            }
        }
    }
    Ok(rows)
}

/// Seconds that a tree takes to serve some requests in one way.
fn asked<T: Form>(tree: &mut Loaded<T>, way: &Way, workload: Workload, scale: Scale) -> Result<f64> {
    tree.map.set_batching(way.batching()?)?;
    let plans = tree.traffic.plan(workload, 1, REQUESTS.at(scale));
    together::seconds(&plans, |plan| serve(&tree.map, plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_compared_with_none_of_its_tree() {
        let rows = rows(Scale::Small).unwrap();
        assert_eq!(rows.len(), WORKLOADS.len() * 2 * WAYS.len() * 3);
        for tree in ["computed", "branching"] {
            let none = rows.iter().find(|row| row.series == format!("{tree}, no batching")).unwrap();
            assert_eq!((none.unit.as_str(), none.ours), ("throughput over no batching", 1.0));
        }
        assert!(rows.iter().all(|row| row.ours.is_finite() && row.ours > 0.0));
    }
}
