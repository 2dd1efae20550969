//! Several processors: the cost of sharing, shown on small structures of touched atomics.

use super::*;
use latchless_core::mem::touch::{Trace, Traced};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// A value in a separate line.
#[repr(align(64))]
#[derive(Default)]
struct Padded(AtomicU64);

/// Lines that start a page, so that they fall into the same cache sets in every run.
#[repr(align(4096))]
struct Table<const LINES: usize>([Padded; LINES]);

impl<const LINES: usize> Table<LINES> {
    fn new() -> Box<Self> {
        Box::new(Self([const { Padded(AtomicU64::new(0)) }; LINES]))
    }

    fn at(&self, nth: usize) -> *const u8 {
        (&raw const self.0[nth]).cast()
    }

    fn read(&self, nth: usize) -> u64 {
        Traced::read(self.at(nth), 8);
        self.0[nth].0.load(SeqCst)
    }

    fn read_all(&self, places: Range<usize>) {
        for nth in places {
            self.read(nth);
        }
    }

    fn write(&self, nth: usize, value: u64) {
        Traced::write(self.at(nth), 8);
        self.0[nth].0.store(value, SeqCst);
    }

    fn count(&self, nth: usize) {
        Traced::exchange(self.at(nth));
        self.0[nth].0.fetch_add(1, SeqCst);
    }

    /// Takes the latch; returns how often it was held by another.
    fn latch(&self, nth: usize) -> u64 {
        let mut held = 0;
        loop {
            Traced::exchange(self.at(nth));
            if self.0[nth].0.swap(1, SeqCst) == 0 {
                return held;
            }
            while self.read(nth) == 1 {
                held += 1;
                Traced::wait(self.at(nth));
            }
        }
    }
}

/// A random number generator that each processor seeds with its own number.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

struct Run {
    counters: Counters,
    cycles: f64,
    machine: Listener,
}

