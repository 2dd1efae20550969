//! The assignment of threads to NUMA nodes (§4.3.2, §4.3.3): threads in proportion to the queries of each
//! node, on processors of that node as long as it has some.

use crate::pi::crew::{ScopedPool, ScopedTask};
use crate::pi::mem::topology::{Node, Resident, Topology, current_processor, settle};
use core::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// An executor of parallel pieces of work.
pub trait Hands {
    /// The NUMA node of each seat: of each thread, processor, or whatever does the work.
    fn seats(&self) -> &[usize];

    /// Does every piece of work at the seat of that number, no two at the same.
    fn run<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>);
}

/// Threads that stay, at seats on NUMA nodes. The caller takes the first seat itself.
pub struct Pool {
    seats: Vec<usize>,
    crew: ScopedPool,
    places: Option<Places>,
}

/// The processors of the pool's threads, if the pool controls them.
struct Places {
    nodes: Vec<Node>,
    /// The thread at each seat, once it runs. The first seat is empty.
    threads: Arc<Vec<OnceLock<Resident>>>,
    /// The processor that all threads are kept off.
    kept_clear: Mutex<Option<usize>>,
}

impl Places {
    /// Keeps the threads off the caller's processor. A system whose processors are mostly busy wakes a thread
    /// where the one that wakes it runs, to wait there for some milliseconds.
    fn clear_the_caller_s(&self, seats: &[usize]) {
        // A thread that finds another caller at this has a pool at work anyway.
        let (Some(own), Ok(mut kept_clear)) = (current_processor(), self.kept_clear.try_lock()) else {
            return;
        };
        if *kept_clear == Some(own) {
            return;
        }
        let mut all = true;
        for (thread, &node) in self.threads.iter().zip(seats).skip(1) {
            all &= thread.get().is_some_and(|thread| thread.keep_off(own, &self.nodes[node]));
        }
        *kept_clear = all.then_some(own);
    }
}

impl Pool {
    /// Creates a pool for at most `threads` threads at a time, on a machine of this topology. Each node
    /// has seats for as many of them as it can run at once, so that a busy node can have all of them. With
    /// `pin`, all threads but the caller's stay on their node's processors and allocate their memory
    /// there. The system selects the processor, except that the caller's thread, which isn't bound, keeps
    /// its own.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn new(topology: &Topology, threads: usize, pin: bool) -> std::io::Result<Self> {
        let nodes = topology.nodes();
        let made_up = nodes.iter().all(|node| node.number.is_none());
        let seats: Vec<usize> = match made_up || threads <= 1 {
            // Threads that can run anywhere needn't be kept twice.
            true => (0..threads.max(1)).map(|nth| nth % nodes.len()).collect(),
            false => {
                let of_node =
                    |node: usize| core::iter::repeat_n(node, nodes[node].hardware_threads.min(threads));
                let seats: Vec<usize> = (0..nodes.len()).flat_map(of_node).collect();
                // More threads than processors: they take turns.
                let more = (seats.len()..threads).map(|nth| nth % nodes.len());
                seats.iter().copied().chain(more).collect()
            }
        };
        let threads: Arc<Vec<OnceLock<Resident>>> = Arc::new(seats.iter().map(|_| OnceLock::new()).collect());
        let crew = ScopedPool::new(seats.len(), |number| {
            let (node, threads) = (nodes[seats[number]].clone(), threads.clone());
            Box::new(move || {
                if pin {
                    settle(&node);
                    let _ = threads[number].set(Resident::me());
                }
            })
        })?;
        let places = pin.then(|| Places { nodes: nodes.to_vec(), threads, kept_clear: Mutex::new(None) });
        Ok(Self { seats, crew, places })
    }

    fn keep_callers_cpu_free(&self) {
        if let Some(places) = &self.places {
            places.clear_the_caller_s(&self.seats);
        }
    }

    /// Runs the work unless the pool is in use by another caller: then returns it. See [`Hands::run`].
    ///
    /// # Errors
    /// The work.
    pub fn try_run<'a>(
        &self,
        jobs: Vec<(usize, ScopedTask<'a>)>,
    ) -> Result<(), Vec<(usize, ScopedTask<'a>)>> {
        self.keep_callers_cpu_free();
        self.crew.try_run_at(jobs)
    }
}

impl Hands for Pool {
    fn seats(&self) -> &[usize] {
        &self.seats
    }

    fn run<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>) {
        self.keep_callers_cpu_free();
        self.crew.run_at(jobs);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("seats", &self.seats).finish()
    }
}

/// Returns how many of `threads` threads work for each node, given the number of queries of each: in
/// proportion, rounded by largest remainders; a node with queries gets at least one thread if there are
/// enough. All threads are used, unless there are fewer queries.
///
/// ```
/// use latchless_papers::pi::batch::pool::threads_per_node;
/// // Queries by Zipf over four nodes, θ = 0.5 and θ = 0.9: the paper's own numbers (§6.5).
/// assert_eq!(threads_per_node(&[359, 254, 207, 180], 8), [3, 2, 2, 1]);
/// assert_eq!(threads_per_node(&[456, 244, 169, 131], 8), [4, 2, 1, 1]);
/// ```
pub fn threads_per_node(queries: &[usize], threads: usize) -> Vec<usize> {
    let total: usize = queries.iter().sum();
    let threads = threads.min(total);
    let busy = queries.iter().filter(|&&queries| queries > 0).count();
    if total == 0 || threads < busy {
        // Too few threads for one a node: each node is one thread's, several nodes may be the same's.
        return queries.iter().map(|&queries| usize::from(queries > 0)).collect();
    }
    let exact = |queries: usize| queries as u128 * threads as u128;
    let least = |queries: usize| (exact(queries) / total as u128) as usize;
    let mut given: Vec<usize> =
        queries.iter().map(|&queries| least(queries).max(usize::from(queries > 0))).collect();
    let owed =
        |node: usize, given: &[usize]| exact(queries[node]) as i128 - given[node] as i128 * total as i128;
    loop {
        let sum: usize = given.iter().sum();
        let nodes = (0..queries.len()).filter(|&node| queries[node] > given[node]);
        if sum < threads {
            let Some(next) = nodes.max_by_key(|&node| (owed(node, &given), core::cmp::Reverse(node))) else {
                return given;
            };
            given[next] += 1;
        } else if sum > threads {
            let spare = (0..queries.len()).filter(|&node| given[node] > 1);
            let Some(next) = spare.min_by_key(|&node| owed(node, &given)) else { return given };
            given[next] -= 1;
        } else {
            return given;
        }
    }
}

