//! Reads that lend, for an index of any types: against `BTreeMap`.

use core::fmt::Debug;
use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::ControlFlow::{Break, Continue};
use latchless::Direction::{Forward, Reverse};
use latchless::{Direction, Index, IndexValue, KeyFor};
use std::collections::BTreeMap;

/// Compares all answers of an index with those of a map. `keys`: some that are present and some that aren't.
/// Values are compared by their text.
pub fn agrees<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
    for<'v> V::Lent<'v>: Debug,
{
    fn text(value: impl Debug) -> String {
        format!("{value:?}")
    }
    let shown = |value: &V| text(value.lend());
    let probes: Vec<_> = keys.iter().map(probe).collect();
    let mut each = Vec::new();
    index.get_each(&probes, |at, value| each.push((at, value.map(text))));
    let expected = keys.iter().map(|key| map.get(key).map(shown)).enumerate();
    assert_eq!(each, expected.collect::<Vec<_>>());
    assert_eq!(index.first_with(|_, value| text(value)), map.values().next().map(shown));
    assert_eq!(index.last_with(|_, value| text(value)), map.values().next_back().map(shown));
    for key in keys {
        let below = |bound| map.range((Unbounded, bound)).next_back().map(|(_, value)| shown(value));
        let above = |bound| map.range((bound, Unbounded)).next().map(|(_, value)| shown(value));
        assert_eq!(index.floor_with(probe(key), |_, value| text(value)), below(Included(key)));
        assert_eq!(index.lower_with(probe(key), |_, value| text(value)), below(Excluded(key)));
        assert_eq!(index.ceiling_with(probe(key), |_, value| text(value)), above(Included(key)));
        assert_eq!(index.higher_with(probe(key), |_, value| text(value)), above(Excluded(key)));
    }
    for (low, high) in keys.iter().zip(keys.iter().rev()).step_by(40) {
        let span = || (Excluded(probe(low)), Included(probe(high)));
        let mut expected: Vec<_> = match low < high {
            true => map.range((Excluded(low), Included(high))).map(|(_, value)| shown(value)).collect(),
            false => Vec::new(),
        };
        for direction in [Forward, Reverse] {
            for most in [1, 2, usize::MAX] {
                let mut seen = Vec::new();
                let outcome = index.scan_lent(span(), direction, |_, value| {
                    seen.push(text(value));
                    if seen.len() < most { Continue(()) } else { Break(()) }
                });
                assert_eq!(seen, expected[..expected.len().min(most)]);
                assert_eq!(outcome.is_break(), most <= expected.len());
            }
            expected.reverse();
        }
    }
}

/// The keys that `scan` lends, put into order.
fn lent<R>(mut scan: impl FnMut(Direction, &mut dyn FnMut(R))) -> [Vec<R>; 2] {
    [Forward, Reverse].map(|direction| {
        let mut keys = Vec::new();
        scan(direction, &mut |key| keys.push(key));
        if direction == Reverse {
            keys.reverse();
        }
        keys
    })
}

#[test]
fn words_are_lent_as_themselves_and_other_keys_as_bytes() {
    let numbers: Index<(u16, i16), String> =
        [((1, 7), "a"), ((2, -1), "b"), ((2, 3), "c")].map(|(key, value)| (key, value.to_owned())).into();
    assert_eq!(numbers.floor_with((2, 0), |key, value| (key.len(), value == "b")), Some((4, true)));
    let words: Index<(u16, i16), u8> = [((1, 7), 1), ((2, -1), 2), ((2, 3), 3)].into();
    assert_eq!(words.floor_with((2, 0), |key, value| (key, value)), Some(((2, -1), 2)));
    let of = |direction, see: &mut dyn FnMut((u16, i16))| {
        let _ = words.scan_prefix(2, direction, |key, _| {
            see(key);
            Continue(())
        });
    };
    assert_eq!(lent(of), [[(2, -1), (2, 3)]; 2]);
    let arcs: Index<(u16, i16), std::sync::Arc<str>> =
        [((1, 7), "a"), ((2, -1), "b"), ((2, 3), "c")].map(|(key, value)| (key, value.into())).into();
    let of = |direction, see: &mut dyn FnMut(String)| {
        let _ = arcs.scan_prefix(2, direction, |(first, _), value| {
            see(format!("{first}{value}"));
            Continue(())
        });
    };
    assert_eq!(lent(of), [["2b", "2c"]; 2]);
}

#[test]
fn prefixes_are_scanned_in_both_directions() {
    macro_rules! check {
        ($($value:expr),*) => {$({
            let index: Index<String, _> =
                ["a", "ab", "ab\u{0}", "abc", "ac"].map(|key| (key.to_owned(), $value)).into();
            let of = |direction, see: &mut dyn FnMut(String)| {
                let _ = index.scan_prefix("ab", direction, |key, _| {
                    see(String::from_utf8(key.to_vec()).unwrap());
                    Continue(())
                });
            };
            assert_eq!(lent(of), [["ab", "ab\u{0}", "abc"]; 2]);
            let last = index.scan_prefix("", Reverse, |key, _| if key == b"ac" { Break(()) } else { Continue(()) });
            assert!(last.is_break());
        })*};
    }
    check!(7u64, "seven".to_owned(), std::sync::Arc::new([7; 3]));
}
