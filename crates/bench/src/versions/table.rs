//! Medians of the rounds, and how they compare.

use super::step::{Sample, Step};
use crate::clock::median;
use latchless_terminal::output::Rows;
use serde_json::{Value, json};

/// The columns of an index without versions, of the one that keeps them, and of the one whose keys end in
/// them.
const PLAIN: usize = 0;
const VERSIONS: usize = 1;
const NUMBERED: usize = 2;

/// The nanoseconds of all rounds.
pub struct Medians {
    /// The names of the subjects, and whether they are rivals.
    columns: Vec<(&'static str, bool)>,
    records: usize,
    /// By step and subject.
    nanos: Vec<Vec<Vec<f64>>>,
    /// By subject: bytes with one version of each key, and with two.
    bytes: Vec<[Option<usize>; 2]>,
}

impl Medians {
    pub fn new(columns: Vec<(&'static str, bool)>, records: usize) -> Self {
        let none = vec![Vec::new(); columns.len()];
        let bytes = vec![[None; 2]; columns.len()];
        Self { columns, records, nanos: vec![none; Step::ALL.len()], bytes }
    }

    /// Adds the bytes of a subject.
    pub fn weigh(&mut self, column: usize, bytes: [Option<usize>; 2]) {
        self.bytes[column] = bytes;
    }

    /// Adds what a step has taken in a round.
    pub fn add(&mut self, step: Step, samples: &[Option<Sample>]) {
        let row = Step::ALL.iter().zip(&mut self.nanos).find(|(one, _)| **one == step);
        let Some((_, row)) = row else { return };
        row.iter_mut()
            .zip(samples)
            .for_each(|(nanos, sample)| nanos.extend(sample.map(|sample| sample.nanos)));
    }

    /// Returns the table. A ratio is the time that the other index takes, divided by that of ours: above 1,
    /// ours is faster, or smaller.
    pub fn rows(&self) -> Rows {
        let names = self.columns.iter().map(|&(name, _)| name);
        let ratios = ["Index / VersionedIndex", "rival / VersionedIndex", "rival / Index of VersionedKey"];
        let mut rows = Rows::new(["operation"].into_iter().chain(names).chain(ratios));
        let mut push = |name: String, cells: Vec<Option<f64>>| {
            let ratios = self
                .ratios(&cells)
                .map(|ratio| ratio.map_or(Value::Null, |ratio| json!(format!("{ratio:.2}"))));
            let cells = cells.into_iter().map(|cell| cell.map_or(Value::Null, shown));
            rows.push([json!(name)].into_iter().chain(cells).chain(ratios).collect());
        };
        for (step, nanos) in Step::ALL.into_iter().zip(&self.nanos) {
            push(step.name(), nanos.iter().map(|nanos| median(nanos.clone())).collect());
        }
        let per_key = |bytes: Option<usize>| bytes.map(|bytes| bytes as f64 / self.records as f64);
        let [one, two] = [0, 1].map(|which| self.bytes.iter().map(|bytes| per_key(bytes[which])).collect());
        push("bytes per key, one version".to_owned(), one);
        push("bytes per key, two versions".to_owned(), two);
        rows
    }

    /// Returns how a row of ours compares with the index without versions, and with the best rival.
    fn ratios(&self, cells: &[Option<f64>]) -> [Option<f64>; 3] {
        let rivals = self.columns.iter().zip(cells).filter(|((_, is_rival), _)| *is_rival);
        let best = rivals.filter_map(|(_, cell)| *cell).min_by(f64::total_cmp);
        let over = |other: Option<f64>, ours: usize| Some(other? / cells[ours]?);
        [over(cells[PLAIN], VERSIONS), over(best, VERSIONS), over(best, NUMBERED)]
    }
}

fn shown(nanos: f64) -> Value {
    json!(if nanos < 100.0 { format!("{nanos:.1}") } else { format!("{nanos:.0}") })
}
