//! A bulk load of arbitrary entries, and an index's required answer.

use crate::{Subject, spread};
use arbitrary::Arbitrary;
use latchless::{Direction, Error, FillFactor};
use std::ops::Bound::Unbounded;

/// An index and the entries of its bulk load.
#[derive(Debug, Arbitrary)]
pub struct Load<S> {
    subject: S,
    fill: f64,
    stretches: Vec<Stretch>,
    sorted: bool,
}

/// Keys one after the other, `step` apart: a short input makes a long load.
#[derive(Debug, Arbitrary)]
struct Stretch {
    from: u16,
    step: u8,
    count: u8,
}

impl<S: Subject> Load<S> {
    fn entries(&self) -> Vec<(u64, u64)> {
        let stretch = |stretch: &Stretch| {
            let (from, step) = (stretch.from, u16::from(stretch.step));
            (0..u16::from(stretch.count)).map(move |i| spread(from.wrapping_add(step.wrapping_mul(i))))
        };
        let mut keys: Vec<u64> = self.stretches.iter().flat_map(stretch).collect();
        if self.sorted {
            keys.sort_unstable();
            keys.dedup();
        }
        keys.into_iter().map(|key| (key, !key)).collect()
    }

    /// Runs the load.
    ///
    /// # Panics
    /// If the index takes a load that it must refuse, refuses one that it must take, names the wrong
    /// position, or holds other entries afterwards than it should.
    pub fn run(&self) {
        let Some(mut index) = self.subject.build() else { return };
        let fill = match FillFactor::new(self.fill) {
            Ok(fill) => fill,
            Err(error) => {
                assert!(!(0.01..=1.0).contains(&self.fill), "{error}");
                FillFactor::FULL
            }
        };
        let entries = self.entries();
        let expected = entries.windows(2).position(|pair| pair[0].0 >= pair[1].0).map(|before| {
            let position = before + 1;
            let twice = entries[before].0 == entries[position].0;
            if twice { Error::DuplicateKey { position } } else { Error::Unsorted { position } }
        });
        let loaded = match (index.bulk_load(&entries, fill), expected) {
            (Ok(()), None) => entries,
            (Err(error), Some(expected)) => {
                // Too much and out of order: either may be named.
                if error != expected {
                    self.subject.limits().assert_refusal(&error);
                }
                Vec::new()
            }
            (Ok(()), Some(expected)) => panic!("took what it had to refuse: {expected}"),
            (Err(error), None) => {
                self.subject.limits().assert_refusal(&error);
                Vec::new()
            }
        };
        index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(index.len(), loaded.len());
        let (mut keys, mut values) = (vec![0; loaded.len() + 1], vec![0; loaded.len() + 1]);
        let all = (Unbounded, Unbounded);
        let found =
            index.page(all, Direction::Forward, &mut keys, &mut values).expect("the buffers have room");
        let found: Vec<(u64, u64)> = keys.into_iter().zip(values).take(found).collect();
        assert_eq!(found, loaded);
        if !loaded.is_empty() {
            assert_eq!(index.bulk_load(&loaded, fill), Err(Error::NotEmpty { len: loaded.len() }));
        }
    }
}
