//! The requests of threads to a tree: generated from a fixed seed before anything is timed, with known
//! answers.

use crate::error::{LabError, Result};
use latchless_core::base::request::{Reply, Request};
use latchless_papers::spiderman::page::Form;
use latchless_papers::spiderman::{Options, SpidermanMap};
use latchless_workload::{Distribution, KeySpace, Kind, Lengths, Workload, value_of};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Requests per call. The tree divides them into its own batches.
const TOGETHER: usize = 1024;
/// The seed of the random numbers.
const SEED: u64 = 2023;

/// A tree with its records, and its traffic. Panels with equal numbers of records share one, as long as it
/// hasn't grown by more than a tenth, because filling a tree of the paper's 50M takes longer than many a
/// panel.
pub struct Loaded<T: Form> {
    pub map: SpidermanMap<u64, u64, T>,
    pub traffic: Traffic,
}

impl<T: Form> Loaded<T> {
    /// Returns the tree of that many records in `kept`, or a new one that replaces it. A new one is filled
    /// while it reports to `N`: filling it under a trace takes far longer.
    ///
    /// # Errors
    /// When the tree refuses.
    pub fn of<'a, N: Form>(
        kept: &'a mut Option<Self>,
        records: usize,
        options: &Options,
    ) -> Result<&'a mut Self> {
        let records = records.max(1);
        let fits = kept
            .take()
            .filter(|kept| kept.traffic.loaded == records as u64 && kept.map.len() <= records + records / 10);
        let loaded = match fits {
            Some(loaded) => loaded,
            None => {
                let traffic = Traffic::new(records)?;
                let map = SpidermanMap::<u64, u64, N>::with_options(options)?;
                traffic.load(&map)?;
                Self { map: map.reporting_to(), traffic }
            }
        };
        Ok(kept.insert(loaded))
    }
}

/// Requests, as they come.
pub struct Traffic {
    space: KeySpace<'static>,
    /// The number of initial records.
    loaded: u64,
    /// The next one that isn't there yet.
    next: u64,
    random: Xoshiro256PlusPlus,
}

impl Traffic {
    /// Creates the traffic on that many records.
    ///
    /// # Errors
    /// None for keys of 64 bits.
    fn new(records: usize) -> Result<Self> {
        let loaded = records as u64;
        let space = KeySpace::new::<u64>(Distribution::Uniform, loaded, 0, SEED)
            .map_err(|error| LabError::Wrong { index: "the key space", what: error.to_string() })?;
        Ok(Self { space, loaded, next: loaded, random: Xoshiro256PlusPlus::seed_from_u64(SEED) })
    }

    /// Inserts the initial records, in random order.
    ///
    /// # Errors
    /// When the tree refuses.
    fn load<T: Form>(&self, map: &SpidermanMap<u64, u64, T>) -> Result<()> {
        let mut replaced = [None; TOGETHER];
        for start in (0..self.loaded).step_by(TOGETHER) {
            let numbers = start..self.loaded.min(start + TOGETHER as u64);
            let entries: Vec<(u64, u64)> = numbers.map(|number| self.entry(number)).collect();
            map.insert_many(&entries, &mut replaced[..entries.len()])?;
        }
        Ok(())
    }

    fn entry(&self, number: u64) -> (u64, u64) {
        let key = self.space.key::<u64>(number);
        (key, value_of(key, 0))
    }

    /// Returns the next requests of each of that many threads, of a mix.
    pub fn plan(&mut self, mix: Workload, threads: usize, requests: usize) -> Vec<Vec<Request<u64, u64>>> {
        (0..threads).map(|_| (0..requests).map(|_| self.request(mix)).collect()).collect()
    }

    fn request(&mut self, mix: Workload) -> Request<u64, u64> {
        let mix = mix.mix();
        let mut drawn = self.random.random_range(0..100);
        let share = mix.shares.iter().find(|(_, share)| {
            let here = drawn < *share;
            drawn = drawn.wrapping_sub(*share);
            here
        });
        match share.map_or(Kind::Get, |&(kind, _)| kind) {
            Kind::Insert => {
                self.next += 1;
                let (key, value) = self.entry(self.next - 1);
                Request::Insert(key, value)
            }
            Kind::Scan => Request::Scan { from: self.present(), limit: self.length(mix.lengths) },
            _ => Request::Get(self.present()),
        }
    }