/// Runs `body` with its number on each of that many processors, on a machine like the OLFIT paper's.
/// `warm` runs before and isn't measured.
fn run_warm(parameters: Parameters, warm: impl Fn(usize), body: impl Fn(usize)) -> Run {
    let processors = parameters.system.processors;
    let machine = Listener::new(Machine::new(parameters).unwrap());
    machine.with(Machine::start);
    let on_all = |body: &dyn Fn(usize)| {
        machine.together(
            (0..processors).map(|number| Box::new(move || body(number)) as Worker<'_, ()>).collect(),
        )
    };
    on_all(&warm).unwrap();
    let (before, start) = machine.with(|machine| (machine.counters(), machine.now_slots()));
    on_all(&body).unwrap();
    let (after, end) = machine.with(|machine| (machine.counters(), machine.now_slots()));
    let cycles = machine.with(|machine| machine.cycles(end - start));
    Run { counters: after - before, cycles, machine }
}

fn run(processors: usize, body: impl Fn(usize)) -> Run {
    run_warm(Parameters::olfit(processors), |_| (), body)
}

/// Returns the speedup of that many processors over one.
fn speedup(processors: usize, body: impl Fn(usize)) -> f64 {
    processors as f64 * run(1, &body).cycles / run(processors, &body).cycles
}

#[test]
fn private_data_scales_linearly() {
    let table = Table::<64>::new();
    for processors in [2, 8, 64] {
        let speedup = speedup(processors, |number| {
            for round in 0..1000 {
                table.write(number, table.read(number) + round);
                Traced::work(Work::Probe);
            }
        });
        assert!(speedup > 0.9 * processors as f64, "{speedup} with {processors}");
    }
}

#[test]
fn a_shared_counter_does_not_scale() {
    let table = Table::<1>::new();
    let body = |_: usize| (0..1000).for_each(|_| table.count(0));
    for processors in [2, 8, 64] {
        let speedup = speedup(processors, body);
        assert!(speedup < 0.5, "{speedup} with {processors}");
    }
    let run = run(8, body);
    assert_eq!(run.counters.exchanges, 8000);
    assert!(run.counters.coherence_misses > 6000 && run.counters.transfers > 6000);
}

#[test]
fn a_table_that_is_only_read_scales() {
    let table = Table::<256>::new();
    let speedup = speedup(8, |number| {
        let mut random = Random(number as u64);
        for _ in 0..20_000 {
            table.read(random.below(256));
            Traced::work(Work::Probe);
        }
    });
    assert!(speedup > 7.2, "{speedup}");
    let run = run(8, |_| table.read_all(0..256));
    assert_eq!((run.counters.coherence_misses, run.counters.upgrades), (0, 0));
    assert_eq!(run.counters.memory_accesses, 8 * 256, "each fetches its own copy");
}

/// Eq. (1) of the OLFIT paper: with its assumptions (each node cached by everyone, all processors
/// alike), latching a node misses with probability (p − 1) / p.
#[test]
fn latching_every_visit_misses_as_equation_1_says() {
    let table = Table::<2048>::new();
    let visits = |seed: usize| {
        let mut random = Random(seed as u64);
        for _ in 0..4000 {
            let nth = random.below(2048);
            table.latch(nth);
            table.write(nth, 0);
        }
    };
    for processors in [1, 2, 4, 8, 16] {
        let warm = |number: usize| {
            table.read_all(0..2048);
            visits(number + 100);
        };
        let run = run_warm(Parameters::olfit(processors), warm, visits);
        let measured = run.counters.coherence_misses as f64 / (4000 * processors) as f64;
        let expected = (processors - 1) as f64 / processors as f64;
        assert!((measured - expected).abs() < 0.02, "{measured} with {processors}, not {expected}");
        assert_eq!(run.counters.cold_and_capacity_misses(), 0, "everything was in every cache");
    }
}

#[test]
fn a_latch_lets_one_in_at_a_time_and_the_others_wait() {
    let table = Table::<2>::new();
    let run = run(8, |_| {
        for _ in 0..100 {
            table.latch(0);
            let count = table.read(1);
            Traced::work(Work::Copy(2000));
            table.write(1, count + 1);
            table.write(0, 0);
        }
    });
    assert_eq!(table.read(1), 800, "no increment was lost");
    assert!(run.counters.waits > 400, "{} waits", run.counters.waits);
    let waited = run.counters.wait_slots as f64 / run.counters.slots() as f64;
    assert!(waited > 0.3, "waiting took {waited} of the time");
}

#[test]
fn who_sleeps_too_long_looks_again() {
    let table = Table::<2>::new();
    let run = run(2, |number| {
        if number == 0 {
            table.latch(0);
            for _ in 0..300 {
                Traced::work(Work::Copy(200));
                table.read(1);
            }
            // No processor hears that the latch is released.
            table.0[0].0.store(0, SeqCst);
        } else {
            Traced::work(Work::Copy(100));
            table.latch(0);
        }
    });
    assert!((10..20).contains(&run.counters.waits), "{} waits", run.counters.waits);
}

#[test]
fn a_latch_that_is_never_released_is_an_error() {
    struct Unwound<'a>(&'a AtomicU64, &'a Table<1>);
    impl Drop for Unwound<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            self.1.read(0);
        }
    }
    // Some read it between their tries, some only try.
    for only_try in [false, true] {
        let (table, unwound) = (Table::<1>::new(), AtomicU64::new(0));
        table.0[0].0.store(1, SeqCst);
        let machine = Listener::new(Machine::new(Parameters::olfit(3)).unwrap());
        machine.with(Machine::start);
        let worker = |number: usize| {
            let (table, _unwound) = (&table, Unwound(&unwound, &table));
            move || {
                let _unwound = _unwound;
                if only_try && number > 0 {
                    loop {
                        Traced::exchange(table.at(0));
                        Traced::wait(table.at(0));
                    }
                }
                table.latch(0);
            }
        };
        let workers = (0..3).map(|number| Box::new(worker(number)) as Worker<'_, ()>).collect();
        assert!(matches!(machine.together(workers), Err(LabError::Stuck { .. })));
        assert_eq!(unwound.load(SeqCst), 3, "what workers held was dropped");
    }
}

#[test]
fn who_starves_while_others_go_on_is_not_stuck() {
    let table = Table::<2>::new();
    table.0[0].0.store(1, SeqCst);
    let machine = Listener::new(Machine::new(Parameters::olfit(2)).unwrap());
    machine.with(Machine::start);
    let starves = || table.latch(0);
    // Releases and retakes the latch, again and again: the other one wakes, and is too late.
    let goes_on = || {
        for _ in 0..150_000 {
            Traced::exchange(table.at(0));
            table.count(1);
        }
        table.write(0, 0);
        0
    };
    let workers: Vec<Worker<'_, u64>> = vec![Box::new(starves), Box::new(goes_on)];
    let held = machine.together(workers).unwrap()[0];
    assert!(held > 100_000, "it waited {held} times");
}

