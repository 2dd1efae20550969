//! PI's future work, "finer-grained rebuilding of the index layer": a layer in parts compared with a whole
//! one.

use super::case::Case;
use super::contestant::{Contestant, Form};
use super::rows::{compared, driven};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Scale, Scaled};
use crate::on::On;
use crate::pi::contestant::options_of;
use crate::pi::traffic::{Keys, Source};
use crate::row::Row;
use crate::runner::{median, spread};
use latchless_papers::pi::batch::tune::QuerySetSize;
use latchless_papers::pi::{LayerStats, Options, Pi};
use std::time::Instant;

pub(super) const PARTS: Experiment = driven(
    "rebuild-in-parts",
    "Rebuilding the index layer whole, or those of its parts under which something has changed",
    &[
        "The paper names finer-grained rebuilding as future work and measures none. A part is over about 64 segments of \
         about 128 keys each. Keys are inserted, and then the index is rebuilt on the caller's thread; both forms take \
         turns on the same keys, and of five rounds the median counts. \"neighbours\" come side by side, between as many \
         keys that are there already; \"everywhere\" they are spread evenly. The time is that of the whole rebuild, \
         which lays the list out as well; what is written is what of the index layer is.",
        "Searches and inserts are batches, with rebuilds in the background where they are due. \"loaded\" are searches \
         on one thread after the load, \"aged\" those after 64 rebuilds that together have rewritten every part, few at \
         a time: the parts are then in the allocator's memory, and no longer on huge pages.",
    ],
    "keys inserted; threads",
    rows,
);

const KEYS: Scaled<usize> = Scaled::new(4 << 20, 100_000);
const PART_SEGMENTS: usize = 64;
const ROUNDS: usize = 5;
/// Rebuilds until an index has aged.
const REBUILDS: usize = 64;
/// Queries of a batch.
const QUERIES: usize = 8192;
/// Batches of searches that an index serves before it is the other one's turn.
const IN_A_ROW: usize = 8;
const WHOLE: Form = Form::DEFAULTS;
const IN_PARTS: Form = Form { part_segments: Some(PART_SEGMENTS), ..WHOLE };

type Index = Pi<u32, u32>;

