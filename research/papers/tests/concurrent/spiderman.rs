//! Pages and a trie under optimistic lock coupling, one request after the other and in batches. Pages have
//! the smallest possible size, so that leaves are split and merged all the time.

use crate::history::Edit;
use crate::subject::Subject;
use latchless::Direction;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::request::{Reply, Request};
use latchless_papers::spiderman::tree::READ_TRIES;
use latchless_papers::spiderman::trie::{TrieMap, TrieOptions};
use latchless_papers::spiderman::{BatchSize, Options, SpidermanMap};

/// More pages than one operation reads, restarts left out.
const LOOKS_MAX: u64 = 24;

type Map = SpidermanMap<u64, u64>;

fn map() -> Map {
    let options = Options { page_bytes: 128, huge_pages: false, ..Options::default() };
    Map::with_options(&options).expect("one leaf finds room")
}

pub fn one_by_one() -> Box<dyn Subject> {
    Box::new(map())
}

pub fn in_batches() -> Box<dyn Subject> {
    Box::new(InBatches(map()))
}

/// The entry at `key` or the next one in that direction.
fn nearest(map: &Map, key: u64, direction: Direction) -> Option<(u64, u64)> {
    match direction {
        Direction::Forward => map.range(key..).ok()?.next(),
        Direction::Reverse => map.range_reverse(..=key).ok()?.next(),
    }
}

impl Subject for Map {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        nearest(self, key, direction)
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(Map::live_bytes(self))
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        Some((self.stats().restarts, LOOKS_MAX * (u64::from(READ_TRIES) + 1)))
    }
}

/// The same, with every operation in a batch with two others, so that it is served some time after its
/// walk ended.
struct InBatches(Map);

impl InBatches {
    fn serve(&self, key: u64, request: Request<u64, u64>) -> Reply<u64, u64> {
        let mut replies = Vec::with_capacity(3);
        self.0.execute(&[Request::Get(key ^ 1), request, Request::Get(key ^ 2)], &mut replies);
        replies.swap_remove(1)
    }
}

impl Subject for InBatches {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        &self.0
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let request = match edit {
            Edit::Put(value) => Request::Insert(key, value),
            Edit::Remove => Request::Remove(key),
            other => panic!("{other:?} isn't offered"),
        };
        match self.serve(key, request) {
            Reply::Inserted(before) | Reply::Removed(before) => before,
            other => panic!("there is memory: {other:?}"),
        }
    }

    fn look(&self, key: u64) -> Option<u64> {
        match self.serve(key, Request::Get(key)) {
            Reply::Got(value) => value,
            other => panic!("{other:?} is no reply to a get"),
        }
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Reverse {
            return nearest(&self.0, key, direction);
        }
        match self.serve(key, Request::Scan { from: key, limit: 1 }) {
            Reply::Scanned(entries) => entries.first().copied(),
            other => panic!("{other:?} is no reply to a scan"),
        }
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(self.0.live_bytes())
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        // A batch tries three times, and each serves again the requests that were too late.
        self.0.restarts().map(|(restarts, most)| (restarts, 6 * most))
    }
}

type Trie = TrieMap<u64, u64>;

/// A trie with limits.
pub fn trie_with(limit_bytes: Option<usize>, references: u32) -> Trie {
    Trie::with_options(TrieOptions { limit_bytes, huge_pages: false, references })
        .expect("it has no nodes yet")
}

pub fn trie() -> Box<dyn Subject> {
    Box::new(trie_with(None, u32::MAX))
}

pub fn trie_in_batches() -> Box<dyn Subject> {
    Box::new(TrieInBatches(trie_with(None, u32::MAX)))
}

impl Subject for Trie {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(Trie::live_bytes(self))
    }
}

/// The same, every lookup in a batch with two others.
struct TrieInBatches(Trie);

impl Subject for TrieInBatches {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        &self.0
    }

    fn look(&self, key: u64) -> Option<u64> {
        let mut answers = [None; 3];
        let looked = self.0.get_many_in(&[key ^ 1, key, key ^ 2], &mut answers, BatchSize::Of(3));
        looked.expect("the lengths are equal and there is such a size");
        answers[1]
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(self.0.live_bytes())
    }
}