#[test]
fn another_node_is_farther_away() {
    let table = Table::<64>::new();
    let parameters = Parameters { granule: Granule::Page, ..Parameters::numa(2, 4) };
    let cycles = |reader: usize| {
        let warm = |number: usize| {
            if number == 3 {
                table.read_all(0..1)
            }
        };
        let body = |number: usize| {
            if number == reader {
                table.read_all(32..64)
            }
        };
        let run = run_warm(parameters, warm, body);
        (run.counters.remote_accesses, run.cycles.round() as u64, run.machine)
    };
    let (near, far) = (parameters.memory_latency_cycles, parameters.system.remote_latency_cycles);
    let (remote, took, _) = cycles(2);
    assert_eq!((remote, took), (0, 32 * near), "processors 2 and 3 share the page's node");
    let (remote, took, machine) = cycles(0);
    assert_eq!((remote, took), (32, 32 * (near + far)));
    machine.with(|machine| {
        machine.clear_caches();
        machine.place(table.at(0).addr()..table.at(0).addr() + 1, 0).unwrap();
        machine.act_as(0).unwrap();
        (32..64).for_each(|nth| machine.read(table.at(nth).addr(), 8));
        assert_eq!(machine.counters().remote_accesses, 32, "the page was moved to the reader's node");
    });
}

#[test]
fn a_node_s_processors_share_a_cache() {
    let table = Table::<8192>::new();
    let parameters = Parameters { granule: Granule::Page, ..Parameters::numa(2, 4) };
    let shared = parameters.l3.unwrap();
    let read_by = |reader: usize| {
        let on = |who: usize| {
            let table = &table;
            move |number: usize| {
                if number == who {
                    table.read_all(0..64)
                }
            }
        };
        let run = run_warm(parameters, on(2), on(reader));
        ([run.counters.shared_hits, run.counters.memory_accesses], run.cycles.round() as u64, run.machine)
    };
    let (counted, took, machine) = read_by(3);
    assert_eq!((counted, took), ([64, 0], 64 * shared.latency_cycles), "processor 2 brought the lines");
    assert_eq!(read_by(0).0, [0, 64], "the other node's processors share another one");
    machine.with(|machine| {
        let line = table.at(7).addr();
        machine.act_as(0).unwrap();
        machine.write(line, 8);
        // The writer's secondary cache evicts it, so that only memory has the written data.
        (64..8192).for_each(|nth| machine.read(table.at(nth).addr(), 8));
        machine.act_as(3).unwrap();
        let before = machine.counters_of(3);
        machine.read(line, 8);
        let more = machine.counters_of(3) - before;
        assert_eq!((more.memory_accesses, more.shared_hits), (1, 0), "another node wrote it");
    });
}

#[test]
fn misses_are_sorted_by_phase_and_by_what_is_read() {
    let table = Table::<64>::new();
    let mut machine = Machine::new(Parameters::spiderman(1)).unwrap();
    machine.start();
    let start = table.at(0).addr();
    machine.sort_misses(Box::new(move |address| usize::from((address - start) % 4096 >= 16)));
    machine.work(Work::Walk);
    machine.read(start + 8, 8);
    machine.prefetch(start + 128, 64);
    machine.read(start + 16, 8);
    machine.work(Work::Serve);
    machine.read(start + 192, 128);
    let found = |phase, kind| machine.misses().unwrap().of(phase, kind);
    let (header, rest) = (found(Phase::Walk, 0), found(Phase::Walk, 1));
    assert_eq!((header.demanded, header.prefetched), (1, 0));
    assert_eq!((rest.demanded, rest.prefetched, rest.stall_slots), (0, 1, 0), "the line was there already");
    assert!(header.stall_slots > 0);
    assert_eq!((found(Phase::Serve, 0), found(Phase::Serve, 1).demanded), (Missed::default(), 2));
}

#[test]
fn the_bus_limits_what_all_get_together() {
    let table = [Table::<4096>::new(), Table::<4096>::new()];
    let narrow = Parameters { memory_interval_cycles: 50, ..Parameters::olfit(8) };
    let body = |number: usize| {
        for nth in 0..1024 {
            table[number / 4].read(number % 4 * 1024 + nth);
        }
    };
    let run = run_warm(narrow, |_| (), body);
    assert_eq!(run.counters.memory_accesses, 8 * 1024);
    let least = 8.0 * 1024.0 * 50.0;
    assert!((least..1.05 * least).contains(&run.cycles), "{} cycles, the bus takes {least}", run.cycles);
}

