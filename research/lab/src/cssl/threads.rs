//! The future work of §7: threads, between queries and inside one; and a rebuild concurrent with lookups.

use super::data::{Spread, present, ranges};
use super::race::{Point, Queries, native};
use super::who::{Ask, Who, entries};
use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::row::Row;
use crate::runner::median;
use latchless_core::base::index::Sum;
use latchless_papers::cssl::{CsslMap, Member, Options};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const THREADS: usize = 2;
/// Many, since each takes milliseconds.
const ROUNDS: Scaled<usize> = Scaled::new(41, 3);

pub(super) const THREADS_TOGETHER: Experiment = Experiment {
    name: "threads",
    title: "Two threads: independent ranges, and one range of 10 % that is summed, folded or copied (§7)",
    remarks: &[
        "Times of one thread over times of two. Two threads take as many processors; with one, expect 1.",
    ],
    body: Body::Timed { x_label: "threads", rows: threads },
};

fn threads(scale: Scale) -> Result<Vec<Row>> {
    let keys = Spread::Dense.keys(KEYS.at(scale));
    let mut all = Vec::new();
    let point = |panel| Point { panel, x: THREADS as f64, scale };
    let count = Scaled::new(20_000, 64).at(scale);
    let wanted = ranges(&keys, keys.len() as u32 / 100, count);
    for ask in [Ask::Along, Ask::Descents] {
        let who = Who::Cssl(Member::Cssl5, ask, None);
        let Some(loaded) = who.load(&keys)? else { continue };
        let time = |threads: usize| {
            let share = wanted.len() / threads;
            let start = Instant::now();
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (loaded, wanted) = (&loaded, &wanted);
                    scope.spawn(move || {
                        let own = Queries::Ranges(wanted);
                        std::hint::black_box(own.ask(&**loaded, thread * share, (thread + 1) * share));
                    });
                }
            });
            start.elapsed().as_nanos() as f64
        };
        all.push(native(times_one(who.name(), scale, &time), point("independent ranges of 1 %")));
    }
    all.extend(one_range(&keys, point("one range"))?);
    Ok(all)
}

/// One range of a tenth of the keys, read by one thread and by two.
fn one_range(keys: &[u32], at: Point) -> Result<Vec<Row>> {
    let mut map = CsslMap::with_options(&Member::Cssl5.options(&Options::default()))?;
    map.bulk_load(&entries(keys))?;
    let mut all = Vec::new();
    let low = keys[keys.len() / 3];
    let span = low..low + keys.len() as u32 / 10;
    let alone = map.sum(span.clone())?;
    let wrong = |what: &str, threads| LabError::Wrong {
        index: "cssl5",
        what: format!("{what} by {threads} threads differs from one by one"),
    };
    let sum = |threads: usize| -> Result<Sum> { Ok(map.sum_on_threads(span.clone(), threads)?) };
    let fold = |threads: usize| -> Result<Sum> {
        let one = |so_far: Sum, _: u32, value: u32| Sum {
            entries: so_far.entries + 1,
            total: so_far.total + u64::from(value),
        };
        let join = |left: Sum, right: Sum| Sum {
            entries: left.entries + right.entries,
            total: left.total + right.total,
        };
        Ok(map.fold_on_threads(span.clone(), threads, Sum::default, one, join)?)
    };
    let copy = |threads: usize| -> Result<Sum> {
        let copied = map.copy_on_threads(span.clone(), threads)?;
        let ends = copied.first().zip(copied.last()).map(|(first, last)| [first.0, last.0]);
        // Only a check that is cheap compared with the copy: the number and the keys of the entries.
        let right = copied.len() == alone.entries && ends.is_some_and(|[first, _]| first == span.start);
        if right { Ok(alone) } else { Err(wrong("a copy", threads)) }
    };
    type Work<'a> = &'a dyn Fn(usize) -> Result<Sum>;
    let works: [(&str, Work<'_>); 3] =
        [("sum of 10 %", &sum), ("fold of 10 %", &fold), ("copy of 10 %", &copy)];
    for (name, work) in works {
        for threads in [1, THREADS] {
            if work(threads)? != alone {
                return Err(wrong(name, threads));
            }
        }
        let time = |threads: usize| {
            let start = Instant::now();
            let _ = std::hint::black_box(work(threads));
            start.elapsed().as_nanos() as f64
        };
        all.push(native(times_one(name, at.scale, &time), at));
    }
    Ok(all)
}

/// Returns the speedup of two threads over one: medians of rounds that alternate.
fn times_one(series: &str, scale: Scale, time: &dyn Fn(usize) -> f64) -> Row {
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS.at(scale) {
        one.push(time(1));
        two.push(time(THREADS));
    }
    let (one, two) = (median(&mut one), median(&mut two));
    let row = Row::new(series, THREADS as f64, "times one thread", one / two);
    Row { cost: Some(two), cost_unit: "ns in all".to_string(), ..row }
}

pub(super) const REBUILD: Experiment = Experiment {
    name: "rebuild",
    title: "Lookups while another thread rebuilds the lanes over 16M keys, and while it does nothing",
    remarks: &[
        "Both times another thread is running: the rebuild, or a loop that touches no memory. Two threads \
                on one processor show that processor's time slices.",
    ],
    body: Body::Timed { x_label: "percentile of lookups", rows: rebuild },
};

fn rebuild(scale: Scale) -> Result<Vec<Row>> {
    let keys = Spread::Sparse.keys(KEYS.at(scale));
    let wanted = present(&keys, 1 << 16);
    let mut all = Vec::new();
    for member in [Member::Cssl5, Member::Cssl] {
        let mut map = CsslMap::with_options(&member.options(&Options::default()))?;
        map.bulk_load(&entries(&keys))?;
        let start = Instant::now();
        map.rebuild()?;
        let alone = start.elapsed();
        let at = |x| Point { panel: member.name(), x, scale };
        let row = Row::new("a rebuild alone", 100.0, "ms", alone.as_secs_f64() * 1e3);
        all.push(native(row, at(100.0)));
        let during = beside(&map, &wanted, || map.rebuild().map(|_| ()))?;
        let without = beside(&map, &wanted, || {
            let start = Instant::now();
            while start.elapsed() < alone {
                std::hint::spin_loop();
            }
            Ok(())
        })?;
        for (series, mut times) in [("during a rebuild", during), ("without", without)] {
            times.sort_unstable();
            for percentile in [50.0, 99.0, 99.9, 99.99, 100.0] {
                let place = ((times.len() - 1) as f64 * percentile / 100.0).round() as usize;
                let time = times.get(place).map_or(0.0, |time| time.as_nanos() as f64);
                all.push(native(Row::new(series, percentile, "ns a lookup", time), at(percentile)));
            }
        }
    }
    Ok(all)
}

/// Returns the time of each lookup while another thread does some work.
fn beside(
    map: &CsslMap<u32, u32>,
    wanted: &[u32],
    work: impl FnOnce() -> latchless::Result<()> + Send,
) -> Result<Vec<Duration>> {
    let over = AtomicBool::new(false);
    let mut times = Vec::with_capacity(1 << 22);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work();
            over.store(true, Ordering::Release);
            done
        });
        for &key in wanted.iter().cycle() {
            let start = Instant::now();
            std::hint::black_box(map.get(key));
            times.push(start.elapsed());
            if over.load(Ordering::Acquire) {
                break;
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(times)
}