/// An index in each form, with its name.
type Pair = [(&'static str, Index); 2];

fn rows(on: On, scale: Scale) -> Result<Vec<Row>> {
    let keys = Keys::new(KEYS.at(scale));
    let mut rows = Vec::new();
    if on == On::Native {
        let everywhere = keys.count() * 3 / 20;
        for (panel, inserts) in [
            ("neighbours", [16, keys.count() / 1000, keys.count() / 100]),
            ("everywhere", [16, keys.count() / 1000, everywhere]),
        ] {
            for inserts in inserts {
                rows.extend(rebuilds(panel, keys, inserts)?);
            }
        }
        rows.extend(aged(keys)?);
    }
    let contestants = [Contestant::Pi(IN_PARTS), Contestant::DEFAULTS];
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        let case = Case { traffic, keys: keys.count(), ..Case::usual(on, scale) };
        rows.extend(compared(panel, on, case.threads as f64, &contestants, &case, |_| None)?);
    }
    Ok(rows)
}

/// Returns both forms with their keys; rebuilds happen only on request.
fn pair(keys: Keys) -> Result<Pair> {
    let load = |form: Form| -> Result<Index> {
        let options = Options {
            topology: None,
            rebuild_from: usize::MAX,
            ..options_of(form, 1, 1, QuerySetSize::Queries(QUERIES))
        };
        let mut index = Pi::with_options(&options)?;
        index.bulk_load(&keys.entries())?;
        Ok(index)
    };
    Ok([("whole", load(WHOLE)?), ("in parts", load(IN_PARTS)?)])
}

/// The keys that a round inserts.
fn inserted(panel: &str, keys: Keys, inserts: usize, round: usize) -> Vec<(u32, u32)> {
    let count = keys.count();
    let rank = |nth: usize| match panel {
        "neighbours" => (count * (2 * round + 1) / (2 * ROUNDS + 2) + nth) % count,
        _ => count * nth / inserts,
    };
    (0..inserts).map(|nth| (keys.key(rank(nth)) + 1 + round as u32, nth as u32)).collect()
}

/// Returns how long both forms take for a rebuild after that many inserts, and how much they write.
fn rebuilds(panel: &'static str, keys: Keys, inserts: usize) -> Result<Vec<Row>> {
    let mut pair = pair(keys)?;
    let (mut times, mut written) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for round in 0..ROUNDS {
        let entries = inserted(panel, keys, inserts, round);
        for (at, (_, index)) in pair.iter_mut().enumerate() {
            index.insert_many(&entries, &mut vec![None; entries.len()])?;
            let start = Instant::now();
            index.rebuild()?;
            times[at].push(start.elapsed().as_secs_f64() * 1e3);
            written[at].push(index.layer_stats());
        }
    }
    let row = |series: &str, unit: &str, ours: f64| native(panel, series, inserts, unit, ours);
    let (mut rows, mut taken) = (Vec::new(), Vec::new());
    for ((name, index), (times, written)) in pair.iter().zip(times.iter_mut().zip(&written)) {
        let of = |what: fn(&LayerStats) -> usize| {
            median(&mut written.iter().map(|stats| what(stats) as f64).collect::<Vec<_>>())
        };
        let (time, bytes) = (median(times), of(|stats| stats.bytes_written));
        let cost = Row { cost: Some(time), cost_unit: "ms".to_string(), ..row(name, "ms", time) };
        rows.push(Row { spread: spread(times), ..cost });
        rows.push(row(name, "KB written", bytes / 1e3));
        rows.push(row(name, "parts written", of(|stats| stats.parts_written)));
        rows.push(row(name, "KB of index layer", index.layer_stats().memory_bytes as f64 / 1e3));
        taken.push((time, bytes));
    }
    if let [whole, in_parts] = taken[..] {
        rows.push(row("in parts", "times whole, time", in_parts.0 / whole.0.max(f64::MIN_POSITIVE)));
        rows.push(row("in parts", "times whole, written", in_parts.1 / whole.1.max(1.0)));
    }
    Ok(rows)
}

/// Searches in both forms, as loaded and after each part was rewritten together with few others.
fn aged(keys: Keys) -> Result<Vec<Row>> {
    let mut pair = pair(keys)?;
    let mut rows = searches("loaded", &mut pair, keys);
    // A key for each part, and some more: parts differ in length.
    let places = 2 * pair[1].1.layer_stats().parts;
    let key = |place: usize| keys.key(keys.count() * place / places) + 1;
    for nth in 0..REBUILDS {
        let entries: Vec<(u32, u32)> = (nth..places).step_by(REBUILDS).map(|place| (key(place), 0)).collect();
        for (_, index) in &mut pair {
            index.insert_many(&entries, &mut vec![None; entries.len()])?;
            index.rebuild()?;
        }
    }
    rows.extend(searches("aged", &mut pair, keys));
    Ok(rows)
}

/// Searches on one thread.
fn searches(panel: &'static str, pair: &mut Pair, keys: Keys) -> Vec<Row> {
    let mut source = Source::new(64);
    let mut rates = [const { Vec::new() }; 2];
    for round in 0..=ROUNDS {
        let batches: Vec<_> = (0..IN_A_ROW).map(|_| source.batch(keys, Traffic::SEARCHES, QUERIES)).collect();
        for ((_, index), rates) in pair.iter_mut().zip(&mut rates) {
            let start = Instant::now();
            batches.iter().for_each(|batch| drop(index.execute(batch)));
            if round > 0 {
                rates.push((IN_A_ROW * QUERIES) as f64 / start.elapsed().as_secs_f64() / 1e6);
            }
        }
    }
    let row = |series: &str, unit: &str, ours: f64| native(panel, series, 1, unit, ours);
    let medians = rates.each_mut().map(|rates| median(rates));
    let each = pair.iter().zip(medians);
    let mut rows: Vec<Row> =
        each.map(|((name, _), median)| row(name, super::rows::THROUGHPUT, median)).collect();
    rows.push(row("in parts", "times whole", medians[1] / medians[0].max(f64::MIN_POSITIVE)));
    rows
}

fn native(panel: &'static str, series: &str, x: usize, unit: &str, ours: f64) -> Row {
    Row { panel, on: On::Native, ..Row::new(series, x as f64, unit, ours) }
}
