//! A process with one thread, which takes latches without an atomic exchange, also after it has started more
//! threads. No test harness, because that runs tests in threads.

use latchless::Index;
use latchless_core::sync::is_alone;
use std::collections::BTreeMap;

/// Whether the C library reports the number of threads.
const KNOWN: bool = cfg!(all(target_os = "linux", target_env = "gnu", not(any(miri, latchless_shuttle))));

/// Changes the index and the model alike, and compares all answers.
fn change(index: &Index<u64, u64>, model: &mut BTreeMap<u64, u64>, steps: u64) {
    let mut state = 88_172_645_463_325_252u64;
    for step in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (state >> 33) % 20_000 * 1000 + 7;
        // It grows, then it shrinks, so that leaves are split and merged.
        let rarely = if step < steps / 2 { 5 } else { 2 };
        if (state >> 20).is_multiple_of(rarely) {
            assert_eq!(index.remove(key), model.remove(&key), "step {step}");
        } else {
            assert_eq!(index.insert(key, step).unwrap(), model.insert(key, step), "step {step}");
        }
    }
    assert_eq!(index.len(), model.len());
    assert!(index.iter().eq(model.iter().map(|(&key, &value)| (key, value))));
    index.check_invariants().unwrap();
}

fn main() {
    let (index, mut model) = (Index::new().unwrap(), BTreeMap::new());
    // A C library of before 2020 doesn't report it.
    assert_eq!(is_alone(), KNOWN, "one thread is taken for the only one");
    change(&index, &mut model, 120_000);
    // Now others are started. They see all earlier writes, and none is treated as alone.
    let before = model.len();
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let index = &index;
            scope.spawn(move || {
                assert!(!is_alone(), "two threads, and one of them is taken for the only one");
                (0..30_000)
                    .for_each(|at| assert_eq!(index.insert(1000 * at + 8 + thread, at).unwrap(), None));
            });
        }
        assert!(!is_alone(), "a thread was made");
    });
    assert_eq!(index.len(), before + 90_000);
    index.check_invariants().unwrap();
    // A latch that one thread left held would block the others.
    for thread in 0..3u64 {
        (0..30_000).for_each(|at| assert_eq!(index.remove(1000 * at + 8 + thread), Some(at)));
    }
    change(&index, &mut model, 20_000);
    println!("one thread, and then several: fine");
}
