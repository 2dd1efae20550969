//! Persistent threads that work on borrowed data of their caller.
//!
//! A scope (`std::thread::scope`) starts its threads each time, which costs more than a small batch. A
//! crew's threads wait for the next work instead; they have released all borrows when [`ScopedPool::run`]
//! returns, as with a scope.
//!
//! # Thread safety
//! 1. Work reaches a member through its own channel, and each piece reports once, when it is done and its
//!    borrows are dropped.
//! 2. [`ScopedPool::run`] doesn't return, not even by a panic, before every piece has reported, or is gone
//!    together with the thread that had it. While it waits, only members with work can report.
//! 3. Threads don't exist in a forked child process: there a crew has none, reports that when it is given
//!    work for one, and leaves shared state unchanged.
//! 4. One run at a time: pieces of work may wait for each other, and each has its own thread.

use core::fmt;
use core::mem::{forget, transmute};
use core::panic::AssertUnwindSafe;
use latchless_core::sync::Mutex;
use latchless_core::sync::Origin;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// The message when work is for threads that are in another process.
const THREADS_LEFT_BEHIND: &str = "the crew's threads are in the process that this one was forked from";

/// A piece of work, which may borrow.
pub type ScopedTask<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs pieces of work, in parallel or one after the other.
pub type Run<'r> = &'r dyn Fn(Vec<ScopedTask<'_>>);

/// Does pieces of work one after the other, on the caller's thread.
pub fn one_by_one(jobs: Vec<ScopedTask<'_>>) {
    jobs.into_iter().for_each(|job| job());
}

/// Runs pieces of work in parallel, each on a thread that is started for it.
#[cfg(test)]
pub fn side_by_side(jobs: Vec<ScopedTask<'_>>) {
    std::thread::scope(|scope| jobs.into_iter().for_each(|job| _ = scope.spawn(job)));
}

/// The result of a piece of work.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// A piece of work on its way to a member of the crew.
struct Order {
    job: ScopedTask<'static>,
    done: Sender<Outcome>,
}

struct Member {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Member {
    fn new(name: String, begin: ScopedTask<'static>) -> std::io::Result<Self> {
        let (orders, received) = channel::<Order>();
        let thread = Builder::new().name(name).spawn(move || {
            let mut failed = catch_unwind(AssertUnwindSafe(begin)).err();
            for Order { job, done } in received {
                // The job is dropped within, and with it its borrows, before it is reported.
                let outcome = match failed.take() {
                    Some(panic) => catch_unwind(AssertUnwindSafe(|| drop(job))).and(Err(panic)),
                    None => catch_unwind(AssertUnwindSafe(job)),
                };
                // A thread that doesn't listen any more has nothing lent.
                let _ = done.send(outcome);
            }
        })?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }
}

impl Member {
    /// Gives work to the thread, or back if the thread is gone.
    fn lend(&self, order: Order) -> Result<(), ScopedTask<'static>> {
        match &self.orders {
            Some(orders) => orders.send(order).map_err(|unsent| unsent.0.job),
            None => Err(order.job),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Without a sender the thread's loop ends.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // Dropping the payload of a panic may panic again.
            let _ = thread.join().map_err(forget);
        }
    }
}

/// Threads that wait for work.
///
/// ```
/// use latchless_papers::pi::crew::{ScopedPool, ScopedTask};
/// let crew = ScopedPool::new(2, |_| Box::new(|| ()))?;
/// let mut halves = [0u64; 2];
/// let [left, right] = &mut halves;
/// crew.run(vec![Box::new(|| *left = (1..50).sum()), Box::new(|| *right = (50..=100).sum())]);
/// assert_eq!(halves[0] + halves[1], 5050);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ScopedPool {
    members: Vec<Member>,
    /// The process of the members.
    origin: Origin,
    /// Held while a run is going on.
    running: Mutex<()>,
}

