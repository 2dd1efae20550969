//! The assignment of queries to threads (§3.2.2, Algorithm 3). Neighbouring threads exchange messages
//! about the start of their queries, and pass on queries, and the nodes with them, until no node has two
//! owners.
//!
//! The sorted batch is divided evenly, each thread finds the anchors (interceptions) of its queries, and
//! then
//! 1. sends its first anchor to its left neighbour, and receives its right neighbour's;
//! 2. receives its share from the left: the queries whose anchor is in its first segment, the remainders
//!    of ranges without a limit that continue here, and *all of the list from that segment on*, as a
//!    `&mut`;
//! 3. passes the right neighbour's share on, with the `&mut` to the list from there on.
//!
//! So the list itself moves from thread to thread, and each keeps its part: the compiler checks that no
//! node has two owners. The handover proceeds in the order of the threads, because a range may cover
//! several of them (§3.2.5). The extent of a range with a limit is known only later: its remainder is
//! passed by [`Carry`](crate::pi::batch::carry::Carry).

use crate::pi::batch::mailbox::{Receiver, Sender, mailbox};
use crate::pi::segments::{Anchor, SegmentsMut};
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// The rest of a range whose beginning another thread executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<B> {
    /// The query's number in the caller's batch.
    pub number: u32,
    /// The end of the range, included.
    pub high: B,
    /// The most entries that the query still returns.
    pub limit: usize,
}

impl<B> Piece<B> {
    /// Returns whether the limit can end the range before its last key does.
    pub fn is_limited(&self) -> bool {
        self.limit < usize::MAX
    }
}

/// A thread's share of a batch.
#[derive(Debug)]
pub struct Share<'a, B: Bits> {
    /// The positions among the sorted queries.
    pub queries: Range<usize>,
    /// Their anchors.
    pub anchors: Vec<Anchor>,
    /// Ranges without a limit that continue here, from the first segment on.
    pub pieces: Vec<Piece<B>>,
    /// The nodes.
    pub list: SegmentsMut<'a, B>,
}

/// The message that a thread sends to its right neighbour.
struct Handed<'a, B: Bits> {
    anchors: Vec<Anchor>,
    pieces: Vec<Piece<B>>,
    list: SegmentsMut<'a, B>,
}

/// A thread's place in the row: its ends of the messages' ways.
pub struct Neighbours<'a, B: Bits> {
    /// The whole list and the ranges without a limit that continue in it, for the first thread.
    list: Option<(SegmentsMut<'a, B>, Vec<Piece<B>>)>,
    first_to_left: Option<Sender<Anchor>>,
    first_from_right: Option<Receiver<Anchor>>,
    from_left: Option<Receiver<Handed<'a, B>>>,
    to_right: Option<Sender<Handed<'a, B>>>,
}

/// A row of `threads` threads that share this list among themselves, and the ranges without a limit that
/// come from before it.
pub fn row<B: Bits>(
    list: SegmentsMut<'_, B>,
    pieces: Vec<Piece<B>>,
    threads: usize,
) -> Vec<Neighbours<'_, B>> {
    let unconnected = || Neighbours {
        list: None,
        first_to_left: None,
        first_from_right: None,
        from_left: None,
        to_right: None,
    };
    let mut row: Vec<Neighbours<'_, B>> = (0..threads).map(|_| unconnected()).collect();
    for right in 1..threads {
        let ((first_to_left, first_from_right), (to_right, from_left)) = (mailbox(), mailbox());
        (row[right].first_to_left, row[right].from_left) = (Some(first_to_left), Some(from_left));
        (row[right - 1].first_from_right, row[right - 1].to_right) = (Some(first_from_right), Some(to_right));
    }
    if let Some(first) = row.first_mut() {
        first.list = Some((list, pieces));
    }
    row
}

/// Returns which of a thread's queries, by their ascending anchors, it keeps when its right neighbour's
/// first anchor is this one: those before that anchor's segment.
pub fn staying(anchors: &[Anchor], right: Anchor) -> usize {
    anchors.partition_point(|anchor| anchor.segment() < right.segment())
}

