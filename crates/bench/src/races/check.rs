//! The right answers, and the comparison of an index's answers with them.

use super::digest::Digest;
use super::drive::Streams;
use super::load::{Filling, refused};
use super::word::Word;
use latchless::{Direction, Error};
use latchless_core::base::index::OrderedIndex;
use latchless_terminal::failure::Failure;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Entries per copy when a whole index is checked.
const PIECE: usize = 4096;

/// The right answers, computed once and independently of every index in the race.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The answers of each part of the history.
    answers: Vec<Digest>,
    /// All entries after the last part.
    contents: Digest,
    len: usize,
}

impl Expected {
    /// Serves the streams with a plain `BTreeMap`. At the end an index has the contents after `last_part`.
    ///
    /// # Errors
    /// None for a `BTreeMap`.
    pub fn new<L: Word>(
        filling: &Filling<L>,
        streams: &Streams<L>,
        last_part: usize,
    ) -> Result<Self, Failure> {
        let mut model: BTreeMap<L, L> = filling.sorted().iter().copied().collect();
        let (mut answers, mut contents, mut len) = (Vec::new(), Digest::default(), 0);
        for part in 0..streams.parts() {
            answers.push(streams.in_turn(part, &mut model)?);
            if part == last_part {
                model.iter().for_each(|(&key, &value)| contents.entries(&[key], &[value]));
                len = model.len();
            }
        }
        Ok(Self { answers, contents, len })
    }

    /// Returns the checksum over all entries that an index must have at the end.
    pub fn contents(&self) -> Digest {
        self.contents
    }

    /// Compares a run's answers to a part with the right ones.
    ///
    /// # Errors
    /// A wrong answer, with the index's name.
    pub fn check_answers(&self, name: &str, part: usize, answers: Digest) -> Result<(), Failure> {
        let right = self.answers[part];
        if answers == right {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{name} answered wrongly: its answers' checksum is {answers}, not {right}"
        )))
    }

    /// Compares all entries of an index with those that it must have after the requests. An index without
    /// scans passes.
    ///
    /// # Errors
    /// A wrong entry or count, with the index's name.
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
    use crate::races::catalogue::{self, build};
    use crate::races::requests::Handing;
    use crate::races::{Load, Order};
    use latchless_workload::{Operation, value_of};

    /// Three keys, and a get of one of them.
    fn expected() -> Expected {
        let filling = Filling::new(vec![5u64, 1, 3], Load::Random);
        let handing = Handing { batched: false, order: Order::Drawn, together: 1 };
        let streams = Streams::new(&[vec![Operation::Get(3)]], 1, handing, false);
        Expected::new(&filling, &streams, 0).unwrap()
    }

    fn is_wrong_answer(checked: Result<(), Failure>, name: &str) {
        let failure = format!("{:?}", checked.unwrap_err());
        assert!(failure.contains("code: 3") && failure.contains(name), "{failure}");
    }

    #[test]
    fn wrong_answers_are_told_by_name() {
        let mut answers = Digest::default();
        answers.answer(Some(value_of(3u64, 0)));
        expected().check_answers("honest", 0, answers).unwrap();
        is_wrong_answer(expected().check_answers("liar", 0, Digest::default()), "liar");
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