impl ScopedPool {
    /// Creates a crew of `threads` threads, the caller of [`ScopedPool::run`] counted as the first of
    /// them. `begin` returns the first task of each of the others, such as moving to its processor. If
    /// that panics, so does the first run with work for that thread, instead of this work; later work is
    /// done there.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn new(threads: usize, begin: impl Fn(usize) -> ScopedTask<'static>) -> std::io::Result<Self> {
        let member = |nth: usize| Member::new(format!("latchless {nth}"), begin(nth));
        let members = (1..threads.max(1)).map(member).collect::<std::io::Result<_>>()?;
        Ok(Self { members, origin: Origin::here(), running: Mutex::new(()) })
    }

    /// Returns how many pieces of work can run at once.
    pub fn threads(&self) -> usize {
        self.members.len() + 1
    }

    /// Runs every piece of work, each on a separate thread: the first one on the caller's.
    ///
    /// # Panics
    /// When there are more pieces than threads, and when one of them panics, or a thread when it began; and
    /// when the process is a child of the one in which the threads are.
    pub fn run<'a>(&self, jobs: Vec<ScopedTask<'a>>) {
        self.run_at(jobs.into_iter().enumerate().collect());
    }

    /// Does every piece of work on the thread of that number; 0 is the caller's.
    ///
    /// # Panics
    /// If there is no such thread, if two pieces are for one, and if one of them panics, or a thread when
    /// it began; and if the process is a child of the one in which the threads are.
    pub fn run_at<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>) {
        self.assert_threads(&jobs);
        // No code of the caller's runs under the mutex but the jobs', which can't break it.
        let _running = self.running.lock();
        self.run_alone(jobs);
    }

    /// Runs the work unless the crew is busy: then returns it untouched. See [`ScopedPool::run_at`].
    ///
    /// # Errors
    /// The work.
    ///
    /// # Panics
    /// Those of [`ScopedPool::run_at`].
    pub fn try_run_at<'a>(
        &self,
        jobs: Vec<(usize, ScopedTask<'a>)>,
    ) -> Result<(), Vec<(usize, ScopedTask<'a>)>> {
        self.assert_threads(&jobs);
        let Some(_running) = self.running.try_lock() else { return Err(jobs) };
        self.run_alone(jobs);
        Ok(())
    }

    /// Asserts that there are threads for this work, apart from the caller's.
    fn assert_threads(&self, jobs: &[(usize, ScopedTask<'_>)]) {
        let others = jobs.iter().any(|(number, _)| *number > 0);
        assert!(!others || !self.origin.is_inherited(), "{THREADS_LEFT_BEHIND}");
    }

    fn run_alone<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>) {
        let (done, reports) = channel();
        let mut lent = Lent { reports, outstanding: 0, failed: None };
        // After `lent`, and so dropped before it, whatever panics: a thread that waits and has a sender of
        // its own would never notice that all others are gone.
        let done = done;
        let (mut own, mut taken) = (Vec::new(), vec![false; self.threads()]);
        for (number, job) in jobs {
            assert!(number < taken.len() && !taken[number], "thread {number} is not there, or at work");
            taken[number] = true;
            let Some(member) = number.checked_sub(1).map(|nth| &self.members[nth]) else {
                own.push(job);
                continue;
            };
            // SAFETY: only the lifetime of the job's borrows is changed. `lent` waits for this job's
            // report, by a call or when it is dropped, before this function is left in any way; the report
            // comes after the job and everything that it owns is gone. A member's thread doesn't end
            // before it has reported, because it catches panics; if it ends all the same, the order is
            // dropped, and its sender after the job. A job that isn't sent is done or dropped in this
            // function.
            let job = unsafe { transmute::<ScopedTask<'a>, ScopedTask<'static>>(job) };
            match member.lend(Order { job, done: done.clone() }) {
                Ok(()) => lent.outstanding += 1,
                Err(job) => own.push(job),
            }
        }
        drop(done);
        own.into_iter().for_each(|job| job());
        lent.wait();
        if let Some(panic) = lent.failed.take() {
            resume_unwind(panic);
        }
        assert!(lent.outstanding == 0, "a thread of the crew ended with work that it hadn't done");
    }
}

impl Drop for ScopedPool {
    fn drop(&mut self) {
        if self.origin.is_inherited() {
            // Threads that don't exist can't be joined, and may hold what their channels are made of.
            forget(core::mem::take(&mut self.members));
        }
    }
}

/// The borrows of jobs on other threads.
struct Lent {
    reports: Receiver<Outcome>,
    outstanding: usize,
    failed: Option<Box<dyn Any + Send>>,
}

impl Lent {
    /// Waits until every piece has reported. Some are left outstanding if all senders are gone, and with
    /// them their jobs.
    fn wait(&mut self) {
        while self.outstanding > 0
            && let Ok(outcome) = self.reports.recv()
        {
            self.outstanding -= 1;
            match outcome {
                Err(panic) if self.failed.is_none() => self.failed = Some(panic),
                // Only one panic can be resumed, and dropping the payload of another one may panic.
                Err(panic) => forget(panic),
                Ok(()) => {}
            }
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.wait();
        // Another panic is on its way, or this one would have been taken.
        forget(self.failed.take());
    }
}

impl fmt::Debug for ScopedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedPool").field("threads", &self.threads()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::sync::mpsc::{RecvTimeoutError, sync_channel};

    fn crew(threads: usize) -> ScopedPool {
        ScopedPool::new(threads, |_| Box::new(|| ())).unwrap()
    }

