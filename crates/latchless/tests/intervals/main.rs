//! Intervals, against a look at all of them.

mod model;
mod threads;

use latchless::index::Options;
use latchless::intervals::IntervalIndex;
use latchless::{Error, FillFactor};

#[test]
fn intervals_that_only_touch_are_told_from_those_that_overlap() {
    let index = IntervalIndex::<(), u64>::new().unwrap();
    for at in 0..40 {
        assert_eq!(index.insert(&(), at * 8..at * 8 + 8, at), Ok(true));
    }
    for at in 0..330 {
        let expected = if at < 320 { vec![(at / 8 * 8..=at / 8 * 8 + 7, at / 8)] } else { vec![] };
        assert_eq!(index.containing(&(), at), expected);
        assert_eq!(
            index.nearest_before(&(), at..at + 1).map(|near| near.id),
            (at / 8).min(40).checked_sub(1)
        );
    }
}

#[test]
fn the_greatest_and_the_least_position_are_in_intervals() {
    let index = IntervalIndex::<(), i64>::new().unwrap();
    index.insert(&(), .., 1).unwrap();
    index.insert(&(), i64::MAX..=i64::MAX, 2).unwrap();
    index.insert(&(), ..=i64::MIN, 3).unwrap();
    assert_eq!(index.containing(&(), i64::MAX), [(i64::MIN..=i64::MAX, 1), (i64::MAX..=i64::MAX, 2)]);
    assert_eq!(index.count(&(), ..0), 2);
    assert_eq!((index.coverage(&(), ..), index.coverage(&(), 0..)), (u64::MAX, 1 << 63));
    assert!(index.remove(&(), .., 1) && !index.remove(&(), .., 1));
    assert_eq!(index.coverage(&(), ..), 2);
    assert_eq!(index.nearest(&(), 0..1).map(|near| (near.id, near.distance)), Some((2, i64::MAX as u64)));
    assert_eq!(index.nearest_after(&(), ..=i64::MAX), None);
    assert_eq!(index.nearest_before(&(), i64::MIN..0), None);
}

#[test]
fn empty_intervals_are_refused_and_empty_questions_find_nothing() {
    let index = IntervalIndex::<u32, i32>::new().unwrap();
    let empty = |position| Err(Error::EmptyInterval { position });
    assert_eq!(index.insert(&1, 5..5, 0), empty(0));
    #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
    {
        assert_eq!(index.insert(&1, 7..5, 0), empty(0));
    }
    let refused = index.insert_many(&[(1, 0..9, 0), (1, 9..9, 1), (1, 2..3, 2), (1, 4..4, 3)]).unwrap_err();
    assert_eq!((&refused.refused[..], refused.error), (&[1, 3][..], Error::EmptyInterval { position: 1 }));
    assert_eq!(index.overlaps(&1, 5..5), []);
    assert_eq!((index.count(&1, 5..5), index.coverage(&1, 5..5), index.nearest(&1, 5..5)), (0, 0, None));
    let mut other = IntervalIndex::<u32, i32>::new().unwrap();
    assert_eq!(other.bulk_load([(1, 0..1, 0), (1, 5..5, 0)], FillFactor::FULL), empty(1).map(drop));
    assert!(other.is_empty() && other.count(&1, ..) == 0);
    assert_eq!(other.bulk_load([(1, 0..1, 0), (1, 0..1, 0)], FillFactor::FULL), Ok(()));
    assert_eq!(other.bulk_load([(1, 0..1, 0)], FillFactor::FULL), Err(Error::NotEmpty { len: 1 }));
}

#[test]
fn groups_of_any_key_are_kept_apart() {
    let index = IntervalIndex::<(String, u8), i64>::new().unwrap();
    let strands = [("chr1", 1), ("chr1", 2), ("chr10", 1), ("", 1), ("chr1\0", 1)];
    for (id, group) in (0..).zip(strands) {
        index.insert(&group, 0..100, id).unwrap();
        index.insert(&group, 0..100_000, id).unwrap();
    }
    for (id, group) in (0..).zip(strands) {
        assert_eq!(index.overlaps(&group, 5..9), [(0..=99, id), (0..=99_999, id)], "{group:?}");
    }
    let asked: Vec<_> =
        strands.iter().rev().map(|&group| (group, 99..101)).chain([(("chr", 1), 0..9)]).collect();
    let found = index.overlaps_many(&asked).unwrap();
    assert_eq!((found.ids, found.offsets), (vec![4, 4, 3, 3, 2, 2, 1, 1, 0, 0], vec![0, 2, 4, 6, 8, 10, 10]));
}

#[test]
fn refused_memory_leaves_what_was_there() {
    let options = Options { limit_bytes: Some(256 << 10), ..Options::default() };
    let index = IntervalIndex::<u32, u32>::with_options(options).unwrap();
    let all: Vec<_> = (0..20_000).map(|at| (at % 3, at..at + 10, u64::from(at))).collect();
    let refused = index.insert_many(&all).unwrap_err();
    assert!(matches!(refused.error, Error::MemoryLimit { .. }), "{refused}");
    assert_eq!(index.len() + refused.refused.len(), all.len());
    for at in [0, all.len() / 2, all.len() - 1] {
        let (group, range, id) = all[at].clone();
        assert_eq!(index.contains(&group, range, id), refused.refused.binary_search(&at).is_err());
    }
    index.check_invariants().unwrap();
}

#[test]
fn what_is_cleared_or_shrunk_goes_on() {
    let mut index = IntervalIndex::<u32, u64>::new().unwrap();
    let all: Vec<_> = (0..20_000).map(|at| (1, at * 3..at * 3 + at, at)).skip(1).collect();
    index.bulk_load(all.iter().cloned(), FillFactor::default()).unwrap();
    assert_eq!(index.remove_many(&all[100..]), all.len() - 100);
    let full = index.memory_bytes();
    index.shrink(FillFactor::FULL).unwrap();
    assert!(index.memory_bytes() < full / 4);
    assert_eq!((index.len(), index.iter().count(), index.count(&1, ..)), (100, 100, 100));
    index.clear();
    assert_eq!((index.len(), index.view().unwrap().len(), index.nearest(&1, 0..1)), (0, 0, None));
    index.insert(&1, 5..900, 7).unwrap();
    assert_eq!(index.nearest_after(&1, 0..1).map(|near| near.interval), Some(5..=899));
}
