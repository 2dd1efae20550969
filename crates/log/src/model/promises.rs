//! The promises of the crate's head, at every step of random histories: what was acknowledged is back,
//! nothing is back without all that comes before it, a record is whole or absent, and a second recovery
//! finds what the first one did.

use super::crash::power_failure;
use super::kinds::{FOLDER, Kind, Watched};
use super::run::{Scene, Writer, brief, run};
use super::{Draw, Fault, Model, Moment, Set};
use crate::{DurableBytesIndex, DurableIndex, DurableMultiIndex, Opening, SyncMode};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub type Numbers = DurableIndex<u64, u64, Watched>;
pub type Strings = DurableBytesIndex<String, u64>;
pub type Rows = DurableMultiIndex<String>;

/// All three; the thread of the second one doesn't come to sync by itself.
pub const MODES: [SyncMode; 3] =
    [SyncMode::Each, SyncMode::Every(Duration::from_secs(3_600)), SyncMode::Never];

/// How many times as much is tried, by `LATCHLESS_CRASHES`.
pub fn effort() -> u64 {
    std::env::var("LATCHLESS_CRASHES").map_or(1, |times| times.parse().expect("a number"))
}

/// Opens what a crash has left, which must go, and has one of these states.
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

/// Opens what a crash has left, changes it, and lets a power failure come during both, some times. What a
/// power failure has left is back after the next one as well; what a killed process has left, once it was
/// opened.
pub fn check<D: Kind>(
    state: super::State,
    allowed: &[Arc<Set>],
    draw: &mut Draw,
    times: u64,
) -> Result<(), String> {
    let is_settled = state.is_settled();
    let (model, durable) = recover::<D>(state, allowed)?;
    if times == 0 {
        return Ok(());
    }
    let found = vec![Arc::new(durable.entries())];
    let recovery = model.take_trace();
    let writer = Writer::new(&model, durable, SyncMode::Each, draw.clone());
    for _ in 0..3 {
        assert!(writer.any_change(), "nothing goes wrong in this life");
    }
    let later = model.take_trace();
    for _ in 0..times {
        let is_later = recovery.is_empty() || draw.below(2) == 0;
        let trace = if is_later { &later } else { &recovery };
        if trace.is_empty() {
            continue;
        }
        let moment = &trace[draw.below(trace.len() as u64) as usize];
        let allowed = match (is_later, is_settled) {
            (true, _) => &moment.allowed[..],
            (false, true) => &found,
            (false, false) => allowed,
        };
        recover::<D>(power_failure(moment, draw.below(u64::MAX)), allowed)
            .map_err(|why| format!("again, after the recovery: {is_later}: {why}"))?;
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
            check::<D>(power_failure(moment, seed), &moment.allowed, &mut draw, again)
                .map_err(|why| format!("{scene:?}, step {at}, power failure {seed}: {why}"))?;
        }
        if scene.fault.is_none() {
            let from = moment.allowed.len().saturating_sub(1 + usize::from(moment.is_changing));
            check::<D>(moment.state.clone(), &moment.allowed[from..], &mut draw, 0)
                .map_err(|why| format!("{scene:?}, step {at}, killed: {why}"))?;
        }
    }
    Ok(trace.len() as u64 * crashes)
}

fn keeps_its_promises<D: Kind>() {
    let mut crashes = 0;
    for seed in 0..3 * effort() {
        for sync in MODES {
            let scene = Scene { seed, sync, fault: None, lie: None };
            crashes += explore::<D>(&scene, 4).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    assert!(crashes > 1_000, "{crashes} power failures");
}

#[test]
fn numbers_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Numbers>();
}

#[test]
fn strings_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Strings>();
}

#[test]
fn rows_are_back_after_a_power_failure_at_any_moment() {
    keeps_its_promises::<Rows>();
}

/// Lets something go wrong at some steps of histories, and power failures and kills come after it.
fn survives<D: Kind>(faults: &[Fault], every: u64) {
    for seed in 0..effort() {
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
                    check::<D>(end.state.clone(), &end.allowed, &mut draw, 3).unwrap_or_else(told);
                    check::<D>(power_failure(&end, at), &end.allowed, &mut draw, 1).unwrap_or_else(told);
                    let any: &Moment = &trace[draw.below(trace.len() as u64) as usize];
                    check::<D>(power_failure(any, at), &any.allowed, &mut draw, 0).unwrap_or_else(told);
                }
            }
        }
    }
}

#[test]
fn a_sync_that_fails_costs_nothing_that_is_acknowledged_before_or_later() {
    let faults = [Fault::Sync { forgets: false }, Fault::Sync { forgets: true }];
    survives::<Numbers>(&faults, 1);
    survives::<Strings>(&faults, 3);
    survives::<Rows>(&faults, 3);
}

#[test]
fn a_full_disk_costs_nothing_that_is_acknowledged() {
    survives::<Numbers>(&[Fault::Full], 2);
    survives::<Strings>(&[Fault::Full], 5);
    survives::<Rows>(&[Fault::Full], 5);
}

#[test]
fn a_disk_that_takes_no_changes_costs_nothing_that_is_acknowledged() {
    survives::<Numbers>(&[Fault::ReadOnly], 3);
    survives::<Strings>(&[Fault::ReadOnly], 7);
    survives::<Rows>(&[Fault::ReadOnly], 7);
}
