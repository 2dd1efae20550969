//! Running a test under many schedules.

use crate::bounded::Bounded;
use latchless_core::sync::steps::{Step, on_step};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::{Config, Runner};

/// Returns the number of random schedules: the usual number times the effort in the environment.
fn drawn(usual: usize) -> usize {
    let effort = std::env::var("LATCHLESS_EFFORT").ok().and_then(|effort| effort.parse().ok());
    ((usual as f64 * effort.unwrap_or(1.0f64)) as usize).max(1)
}

thread_local! {
    /// One for each test, and so for all threads of its schedules, which are coroutines of one of the
    /// system's.
    static ANY: AtomicBool = const { AtomicBool::new(false) };
}

/// Lets the scheduler choose the next thread.
fn ask(step: Step) {
    match step {
        // Loading any of shuttle's atomics is a scheduling point.
        Step::Access => _ = ANY.with(|any| any.load(Ordering::SeqCst)),
        Step::Wait => shuttle::thread::yield_now(),
    }
}

/// Runs `threads` to their ends, with a scheduling point at each of their steps.
pub fn together(threads: impl IntoIterator<Item = Box<dyn FnOnce() + Send>>) {
    on_step(Some(ask));
    let threads: Vec<_> = threads.into_iter().map(shuttle::thread::spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a panic ends the test"));
    on_step(None);
}

fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) -> usize {
    // Left by an earlier schedule that failed.
    on_step(None);
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(test)
}

/// Runs a test under every schedule with up to this many preemptions. Returns their number.
pub fn every(preemptions: usize, test: impl Fn() + Send + Sync + 'static) -> usize {
    run(Bounded::new(preemptions), test)
}

/// Runs a test under random schedules: some uniform, some with few preemptions (PCT).
pub fn some(usual: usize, test: impl Fn() + Clone + Send + Sync + 'static) {
    run(RandomScheduler::new_from_seed(usual as u64, drawn(usual)), test.clone());
    run(PctScheduler::new_from_seed(usual as u64, 3, drawn(usual)), test);
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::sync::Word;
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    /// Returns the orders in which two threads take this many steps each.
    fn orders(preemptions: usize, steps: usize) -> BTreeSet<String> {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let all = Arc::clone(&seen);
        every(preemptions, move || {
            let (word, order) = (Arc::new(Word::new(0)), Arc::new(Mutex::new(String::new())));
            let thread = |name: char| {
                let (word, order) = (Arc::clone(&word), Arc::clone(&order));
                Box::new(move || {
                    for _ in 0..steps {
                        word.store_relaxed(1);
                        order.lock().unwrap().push(name);
                    }
                }) as Box<dyn FnOnce() + Send>
            };
            together([thread('a'), thread('b')]);
            all.lock().unwrap().insert(order.lock().unwrap().clone());
        });
        Arc::into_inner(seen).unwrap().into_inner().unwrap()
    }

    #[test]
    fn every_order_is_run_up_to_the_bound() {
        assert_eq!(orders(0, 3), BTreeSet::from(["aaabbb", "bbbaaa"].map(String::from)));
        let one = orders(1, 2);
        assert_eq!(one, BTreeSet::from(["aabb", "abba", "baab", "bbaa"].map(String::from)));
        // Six over three: all orders of three steps each.
        assert_eq!(orders(5, 3).len(), 20);
    }

    #[test]
    #[should_panic(expected = "torn")]
    fn a_reader_that_does_not_look_at_the_version_is_found_out() {
        every(2, || {
            let words = Arc::new([Word::new(0), Word::new(0)]);
            let (written, read) = (Arc::clone(&words), words);
            let write = move || written.iter().for_each(|word| word.store_relaxed(1));
            let look = move || assert_eq!(read[0].load_relaxed(), read[1].load_relaxed(), "torn");
            together([Box::new(write) as Box<dyn FnOnce() + Send>, Box::new(look)]);
        });
    }
}
