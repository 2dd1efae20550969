//! The promises of the crate's head, at every step of random histories: acknowledged changes are recovered,
//! no change is recovered without all earlier ones, a record is whole or absent, and a second recovery
//! finds the same as the first.

use super::crash::power_failure;
use super::kinds::{FOLDER, Kind, Row, Watched};
use super::run::{Scene, Writer, brief, run};
use super::{Draw, Fault, Model, Moment, Set};
use crate::{DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableTable, DurableVersionedIndex};
use crate::{Opening, SyncMode};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub type Numbers = DurableIndex<u64, u64, Watched>;
pub type Strings = DurableBytesIndex<String, u64>;
pub type Rows = DurableMultiIndex<String>;
pub type Versions = DurableVersionedIndex<String, u64>;
pub type Table = DurableTable<String, Row>;

/// All three; the thread of the second one never syncs by itself.
pub const MODES: [SyncMode; 3] =
    [SyncMode::Each, SyncMode::Every(Duration::from_secs(3_600)), SyncMode::Never];

/// How many times as much is tried, by `LATCHLESS_CRASHES`.
pub fn effort() -> u64 {
    std::env::var("LATCHLESS_CRASHES").map_or(1, |times| times.parse().expect("a number"))
}

/// Opens the leftovers of a crash, which must succeed, and has one of these states.
fn recover<D: Kind>(state: super::State, allowed: &[Arc<Set>]) -> Result<(Model, D), String> {
    let model = Model::of(state);
    let (durable, _) = D::open(&model, Path::new(FOLDER), Opening::default())
        .map_err(|error| format!("it doesn't open: {error}"))?;
    let found = durable.entries();
    if allowed.iter().any(|state| **state == found) {
        return Ok((model, durable));
    }
    let allowed: Vec<String> = allowed.iter().map(|state| brief(state)).collect();
    Err(format!("found {}\nallowed {}", brief(&found), allowed.join("\n")))
}

/// The state after a crash.
pub struct Left<'a> {
    pub state: super::State,
    /// The states that may be back.
    pub back: &'a [Arc<Set>],
    /// Those that may be recovered after a power failure while the leftovers of a killed process are
    /// opened. The leftovers of a power failure survive the next one.
    pub later: Option<&'a [Arc<Set>]>,
}

/// Opens the leftovers of a crash, changes it, and injects a power failure during both, some times.
pub fn check<D: Kind>(left: Left<'_>, draw: &mut Draw, times: u64) -> Result<(), String> {
    let (model, durable) = recover::<D>(left.state, left.back)?;
    if times == 0 {
        return Ok(());
    }
    let found = vec![Arc::new(durable.entries())];
    let recovery = model.take_trace();
    let writer = Writer::new(&model, durable, SyncMode::Each, draw.clone());
    for _ in 0..3 {
        assert!(writer.any_change(), "nothing goes wrong in this life");
    }
    let life = model.take_trace();
    for _ in 0..times {
        let is_alive = recovery.is_empty() || draw.below(2) == 0;
        let trace = if is_alive { &life } else { &recovery };
        if trace.is_empty() {
            continue;
        }
        let moment = &trace[draw.below(trace.len() as u64) as usize];
        let back = if is_alive { &moment.allowed } else { left.later.unwrap_or(&found) };
        recover::<D>(power_failure(moment, draw.below(u64::MAX)), back)
            .map_err(|why| format!("again, after the recovery: {is_alive}: {why}"))?;
    }
    Ok(())
}

