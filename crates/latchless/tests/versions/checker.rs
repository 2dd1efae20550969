//! A checker of recorded histories, by the method of Elle (Kingsbury and Alvaro, VLDB 2020): transactions
//! append distinct numbers to lists and read lists, so that each read shows the order of all appends before
//! it. From these orders follow the dependencies between transactions, and a cycle of them is something that
//! no serial order of the transactions explains.

use latchless_core::testing::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operation of a transaction, with its answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Append(u64, u64),
    Read(u64, Vec<u64>),
}

/// A transaction that was tried, in the order of its thread.
#[derive(Debug, Clone)]
pub struct Tried {
    pub thread: usize,
    pub operations: Vec<Operation>,
    pub is_committed: bool,
}

/// The reason why a history isn't serializable.
#[derive(Debug, Clone, PartialEq)]
pub enum Anomaly {
    /// Two reads of a list disagree about its order, so an append was lost.
    Incompatible { key: u64 },
    /// A read saw what a transaction appended that wasn't committed.
    Aborted { number: u64 },
    /// A read saw a part of what a transaction appended to one list.
    Intermediate { number: u64 },
    /// Each of these transactions precedes the next one, and the last one the first.
    Cycle { transactions: Vec<usize> },
}

/// The lists of a history.
const LISTS: u64 = 8;
const THREADS: usize = 4;

/// Runs random transactions on several threads, `each` of them on each, then one that reads all lists, and
/// returns what is wrong. `perform` performs a transaction's operations, fills in what they read, and returns
/// whether it was committed.
pub fn anomaly_of(
    each: usize,
    perform: impl Fn(&mut [Operation]) -> bool + Sync,
    read: impl Fn(u64) -> Vec<u64>,
) -> Option<Anomaly> {
    let (perform, numbers, history) = (&perform, AtomicU64::new(1), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (numbers, history) = (&numbers, &history);
            scope.spawn(move || {
                let mut rng = Rng(thread as u64 + 7);
                for _ in 0..each {
                    let operation = |_| match (rng.next() % 2, rng.next() % LISTS) {
                        (0, key) => Operation::Append(key, numbers.fetch_add(1, Ordering::Relaxed)),
                        (_, key) => Operation::Read(key, Vec::new()),
                    };
                    let mut operations: Vec<_> = (0..4).map(operation).collect();
                    let is_committed = perform(&mut operations);
                    history.lock().unwrap().push(Tried { thread, operations, is_committed });
                }
            });
        }
    });
    let all = (0..LISTS).map(|key| Operation::Read(key, read(key)));
    let mut history = history.into_inner().unwrap();
    history.push(Tried { thread: THREADS, operations: all.collect(), is_committed: true });
    anomaly(&history)
}

/// Looks for an anomaly. The last transaction has to read every list.
pub fn anomaly(history: &[Tried]) -> Option<Anomaly> {
    let mut writers = HashMap::new();
    let mut last_appends = HashSet::new();
    for (at, tried) in history.iter().enumerate() {
        let mut last = BTreeMap::new();
        for operation in &tried.operations {
            if let &Operation::Append(key, number) = operation {
                writers.insert(number, at);
                last.insert(key, number);
            }
        }
        last_appends.extend(last.into_values());
    }
    let committed = || history.iter().enumerate().filter(|(_, tried)| tried.is_committed);
    let reads = || {
        committed().flat_map(|(at, tried)| {
            tried.operations.iter().filter_map(move |operation| match operation {
                Operation::Read(key, list) => Some((at, *key, list)),
                Operation::Append(..) => None,
            })
        })
    };
    let mut orders: BTreeMap<u64, &Vec<u64>> = BTreeMap::new();
    for (_, key, list) in reads() {
        let order = orders.entry(key).or_insert(list);
        if list.len() > order.len() {
            *order = list;
        }
    }
    let mut edges = vec![HashSet::new(); history.len()];
    for (at, key, list) in reads() {
        let order = orders[&key];
        if !order.starts_with(list) {
            return Some(Anomaly::Incompatible { key });
        }
        if let Some(&number) = list.iter().find(|number| !history[writers[number]].is_committed) {
            return Some(Anomaly::Aborted { number });
        }
        if let Some(&number) = list.last() {
            if writers[&number] != at && !last_appends.contains(&number) {
                return Some(Anomaly::Intermediate { number });
            }
            edges[writers[&number]].insert(at);
        }
        if let Some(next) = order.get(list.len()) {
            edges[at].insert(writers[next]);
        }
    }
    for order in orders.values() {
        for pair in order.windows(2) {
            edges[writers[&pair[0]]].insert(writers[&pair[1]]);
        }
    }
    // A thread's transactions take effect in its order.
    let mut last_of: HashMap<usize, usize> = HashMap::new();
    for (at, tried) in committed() {
        if let Some(before) = last_of.insert(tried.thread, at) {
            edges[before].insert(at);
        }
    }
    for (at, edges) in edges.iter_mut().enumerate() {
        edges.remove(&at);
    }
    cycle(&edges).map(|transactions| Anomaly::Cycle { transactions })
}

