//! Sets of byte strings: each has the statistics that it is named for.

use latchless_workload::{BytesKeySet, BytesKeys, Error};
use std::collections::{BTreeMap, BTreeSet};

const SEED: u64 = 7;

fn draw(set: BytesKeySet, loaded: usize) -> BytesKeys {
    set.draw(loaded, 0, SEED).unwrap()
}

fn sorted(keys: &BytesKeys) -> Vec<&[u8]> {
    let mut keys: Vec<_> = keys.iter().collect();
    keys.sort_unstable();
    keys
}

fn share<T>(all: &[T], is: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| is(one)).count() as f64 / all.len() as f64
}

fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The mean length of the common prefix of adjacent keys.
fn mean_shared(keys: &BytesKeys) -> f64 {
    let keys = sorted(keys);
    let sum: usize = keys.windows(2).map(|pair| shared(pair[0], pair[1])).sum();
    sum as f64 / (keys.len() - 1) as f64
}

fn text(key: &[u8]) -> &str {
    std::str::from_utf8(key).unwrap()
}

fn near(found: f64, expected: std::ops::Range<f64>, what: &str) {
    assert!(expected.contains(&found), "{what}: {found}, not in {expected:?}");
}

#[test]
fn every_set_has_as_many_distinct_keys_as_it_is_asked_for() {
    for set in BytesKeySet::ALL {
        let most = if set == BytesKeySet::LongEnds { 50 } else { 20_000 };
        for (loaded, fresh) in [(1, 0), (1, 1), (most, 0), (most / 10, most / 7)] {
            let keys = set.draw(loaded, fresh, SEED).unwrap();
            assert_eq!(
                (keys.loaded(), keys.len(), keys.is_empty()),
                (loaded, loaded + fresh, false),
                "{set}"
            );
            let distinct: BTreeSet<_> = keys.iter().collect();
            assert_eq!(distinct.len(), loaded + fresh, "{set}");
            assert_eq!(keys, set.draw(loaded, fresh, SEED).unwrap(), "{set}: same seed, same keys");
            assert_eq!(keys.iter().map(<[u8]>::len).sum::<usize>(), keys.total_bytes(), "{set}");
            assert!(keys.iter().all(|key| (1..=65_535).contains(&key.len())), "{set}");
        }
        assert_ne!(set.draw(30, 0, SEED), set.draw(30, 0, SEED + 1), "{set}");
    }
}

#[test]
fn the_keys_that_are_loaded_are_the_same_however_many_follow() {
    // Users and chains depend on how many keys there are in all.
    let depends = |set: &BytesKeySet| matches!(set, BytesKeySet::Rocks | BytesKeySet::Nested);
    for set in BytesKeySet::ALL.into_iter().filter(|set| !depends(set)) {
        let (alone, more) = (set.draw(40, 0, SEED).unwrap(), set.draw(40, 9, SEED).unwrap());
        assert!(alone.iter().eq(more.iter().take(40)), "{set}");
        assert_eq!(alone.mean_bytes(), more.mean_bytes(), "{set}");
    }
}

#[test]
fn sets_without_an_order_of_their_own_arrive_in_random_order() {
    for set in BytesKeySet::ALL {
        let keys = draw(set, if set == BytesKeySet::LongEnds { 1000 } else { 20_000 });
        let rises: Vec<bool> = (1..keys.len()).map(|at| keys.key(at - 1) < keys.key(at)).collect();
        let rises = share(&rises, |&rises| rises);
        let in_order = set == BytesKeySet::RocksAscending;
        near(rises, if in_order { 1.0..1.1 } else { 0.45..0.55 }, set.name());
    }
}