/// Power failures at every moment of a history, and kills.
pub fn explore<D: Kind>(scene: &Scene, crashes: u64) -> Result<u64, String> {
    let (trace, _) = run::<D>(scene)?;
    let mut draw = Draw::new(scene.seed ^ 0xC0FFEE);
    for (at, moment) in trace.iter().enumerate() {
        for _ in 0..crashes {
            let seed = draw.below(u64::MAX);
            let again = draw.below(2) * 2;
            let left = Left { state: power_failure(moment, seed), back: &moment.allowed, later: None };
            check::<D>(left, &mut draw, again)
                .map_err(|why| format!("{scene:?}, step {at}, power failure {seed}: {why}"))?;
        }
        if scene.fault.is_none() {
            let from = moment.allowed.len().saturating_sub(1 + usize::from(moment.is_changing));
            let back = &moment.allowed[from..];
            let left = Left { state: moment.state.clone(), back, later: Some(&moment.allowed) };
            check::<D>(left, &mut draw, 2).map_err(|why| format!("{scene:?}, step {at}, killed: {why}"))?;
        }
    }
    Ok(trace.len() as u64 * crashes)
}

fn keeps_its_promises<D: Kind>(histories: u64) {
    let mut crashes = 0;
    for seed in 0..histories * effort() {
        for sync in MODES {
            let scene = Scene { seed, sync, fault: None, lie: None };
            crashes += explore::<D>(&scene, 3).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    assert!(crashes > 330 * histories, "{crashes} power failures");
}

#[test]
fn numbers_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Numbers>(3);
}

#[test]
fn strings_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Strings>(3);
}

#[test]
fn rows_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Rows>(3);
}

#[test]
fn commits_are_back_as_a_whole_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Versions>(3);
}

#[test]
fn rows_of_a_table_are_back_in_all_indexes_after_a_power_failure_at_any_moment() {
    // An opening computes its indexes, which takes most of the time.
    keeps_its_promises::<Table>(1);
}

/// Injects faults at some steps of histories, and power failures and kills after them.
fn survives<D: Kind>(faults: &[Fault], every: u64) {
    for seed in 0..2 * effort() {
        for sync in MODES {
            let fine = Scene { seed, sync, fault: None, lie: None };
            let (_, model) = run::<D>(&fine).unwrap_or_else(|why| panic!("{why}"));
            let mut draw = Draw::new(seed);
            for at in (0..model.steps()).filter(|at| at % every == seed % every) {
                for &fault in faults {
                    let scene = Scene { fault: Some((at, fault)), ..fine };
                    let (trace, model) = run::<D>(&scene).unwrap_or_else(|why| panic!("{why}"));
                    let end = model.now();
                    let told = |why| -> () { panic!("{scene:?}: {why}") };
                    let (back, state) = (&end.allowed[..], end.state.clone());
                    check::<D>(Left { state, back, later: Some(back) }, &mut draw, 3).unwrap_or_else(told);
                    let state = power_failure(&end, at);
                    check::<D>(Left { state, back, later: None }, &mut draw, 1).unwrap_or_else(told);
                    let any: &Moment = &trace[draw.below(trace.len() as u64) as usize];
                    let (back, state) = (&any.allowed[..], power_failure(any, at));
                    check::<D>(Left { state, back, later: None }, &mut draw, 0).unwrap_or_else(told);
                }
            }
        }
    }
}

#[test]
fn a_sync_that_fails_costs_nothing_that_is_acknowledged_before_or_later() {
    let faults = [Fault::Sync { forgets: false }, Fault::Sync { forgets: true }];
    survives::<Numbers>(&faults, 3);
    survives::<Strings>(&faults, 3);
    survives::<Rows>(&faults, 6);
    survives::<Versions>(&faults, 6);
    survives::<Table>(&faults, 12);
}

#[test]
fn a_full_disk_costs_nothing_that_is_acknowledged() {
    survives::<Numbers>(&[Fault::Full], 4);
    survives::<Strings>(&[Fault::Full], 10);
    survives::<Rows>(&[Fault::Full], 10);
    survives::<Versions>(&[Fault::Full], 10);
    survives::<Table>(&[Fault::Full], 20);
}

#[test]
fn a_disk_that_takes_no_changes_costs_nothing_that_is_acknowledged() {
    survives::<Numbers>(&[Fault::ReadOnly], 6);
    survives::<Strings>(&[Fault::ReadOnly], 14);
    survives::<Rows>(&[Fault::ReadOnly], 14);
    survives::<Versions>(&[Fault::ReadOnly], 14);
}
