//! Makes everything that a measurement needs from a spec, before it starts.

use crate::byte_keys::{BytesKeySet, BytesKeys};
use crate::distribution::Distribution;
use crate::error::Error;
use crate::key_set::KeySet;
use crate::keys::{KeySpace, Lane};
use crate::mix::{Kind, Workload};
use crate::operation::Operation;
use crate::spec::Spec;
use crate::stream::{draw_kinds, fill_stream};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

/// Everything that a measurement needs.
///
/// With several threads, every answer but a scan's is independent of their interleaving: updates write the
/// value that is stored already, and removals and the gets that accompany them use only keys of their own
/// thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<L> {
    /// Distinct keys that are there at the start, in random order or, of a key set, as they arrive.
    pub loaded: Vec<L>,
    /// One stream of requests for each thread; none for a bulk load.
    pub streams: Vec<Vec<Operation<L>>>,
}

/// Everything that a measurement over byte strings needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytesPlan {
    /// The keys. Those that are there at the start are the first ones.
    pub keys: BytesKeys,
    /// One stream of requests for each thread; none for a bulk load. Where a request of [`Plan`] has a key it
    /// has the key's number.
    pub streams: Vec<Vec<Operation<u64>>>,
}

impl Spec {
    /// Makes the keys and the request streams. Takes time and memory linear in both counts.
    ///
    /// # Errors
    /// [`Error`], for every number that can't be served.
    pub fn plan<L: Lane>(&self) -> Result<Plan<L>, Error> {
        self.check()?;
        let kinds = self.kinds();
        let space = KeySpace::new::<L>(
            self.distribution,
            self.records as u64,
            self.fresh_keys(&kinds) as u64,
            self.seed,
        )?;
        let mut loaded: Vec<L> = (0..self.records as u64).map(|number| space.key(number)).collect();
        loaded.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.seed));
        let in_turn = self.distribution == Distribution::Sequential;
        Ok(Plan { loaded, streams: self.streams(&space, &kinds, in_turn) })
    }

    /// Plans a measurement over the keys of a set: they are loaded, and later inserted, in the order in
    /// which the set's keys arrive. The spec's distribution gives the popularity of keys. Otherwise as
    /// [`Spec::plan`].
    ///
    /// # Errors
    /// Those of [`Spec::plan`] and [`KeySet::draw`]; [`Error::WideKey`] for a set that needs wider keys;
    /// [`Error::KeysTwice`] for a distribution that has keys of its own.
    pub fn plan_over<L: Lane>(&self, set: &KeySet) -> Result<Plan<L>, Error> {
        self.check()?;
        self.check_distribution_for(set)?;
        let kinds = self.kinds();
        let keys = set.draw(self.records, self.fresh_keys(&kinds), self.seed)?;
        if let Some(&key) = keys.all().iter().find(|key| key.checked_shr(L::BITS).unwrap_or(0) > 0) {
            return Err(Error::WideKey { set: set.to_string(), bits: L::BITS, key });
        }
        let has_ranges = [Kind::SumRange, Kind::Count].iter().any(|&kind| self.workload.has(kind));
        let mut ascending = if has_ranges { keys.loaded().to_vec() } else { Vec::new() };
        ascending.sort_unstable();
        let space = KeySpace::of_list(keys.all(), self.records, &ascending);
        let loaded = keys.loaded().iter().map(|&key| L::truncate(key)).collect();
        Ok(Plan { loaded, streams: self.streams(&space, &kinds, true) })
    }

    /// Plans a measurement over byte strings: requests have the numbers of keys, in the order in which they
    /// arrive, and the value under a key is computed from its number ([`crate::value_of`]). Otherwise as
    /// [`Spec::plan_over`].
    ///
    /// # Errors
    /// Those of [`Spec::plan`] and [`BytesKeySet::draw`]; [`Error::KeysTwice`] for a distribution that has
    /// keys of its own.
    pub fn plan_bytes(&self, set: &BytesKeySet) -> Result<BytesPlan, Error> {
        self.check()?;
        self.check_distribution_for(set)?;
        let kinds = self.kinds();
        let fresh = self.fresh_keys(&kinds);
        let numbers =
            KeySpace::new::<u64>(Distribution::Dense, self.records as u64, fresh as u64, self.seed)?;
        let keys = set.draw(self.records, fresh, self.seed)?;
        Ok(BytesPlan { keys, streams: self.streams(&numbers, &kinds, true) })
    }

    /// The kinds of each thread's requests, in order.
    fn kinds(&self) -> Vec<Vec<Kind>> {
        let streams = if self.workload == Workload::Load { 0 } else { self.threads };
        (0..streams).map(|thread| draw_kinds(self, thread)).collect()
    }

    /// How many keys are inserted, or looked up while absent. They are dealt to the threads in rotation, so
    /// the thread with most of them determines the number.
    fn fresh_keys(&self, kinds: &[Vec<Kind>]) -> usize {
        let fresh = |kinds: &Vec<Kind>| kinds.iter().filter(|kind| kind.is_fresh()).count();
        kinds.iter().map(fresh).max().unwrap_or(0) * self.threads
    }

    /// The requests; fresh keys are used in their order or in random order.
    fn streams<L: Lane>(
        &self,
        space: &KeySpace<'_>,
        kinds: &[Vec<Kind>],
        in_turn: bool,
    ) -> Vec<Vec<Operation<L>>> {
        let each = kinds.iter().enumerate();
        each.map(|(thread, kinds)| fill_stream(self, space, kinds, thread, in_turn)).collect()
    }
}