#[test]
fn lengths_are_what_they_are_said_to_be() {
    for (set, mean) in [
        (BytesKeySet::Url, 60.0..65.0),
        (BytesKeySet::Email, 28.0..33.0),
        (BytesKeySet::Word, 9.5..11.5),
        (BytesKeySet::Path, 45.0..60.0),
        (BytesKeySet::OneLong, 23.0..24.0),
        (BytesKeySet::Nested, 39.0..40.0),
    ] {
        let keys = draw(set, 50_000);
        near(keys.mean_bytes(), mean, set.name());
        let lengths: BTreeSet<_> = keys.iter().map(<[u8]>::len).collect();
        assert!(lengths.len() > if set == BytesKeySet::OneLong { 1 } else { 8 }, "{set}: {lengths:?}");
    }
    for (set, bytes) in [
        (BytesKeySet::Uuid16, 16),
        (BytesKeySet::Uuid36, 36),
        (BytesKeySet::Rocks, 22),
        (BytesKeySet::Series, 16),
        (BytesKeySet::Int8, 8),
        (BytesKeySet::Same16, 24),
        (BytesKeySet::LongEnds, 65_535),
        (BytesKeySet::RocksAscending, 22),
    ] {
        assert!(draw(set, 300).iter().all(|key| key.len() == bytes), "{set}");
    }
}

#[test]
fn texts_share_their_beginnings_and_numbers_do_not() {
    for (set, shared) in [
        (BytesKeySet::Url, 21.0..27.0),
        (BytesKeySet::Email, 8.0..10.0),
        (BytesKeySet::Word, 4.3..5.0),
        (BytesKeySet::Path, 18.0..28.0),
        (BytesKeySet::Uuid16, 1.2..1.4),
        (BytesKeySet::Uuid36, 3.1..3.4),
        (BytesKeySet::Rocks, 14.0..15.2),
        (BytesKeySet::Series, 9.7..10.1),
        (BytesKeySet::Int8, 1.2..1.4),
        (BytesKeySet::Same16, 17.2..17.4),
        (BytesKeySet::Nested, 38.0..39.0),
        (BytesKeySet::RocksAscending, 12.5..13.5),
    ] {
        near(mean_shared(&draw(set, 50_000)), shared, set.name());
    }
}

#[test]
fn few_hosts_and_folders_have_most_keys() {
    let of = |set, part: fn(&str) -> &str| {
        let keys = draw(set, 50_000);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        keys.iter().for_each(|key| *counts.entry(part(text(key)).to_owned()).or_default() += 1);
        let mut counts: Vec<_> = counts.into_values().collect();
        counts.sort_unstable();
        let most: usize = counts.iter().rev().take(counts.len() / 100 + 1).sum();
        (counts.len(), most as f64 / 50_000.0)
    };
    let (hosts, most) = of(BytesKeySet::Url, |url| url.split('/').nth(2).unwrap());
    assert!(hosts > 5_000, "{hosts} hosts");
    near(most, 0.4..0.9, "one host in a hundred has");
    let (hosts, most) = of(BytesKeySet::Email, |address| address.split('@').nth(1).unwrap());
    assert!(hosts > 500, "{hosts} hosts");
    near(most, 0.3..0.8, "one host in a hundred has");
    let (folders, _) = of(BytesKeySet::Path, |path| &path[..path.rfind('/').unwrap()]);
    assert!((1000..49_000).contains(&folders), "{folders} folders");
}

#[test]
fn addresses_look_like_addresses() {
    for key in draw(BytesKeySet::Url, 2000).iter().map(text) {
        assert!(key.starts_with("https://") || key.starts_with("http://"), "{key}");
        assert!(key.split('/').count() >= 4 && key.is_ascii(), "{key}");
    }
    for key in draw(BytesKeySet::Email, 2000).iter().map(text) {
        assert!(key.matches('@').count() == 1 && key.split('@').nth(1).unwrap().contains('.'), "{key}");
    }
    for key in draw(BytesKeySet::Path, 2000).iter().map(text) {
        assert!(key.starts_with('/') && !key.contains("//") && key.contains('.'), "{key}");
    }
    assert!(draw(BytesKeySet::Word, 2000).iter().flatten().all(u8::is_ascii_lowercase));
}