impl<'a, B: Bits> Neighbours<'a, B> {
    /// Determines, together with the neighbours, this thread's share. `own` are the sorted queries that it
    /// has looked up, with their anchors; every thread has some. `range_at` returns the end of a sorted
    /// query that is a range. `staying` is [`staying`], except in tests of wrong ones.
    ///
    /// # Panics
    /// When a neighbour has panicked.
    pub fn redistribute<T: Trace>(
        self,
        own: Range<usize>,
        anchors: Vec<Anchor>,
        range_at: impl Fn(usize) -> Option<Piece<B>>,
        staying: fn(&[Anchor], Anchor) -> usize,
    ) -> Share<'a, B> {
        const GONE: &str = "a neighbour has panicked";
        assert_eq!(own.len(), anchors.len());
        if let (Some(to_left), Some(&first)) = (self.first_to_left, anchors.first()) {
            to_left.send::<T>(first);
        }
        let right_first = self.first_from_right.map(|from| from.receive::<T>().expect(GONE));
        let (mut queries, mut anchors, mut given) = (own, anchors, self.list);
        if let Some(from_left) = self.from_left {
            let mut handed = from_left.receive::<T>().expect(GONE);
            queries.start -= handed.anchors.len();
            handed.anchors.append(&mut anchors);
            (anchors, given) = (handed.anchors, Some((handed.list, handed.pieces)));
        }
        let (mut list, pieces) = given.expect("the first thread has the list, the others get it");
        if let (Some(to_right), Some(first)) = (self.to_right, right_first) {
            let stay = staying(&anchors, first);
            let handed = anchors.split_off(stay);
            queries.end = queries.start + stay;
            let (kept, rest) = list.split(first.segment());
            list = kept;
            let goes_on = |piece: &Piece<B>| {
                !piece.is_limited() && rest.first_key().is_some_and(|key| piece.high >= key)
            };
            let ranges = queries.clone().filter_map(range_at);
            let going_on = pieces.iter().copied().chain(ranges).filter(goes_on).collect();
            to_right.send::<T>(Handed { anchors: handed, pieces: going_on, list: rest });
        }
        Share { queries, anchors, pieces, list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pi::mem::budget::Budget;
    use crate::pi::routed::{Heights, Source};
    use crate::pi::segments::{Finger, Form, Segments};
    use core::panic::AssertUnwindSafe;
    use latchless_core::mem::touch::NoTrace;
    use std::panic::catch_unwind;

    fn list() -> Segments<u64> {
        let run = |jobs: Vec<crate::pi::crew::ScopedTask<'_>>| jobs.into_iter().for_each(|job| job());
        Segments::from_sorted(
            200,
            &|nth| (nth as u64 * 10, 0),
            Form::new(8, 25, Heights::new(2)).unwrap(),
            (1, &run),
        )
        .unwrap()
    }

    fn anchors_of(list: &Segments<u64>, keys: &[u64]) -> Vec<Anchor> {
        let mut talls = Vec::new();
        list.parts(1).each(0, |key, _, word| talls.push((key, Anchor::from_word(word))));
        let anchor = |key| talls.iter().rev().find(|tall| tall.0 <= key).map_or(Anchor::HEAD, |tall| tall.1);
        keys.iter().map(|&key| anchor(key)).collect()
    }

    type Rule = fn(&[Anchor], Anchor) -> usize;

    /// Adds one to the values of these keys, on that many threads; returns the owner of each key.
    fn add_one(list: &mut Segments<u64>, keys: &[u64], threads: usize, rule: Rule) -> Vec<Vec<u64>> {
        let anchors = anchors_of(list, keys);
        let budget = Budget::new(None, 0);
        let shares: Vec<_> = row(list.all(), Vec::new(), threads)
            .into_iter()
            .enumerate()
            .map(|(nth, place)| {
                let own = keys.len() * nth / threads..keys.len() * (nth + 1) / threads;
                (place, own.clone(), anchors[own].to_vec())
            })
            .collect();
        let work = |(place, own, anchors): (Neighbours<'_, u64>, _, _)| {
            let mut share = place.redistribute::<NoTrace>(own, anchors, |_| None, rule);
            let mut finger = Finger::default();
            let own = &keys[share.queries.clone()];
            for (&key, &anchor) in own.iter().zip(&share.anchors) {
                let before = share.list.get::<NoTrace>(anchor, &mut finger, key).unwrap();
                share.list.put::<NoTrace>(anchor, &mut finger, (key, before + 1), &budget).unwrap();
            }
            own.to_vec()
        };
        std::thread::scope(|scope| {
            let work = &work;
            let spawn = |share| scope.spawn(move || work(share));
            let handles: Vec<_> = shares.into_iter().map(spawn).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, _>| handle.join();
            handles.into_iter().map(join).map(|ended| ended.expect("an owner keeps to its nodes")).collect()
        })
    }

    /// Batches of all shapes: spread, all one key, all in one segment, and so on.
    fn batches() -> Vec<Vec<u64>> {
        vec![
            (0..100).map(|nth| nth * 20).collect(),
            vec![770; 24],
            (0..24).map(|nth| 500 + nth / 8 * 10).collect(),
            vec![0, 0, 0, 10, 10, 1990, 1990, 1990],
            (0..200).flat_map(|nth| [nth * 10; 3]).collect(),
        ]
    }

    #[test]
    fn every_query_is_executed_once_and_no_segment_by_two() {
        // An interpreter sees two threads share a batch of one key, and of one segment.
        let (skipped, taken) = if cfg!(miri) { (1, 2) } else { (0, usize::MAX) };
        for keys in batches().into_iter().skip(skipped).take(taken) {
            for &threads in if cfg!(miri) { &[2][..] } else { &[1, 2, 3, 8] } {
                let mut list = list();
                let shares = add_one(&mut list, &keys, threads, staying);
                assert_eq!(shares.concat(), keys, "each query once, in order");
                let owned = |keys: &Vec<u64>| -> Vec<usize> {
                    let mut segments: Vec<_> = anchors_of(&list, keys).iter().map(|a| a.segment()).collect();
                    segments.dedup();
                    segments
                };
                let mut all = shares.iter().flat_map(owned).collect::<Vec<_>>();
                let count = all.len();
                all.dedup();
                assert_eq!(all.len(), count, "a segment was shared");
                for (&key, &anchor) in keys.iter().zip(&anchors_of(&list, &keys)) {
                    let times = keys.iter().filter(|&&other| other == key).count() as u64;
                    assert_eq!(list.get::<NoTrace>(anchor, key), Some(times), "{key} on {threads} threads");
                }
            }
        }
    }

    /// The mutation: equal interceptions may part. Then a thread executes queries whose nodes went to its
    /// neighbour; as the nodes went with their `&mut`, that can't become a race: it panics.
    #[test]
    fn interceptions_that_part_are_found_out() {
        let keys = vec![770; 24];
        let parted = catch_unwind(AssertUnwindSafe(|| {
            add_one(&mut list(), &keys, 2, |anchors, _| anchors.len());
        }));
        assert!(parted.is_err(), "two owners of one node");
    }

    #[test]
    fn ranges_go_on_where_their_keys_are() {
        let mut list = list();
        let keys = [0, 5, 500, 700, 1500, 1700];
        let highs = [1999, 40, 600, 1600, 1500, 1999];
        let anchors = anchors_of(&list, &keys);
        let range_at = |at: usize| Some(Piece { number: at as u32, high: highs[at], limit: usize::MAX });
        let row = row(list.all(), Vec::new(), 3);
        let found: Vec<Vec<(u32, u64)>> = std::thread::scope(|scope| {
            let handles: Vec<_> = row
                .into_iter()
                .enumerate()
                .map(|(nth, place)| {
                    let own = 2 * nth..2 * nth + 2;
                    let anchors = anchors[own.clone()].to_vec();
                    scope.spawn(move || {
                        let share = place.redistribute::<NoTrace>(own, anchors, range_at, staying);
                        let mut all = Vec::new();
                        let mut add = |number: u32, anchor, low, high| {
                            let mut found = Vec::new();
                            share.list.range::<NoTrace>(anchor, (low, high), usize::MAX, &mut found);
                            all.extend(found.into_iter().map(|entry| (number, entry.0)));
                        };
                        for piece in &share.pieces {
                            add(piece.number, share.list.first_anchor(), 0, piece.high);
                        }
                        for (at, &anchor) in share.queries.clone().zip(&share.anchors) {
                            add(at as u32, anchor, keys[at], highs[at]);
                        }
                        all
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        for (number, (&low, &high)) in keys.iter().zip(&highs).enumerate() {
            let joined = found.iter().flatten().filter(|found| found.0 == number as u32).map(|found| found.1);
            let expected = (0..200).map(|nth| nth * 10).filter(|key| (low..=high).contains(key));
            assert!(joined.eq(expected), "range {number}");
        }
    }
}
