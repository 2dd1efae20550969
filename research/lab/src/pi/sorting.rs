//! The time to sort a batch, which PI does within its time natively and before it on the model: Figure 6's
//! two numbers of queries per second, compared with the paper's.

use super::case::{BATCH, Case, THREADS};
use super::contestant::Contestant;
use super::measure::measure;
use super::rows::{driven, row};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Scale};
use crate::on::On;
use crate::pi::traffic::{Keys, Source};
use crate::row::Row;
use crate::runner::median;
use latchless_core::batch::sorted;
use latchless_papers::pi::Query;
use std::time::Instant;

/// The set whose numbers of queries per second the paper's text states (§6.1).
const KEYS: usize = 2 << 20;
/// Those numbers for searches and inserts, in millions.
const TOLD: [(&str, Traffic, f64); 2] =
    [("search", Traffic::SEARCHES, 34.0), ("insert", Traffic::INSERTS, 29.0)];
const ROUNDS: usize = 31;

pub(super) const SORTING: Experiment = driven(
    "sorting",
    "What sorting a batch takes of a query's time: by PI, by comparisons, and what the model lacks of it",
    &[
        "\"by PI\": keys are spread over buckets by their uppermost bits. \"by comparisons\": the standard library's sort. \
         Each thread of the paper sorts its queries of a batch, 8192.",
        "On the model batches are sorted before the time begins. \"the paper's beyond the model's\" is what a query \
         takes one of the paper's eight threads, by its 34 and 29 millions a second, more than on the model.",
    ],
    "queries",
    rows,
);

fn rows(on: On, scale: Scale) -> Result<Vec<Row>> {
    let queries = BATCH.at(scale);
    let x = queries as f64;
    let mut rows = Vec::new();
    if on == On::Model {
        let keys = if scale == Scale::Paper { KEYS } else { 2_000 };
        for (panel, traffic, told) in TOLD {
            let case = Case { keys, traffic, ..Case::usual(on, scale) };
            let measured = measure(on, &[Contestant::PI], &case)?.remove(0);
            let thread_s = |millions: f64| THREADS as f64 * 1e3 / millions;
            for (series, millions) in [("the paper", told), ("the model", measured.throughput())] {
                let taken = ("ns of a thread, a query", thread_s(millions));
                rows.push(row(panel, on, series, x, taken, &measured));
            }
            let beyond = thread_s(told) - thread_s(measured.throughput());
            let series = "the paper's beyond the model's";
            rows.push(row(panel, on, series, x, ("ns of a thread, a query", beyond), &measured));
        }
        return Ok(rows);
    }
    let mut source = Source::new(2016);
    let keys = Keys::new(KEYS);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let wanted: Vec<u32> = source
            .batch(keys, Traffic::SEARCHES, queries)
            .into_iter()
            .filter_map(|query| if let Query::Search(key) = query { Some(key) } else { None })
            .collect();
        let ways: [&dyn Fn() -> Vec<(u32, u32)>; 2] =
            [&|| sorted(wanted.len(), |at| wanted[at]), &|| by_comparisons(&wanted)];
        for (way, times) in ways.iter().zip(&mut times) {
            let start = Instant::now();
            std::hint::black_box(way());
            times.push(start.elapsed().as_nanos() as f64 / queries as f64);
        }
    }
    for (series, times) in ["by PI", "by comparisons"].into_iter().zip(&mut times) {
        rows.push(Row { panel: "sorting", on, ..Row::new(series, x, "ns a query", median(times)) });
    }
    Ok(rows)
}

fn by_comparisons(keys: &[u32]) -> Vec<(u32, u32)> {
    let mut keys: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sorts_give_the_same_order() {
        let keys = [30u32, 10, 20, 10, 0, u32::MAX];
        assert_eq!(by_comparisons(&keys), sorted(keys.len(), |at| keys[at]));
    }

    #[test]
    fn what_the_model_lacks_is_the_difference() {
        let rows = rows(On::Model, Scale::Small).unwrap();
        for three in rows.chunks(3) {
            assert!((three[0].ours - three[1].ours - three[2].ours).abs() < 1e-9, "{three:?}");
        }
        assert_eq!(self::rows(On::Native, Scale::Small).unwrap().len(), 2);
    }
}
