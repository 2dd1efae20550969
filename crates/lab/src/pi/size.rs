//! §6.1 to §6.3: Figures 6, 7 and 8, by the size of the data set, by the size of batches, by threads.

use super::{
    BATCH, Case, Contestant, KEYS, THREADS, THROUGHPUT, Traffic, compared, driven, measure, opponents, row,
};
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::row::{On, Row};

const LATCHED: &str = "On the model Masstree's place is taken by OLFIT's B+-Tree, which has latches and knows nothing \
                       of nodes either; natively Masstree, a lock-free skip list and an adaptive radix tree take \
                       part if the build has the rivals. PI's time includes sorting the batch natively, and not on \
                       the model.";

pub(super) const FIG_6: Experiment = driven(
    "fig-6",
    "Throughput by the size of the data set, against maps with latches",
    &[LATCHED],
    "keys",
    fig_6,
);

/// "At least 1.5x and 1x better" than Masstree (§6.1): 2.5 and 2 times as fast.
fn over_masstree(panel: &str, other: Contestant) -> Option<Published> {
    match (other, panel) {
        (Contestant::BLink | Contestant::Rival("masstree"), "search") => Some(Published::AtLeast(2.5)),
        (Contestant::BLink | Contestant::Rival("masstree"), _) => Some(Published::AtLeast(2.0)),
        _ => None,
    }
}

fn fig_6(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        for &keys in KEYS.at(scale) {
            let case = Case { keys, traffic, ..Case::usual(on, scale) };
            let contestants = opponents(on);
            rows.extend(compared(panel, on, keys as f64, &contestants, &case, |other| {
                over_masstree(panel, other)
            })?);
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
    let panels = ["2M keys", "16M keys", "64M keys"];
    for (&keys, panel) in KEYS.at(scale).iter().zip(panels) {
        let mut smallest = None;
        for times in [1, 2, 4, 8, 16] {
            let batch = BATCH.at(scale) / 4 * times;
            // As many queries at each size.
            let case = Case { keys, batch, ..Case::usual(on, scale) };
            let case = Case { rounds: case.rounds * 16 / times, ..case };
            let measured = measure(on, &[Contestant::PI], &case)?.remove(0);
            let throughput = measured.throughput();
            let over = throughput / *smallest.get_or_insert(throughput);
            let published = (times > 1).then_some(Published::MoreThan(1.0));
            let x = batch as f64;
            rows.push(row(panel, on, "pi", x, (THROUGHPUT, throughput), &measured));
            rows.push(row(panel, on, "pi", x, ("times the smallest", over), &measured).beside(published));
        }
    }
    Ok(rows)
}

pub(super) const FIG_8: Experiment = driven(
    "fig-8",
    "Throughput by threads, against a map with latches",
    &[
        LATCHED,
        "The paper divides the keys among as many nodes as there are threads below four; here there are \
                always four, so that one thread alone has accesses to other nodes as well.",
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
        let mut alone = None;
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
            rows.push(first.beside((threads > 1).then_some(Published::MoreThan(1.0))));
        }
    }
    Ok(rows)
}
