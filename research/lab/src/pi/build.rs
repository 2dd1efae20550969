//! §3.1: the time to build the index layer. Only natively: it is sequential work.

use super::case::MEDIUM;
use super::rows::driven;
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::on::On;
use crate::pi::traffic::{Keys, Source};
use crate::row::Row;
use crate::runner::median;
use latchless_papers::pi::crew::{ScopedPool, ScopedTask};
use latchless_papers::pi::mem::placement::Placement;
use latchless_papers::pi::routed::{Routed, RoutedOptions};
use latchless_papers::pi::segments::{Anchor, Segments};
use latchless_papers::pi::{Options, Pi, Query};
use std::time::Instant;

pub(super) const BUILD: Experiment = driven(
    "build",
    "Building the index layer of 16M records, and rebuilding the index after 15 % of inserts",
    &[
        "The paper's 0.2 s are for one core of 2 GHz; the time is for one core of this machine. \"layer\" is the index \
       layer over a list that is there, \"rebuild\" includes laying out the list anew.",
    ],
    "threads",
    rows,
);

fn rows(on: On, scale: Scale) -> Result<Vec<Row>> {
    if on != On::Native {
        return Ok(Vec::new());
    }
    let keys = Keys::new(MEDIUM.at(scale));
    let mut rows = Vec::new();
    let mut alone = None;
    for threads in [1, 2] {
        let seconds = layer_seconds(keys, threads)?;
        let layer = Row { on, ..Row::new("layer", threads as f64, "s", seconds) };
        rows.push(layer.beside((threads == 1).then_some(Published::LessThan(0.2))));
        let ratio = *alone.get_or_insert(seconds) / seconds;
        rows.push(Row { on, ..Row::new("layer", threads as f64, "times one thread", ratio) });
    }
    for threads in [1, 2] {
        let options = Options { threads, background: false, rebuild_percent: 100, ..Options::default() };
        let mut index = Pi::<u32, u32>::with_options(&options)?;
        index.bulk_load(&keys.entries())?;
        let batch = Source::new(7).batch(keys, Traffic::INSERTS, keys.count() * 3 / 20);
        let entries: Vec<(u32, u32)> = batch
            .iter()
            .filter_map(
                |query| if let Query::Insert(key, value) = query { Some((*key, *value)) } else { None },
            )
            .collect();
        index.insert_many(&entries, &mut vec![None; entries.len()])?;
        let start = Instant::now();
        index.rebuild()?;
        let seconds = start.elapsed().as_secs_f64();
        rows.push(Row { on, ..Row::new("rebuild", threads as f64, "s", seconds) });
    }
    Ok(rows)
}

fn layer_seconds(keys: Keys, threads: usize) -> Result<f64> {
    let crew = ScopedPool::new(threads, |_| Box::new(|| ())).map_err(crate::LabError::Stack)?;
    let run = |jobs: Vec<ScopedTask<'_>>| crew.run(jobs);
    let entry_at = |rank: usize| (keys.key(rank), rank as u32);
    let layout = Options::default().form(None)?;
    let list = Segments::from_sorted(keys.count(), &entry_at, layout, (threads, &run))?;
    let paper = Placement { huge_pages: true, node: None };
    let options = RoutedOptions { head: Anchor::HEAD.to_word(), paper };
    let mut times = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        let layer = Routed::<u32, 8>::build(&list.parts(threads), options, &run)?;
        times.push(start.elapsed().as_secs_f64());
        drop(layer);
    }
    Ok(median(&mut times))
}