/// A cycle of a graph, by a depth-first search without recursion.
fn cycle(edges: &[HashSet<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; edges.len()];
    for start in 0..edges.len() {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut next = Some(start).filter(|&start| states[start] == State::New);
        loop {
            if let Some(at) = next.take() {
                states[at] = State::Open;
                path.push((at, edges[at].iter().copied().collect()));
            }
            let Some((at, left)) = path.last_mut() else { break };
            match left.pop() {
                None => {
                    states[*at] = State::Done;
                    path.pop();
                }
                Some(to) if states[to] == State::Open => {
                    let from = path.iter().position(|&(at, _)| at == to).expect("an open one is on the path");
                    return Some(path[from..].iter().map(|&(at, _)| at).collect());
                }
                Some(to) => next = Some(to).filter(|&to| states[to] == State::New),
            }
        }
    }
    None
}

/// A committed transaction of its own thread.
fn tried(thread: usize, operations: &[Operation]) -> Tried {
    Tried { thread, operations: operations.to_vec(), is_committed: true }
}

#[test]
fn the_checker_finds_each_anomaly_and_accepts_a_serial_history() {
    use Operation::{Append, Read};
    let read = |key, list: &[u64]| Read(key, list.to_vec());
    let end = |one: &[u64], two: &[u64]| tried(9, &[read(1, one), read(2, two)]);
    let found = |history: &[Tried]| anomaly(history);
    let serial = [
        tried(0, &[Append(1, 10), Append(2, 20)]),
        tried(1, &[read(1, &[10]), Append(1, 11)]),
        end(&[10, 11], &[20]),
    ];
    assert_eq!(found(&serial), None);
    let lost = [tried(0, &[read(1, &[]), Append(1, 10)]), tried(1, &[read(1, &[10])]), end(&[11], &[])];
    let lost = [&lost[..], &[tried(2, &[Append(1, 11)])]].concat();
    assert_eq!(found(&lost), Some(Anomaly::Incompatible { key: 1 }));
    let mut aborted = tried(0, &[Append(1, 10)]);
    aborted.is_committed = false;
    assert_eq!(found(&[aborted, end(&[10], &[])]), Some(Anomaly::Aborted { number: 10 }));
    let twice = [tried(0, &[Append(1, 10), Append(1, 11)]), tried(1, &[read(1, &[10])]), end(&[10, 11], &[])];
    assert_eq!(found(&twice), Some(Anomaly::Intermediate { number: 10 }));
    let skew = [
        tried(0, &[read(1, &[]), Append(2, 20)]),
        tried(1, &[read(2, &[]), Append(1, 10)]),
        end(&[10], &[20]),
    ];
    assert!(matches!(found(&skew), Some(Anomaly::Cycle { transactions }) if transactions.len() == 2));
    let fractured = [
        tried(0, &[Append(1, 10), Append(2, 20)]),
        tried(1, &[read(1, &[10]), read(2, &[])]),
        end(&[10], &[20]),
    ];
    assert!(matches!(found(&fractured), Some(Anomaly::Cycle { .. })));
    let backwards = [tried(0, &[read(1, &[10])]), tried(0, &[read(1, &[])]), tried(1, &[Append(1, 10)])];
    assert!(matches!(found(&backwards), Some(Anomaly::Cycle { .. })), "a thread that goes back in time");
}
