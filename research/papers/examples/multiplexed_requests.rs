//! Spiderman: a mix of requests whose descents take turns while memory is loaded, and the same executor
//! over a custom index. `cargo run --release -p latchless-papers --example multiplexed_requests`

use latchless_core::base::request::Request;
use latchless_core::tuner::Tuner;
use latchless_papers::common::interleave::{BatchSize, Interleaving, interleave};
use latchless_papers::common::walk::{Aim, Rounds, Step, Walk};
use latchless_papers::spiderman::{Batching, Options, SpidermanMap};

/// Binary search through a sorted array, one probe a step: something that can be walked.
struct Sorted<'a>(&'a [u64]);

impl Walk for Sorted<'_> {
    type Key = u64;
    /// The places that are left.
    type Place = (usize, usize);
    /// The number of smaller keys.
    type Anchor = usize;

    fn enter(&self, _: u64, _: Aim) -> (usize, usize) {
        (0, self.0.len())
    }

    fn step(&self, (from, to): &mut (usize, usize), key: u64) -> Step<usize> {
        if from == to {
            return Step::Landed(Some(*from));
        }
        let middle = *from + (*to - *from) / 2;
        if self.0[middle] < key {
            *from = middle + 1
        } else {
            *to = middle
        }
        // A library would prefetch the next middle here.
        Step::On
    }
}

fn main() -> latchless_papers::Result<()> {
    let map = SpidermanMap::<u64, u64>::with_options(&Options {
        batching: Some(Batching { size: BatchSize::of(16)?, ..Batching::BEST }),
        ..Options::default()
    })?;
    let entries: Vec<(u64, u64)> = (0..200_000).map(|key| (7 * key, key)).collect();
    map.insert_many(&entries, &mut vec![None; entries.len()])?;

    // Requests are served in their order, each on its own; only their descents are led together.
    let requests: Vec<Request<u64, u64>> = (0..1000)
        .flat_map(|nth| [Request::Get(7 * nth), Request::Insert(7 * nth + 1, nth), Request::Remove(7 * nth)])
        .chain([Request::Scan { from: 0, limit: 3 }])
        .collect();
    let mut replies = Vec::new();
    map.execute(&requests, &mut replies);
    println!("{} replies; the last: {:?}", replies.len(), replies.last());
    assert_eq!(map.len(), 200_000);

    // The executor knows nothing of trees.
    let keys: Vec<u64> = (0..1000).map(|key| 2 * key).collect();
    let (tuner, mut ranks) = (Tuner::new(BatchSize::CANDIDATES), Vec::new());
    let how = Interleaving { size: BatchSize::of(8)?, rounds: Rounds::Unfinished, tuner: &tuner, levels: 1 };
    let walk = Sorted(&keys);
    interleave(
        &walk,
        how,
        100,
        |at| (20 * at as u64 + 1, Aim::Look),
        |at, rank| {
            // A single request isn't walked.
            ranks.push(rank.unwrap_or_else(|| keys.partition_point(|&key| key < 20 * at as u64 + 1)));
        },
    );
    println!("ranks of a hundred keys: {:?} …", &ranks[..5]);
    assert!(ranks.iter().enumerate().all(|(at, &rank)| rank == (10 * at + 1).min(1000)));
    Ok(())
}
