//! A flipped bit of a log: damage of synced records is an error, and every loss is reported.

use super::kinds::{FOLDER, Kind};
use super::promises::{MODES, Numbers, Rows, Strings, Versions, effort};
use super::run::{Scene, brief, run};
use super::{Draw, Model, Moment};
use crate::{DamagedTail, Error, Opening};
use std::path::Path;

/// Flips bits of the logs of histories that ended with a close, or with a kill.
fn is_told<D: Kind>(closes: bool) {
    let mut refused = 0;
    for seed in 0..effort() {
        for sync in MODES {
            let scene = Scene { seed, sync, fault: None, lie: None };
            let (_, model) = run::<D>(&scene).unwrap_or_else(|why| panic!("{why}"));
            let opening = Opening { sync, ..Opening::default() };
            let (durable, _) = D::open(&model, Path::new(FOLDER), opening).expect("it opens");
            let entries = durable.entries();
            if closes {
                durable.journal().close().expect("all is on the disk");
            }
            let Moment { state, .. } = model.now();
            let mut draw = Draw::new(seed);
            for (path, bytes) in state.files(".redo") {
                for byte in (0..bytes).filter(|byte| byte % 11 == seed as usize % 11) {
                    let mut state = state.clone();
                    state.flip(&path, byte, draw.below(8));
                    let model = Model::of(state);
                    match D::open(&model, Path::new(FOLDER), Opening::default()) {
                        Ok((durable, recovery)) => {
                            let found = durable.entries();
                            let is_told = !closes && recovery.stopped.is_some();
                            let same = found == entries;
                            assert!(same || is_told, "{scene:?}, byte {byte} of {path:?}: {}", brief(&found));
                        }
                        Err(Error::Damaged { .. } | Error::Version { .. } | Error::OtherType { .. }) => {
                            refused += 1;
                            let opening =
                                Opening { damaged_tail: DamagedTail::SetAside, ..Opening::default() };
                            let set_aside = D::open(&model, Path::new(FOLDER), opening);
                            let is_told = set_aside.map(|(_, recovery)| recovery.stopped.is_some());
                            assert!(is_told.unwrap_or(byte < 64), "{scene:?}, byte {byte} of {path:?}");
                        }
                        Err(error) => panic!("{scene:?}, byte {byte} of {path:?}: {error}"),
                    }
                }
            }
        }
    }
    assert!(refused > 50, "{refused} were refused");
}

#[test]
fn a_flipped_bit_of_a_log_that_was_closed_is_refused() {
    is_told::<Numbers>(true);
    is_told::<Strings>(true);
    is_told::<Rows>(true);
    is_told::<Versions>(true);
}

#[test]
fn a_flipped_bit_of_a_log_whose_process_was_killed_is_refused_or_told() {
    is_told::<Numbers>(false);
    is_told::<Strings>(false);
    is_told::<Rows>(false);
    is_told::<Versions>(false);
}