/// A thread's part of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// The seat that does it.
    pub seat: usize,
    /// The node whose queries they are.
    pub node: usize,
    /// The index of this thread among the node's.
    pub nth: usize,
    /// The number of the node's threads.
    pub of: usize,
}

/// Gives each node's threads a seat: on the node itself as long as it has free ones, else on another
/// (overflow, §4.3.3). A seat has several assignments only if there are fewer seats than nodes with
/// queries; then each of these nodes has one thread.
pub fn assign(per_node: &[usize], threads: usize, seats: &[usize]) -> Vec<Assignment> {
    let threads = threads.clamp(1, seats.len().max(1));
    let mut taken = vec![false; seats.len()];
    let mut assignments = Vec::new();
    let all: usize = per_node.iter().sum();
    for (node, &of) in per_node.iter().enumerate() {
        for nth in 0..of {
            let free =
                |own: bool| (0..seats.len()).find(|&seat| !taken[seat] && (!own || seats[seat] == node));
            let seat = match all > threads {
                true => assignments.len() % threads,
                false => free(true).or_else(|| free(false)).unwrap_or(0),
            };
            if let Some(taken) = taken.get_mut(seat) {
                *taken = true;
            }
            assignments.push(Assignment { seat, node, nth, of });
        }
    }
    assignments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_follow_the_queries() {
        assert_eq!(threads_per_node(&[100, 100, 100, 100], 8), [2, 2, 2, 2]);
        assert_eq!(threads_per_node(&[1000, 1, 1, 1], 8), [5, 1, 1, 1], "nobody is left out");
        assert_eq!(threads_per_node(&[0, 500, 0, 0], 8), [0, 8, 0, 0]);
        assert_eq!(threads_per_node(&[5, 5, 5, 5], 2), [1, 1, 1, 1], "nodes wait for their turn");
        assert_eq!(threads_per_node(&[1, 2], 8), [1, 2], "no thread without a query");
        assert_eq!(threads_per_node(&[0, 0], 8), [0, 0]);
        assert_eq!(threads_per_node(&[usize::MAX / 4; 4], 32), [8; 4]);
        for total in 1..40usize {
            for threads in 1..10 {
                let queries = [total, total / 2, total / 7, 0];
                let given = threads_per_node(&queries, threads);
                assert!(given.iter().zip(&queries).all(|(&given, &queries)| given <= queries));
                let busy = queries.iter().filter(|&&queries| queries > 0).count();
                let sum = given.iter().sum::<usize>();
                assert_eq!(sum, threads.max(busy).min(queries.iter().sum()));
            }
        }
    }

    #[test]
    fn seats_are_on_the_node_until_it_is_full() {
        let seats = [0, 0, 1, 1];
        let of = |per_node: &[usize], threads| -> Vec<(usize, usize)> {
            assign(per_node, threads, &seats).iter().map(|one| (one.node, one.seat)).collect()
        };
        assert_eq!(of(&[2, 2], 4), [(0, 0), (0, 1), (1, 2), (1, 3)]);
        assert_eq!(of(&[1, 3], 4), [(0, 0), (1, 2), (1, 3), (1, 1)], "the third one is offloaded");
        assert_eq!(of(&[1, 1], 1), [(0, 0), (1, 0)], "one thread after the other node");
        assert_eq!(
            assign(&[0, 2], 2, &[0, 0]).iter().map(|one| (one.nth, one.of)).collect::<Vec<_>>(),
            [(0, 2), (1, 2)]
        );
    }

    #[test]
    fn threads_leave_the_caller_s_processor() {
        let system = Topology::of_system();
        let pool = Pool::new(&system, 2, true).unwrap();
        let Some(places) = &pool.places else { return };
        // Until the other thread has registered, if the system lets it.
        for _ in 0..10_000 {
            if places.threads[1].get().is_none() {
                std::thread::yield_now();
            }
        }
        let mut elsewhere = None;
        pool.run(vec![(1, Box::new(|| elsewhere = current_processor()))]);
        let kept_clear = *places.kept_clear.lock().unwrap();
        assert!(kept_clear.is_none_or(|own| Some(own) != elsewhere || places.nodes[0].processors.len() == 1));
    }

    #[test]
    fn a_pool_has_a_seat_for_every_thread() {
        for (topology, threads) in
            [(Topology::of_system(), 3), (Topology::synthetic(4, 2), 8), (Topology::synthetic(4, 2), 1)]
        {
            let pool = Pool::new(&topology, threads, true).unwrap();
            assert!(
                pool.seats().len() >= threads
                    && pool.seats().iter().all(|&node| node < topology.nodes().len())
            );
            let mut done = vec![false; threads];
            let jobs = done
                .iter_mut()
                .enumerate()
                .map(|(at, done)| (at, Box::new(|| *done = true) as ScopedTask<'_>));
            pool.run(jobs.collect());
            assert!(done.iter().all(|&done| done));
        }
    }
}