#[test]
fn uuids_have_their_version_and_both_forms_are_the_same() {
    let (bytes, texts) = (draw(BytesKeySet::Uuid16, 500), draw(BytesKeySet::Uuid36, 500));
    for (bytes, text_of) in bytes.iter().zip(texts.iter().map(text)) {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text_of.replace('-', ""), digits);
        let groups: Vec<_> = text_of.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        assert!(text_of.as_bytes()[14] == b'4' && b"89ab".contains(&text_of.as_bytes()[19]), "{text_of}");
    }
}

/// The keys' prefixes, without the last eight bytes, and these as numbers, in order of arrival.
fn numbers_behind(keys: &BytesKeys) -> BTreeMap<&[u8], Vec<u64>> {
    let mut numbers: BTreeMap<&[u8], Vec<u64>> = BTreeMap::new();
    for (start, number) in keys.iter().map(|key| key.split_last_chunk().unwrap()) {
        numbers.entry(start).or_default().push(u64::from_be_bytes(*number));
    }
    numbers
}

#[test]
fn versions_of_a_user_have_growing_numbers() {
    let keys = draw(BytesKeySet::Rocks, 20_000);
    let users = numbers_behind(&keys);
    for user in users.keys() {
        assert!(text(user).starts_with("user") && text(&user[4..]).bytes().all(|byte| byte.is_ascii_digit()));
    }
    near(20_000.0 / users.len() as f64, 2.0..2.6, "versions per user");
    assert!(users.values().all(|versions| versions.is_sorted()));
    let ascending = draw(BytesKeySet::RocksAscending, 1000);
    assert!(ascending.iter().map(|key| &key[..14]).collect::<BTreeSet<_>>().len() == 1000);
}

#[test]
fn each_of_ten_thousand_series_goes_on_in_time() {
    let keys = draw(BytesKeySet::Series, 200_000);
    let series = numbers_behind(&keys);
    assert_eq!(series.len(), 10_000);
    assert!(series.values().all(|times| times.is_sorted()));
    near(
        share(&series.into_values().collect::<Vec<_>>(), |times| times.len() < 20),
        0.4..0.5,
        "under twenty",
    );
}

#[test]
fn hard_sets_are_hard() {
    let keys = draw(BytesKeySet::Same16, 1000);
    assert!(keys.iter().all(|key| key[..16] == keys.key(0)[..16]));
    let keys = draw(BytesKeySet::LongEnds, 40);
    assert!(keys.iter().all(|key| key[..65_527] == keys.key(0)[..65_527]));
    let keys = draw(BytesKeySet::OneLong, 6400);
    let lengths: Vec<_> = keys.iter().map(<[u8]>::len).collect();
    assert_eq!(lengths.iter().filter(|&&length| length == 1000).count(), 100);
    assert_eq!(lengths.iter().filter(|&&length| length == 8).count(), 6300);
    let keys = draw(BytesKeySet::Nested, 6400);
    let keys = sorted(&keys);
    let begins: Vec<_> = keys.windows(2).map(|pair| pair[1].starts_with(pair[0])).collect();
    assert_eq!(begins.iter().filter(|&&begins| begins).count(), 6300, "63 of a chain of 64");
    assert!(keys.iter().any(|key| key.ends_with(b"\0")), "NUL is among them");
    let hard = BytesKeySet::ALL.into_iter().filter(|set| set.is_hard()).count();
    assert_eq!(hard, 5);
}

#[test]
fn sets_that_are_too_small_say_so() {
    let refused = BytesKeySet::LongEnds.draw(1 << 14, 1, SEED).unwrap_err();
    let there = 1 << 14;
    assert_eq!(refused, Error::TooFewKeys { set: "long-ends".to_owned(), wanted: there + 1, there });
}
