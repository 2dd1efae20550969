//! Lookups in single steps: the same answers as `get`, at every size, on trees with and without prediction
//! tables, and while another thread moves entries between two steps.

use latchless::index::{Driver, Options, Steps};
use latchless::{FillFactor, Index};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Looks up keys in rotation; between two rounds `meanwhile` runs.
struct Rounds<'a, F>(&'a [u64], F);

impl<F: FnMut()> Driver<u64, u64> for Rounds<'_, F> {
    type Output = Vec<Option<u64>>;

    #[inline(always)]
    fn drive<S: Steps<u64, u64>>(self, steps: S) -> Self::Output {
        let Rounds(keys, mut meanwhile) = self;
        let mut places: Vec<_> = keys.iter().map(|&key| steps.enter(key)).collect();
        let mut arrived = vec![false; keys.len()];
        while arrived.iter().any(|&arrived| !arrived) {
            meanwhile();
            for ((place, arrived), &key) in places.iter_mut().zip(&mut arrived).zip(keys) {
                *arrived = *arrived || steps.step(place, key);
            }
        }
        meanwhile();
        places.iter().zip(keys).map(|(&place, &key)| steps.answer(place, key)).collect()
    }
}

/// Returns a pseudo-random number for its argument.
fn scrambled(nth: u64) -> u64 {
    nth.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

fn built(len: u64, loaded: bool) -> Index<u64, u64> {
    let mut index = Index::with_options(Options { huge_pages: false, ..Options::default() }).unwrap();
    let mut entries: Vec<(u64, u64)> = (0..len).map(|nth| (scrambled(nth), nth)).collect();
    if loaded {
        entries.sort_unstable();
        index.bulk_load(&entries, FillFactor::default()).unwrap();
    } else {
        entries.into_iter().for_each(|(key, value)| _ = index.insert(key, value).unwrap());
    }
    index
}

#[test]
fn steps_lead_to_the_answers_of_get() {
    for len in if cfg!(miri) { [0, 1, 150] } else { [0, 200, 100_000] } {
        for loaded in [true, false] {
            let index = built(len, loaded);
            let keys: Vec<u64> = (0..2 * len.min(5_000) + 3)
                .map(|nth| if nth % 3 == 0 { scrambled(nth) ^ 1 } else { scrambled(nth * 7) })
                .collect();
            let expected: Vec<_> = keys.iter().map(|&key| index.get(key)).collect();
            assert_eq!(index.drive(Rounds(&keys, || ())), expected, "{len} keys, loaded: {loaded}");
        }
    }
}

#[test]
fn what_changes_between_steps_is_seen() {
    let index = built(if cfg!(miri) { 100 } else { 3_000 }, false);
    let keys: Vec<u64> = (0..64).map(|nth| scrambled(nth * 9)).collect();
    let mut round = 0;
    let answers = index.drive(Rounds(&keys, || {
        // Splits leaves around the keys and changes their values.
        round += 1;
        for &key in &keys {
            (1..40).for_each(|beside| _ = index.insert(key ^ beside << 3, 0).unwrap());
            index.insert(key, round).unwrap();
        }
    }));
    assert!(round > 2);
    assert_eq!(answers, vec![Some(round); keys.len()]);
}

#[test]
fn lookups_beside_a_writer_find_what_stays() {
    let index = built(if cfg!(miri) { 60 } else { 20_000 }, true);
    let (keys, done): (Vec<u64>, _) = ((0..50).map(scrambled).collect(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for nth in 0..if cfg!(miri) { 100 } else { 60_000u64 } {
                index.insert(scrambled(nth) ^ 2, nth).unwrap();
                index.remove(scrambled(nth / 2) ^ 2);
            }
            done.store(true, Relaxed);
        });
        while !done.load(Relaxed) {
            let answers = index.drive(Rounds(&keys, || ()));
            assert!(answers.into_iter().eq((0..50).map(Some)));
        }
    });
}
