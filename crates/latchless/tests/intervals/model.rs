//! Random intervals and questions, and what a look at all intervals finds.

use latchless::FillFactor;
use latchless::intervals::{IntervalIndex, Near};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

type Interval = (u8, RangeInclusive<i64>, u64);

/// Intervals, short and long, at the ends of the positions and between them. Some are empty.
fn intervals(count: usize) -> impl Strategy<Value = Vec<Interval>> {
    let first = prop_oneof![
        3 => 0i64..300,
        1 => (0i64..300).prop_map(|at| i64::MIN + at),
        1 => (0i64..300).prop_map(|back| i64::MAX - back),
        1 => any::<i64>(),
    ];
    let length = prop_oneof![0u64..4, 0u64..300, any::<u64>(), (0u32..64).prop_map(|bits| 1 << bits)];
    let one = (0u8..3, first, length, 0u64..4, 0u8..20).prop_map(|(group, first, length, id, odd)| {
        let last = if odd == 0 { first.wrapping_sub(1) } else { first.saturating_add_unsigned(length) };
        (group, first..=last, id)
    });
    prop::collection::vec(one, 0..count)
}

fn overlap(one: &RangeInclusive<i64>, other: &RangeInclusive<i64>) -> bool {
    !one.is_empty() && one.start().max(other.start()) <= one.end().min(other.end())
}

fn coverage(asked: &RangeInclusive<i64>, found: &[(RangeInclusive<i64>, u64)]) -> u64 {
    let (mut covered, mut next) = (0i128, i128::from(*asked.start()));
    for (interval, _) in found {
        let until = i128::from(*interval.end().min(asked.end())) + 1;
        covered += (until - next.max((*interval.start()).into())).max(0);
        next = next.max(until);
    }
    covered.min(u64::MAX.into()) as u64
}

/// The nearest interval among some: all, those before, or those after.
fn nearest<'a>(asked: &RangeInclusive<i64>, all: impl Iterator<Item = &'a Interval>) -> Option<Near<i64>> {
    let near = |(_, interval, id): &Interval| {
        let (before, after) = (interval.end() < asked.start(), asked.end() < interval.start());
        let distance = if before {
            asked.start().abs_diff(*interval.end())
        } else if after {
            interval.start().abs_diff(*asked.end())
        } else {
            0
        };
        (distance, *interval.start(), *interval.end(), *id)
    };
    let (distance, first, last, id) = all.map(near).min()?;
    (!asked.is_empty()).then_some(Near { distance, interval: first..=last, id })
}

fn check(index: &IntervalIndex<u8, i64>, all: &BTreeSet<(u8, i64, i64, u64)>, asked: &[Interval]) {
    let all: Vec<Interval> = all.iter().map(|&(group, first, last, id)| (group, first..=last, id)).collect();
    let questions: Vec<_> = asked.iter().map(|(group, range, _)| (*group, range.clone())).collect();
    let of = |group: u8| all.iter().filter(move |other| other.0 == group);
    let overlaps: Vec<Vec<_>> = questions
        .iter()
        .map(|(group, range)| {
            of(*group)
                .filter(|other| overlap(range, &other.1))
                .map(|(_, its, id)| (its.clone(), *id))
                .collect()
        })
        .collect();
    let ids = |found: &Vec<(_, u64)>| {
        let mut ids: Vec<u64> = found.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids
    };
    let covered = |((_, range), found): (&(_, RangeInclusive<i64>), &Vec<_>)| coverage(range, found);
    let covered: Vec<u64> = questions.iter().zip(&overlaps).map(covered).collect();
    let any: Vec<_> = questions.iter().map(|(group, range)| nearest(range, of(*group))).collect();
    let before = |(group, range): &(u8, RangeInclusive<i64>)| {
        nearest(range, of(*group).filter(|other| other.1.end() < range.start()))
    };
    let after = |(group, range): &(u8, RangeInclusive<i64>)| {
        nearest(range, of(*group).filter(|other| other.1.start() > range.end()))
    };
    let (before, after): (Vec<_>, Vec<_>) =
        questions.iter().map(|asked| (before(asked), after(asked))).unzip();
    for (at, (group, range)) in questions.iter().enumerate() {
        let range = || range.clone();
        assert_eq!(index.overlaps(group, range()), overlaps[at], "{:?}", questions[at]);
        assert_eq!(index.count(group, range()), overlaps[at].len(), "{:?}", questions[at]);
        assert_eq!(index.coverage(group, range()), covered[at], "{:?}", questions[at]);
        assert_eq!(index.nearest(group, range()), any[at], "{:?}", questions[at]);
        assert_eq!(index.nearest_before(group, range()), before[at], "{:?}", questions[at]);
        assert_eq!(index.nearest_after(group, range()), after[at], "{:?}", questions[at]);
    }
    let view = index.view().unwrap();
    assert_eq!((index.len(), view.len(), index.iter().count()), (all.len(), all.len(), all.len()));
    // A batch of one is answered by the tree, if there are enough intervals, and one of all by a copy.
    for to in [1.min(questions.len()), questions.len()] {
        let asked = &questions[..to];
        let counts: Vec<usize> = overlaps[..to].iter().map(Vec::len).collect();
        for found in [index.overlaps_many(asked).unwrap(), view.overlaps_many(asked).unwrap()] {
            assert_eq!(found.ids.len(), counts.iter().sum::<usize>());
            (0..to).for_each(|at| assert_eq!(found.of(at), ids(&overlaps[at]), "{:?}", asked[at]));
        }
        assert_eq!(index.count_many(asked).unwrap(), counts);
        assert_eq!(view.count_many(asked).unwrap(), counts);
        assert_eq!(index.coverage_many(asked).unwrap(), covered[..to]);
        assert_eq!(view.coverage_many(asked).unwrap(), covered[..to]);
        assert_eq!(index.nearest_many(asked).unwrap(), any[..to]);
        assert_eq!(view.nearest_many(asked).unwrap(), any[..to]);
        assert_eq!(index.nearest_before_many(asked).unwrap(), before[..to]);
        assert_eq!(view.nearest_before_many(asked).unwrap(), before[..to]);
        assert_eq!(index.nearest_after_many(asked).unwrap(), after[..to]);
        assert_eq!(view.nearest_after_many(asked).unwrap(), after[..to]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_a_look_at_all(
        all in intervals(120), removed in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        asked in intervals(20), loads: bool,
    ) {
        let good = |interval: &&Interval| !interval.1.is_empty();
        let mut model: BTreeSet<_> = all
            .iter().filter(good).map(|(group, range, id)| (*group, *range.start(), *range.end(), *id)).collect();
        let mut index = IntervalIndex::new().unwrap();
        if loads {
            index.bulk_load(all.iter().filter(good).cloned(), FillFactor::default()).unwrap();
        } else {
            let empty: Vec<usize> = (0..all.len()).filter(|&at| all[at].1.is_empty()).collect();
            match index.insert_many(&all) {
                Ok(new) => prop_assert_eq!((new, empty.len()), (model.len(), 0)),
                Err(some) => prop_assert_eq!(some.refused, empty),
            }
        }
        for at in removed.iter().filter(|_| !all.is_empty()).map(|at| at.get(&all)) {
            let (group, range, id) = at.clone();
            let expected = model.remove(&(group, *range.start(), *range.end(), id));
            prop_assert_eq!(index.remove(&group, range, id), expected);
        }
        check(&index, &model, &asked);
    }
}
