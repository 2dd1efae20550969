//! Requests in the form that the timed loops use.

use super::Order;
use latchless_core::base::request::Request;
use latchless_workload::Operation;

/// One thread's requests.
pub enum Stream<L> {
    /// Only gets.
    Gets(Vec<L>),
    /// Gets whose keys depend on the previous answers: [`Operation::Chain`].
    Chain(Vec<L>),
    /// Only inserts or updates.
    Puts(Vec<(L, L)>),
    /// Only removals.
    Takes(Vec<L>),
    /// Any operations, one by one.
    Mixed(Vec<Operation<L>>),
    /// Operations of the kinds that a batch can have, in batches.
    Batched(Vec<Request<L, L>>),
}

/// How requests are passed to the index.
#[derive(Debug, Clone, Copy)]
pub struct Handing {
    /// Whether in batches.
    pub batched: bool,
    /// The order.
    pub order: Order,
    /// The number of requests that are sorted together: a batch of known size, or else all.
    pub together: usize,
}

impl<L: Copy + Ord> Stream<L> {
    /// Creates the stream of `operations`.
    pub fn new(operations: &[Operation<L>], handing: Handing) -> Self {
        let all = |is: fn(&Operation<L>) -> bool| operations.iter().all(is);
        if all(|operation| matches!(operation, Operation::Get(_))) {
            return Self::Gets(handing.arranged(operations.iter().map(key_of).collect(), |&key| key));
        }
        if all(|operation| matches!(operation, Operation::Chain(_))) {
            return Self::Chain(operations.iter().map(key_of).collect());
        }
        if all(|operation| matches!(operation, Operation::Remove(_))) {
            return Self::Takes(handing.arranged(operations.iter().map(key_of).collect(), |&key| key));
        }
        if all(|operation| matches!(operation, Operation::Insert(..))) {
            let entry = |operation: &Operation<L>| match *operation {
                Operation::Insert(key, value) => (key, value),
                _ => unreachable!("inserts alone"),
            };
            return Self::Puts(handing.arranged(operations.iter().map(entry).collect(), |&(key, _)| key));
        }
        let requests = handing.batched.then(|| operations.iter().map(in_batch).collect::<Option<Vec<_>>>());
        match requests.flatten() {
            Some(requests) => Self::Batched(requests.into_iter().flatten().collect()),
            None => Self::Mixed(operations.to_vec()),
        }
    }
}

impl Handing {
    /// Returns the requests in the order of `self.order`; those of equal keys stay in their order.
    fn arranged<T, K: Ord>(self, mut requests: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
        if self.order == Order::Sorted {
            requests.chunks_mut(self.together.max(1)).for_each(|batch| batch.sort_by_key(&key));
        }
        requests
    }
}

/// Returns the key or lane of a request of one key.
fn key_of<L: Copy>(operation: &Operation<L>) -> L {
    match *operation {
        Operation::Get(key)
        | Operation::Chain(key)
        | Operation::Insert(key, _)
        | Operation::Remove(key)
        | Operation::Scan(key, _)
        | Operation::Range(key, _)
        | Operation::Visit(key, _)
        | Operation::Sum(key, _)
        | Operation::SumRange(key, _)
        | Operation::Count(key, _)
        | Operation::ReadModifyWrite(key, _) => key,
    }
}

/// Returns the requests of an operation in a batch: one or two, or `None` if a batch can't have it.
fn in_batch<L: Copy>(operation: &Operation<L>) -> Option<Vec<Request<L, L>>> {
    match *operation {
        Operation::Get(key) => Some(vec![Request::Get(key)]),
        Operation::Insert(key, value) => Some(vec![Request::Insert(key, value)]),
        Operation::Remove(key) => Some(vec![Request::Remove(key)]),
        Operation::Scan(from, length) => Some(vec![Request::Scan { from, limit: length as usize }]),
        Operation::ReadModifyWrite(key, value) => Some(vec![Request::Get(key), Request::Insert(key, value)]),
        Operation::Chain(_)
        | Operation::Range(..)
        | Operation::Visit(..)
        | Operation::Sum(..)
        | Operation::SumRange(..)
        | Operation::Count(..) => None,
    }
}

/// Returns the operation of a request of a batch.
pub fn one_by_one<L: Copy>(request: &Request<L, L>) -> Operation<L> {
    match *request {
        Request::Get(key) => Operation::Get(key),
        Request::Insert(key, value) => Operation::Insert(key, value),
        Request::Remove(key) => Operation::Remove(key),
        Request::Scan { from, limit } => Operation::Scan(from, u32::try_from(limit).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handing(order: Order, together: usize) -> Handing {
        Handing { batched: true, order, together }
    }

    #[test]
    fn batches_are_sorted_each_for_itself_and_equal_keys_stay() {
        let gets: Vec<_> = [5u64, 1, 3, 2, 9, 0, 7].map(Operation::Get).into();
        let Stream::Gets(keys) = Stream::new(&gets, handing(Order::Sorted, 3)) else { panic!("gets") };
        assert_eq!(keys, [1, 3, 5, 0, 2, 9, 7]);
        let Stream::Gets(keys) = Stream::new(&gets, handing(Order::Drawn, 3)) else { panic!("gets") };
        assert_eq!(keys, [5, 1, 3, 2, 9, 0, 7]);
        let puts: Vec<_> =
            [(4u64, 1), (2, 9), (4, 0)].map(|(key, value)| Operation::Insert(key, value)).into();
        let Stream::Puts(entries) = Stream::new(&puts, handing(Order::Sorted, 3)) else { panic!("puts") };
        assert_eq!(entries, [(2, 9), (4, 1), (4, 0)]);
    }
}