    /// Returns the key of an initial record.
    fn present(&mut self) -> u64 {
        let number = self.random.random_range(0..self.loaded);
        self.space.key::<u64>(number)
    }

    /// Returns the number of entries of a scan.
    fn length(&mut self, lengths: Lengths) -> usize {
        let Lengths::Normal { mean, deviation } = lengths else { return 1 };
        // Box and Muller's.
        let (one, other): (f64, f64) = (1.0 - self.random.random::<f64>(), self.random.random());
        let normal = (-2.0 * one.ln()).sqrt() * (core::f64::consts::TAU * other).cos();
        (mean + deviation * normal).round().max(1.0) as usize
    }
}

/// Has a tree serve requests; a wrong answer ends the run: its time would mean nothing.
///
/// # Errors
/// When the tree refuses, or [`LabError::Wrong`].
pub fn serve<T: Form>(map: &SpidermanMap<u64, u64, T>, requests: &[Request<u64, u64>]) -> Result<()> {
    let mut replies = Vec::with_capacity(TOGETHER);
    let mut wrong = 0;
    for together in requests.chunks(TOGETHER) {
        replies.clear();
        map.execute(together, &mut replies);
        for (request, reply) in together.iter().zip(&replies) {
            let right = match (request, reply) {
                (Request::Get(key), Reply::Got(value)) => *value == Some(value_of(*key, 0)),
                (Request::Insert(..), Reply::Inserted(before)) => before.is_none(),
                (Request::Scan { from, limit }, Reply::Scanned(entries)) => {
                    entries.len() <= *limit && entries.first().is_some_and(|(key, _)| key == from)
                }
                (_, Reply::Refused(error)) => return Err(error.clone().into()),
                _ => false,
            };
            wrong += usize::from(!right);
        }
    }
    if wrong == 0 {
        return Ok(());
    }
    Err(LabError::Wrong { index: "spiderman", what: format!("{wrong} of {} answers", requests.len()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn mixes_have_their_shares_and_known_answers() {
        let mut kept = None;
        for (workload, inserts, scans) in [
            (Workload::SpidermanA, 50, 0),
            (Workload::SpidermanB, 100, 0),
            (Workload::SpidermanC, 0, 0),
            (Workload::SpidermanD, 5, 95),
        ] {
            let loaded = Loaded::<NoTrace>::of::<NoTrace>(&mut kept, 5000, &Options::default()).unwrap();
            let Loaded { map, traffic } = loaded;
            let plans = traffic.plan(workload, 2, 5000);
            let requests = plans.concat();
            let share = |is: fn(&Request<u64, u64>) -> bool| {
                requests.iter().filter(|request| is(request)).count() / (requests.len() / 100)
            };
            assert!(share(|request| matches!(request, Request::Insert(..))).abs_diff(inserts) <= 2);
            assert!(share(|request| matches!(request, Request::Scan { .. })).abs_diff(scans) <= 2);
            let lengths: Vec<usize> = requests
                .iter()
                .filter_map(
                    |request| if let Request::Scan { limit, .. } = request { Some(*limit) } else { None },
                )
                .collect();
            let mean = lengths.iter().sum::<usize>() / lengths.len().max(1);
            assert!(lengths.is_empty() || (45..54).contains(&mean), "{mean}");
            plans.iter().for_each(|plan| serve(map, plan).unwrap());
            assert_eq!(map.len() as u64, traffic.next);
            let again = serve(map, &[Request::Get(map.range(..).unwrap().next().unwrap().0 ^ 1)]);
            assert!(matches!(again, Err(LabError::Wrong { .. })), "a key that isn't there has no value");
        }
    }

    #[test]
    fn panels_share_a_tree_until_it_has_grown() {
        let mut kept = None;
        let mut loaded = |records, inserts| {
            let Loaded { map, traffic } =
                Loaded::<NoTrace>::of::<NoTrace>(&mut kept, records, &Options::default()).unwrap();
            let found = map.len();
            traffic.plan(Workload::SpidermanB, 1, inserts).iter().for_each(|plan| serve(map, plan).unwrap());
            found
        };
        assert_eq!(loaded(1000, 100), 1000);
        assert_eq!(loaded(1000, 1), 1100, "a tenth more is nearly the same tree");
        assert_eq!(loaded(1000, 0), 1000, "more is another one");
        assert_eq!(loaded(300, 0), 300, "another size, another tree");
    }
}
