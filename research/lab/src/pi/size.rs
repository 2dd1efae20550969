//! §6.1 to §6.3: Figures 6, 7 and 8, by the size of the data set, by the size of batches, by threads.

use super::case::{BATCH, Case, KEYS, SIZES, THREADS};
use super::contestant::Contestant;
use super::measure::measure_series;
use super::rows::{THROUGHPUT, compared, driven, of_masstree, opponents, row, throughputs};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::on::On;
use crate::row::Row;

const LATCHED: &str = "On the model Masstree's place is taken by OLFIT's B+-Tree with keys and values of 64 bits, \
                       as Masstree's, which has latches and knows nothing of nodes either; natively Masstree, a \
                       lock-free skip list and an adaptive radix tree take part if the build has the rivals. PI's time \
                       includes sorting the batch natively, and not on the model. Natively all that is loaded is on \
                       huge pages if the system has some.";
const FORMS: &str = "\"pi\" is the paper's: four keys an entry, and entries alone are prefetched. \"pi, defaults\" is this \
                     library's: eight, and the list is prefetched as well.";

pub(super) const FIG_6: Experiment = driven(
    "fig-6",
    "Throughput by the size of the data set, against maps with latches",
    &[
        LATCHED,
        FORMS,
        "Of Table 2's eight sizes the model has seven, all but 256M, and natively three, because all contestants are in \
         memory together.",
    ],
    "keys",
    fig_6,
);

/// Masstree's throughput times this: "five and four times" at 2M keys, and "at least 1.5x and 1x better"
/// beyond, so 2.5 and 2 times as much (§6.1).
fn over_masstree(on: On, panel: &str, other: Contestant, keys: usize) -> Option<Published> {
    let published = match (panel, keys <= IN_CACHE) {
        ("search", true) => Published::About(5.0),
        ("search", false) => Published::AtLeast(2.5),
        (_, true) => Published::About(4.0),
        (_, false) => Published::AtLeast(2.0),
    };
    of_masstree(on, other, published)
}

/// The size that fits the caches of the paper's four nodes, by its text.
const IN_CACHE: usize = 2 << 20;
/// Beyond this size throughput is "relatively stable" (§6.1).
const STABLE_FROM: usize = 64 << 20;
/// Table 2's sizes but for 256M; natively all contestants have to fit the memory together.
const SIZES_MODELLED: &[usize] = &[2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20];
const SIZES_NATIVE: &[usize] = &[2 << 20, 16 << 20, 64 << 20];

fn fig_6(on: On, scale: Scale) -> Result<Vec<Row>> {
    let sizes = match (on, scale) {
        (_, Scale::Small) => KEYS.at(scale),
        (On::Native, _) => SIZES_NATIVE,
        _ => SIZES_MODELLED,
    };
    let mut rows = Vec::new();
    let mut of_searches = Vec::new();
    // Million queries a second at 2M keys.
    for (panel, traffic, most) in [("search", Traffic::SEARCHES, 34.0), ("insert", Traffic::INSERTS, 29.0)] {
        let mut throughput = Vec::new();
        for &keys in sizes {
            let case = Case { keys, traffic, ..Case::usual(on, scale) };
            let mut contestants = opponents(on);
            contestants.extend(KEYS.at(scale).contains(&keys).then_some(Contestant::DEFAULTS));
            let mut of_these = compared(panel, on, keys as f64, &contestants, &case, |other| {
                over_masstree(on, panel, other, keys)
            })?;
            let own = of_these[0].clone();
            throughput.push(own.ours);
            if on == On::Model && keys <= IN_CACHE {
                of_these[0] = own.clone().beside(Some(Published::About(most)));
            }
            let compare = |unit: &str, ours: f64, published: Published| {
                Row { ours, unit: unit.to_string(), ..own.clone() }.beside(Some(published))
            };
            if let [.., smaller, this] = throughput[..] {
                let stable = keys > STABLE_FROM;
                let published = if stable { Published::About(1.0) } else { Published::LessThan(1.0) };
                of_these.push(compare("times the smaller set", this / smaller, published));
            }
            // "Not as high as that of search queries", and the gap "gradually shrinks with the size".
            if let Some(searches) = of_searches.get(throughput.len() - 1) {
                let share = own.ours / searches;
                of_these.push(compare("times searches", share, Published::LessThan(1.0)));
                if keys == sizes[sizes.len() - 1] {
                    let first = throughput[0] / of_searches[0];
                    let unit = "times searches, over the smallest set's";
                    of_these.push(compare(unit, share / first, Published::MoreThan(1.0)));
                }
            }
            rows.extend(of_these);
        }
        of_searches = throughput;
    }
    rows.extend(headline(on, &rows));
    Ok(rows)
}

/// "Up to three times as fast as the Masstree" (abstract).
fn headline(on: On, rows: &[Row]) -> Option<Row> {
    let unit = format!("times {}", Contestant::masstree(on).name());
    let times = rows.iter().filter(|row| row.unit == unit);
    let most = times.max_by(|one, other| one.ours.total_cmp(&other.ours))?;
    let row = Row { panel: "all", unit: format!("{unit}, at its best"), ..most.clone() };
    Some(row.beside(Some(Published::About(3.0))))
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
    let mut gain_before = None;
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
        // "More significant for smaller datasets than for larger" (§6.2): by the best size of batches.
        let best = measured.iter().map(|one| one.throughput() / smallest).fold(0.0, f64::max);
        if let Some(before) = gain_before.replace(best) {
            let (x, unit) = (cases[4].batch as f64, "best gain, over the smaller set's");
            let over = row(panel, on, "pi", x, (unit, best / before), &measured[4]);
            rows.push(over.beside(Some(Published::LessThan(1.0))));
        }
    }
    Ok(rows)
}

pub(super) const FIG_8: Experiment = driven(
    "fig-8",
    "Throughput by threads, against a map with latches",
    &[
        LATCHED,
        FORMS,
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
    let rival = Contestant::masstree(on);
    let mut rows = Vec::new();
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        let (mut alone, mut rival_alone, mut rate) = (None, None, 1.0);
        for &threads in threads {
            let case = Case { threads, traffic, ..Case::usual(on, scale) };
            let x = threads as f64;
            let of_these = compared(panel, on, x, &opponents(on), &case, |other| {
                of_masstree(on, other, Published::MoreThan(1.0))
            })?;
            let own = of_these[0].ours;
            let scaled = own / *alone.get_or_insert(own);
            let of_rival = of_these.iter().find(|row| row.series == rival.name() && row.unit == THROUGHPUT);
            let theirs = of_rival.map_or(f64::NAN, |row| row.ours);
            let rival_scaled = theirs / *rival_alone.get_or_insert(theirs);
            let first = Row { ours: scaled, unit: "times its own at 1".to_string(), ..of_these[0].clone() };
            rows.extend(of_these);
            rows.push(first.clone().beside((threads > 1).then_some(Published::MoreThan(1.0))));
            if threads > 1 {
                // "Always better than or equal to that of Masstree" is said of the rate (§6.3).
                let unit = format!("times its own at 1, over {}'s", rival.name());
                let row = Row { ours: scaled / rival_scaled, unit, ..first.clone() };
                rows.push(row.beside(Some(Published::AtLeast(1.0))));
            }
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
