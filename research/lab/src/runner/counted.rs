//! Counting: the numbers that are the same on every machine.

use super::data::Keys;
use super::work::{Requests, all_right, build};
use crate::error::Result;
use crate::experiment::{Case, Outcome};
use crate::subject::{Index, Subject};

/// Loads `subject`, does the case's task, and counts levels and splits.
///
/// # Errors
/// When the index refuses, or answers wrongly.
pub fn run(subject: Subject, case: &Case, keys: &Keys) -> Result<Outcome> {
    let mut index = subject.make_native()?;
    build(&mut index, case, keys)?;
    let levels = index.stats().map(|stats| stats.levels);
    let mut requests = Requests::new(case.task, keys);
    let (mut splits, mut right) = ([0; 3], 0);
    let mut before = splits_of(&index);
    for position in 0..requests.len() {
        right += usize::from(requests.perform(position, &mut index, keys)?);
        let after = splits_of(&index);
        splits[(after - before).min(2) as usize] += 1;
        before = after;
    }
    all_right(right, requests.len(), subject.name(), case.task)?;
    Ok(Outcome { levels, splits: (!requests.is_empty()).then_some(splits), ..Outcome::default() })
}

fn splits_of(index: &Index) -> u64 {
    index.stats().map_or(0, |stats| stats.splits)
}
