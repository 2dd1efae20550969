//! One thread's requests.

use crate::keys::{KeySpace, Lane, value_of};
use crate::mix::{Kind, Lengths};
use crate::operation::Operation;
use crate::ranks::Ranks;
use crate::spec::Spec;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::Normal;

/// A generator for one thread and one purpose, apart from all others of the same seed.
fn generator(spec: &Spec, thread: usize, purpose: u64) -> Xoshiro256PlusPlus {
    let mixed = spec.seed.scatter() ^ ((thread as u64) << 8 | purpose).scatter();
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// The kinds of a thread's requests, by the workload's shares.
pub(crate) fn draw_kinds(spec: &Spec, thread: usize) -> Vec<Kind> {
    let mut random = generator(spec, thread, 1);
    let shares = spec.workload.mix().shares;
    let draw = |_| {
        let mut percent = random.random_range(0..100u32);
        for &(kind, share) in shares {
            if percent < share {
                return kind;
            }
            percent -= share;
        }
        unreachable!("shares add up to 100")
    };
    (0..spec.ops_of(thread)).map(draw).collect()
}

/// A thread's requests, in the order of `kinds`.
pub(crate) fn fill_stream<L: Lane>(
    spec: &Spec,
    space: &KeySpace<'_>,
    kinds: &[Kind],
    thread: usize,
    in_turn: bool,
) -> Vec<Operation<L>> {
    let mut writer = Writer::new(spec, space, kinds, thread, in_turn);
    kinds.iter().enumerate().map(|(at, &kind)| writer.operation(at, kind)).collect()
}

/// A thread's state while it makes its requests.
struct Writer<'a> {
    spec: &'a Spec,
    /// The number of this thread's first key, which no other thread removes.
    own: u64,
    space: &'a KeySpace<'a>,
    random: Xoshiro256PlusPlus,
    ranks: Ranks,
    /// Numbers of the keys that this thread may remove, where the workload removes keys.
    live: Option<Vec<u64>>,
    /// Numbers of keys that aren't loaded, to insert or to miss, the next one last.
    fresh: Vec<u64>,
    /// Numbers of keys inserted, where requests go to the newest.
    newest: Vec<u64>,
    /// The answer of a chain's last get.
    answer: u64,
}

impl<'a> Writer<'a> {
    fn new(spec: &'a Spec, space: &'a KeySpace<'a>, kinds: &[Kind], thread: usize, in_turn: bool) -> Self {
        let (records, threads) = (spec.records as u64, spec.threads as u64);
        let mut random = generator(spec, thread, 2);
        let own = |number: u64| thread as u64 + number * threads;
        let live = spec.workload.has(Kind::Remove).then(|| {
            let mut live: Vec<_> = (0..).map(own).take_while(|&number| number < records).collect();
            // Taken from the end: ascending for a sequential walk, in no order for the others.
            live.reverse();
            live
        });
        let wanted = kinds.iter().filter(|kind| kind.is_fresh()).count() as u64;
        let mut fresh: Vec<_> = (0..wanted).map(|number| records + own(number)).collect();
        if in_turn {
            fresh.reverse();
        } else {
            fresh.shuffle(&mut random);
        }
        let start = records * thread as u64 / threads;
        let ranks = Ranks::new(spec.distribution, records, start);
        Self { spec, own: thread as u64, space, random, ranks, live, fresh, newest: Vec::new(), answer: 0 }
    }

    fn operation<L: Lane>(&mut self, at: usize, kind: Kind) -> Operation<L> {
        match kind {
            Kind::Get => Operation::Get(self.space.key(self.present())),
            Kind::Absent => Operation::Get(self.space.key(self.fresh.pop().unwrap_or_default())),
            Kind::Chain => {
                let key: L = self.space.key(self.present());
                let before = std::mem::replace(&mut self.answer, value_of(key, 0).to_u64());
                Operation::Chain(L::truncate(key.to_u64() ^ before))
            }
            Kind::Scan => {
                let from = self.present();
                Operation::Scan(self.space.key(from), self.length())
            }
            Kind::Range => {
                let from = self.present();
                Operation::Range(self.space.key(from), self.length())
            }
            Kind::Visit => {
                let from = self.present();
                Operation::Visit(self.space.key(from), self.length())
            }
            Kind::Sum => {
                let from = self.present();
                Operation::Sum(self.space.key(from), self.length())
            }
            Kind::SumRange => {
                let (low, high) = self.space.range(self.spec.range_share, &mut self.random);
                Operation::SumRange(low, high)
            }
            Kind::Count => {
                let (low, high) = self.space.range(self.spec.range_share, &mut self.random);
                Operation::Count(low, high)
            }
            Kind::Update => {
                let key = self.space.key(self.present());
                Operation::Insert(key, self.update(key, at))
            }
            Kind::ReadModifyWrite => {
                let key = self.space.key(self.present());
                Operation::ReadModifyWrite(key, self.update(key, at))
            }
            Kind::Insert => {
                let number = self.fresh.pop().unwrap_or_default();
                if let Some(live) = &mut self.live {
                    live.push(number);
                }
                if self.spec.workload.mix().latest {
                    self.newest.push(number);
                }
                let key = self.space.key(number);
                Operation::Insert(key, value_of(key, 0))
            }
            Kind::Remove => Operation::Remove(self.space.key(self.taken())),
        }
    }

    /// A single thread may write any value; several write the value that is stored already, so that no
    /// answer depends on their order.
    fn update<L: Lane>(&self, key: L, at: usize) -> L {
        value_of(key, if self.spec.threads == 1 { at as u64 + 1 } else { 0 })
    }

    /// The number of a key that is there.
    fn present(&mut self) -> u64 {
        if self.spec.workload.mix().latest {
            let age = self.ranks.rank(&mut self.random) as usize;
            let loaded = || (self.spec.records - 1).saturating_sub(age - self.newest.len()) as u64;
            return match self.newest.len().checked_sub(age + 1) {
                Some(at) => self.newest[at],
                None => loaded(),
            };
        }
        let record = self.ranks.record(&mut self.random);
        match &self.live {
            // It has no keys left: it looks up keys that it has removed itself.
            Some(live) if live.is_empty() => self.own,
            Some(live) => live[record as usize % live.len()],
            None => record,
        }
    }

    /// The number of a key that is there, and from now on isn't.
    fn taken(&mut self) -> u64 {
        let record = self.ranks.record(&mut self.random);
        match &mut self.live {
            Some(live) if live.is_empty() => self.own,
            Some(live) => {
                let walk = self.spec.distribution == crate::Distribution::Sequential;
                let at = if walk { live.len() - 1 } else { record as usize % live.len() };
                live.swap_remove(at)
            }
            None => record,
        }
    }

    fn length(&mut self) -> u32 {
        let most = self.spec.scan_length as u64;
        let length = match self.spec.workload.mix().lengths {
            Lengths::Fixed => most,
            Lengths::UpTo => self.random.random_range(1..=most),
            Lengths::Normal { mean, deviation } => match Normal::new(mean, deviation) {
                Ok(normal) => (self.random.sample(normal).round() as u64).max(1),
                Err(_) => mean as u64,
            },
        };
        u32::try_from(length).unwrap_or(u32::MAX)
    }
}
