//! Requests over byte strings.
//!
//! Keys are copied one after the other, in the order of the requests, so reading a request causes no cache
//! miss, whatever the length of the keys.

use latchless_workload::{BytesKeys, Operation, value_of};

/// The kind of a stream's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Gets of present or absent keys.
    Gets,
    /// Dependent gets: each key depends on the previous answer.
    Chain,
    /// Inserts.
    Puts,
    /// Removals.
    Takes,
    /// Scans.
    Scans,
}

/// The requests of a stream, ready for its loop.
#[derive(Debug)]
pub enum Asks<'a> {
    /// Present or absent keys.
    Gets(Vec<&'a [u8]>),
    /// A chain and its steps: a number that, combined with the last answer, gives the place of the key,
    /// and the key's length.
    Chain(&'a Stream, Vec<(u64, usize)>),
    /// Keys and their values.
    Puts(Vec<(&'a [u8], u64)>),
    /// Keys.
    Takes(Vec<&'a [u8]>),
    /// Start keys and numbers of entries.
    Scans(Vec<(&'a [u8], u64)>),
}

/// Requests of one kind.
#[derive(Debug, Clone)]
pub struct Stream {
    /// The kind.
    pub asked: Asked,
    /// The keys, one after the other.
    bytes: Vec<u8>,
    /// The end of each key.
    ends: Vec<usize>,
    /// A number for each key: the value to insert, the number of entries to scan, or, in a chain, the
    /// number that gives the place of the key when combined with the last answer.
    beside: Vec<u64>,
}

impl Stream {
    /// Creates the stream of a workload without mixes. An empty workload gives a stream of gets.
    pub fn new(operations: &[Operation<u64>], keys: &BytesKeys) -> Self {
        let asked = match operations.first() {
            Some(Operation::Chain(_)) => Asked::Chain,
            Some(Operation::Insert(..)) => Asked::Puts,
            Some(Operation::Remove(_)) => Asked::Takes,
            Some(Operation::Scan(..)) => Asked::Scans,
            _ => Asked::Gets,
        };
        let mut stream = Self { asked, bytes: Vec::new(), ends: Vec::new(), beside: Vec::new() };
        // The key number and the answer of the chain's last get.
        let (mut planned, mut answer) = (0, 0);
        for operation in operations {
            let (number, beside) = match *operation {
                Operation::Insert(number, value) => (number, value),
                Operation::Scan(number, length) => (number, u64::from(length)),
                Operation::Get(number) | Operation::Remove(number) => (number, 0),
                Operation::Chain(lane) => {
                    let number = lane ^ planned;
                    let beside = stream.bytes.len() as u64 ^ answer;
                    planned = value_of(number, 0);
                    answer = planned;
                    (number, beside)
                }
                _ => unreachable!("a workload that byte strings don't have"),
            };
            stream.bytes.extend_from_slice(keys.key(number as usize));
            stream.ends.push(stream.bytes.len());
            stream.beside.push(beside);
        }
        stream
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the requests, ready for the loop.
    pub fn asks(&self) -> Asks<'_> {
        match self.asked {
            Asked::Gets => Asks::Gets(self.keys()),
            Asked::Chain => Asks::Chain(self, self.steps()),
            Asked::Puts => Asks::Puts(self.entries()),
            Asked::Takes => Asks::Takes(self.keys()),
            Asked::Scans => Asks::Scans(self.entries()),
        }
    }

    /// Returns the keys.
    pub fn keys(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]).collect()
    }

    /// Returns the keys with their numbers.
    pub fn entries(&self) -> Vec<(&[u8], u64)> {
        self.keys().into_iter().zip(self.beside.iter().copied()).collect()
    }

    /// Returns the steps of a chain.
    pub fn steps(&self) -> Vec<(u64, usize)> {
        self.beside.iter().copied().zip(self.keys().into_iter().map(<[u8]>::len)).collect()
    }

    /// Returns the key of a chain at this place of the bytes, with this length; empty if a wrong answer
    /// led outside.
    #[inline(always)]
    pub fn chained(&self, start: u64, length: usize) -> &[u8] {
        let start = start as usize;
        self.bytes.get(start..start.wrapping_add(length)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_workload::{BytesKeySet, Spec, Workload};

    #[test]
    fn a_chain_leads_from_key_to_key_by_the_answers() {
        let spec = Spec { records: 50, ops: 30, ..Spec::new(Workload::Chain) };
        let plan = spec.plan_bytes(&BytesKeySet::Email).unwrap();
        let stream = Stream::new(&plan.streams[0], &plan.keys);
        assert_eq!((stream.asked, stream.len()), (Asked::Chain, 30));
        let mut last = 0;
        for (key, (place, length)) in stream.keys().into_iter().zip(stream.steps()) {
            assert_eq!(stream.chained(place ^ last, length), key);
            let number = plan.keys.iter().position(|loaded| loaded == key).unwrap();
            last = value_of(number as u64, 0);
        }
        assert_eq!(stream.chained(u64::MAX, 7), b"");
        assert_eq!(stream.chained(1 << 40, 7), b"");
    }

    #[test]
    fn requests_have_their_keys_and_values() {
        let spec = Spec { records: 50, ops: 30, ..Spec::new(Workload::Insert) };
        let plan = spec.plan_bytes(&BytesKeySet::Nested).unwrap();
        let stream = Stream::new(&plan.streams[0], &plan.keys);
        let expected: Vec<_> =
            (50..80).map(|number| (plan.keys.key(number), value_of(number as u64, 0))).collect();
        assert_eq!((stream.asked, stream.entries()), (Asked::Puts, expected));
    }
}
