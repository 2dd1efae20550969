//! What the right answers are, and whether an index gave them.

use super::digest::Digest;
use super::drive::Streams;
use super::load::{Filling, refused};
use super::word::Word;
use crate::failure::Failure;
use latchless::{Direction, Error, OrderedIndex};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Entries copied at a time when a whole index is looked at.
const PIECE: usize = 4096;

/// The right answers, computed once and apart from every index in the race.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    answers: Digest,
    /// Every entry once the requests have been served.
    contents: Digest,
    len: usize,
}

impl Expected {
    /// Serves the streams over a plain `BTreeMap`.
    ///
    /// # Errors
    /// None that a `BTreeMap` would have.
    pub fn new<L: Word>(filling: &Filling<L>, streams: &Streams<L>) -> Result<Self, Failure> {
        let mut model: BTreeMap<L, L> = filling.sorted().iter().copied().collect();
        let answers = streams.in_turn(&mut model)?;
        let mut contents = Digest::default();
        model.iter().for_each(|(&key, &value)| contents.entries(&[key], &[value]));
        Ok(Self { answers, contents, len: model.len() })
    }

    /// The checksum over every entry that an index has to hold in the end.
    pub fn contents(&self) -> Digest {
        self.contents
    }

    /// Holds a run's answers against the right ones.
    ///
    /// # Errors
    /// A wrong answer, by the index's name.
    pub fn check_answers(&self, name: &str, answers: Digest) -> Result<(), Failure> {
        if answers == self.answers {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{name} answered wrongly: its answers' checksum is {answers}, not {}",
            self.answers
        )))
    }

    /// Holds every entry of an index against what has to be in it after the requests. An index
    /// that can't scan is left at its answers.
    ///
    /// # Errors
    /// A wrong entry or count, by the index's name.
    pub fn check_contents<L: Word>(&self, name: &str, index: &dyn OrderedIndex<L, L>) -> Result<(), Failure> {
        let mut contents = Digest::default();
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let scan = index.scanner(everything, Direction::Forward);
        let mut scan = scan.map_err(|error| refused(name, &error))?;
        let (mut keys, mut values) = (vec![L::default(); PIECE], vec![L::default(); PIECE]);
        loop {
            match scan.fill(&mut keys, &mut values) {
                Ok(0) => break,
                Ok(found) => contents.entries(&keys[..found], &values[..found]),
                Err(Error::Unsupported { .. }) => return Ok(()),
                Err(error) => return Err(refused(name, &error)),
            }
        }
        if contents == self.contents && index.len() == self.len {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{name} holds the wrong entries after the requests: checksum {contents} over {} keys, not {} over {}",
            index.len(),
            self.contents,
            self.len
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Load;
    use crate::catalogue::{self, build};
    use latchless_workload::{Operation, value_of};

    /// Three keys, and a get of one of them.
    fn expected() -> Expected {
        let filling = Filling::new(vec![5u64, 1, 3], Load::Random);
        let streams = Streams::new(vec![vec![Operation::Get(3)]], false, false);
        Expected::new(&filling, &streams).unwrap()
    }

    fn is_wrong_answer(checked: Result<(), Failure>, name: &str) {
        let failure = format!("{:?}", checked.unwrap_err());
        assert!(failure.contains("code: 3") && failure.contains(name), "{failure}");
    }

    #[test]
    fn wrong_answers_are_told_by_name() {
        let mut answers = Digest::default();
        answers.answer(Some(value_of(3u64, 0)));
        expected().check_answers("honest", answers).unwrap();
        is_wrong_answer(expected().check_answers("liar", Digest::default()), "liar");
    }

    #[test]
    fn a_missing_a_changed_and_a_further_entry_are_all_found() {
        let mut index = build::<u64, u64>("btreemap", &catalogue::Options::default()).unwrap();
        for key in [1, 3, 5] {
            is_wrong_answer(expected().check_contents("short", &*index), "short");
            index.insert(key, value_of(key, 0)).unwrap();
        }
        expected().check_contents("whole", &*index).unwrap();
        index.insert(7, 0).unwrap();
        is_wrong_answer(expected().check_contents("long", &*index), "long");
        index.remove(7);
        index.insert(3, 0).unwrap();
        is_wrong_answer(expected().check_contents("changed", &*index), "changed");
    }
}