#[test]
fn an_upgrade_takes_the_line_from_all_readers() {
    let table = Table::<1>::new();
    let run = run_warm(
        Parameters::olfit(8),
        |_| table.read_all(0..1),
        |number| {
            if number == 0 {
                table.write(0, 7);
            } else {
                Traced::work(Work::Copy(1000));
                assert_eq!(table.read(0), 7);
            }
        },
    );
    assert_eq!((run.counters.upgrades, run.counters.coherence_misses, run.counters.transfers), (1, 7, 1));
}

#[test]
fn accesses_happen_in_the_order_of_the_modelled_time() {
    let table = Table::<4>::new();
    let machine = Listener::new(Machine::new(Parameters::olfit(4)).unwrap());
    machine.with(Machine::start);
    let moments = RefCell::new(Vec::new());
    let worker = |number: usize| {
        let (table, moments, machine) = (&table, &moments, &machine);
        Box::new(move || {
            for round in 0..50 {
                Traced::work(Work::Copy(7 * number + round));
                table.count((number + round) % 4);
                let now = machine.with(|machine| machine.counters_of(number).slots());
                moments.borrow_mut().push((now, number));
            }
        }) as Worker<'_, ()>
    };
    machine.together((0..4).map(worker).collect()).unwrap();
    let moments = moments.into_inner();
    assert_eq!(moments.len(), 200);
    assert!(moments.is_sorted_by_key(|&(now, _)| now), "{moments:?}");
    assert!(moments.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() > 100, "no turns were taken");
}

#[test]
fn two_runs_are_the_same_to_the_last_access() {
    let once = |shift: usize| {
        let table = Table::<64>::new();
        let run = run(16, |number| {
            let mut random = Random(number as u64);
            for _ in 0..500 {
                let (one, other) = (shift + random.below(40), shift + random.below(40));
                table.latch(one);
                table.write(one, 0);
                let seen = table.read(other);
                Traced::work(Work::Copy(1 + seen as usize));
                table.count(other);
                table.write(other, 0);
            }
        });
        let each: Vec<Counters> =
            (0..16).map(|number| run.machine.with(|machine| machine.counters_of(number))).collect();
        (each, run.cycles.to_bits())
    };
    assert_eq!(once(0), once(0));
    assert_eq!(once(0), once(11), "the position of a line within its page doesn't matter");
}

#[test]
fn workers_know_their_numbers_and_give_back_results() {
    let machine = Listener::new(Machine::new(Parameters::olfit(4)).unwrap());
    let worker =
        |number: usize| Box::new(move || (number, Traced::worker())) as Worker<'_, (usize, Option<usize>)>;
    let results = machine.together((0..3).map(worker).collect()).unwrap();
    assert_eq!(results, [(0, Some(0)), (1, Some(1)), (2, Some(2))]);
    assert_eq!(machine.together::<()>(Vec::new()).unwrap(), []);
}

#[test]
fn what_cannot_run_together_is_refused() {
    let machine = Listener::new(Machine::new(Parameters::olfit(2)).unwrap());
    let nothing = || Box::new(|| ()) as Worker<'_, ()>;
    let three = machine.together(vec![nothing(), nothing(), nothing()]);
    assert!(matches!(three, Err(LabError::Machine { .. })));
    let inner = machine.clone();
    let within = machine.together(vec![Box::new(move || inner.together::<()>(Vec::new()).is_err())]);
    assert_eq!(within.unwrap(), [true]);
    assert!(machine.with(|machine| machine.act_as(2)).is_err());
    assert!(machine.with(|machine| machine.place(0..1, 1)).is_err());
}

#[test]
fn a_worker_s_panic_reaches_the_caller_and_the_machine_goes_on() {
    let machine = Listener::new(Machine::new(Parameters::olfit(2)).unwrap());
    machine.with(Machine::start);
    let table = Table::<1>::new();
    let workers: Vec<Worker<'_, ()>> = vec![
        Box::new(|| (0..100).for_each(|_| table.count(0))),
        Box::new(|| {
            table.count(0);
            panic!("on purpose")
        }),
    ];
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| machine.together(workers)));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"on purpose"));
    machine.together::<()>(vec![Box::new(|| table.count(0))]).unwrap();
}
