//! The model finds the faults of a log that omits syncs: such syncs are only reported as done.

use super::promises::{MODES, Numbers, explore};
use super::run::Scene;
use super::{Lie, Sync};

fn is_found(lie: Lie) {
    let found = (0..40).find_map(|seed| {
        let scene = |sync| Scene { seed, sync, fault: None, lie: Some(lie) };
        MODES.into_iter().find_map(|sync| explore::<Numbers>(&scene(sync), 6).err())
    });
    assert!(found.is_some(), "a log that is wrong kept its promises");
}

fn is_log(sync: &Sync<'_>) -> bool {
    sync.path.extension().is_some_and(|extension| extension == "redo")
}

#[test]
fn a_snapshot_whose_log_is_not_synced_before_it_has_its_name_is_found() {
    is_found(|sync| sync.is_saving && is_log(sync));
}

#[test]
fn a_snapshot_that_is_not_synced_itself_is_found() {
    is_found(|sync| sync.path.to_string_lossy().contains(".tmp-"));
}

#[test]
fn names_that_are_not_synced_are_found() {
    is_found(|sync| sync.path.ends_with("new"));
}

#[test]
fn folders_above_that_are_not_synced_are_found() {
    is_found(|sync| sync.path.ends_with("data"));
}

#[test]
fn changes_that_are_not_synced_are_found() {
    is_found(|sync| !sync.is_saving && is_log(sync));
}