    /// Runs an action that must not wait for ever, and returns its panic.
    fn in_time(act: impl FnOnce() + Send + 'static) -> Outcome {
        let (ended, ends) = channel();
        let thread = std::thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(act));
            let _ = ended.send(());
            outcome
        });
        let waited = ends.recv_timeout(Duration::from_secs(20));
        assert_ne!(waited, Err(RecvTimeoutError::Timeout), "it hangs");
        thread.join().unwrap()
    }

    fn message(outcome: Outcome) -> &'static str {
        outcome.unwrap_err().downcast_ref::<&'static str>().copied().unwrap_or("another one")
    }

    #[test]
    fn a_begin_that_panics_reaches_the_caller() {
        let outcome = in_time(|| {
            let crew = ScopedPool::new(2, |_| Box::new(|| panic!("begin"))).unwrap();
            let mut done = [false; 2];
            let [own, other] = &mut done;
            let run = || crew.run(vec![Box::new(|| *own = true), Box::new(|| *other = true)]);
            assert_eq!(message(catch_unwind(AssertUnwindSafe(run))), "begin");
            assert_eq!(done, [true, false]);
            crew.run_at(vec![(1, Box::new(|| done[1] = true))]);
            assert!(done[1], "the thread is there all the same");
        });
        outcome.unwrap();
    }

    #[test]
    fn work_for_a_thread_that_is_gone_is_done_by_the_caller() {
        let outcome = in_time(|| {
            let mut crew = crew(3);
            crew.members[0].orders = Some(channel().0);
            let mut done = [false; 3];
            crew.run(done.iter_mut().map(|done| Box::new(|| *done = true) as ScopedTask<'_>).collect());
            assert_eq!(done, [true; 3]);
        });
        outcome.unwrap();
    }

    #[test]
    fn a_thread_that_ends_with_its_work_ends_the_wait() {
        let outcome = in_time(|| {
            let mut crew = crew(3);
            let (orders, received) = channel();
            crew.members[0].orders = Some(orders);
            let gone = std::thread::spawn(move || drop(received.recv()));
            let mut done = [false; 3];
            let jobs = done.iter_mut().map(|done| Box::new(|| *done = true) as ScopedTask<'_>).collect();
            let panic = message(catch_unwind(AssertUnwindSafe(|| crew.run(jobs))));
            assert_eq!(panic, "a thread of the crew ended with work that it hadn't done");
            assert_eq!(done, [true, false, true]);
            gone.join().unwrap();
        });
        outcome.unwrap();
    }

    /// A value that panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn panics_that_panic_when_they_are_dropped_end_the_run() {
        for own in [false, true] {
            let outcome = in_time(move || {
                let throw = || -> ScopedTask<'_> { Box::new(|| std::panic::panic_any(Bomb)) };
                let first: ScopedTask<'_> = if own { Box::new(|| panic!("own")) } else { Box::new(|| ()) };
                crew(3).run(vec![first, throw(), throw()]);
            });
            match own {
                true => assert_eq!(message(outcome), "own"),
                false => forget(outcome.unwrap_err().downcast::<Bomb>().unwrap()),
            }
        }
    }

    #[test]
    fn work_that_borrows_is_done_when_run_returns() {
        let crew = crew(3);
        let mut sums = [0u64; 3];
        for round in 0..if cfg!(miri) { 5 } else { 200 } {
            let jobs = sums.iter_mut().map(|sum| Box::new(move || *sum += round) as ScopedTask<'_>).collect();
            crew.run(jobs);
        }
        assert!(sums[0] > 0 && sums.iter().all(|&sum| sum == sums[0]));
    }

    #[test]
    fn pieces_of_work_may_wait_for_each_other() {
        let crew = crew(2);
        let ((there, comes), (back, returns)) = (sync_channel(0), sync_channel(0));
        let mut answer = 0;
        let answered = &mut answer;
        let jobs: Vec<ScopedTask<'_>> = vec![
            Box::new(move || {
                there.send(20).unwrap();
                *answered = returns.recv().unwrap();
            }),
            Box::new(move || back.send(comes.recv().unwrap() + 1).unwrap()),
        ];
        crew.run(jobs);
        assert_eq!(answer, 21);
    }

    #[test]
    fn a_panic_waits_for_the_others_and_the_crew_lives_on() {
        let crew = crew(2);
        for panicking in 0..2 {
            let mut done = [false; 2];
            let result = catch_unwind(AssertUnwindSafe(|| {
                let job = |(nth, done): (usize, &'_ mut bool)| {
                    if nth == panicking {
                        panic!("on purpose");
                    }
                    *done = true;
                };
                crew.run(
                    done.iter_mut()
                        .enumerate()
                        .map(|it| Box::new(move || job(it)) as ScopedTask<'_>)
                        .collect(),
                );
            }));
            assert!(result.is_err());
            assert!(done[1 - panicking], "the other piece was done first");
        }
        let mut alive = false;
        crew.run(vec![Box::new(|| ()), Box::new(|| alive = true)]);
        assert!(alive);
    }

    #[test]
    fn a_crew_at_work_says_so() {
        let crew = crew(2);
        crew.run(vec![Box::new(|| {
            let refused = crew.try_run_at(vec![(1, Box::new(|| panic!("not now")))]);
            assert_eq!(refused.map_err(|jobs| jobs.len()), Err(1));
        })]);
        assert!(crew.try_run_at(Vec::new()).is_ok());
    }

    #[test]
    fn a_thread_has_one_piece_of_work() {
        let crew = crew(3);
        let mut done = 0;
        crew.run_at(vec![(2, Box::new(|| done += 1))]);
        assert_eq!(done, 1);
        for wrong in [vec![3], vec![1, 1]] {
            let job = |number| -> (usize, ScopedTask<'_>) { (number, Box::new(|| ())) };
            let run = || crew.run_at(wrong.iter().copied().map(job).collect());
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{wrong:?}");
        }
    }
}
