//! §6.1 to §6.3: Figures 6, 7 and 8, by the size of the data set, by the size of batches, by threads.

use super::{
    BATCH, Case, Contestant, KEYS, SIZES, THREADS, Traffic, compared, driven, measure_series, opponents, row,
    throughputs,
};
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::row::{On, Row};

const LATCHED: &str = "On the model Masstree's place is taken by OLFIT's B+-Tree, which has latches and knows nothing \
                       of nodes either; natively Masstree, a lock-free skip list and an adaptive radix tree take \
                       part if the build has the rivals. PI's time includes sorting the batch natively, and not on \
                       the model. Natively the system is asked to put all that is loaded on huge pages.";

pub(super) const FIG_6: Experiment = driven(
    "fig-6",
    "Throughput by the size of the data set, against maps with latches",
    &[LATCHED],
    "keys",
    fig_6,
);

/// "Five and four times" Masstree's at 2M keys, "at least 1.5x and 1x better", so 2.5 and 2 times as fast,
/// with more (§6.1).
fn over_masstree(panel: &str, other: Contestant, keys: usize) -> Option<Published> {
    let masstree = matches!(other, Contestant::BLink | Contestant::Rival("masstree"));
    let published = match (panel, keys <= IN_CACHE) {
        ("search", true) => Published::About(5.0),
        ("search", false) => Published::AtLeast(2.5),
        (_, true) => Published::About(4.0),
        (_, false) => Published::AtLeast(2.0),
    };
    masstree.then_some(published)
}

/// The size that fits the caches of the paper's four nodes, by its text.
const IN_CACHE: usize = 2 << 20;

fn fig_6(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // Million queries a second at 2M keys.
    for (panel, traffic, most) in [("search", Traffic::SEARCHES, 34.0), ("insert", Traffic::INSERTS, 29.0)] {
        let mut smaller = None;
        for &keys in KEYS.at(scale) {
            let case = Case { keys, traffic, ..Case::usual(on, scale) };
            let contestants = opponents(on);
            let mut of_these = compared(panel, on, keys as f64, &contestants, &case, |other| {
                over_masstree(panel, other, keys)
            })?;
            let throughput = of_these[0].ours;
            if on == On::Model && keys <= IN_CACHE {
                of_these[0] = of_these[0].clone().beside(Some(Published::About(most)));
            }
            if let Some(smaller) = smaller.replace(throughput) {
                let ratio = throughput / smaller;
                let row =
                    Row { ours: ratio, unit: "times the smaller set".to_string(), ..of_these[0].clone() };
                of_these.push(row.beside(Some(Published::LessThan(1.0))));
            }
            rows.extend(of_these);
        }
    }
    Ok(rows)
}

pub(super) const FIG_7: Experiment = driven(
    "fig-7",
    "Throughput by the size of batches",
    &[
        "A figure over 1 says how much more than batches of 2048 queries a thread bring: the paper says that it \
       rises, more so in small data sets.",
    ],
    "queries a thread",
    fig_7,
);

fn fig_7(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (&keys, panel) in KEYS.at(scale).iter().zip(SIZES) {
        let times = [1, 2, 4, 8, 16];
        let cases = times.map(|times| {
            let case = Case { keys, batch: BATCH.at(scale) / 4 * times, ..Case::usual(on, scale) };
            // On the model as many queries at each size.
            if on == On::Model { Case { rounds: 16 / times, ..case } } else { case }
        });
        let measured = measure_series(on, Contestant::PI, &cases)?;
        let smallest = measured[0].throughput();
        for (case, measured) in cases.iter().zip(&measured) {
            let over = measured.throughput() / smallest;
            let published = (case.batch > cases[0].batch).then_some(Published::MoreThan(1.0));
            let x = case.batch as f64;
            rows.extend(throughputs(panel, on, "pi", x, measured));
            rows.push(row(panel, on, "pi", x, ("times the smallest", over), measured).beside(published));
        }
    }
    Ok(rows)
}

pub(super) const FIG_8: Experiment = driven(
    "fig-8",
    "Throughput by threads, against a map with latches",
    &[
        LATCHED,
        "As in the paper keys are divided among as many nodes as there are threads, at most four. It says that up to \
         four threads the throughput grows faster than their number, and more slowly beyond.",
    ],
    "threads",
    fig_8,
);

fn fig_8(on: On, scale: Scale) -> Result<Vec<Row>> {
    let threads: &[usize] = match (on, scale) {
        (On::Native, _) => &[1, 2],
        (_, Scale::Small) => &[1, 8],
        _ => &[1, 2, 4, THREADS, 16, 32],
    };
    let mut rows = Vec::new();
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        let (mut alone, mut rate) = (None, 1.0);
        for &threads in threads {
            let case = Case { threads, traffic, ..Case::usual(on, scale) };
            let x = threads as f64;
            let contestants = opponents(on);
            let of_these = compared(panel, on, x, &contestants, &case, |other| {
                matches!(other, Contestant::BLink | Contestant::Rival("masstree"))
                    .then_some(Published::MoreThan(1.0))
            })?;
            let own = of_these[0].ours;
            let scaled = own / *alone.get_or_insert(own);
            let first = Row { ours: scaled, unit: "times its own at 1".to_string(), ..of_these[0].clone() };
            rows.extend(of_these);
            rows.push(first.clone().beside((threads > 1).then_some(Published::MoreThan(1.0))));
            let each = scaled / x;
            let said = match threads {
                // Here threads share one node.
                _ if on == On::Native => None,
                1 => None,
                2..=4 => Some(Published::MoreThan(1.0)),
                // The rate of increase slows down.
                _ => Some(Published::LessThan(rate)),
            };
            rate = each;
            let unit = "times its own at 1, a thread".to_string();
            rows.push(Row { ours: each, unit, ..first }.beside(said));
        }
    }
    Ok(rows)
}
