//! Key sets: each has the statistics that it is named for.

use latchless_workload::{Distribution, Error, KeySet, Lane, Operation, Spec, Workload};
use std::collections::{HashMap, HashSet};

const SEED: u64 = 7;

fn draw(name: &str, loaded: usize, fresh: usize) -> (Vec<u64>, Vec<u64>) {
    let keys = name.parse::<KeySet>().unwrap().draw(loaded, fresh, SEED).unwrap();
    (keys.loaded().to_vec(), keys.fresh().to_vec())
}

fn loaded(name: &str, loaded: usize) -> Vec<u64> {
    draw(name, loaded, 0).0
}

fn sorted(name: &str, keys: usize) -> Vec<u64> {
    let mut keys = loaded(name, keys);
    keys.sort_unstable();
    keys
}

fn gaps(ascending: &[u64]) -> Vec<u64> {
    ascending.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn share<T>(all: &[T], is: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| is(one)).count() as f64 / all.len() as f64
}

/// How many keys have each upper half.
fn per_prefix(keys: &[u64]) -> HashMap<u64, usize> {
    let mut per_prefix = HashMap::new();
    keys.iter().for_each(|key| *per_prefix.entry(key >> 32).or_default() += 1);
    per_prefix
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, not {expected}");
}

/// Neither ascending nor descending by more than chance.
fn is_shuffled(keys: &[u64]) -> bool {
    (share(&gaps_of_order(keys), |&rises| rises) - 0.5).abs() < 0.03
}

fn gaps_of_order(keys: &[u64]) -> Vec<bool> {
    keys.windows(2).map(|pair| pair[0] < pair[1]).collect()
}

#[test]
fn every_set_has_as_many_distinct_keys_as_it_is_asked_for() {
    for set in KeySet::ALL {
        for (loaded, fresh) in [(1, 0), (1, 1), (20_000, 0), (2000, 3001)] {
            let keys = set.draw(loaded, fresh, SEED).unwrap();
            assert_eq!((keys.loaded().len(), keys.fresh().len()), (loaded, fresh), "{set}");
            let distinct: HashSet<_> = keys.all().iter().collect();
            assert_eq!(distinct.len(), loaded + fresh, "{set}");
            assert_eq!(keys, set.draw(loaded, fresh, SEED).unwrap(), "{set}: same seed, same keys");
        }
        let differs = set.draw(1000, 0, SEED) != set.draw(1000, 0, SEED + 1);
        let has_no_seed = matches!(set, KeySet::Ascending | KeySet::Descending | KeySet::Zigzag);
        assert_eq!(differs, !has_no_seed, "{set}");
    }
}

#[test]
fn sets_without_an_order_of_their_own_arrive_shuffled() {
    let in_order = ["tenants-10000", "timestamps", "snowflake", "ascending", "descending", "zigzag"];
    for set in KeySet::ALL.into_iter().filter(|set| !in_order.contains(&&*set.to_string())) {
        let keys = set.draw(20_000, 1000, SEED).unwrap();
        assert!(is_shuffled(keys.loaded()), "{set}");
        assert!(is_shuffled(keys.all()), "{set}");
    }
}

#[test]
fn later_keys_are_of_the_same_kind() {
    // Of keys in random order, those held back are between the loaded ones.
    for name in ["uniform", "dense", "composite-64", "lognormal", "clusters", "runs", "prefix", "chr22"] {
        let (mut loaded, mut fresh) = draw(name, 50_000, 5000);
        loaded.sort_unstable();
        fresh.sort_unstable();
        let median_at = loaded.partition_point(|&key| key < fresh[fresh.len() / 2]);
        near(median_at as f64, 25_000.0, 0.1, name);
    }
    // Of keys in an order, they go on with it.
    let (loaded, fresh) = draw("ascending", 100, 3);
    assert_eq!((loaded[99], &fresh[..]), (99, &[100, 101, 102][..]));
    let (loaded, fresh) = draw("tenants-50", 100_000, 1000);
    let largest = |keys: &[u64]| {
        let mut largest = HashMap::new();
        keys.iter().for_each(|&key| {
            let most: &mut u64 = largest.entry(key >> 32).or_default();
            *most = key.max(*most);
        });
        largest
    };
    let before = largest(&loaded);
    assert!(fresh.iter().all(|key| *key > before[&(key >> 32)]), "a tenant's numbers go up");
    let (loaded, fresh) = draw("timestamps", 200_000, 20_000);
    let passed = loaded.iter().max().unwrap();
    assert!(share(&fresh, |key| key > passed) > 0.85, "time goes on");
}

#[test]
fn uniform_keys_fill_the_width_evenly() {
    let mut parts = [0.0; 16];
    loaded("uniform", 160_000).iter().for_each(|key| parts[(key >> 60) as usize] += 1.0);
    parts.iter().for_each(|&part| near(part, 10_000.0, 0.06, "a sixteenth"));
}

#[test]
fn dense_keys_have_no_gap() {
    assert_eq!(sorted("dense", 10_000), (0..10_000).collect::<Vec<_>>());
}

#[test]
fn composite_keys_have_as_many_items_per_user_as_the_name_says() {
    for (mean, step) in [(2, 1), (8, 1), (64, 1), (64, 60), (256, 1)] {
        let name =
            if step == 1 { format!("composite-{mean}") } else { format!("composite-{mean}-step-{step}") };
        let keys = sorted(&name, 1_000_000);
        let users = per_prefix(&keys);
        near(1e6 / users.len() as f64, f64::from(mean), 0.05, &name);
        let most = *users.values().max().unwrap();
        assert!(most < 2 * mean as usize && most >= mean as usize * 3 / 2, "{name}: {most} items of a user");
        let neighbours = share(&gaps(&keys), |&gap| gap == step);
        near(neighbours, 1.0 - 1.0 / f64::from(mean), 0.05, &name);
        assert!(users.keys().copied().max() > Some(u64::from(u32::MAX) / 100 * 99), "{name}: hashes spread");
        // A user's items begin at 0.
        let first = share(&keys, |key| *key as u32 == 0);
        near(first * 1e6, users.len() as f64, 1e-9, &name);
    }
}

#[test]
fn lognormal_keys_have_their_median_and_their_tail() {
    let keys = sorted("lognormal", 400_000);
    near(keys[200_000] as f64, 1e12, 0.03, "median");
    // Mean over median is e^(σ²/2), which the tail makes uncertain; quantiles aren't.
    let mean = keys.iter().map(|&key| key as f64).sum::<f64>() / 400_000.0;
    near(mean / 1e12, f64::exp(2.0), 0.15, "mean over median");
    near((keys[336_538] as f64 / 1e12).ln(), 2.0, 0.03, "one deviation above");
    near((keys[63_462] as f64 / 1e12).ln(), -2.0, 0.03, "one deviation below");
}

#[test]
fn clusters_are_narrow_and_many() {
    let keys = sorted("clusters", 1_100_000);
    let wide = gaps(&keys).into_iter().filter(|&gap| gap > 1 << 44).count();
    // Adjacent centres make one cluster of two.
    assert!((3900..4096).contains(&wide), "{wide} gaps between clusters");
    let taken: u64 = gaps(&keys).into_iter().filter(|&gap| gap <= 1 << 44).sum();
    assert!(taken < u64::MAX / 1000, "the clusters take {taken}");
}

#[test]
fn runs_end_where_they_should() {
    for (name, length) in [("runs", 10_000), ("runs-100", 100)] {
        let keys = sorted(name, 400_000);
        let wide: Vec<u64> = gaps(&keys).into_iter().filter(|&gap| gap > 1).collect();
        assert_eq!(wide.len(), 400_000 / length - 1, "{name}");
        assert!(wide.iter().collect::<HashSet<_>>().len() > wide.len() * 9 / 10, "{name}: gaps differ");
    }
    for (at, key) in sorted("runs", 10_000).windows(2).enumerate() {
        assert_eq!(key[1] - key[0], 1, "at {at}");
    }
}

#[test]
fn tenants_append_in_many_places_at_once() {
    let keys = loaded("tenants", 1_000_000);
    let tenants = per_prefix(&keys);
    assert_eq!(tenants.len(), 10_000);
    assert!(tenants.values().all(|count| (40..170).contains(count)), "about a hundred each");
    let mut next: HashMap<u64, u64> = HashMap::new();
    for key in &keys {
        let number = next.entry(key >> 32).or_default();
        assert_eq!(key & u64::from(u32::MAX), *number, "each takes its next number");
        *number += 1;
    }
    // The order of appending users is as good as random.
    assert!(is_shuffled(&keys.iter().map(|key| key >> 32).collect::<Vec<_>>()));
    assert_eq!(per_prefix(&loaded("tenants-7", 1000)).len(), 7);
}

#[test]
fn time_stamps_come_in_bursts_and_some_come_late() {
    let keys = loaded("timestamps", 1_000_000);
    let mut newest = 0;
    let late: Vec<bool> = keys
        .iter()
        .map(|&key| {
            let late = key < newest;
            newest = newest.max(key);
            late
        })
        .collect();
    let late = share(&late, |&late| late);
    assert!((0.01..0.05).contains(&late), "{late} are late");
    let gaps = gaps(&sorted("timestamps", 1_000_000));
    let in_bursts = share(&gaps, |&gap| gap == 1);
    assert!((0.5..0.8).contains(&in_bursts), "{in_bursts} in bursts");
    assert!(gaps.iter().all(|&gap| gap <= 20_000));
    assert!(gaps.iter().filter(|&&gap| gap > 10_000).count() > 100_000);
}

#[test]
fn identifiers_begin_with_the_time_and_are_in_order_but_within_it() {
    let keys = loaded("snowflake", 100_000);
    assert!(keys.is_sorted_by_key(|key| key >> 22), "time goes on");
    let back = keys.windows(2).filter(|pair| pair[0] > pair[1]).count();
    near(back as f64, 100_000.0 * 0.75 * 31.0 / 64.0, 0.05, "steps back");
    let milliseconds = keys.chunk_by(|a, b| a >> 22 == b >> 22).count();
    near(milliseconds as f64, 100_000.0 / 4.0, 0.05, "milliseconds with an identifier");
    near((keys[99_999] - keys[0]) as f64 / f64::from(1 << 22), 100_000.0 / 3.0, 0.05, "milliseconds");
    let mut machines = [0.0; 32];
    keys.iter().for_each(|key| machines[(key >> 12) as usize % 32] += 1.0);
    machines.iter().for_each(|&of| near(of, 100_000.0 / 32.0, 0.1, "a machine's"));
    assert!(keys.iter().any(|key| key % 4096 == 1) && keys.iter().all(|key| key % 4096 < 16), "numbers");
}

#[test]
fn outliers_are_twenty_and_loaded() {
    let (mut loaded, fresh) = draw("outliers", 100_000, 10_000);
    assert!(fresh.iter().all(|&key| key < 1 << 40));
    loaded.sort_unstable();
    assert_eq!(loaded.iter().filter(|&&key| key >= 1 << 60).count(), 20);
    assert!(loaded[loaded.len() - 21] < 1 << 40);
    near(loaded[50_000] as f64, (1u64 << 39) as f64, 0.02, "the others are even");
}

#[test]
fn a_prefix_is_shared_by_all_and_the_rest_is_even() {
    for (name, bits) in [("prefix", 20), ("prefix-32", 32)] {
        let keys = sorted(name, 50_000);
        let top = |key: u64| key >> (64 - bits);
        assert!(keys.iter().all(|&key| top(key) == top(keys[0])), "{name}");
        let low = |key: u64| (key << bits) as f64 / u64::MAX as f64;
        near(low(keys[12_500]), 0.25, 0.03, name);
        near(low(keys[37_500]), 0.75, 0.03, name);
    }
}

#[test]
fn orders_are_what_they_are_called() {
    assert_eq!(loaded("ascending", 4), [0, 1, 2, 3]);
    assert_eq!(loaded("descending", 4), [3, 2, 1, 0]);
    assert_eq!(loaded("zigzag", 5), [0, 4, 1, 3, 2]);
    assert_eq!(loaded("zigzag", 6), [0, 5, 1, 4, 2, 3]);
}

#[test]
fn a_set_that_is_too_small_says_so() {
    let refused = "prefix-32".parse::<KeySet>().unwrap().draw(1 << 31, 1, SEED).unwrap_err();
    let there = 1 << 31;
    assert_eq!(refused, Error::TooFewKeys { set: "prefix-32".to_owned(), wanted: there + 1, there });
}

fn spec(workload: Workload) -> Spec {
    Spec { records: 3000, ops: 1000, threads: 2, ..Spec::new(workload) }
}

#[test]
fn plans_over_a_set_load_and_insert_its_keys_in_their_order() {
    for set in KeySet::ALL {
        let plan = spec(Workload::Insert).plan_over::<u64>(&set).unwrap();
        let keys = set.draw(3000, 1000, spec(Workload::Insert).seed).unwrap();
        assert_eq!(plan.loaded, keys.loaded(), "{set}");
        for (thread, stream) in plan.streams.iter().enumerate() {
            let inserted: Vec<u64> = stream
                .iter()
                .map(|operation| match operation {
                    Operation::Insert(key, _) => *key,
                    other => panic!("{set}: {other:?}"),
                })
                .collect();
            let own: Vec<u64> = keys.fresh().iter().copied().skip(thread).step_by(2).collect();
            assert_eq!(inserted, own, "{set}");
        }
    }
}

#[test]
fn ranges_over_a_set_take_their_share_of_its_keys() {
    for set in KeySet::ALL {
        let plan = Spec { range_share: 0.05, ..spec(Workload::Count) }.plan_over::<u64>(&set).unwrap();
        for operation in plan.streams.iter().flatten() {
            let Operation::Count(low, high) = operation else { panic!("{operation:?}") };
            let inside = plan.loaded.iter().filter(|key| (low..=high).contains(key)).count();
            assert_eq!(inside, 150, "{set}");
        }
    }
}

#[test]
fn what_a_set_and_a_spec_contradict_each_other_in_is_refused() {
    let get = spec(Workload::Get);
    let wide = get.plan_over::<u32>(&KeySet::Uniform).unwrap_err();
    assert!(matches!(wide, Error::WideKey { bits: 32, key, .. } if key > u64::from(u32::MAX)), "{wide:?}");
    assert_eq!(get.plan_over::<u32>(&KeySet::Dense).unwrap().loaded.len(), 3000);
    for distribution in [Distribution::Sequential, Distribution::Dense, Distribution::Sparse] {
        let refused = Spec { distribution, ..get }.plan_over::<u64>(&KeySet::Uniform);
        assert!(matches!(refused, Err(Error::KeysTwice { .. })), "{refused:?}");
    }
    let popular = Spec { distribution: Distribution::Zipf { theta: 0.99 }, ..get };
    let plan = popular.plan_over::<u64>(&KeySet::Clusters).unwrap();
    let keys: HashSet<u64> = plan.loaded.iter().copied().collect();
    let asked: HashSet<u64> = plan.streams[0]
        .iter()
        .map(|operation| if let Operation::Get(key) = operation { key.to_u64() } else { panic!("a get") })
        .collect();
    assert!(asked.is_subset(&keys) && asked.len() < 300, "{} keys asked for", asked.len());
}

/// A file with this in it, as a key set.
fn in_file(content: &[u8]) -> (tempfile::TempDir, KeySet) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    std::fs::write(&path, content).unwrap();
    (folder, KeySet::File(path))
}

fn bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn all_of(content: &[u8], count: usize) -> Vec<u64> {
    in_file(content).1.draw(count, 0, SEED).unwrap().all().to_vec()
}

#[test]
fn files_are_read_in_every_form() {
    let keys = [5, u64::MAX, 7, 1 << 40];
    assert_eq!(all_of(&bytes(&keys), 4), keys, "numbers alone");
    assert_eq!(all_of(&bytes(&[4, 5, u64::MAX, 7, 1 << 40]), 4), keys, "with their count");
    let text = "5\n18446744073709551615\r\n\n  7\n1099511627776";
    assert_eq!(all_of(text.as_bytes(), 4), keys, "text");
    assert_eq!(all_of(&bytes(&[9, 2, 9, 4, 2, 8]), 4), [9, 2, 4, 8], "repeats are dropped");
    let ascending: Vec<u64> = (0..5000).map(|key| key * key + (1 << 33)).collect();
    let mut drawn = all_of(&bytes(&ascending), 5000);
    assert!(is_shuffled(&drawn), "ascending files are sets");
    drawn.sort_unstable();
    assert_eq!(drawn, ascending);
    // A large file in several pieces, some of which is taken, in its order.
    let descending: Vec<u64> = (0..50_000).rev().collect();
    let some = all_of(&bytes(&descending), 10_000);
    assert!(some.iter().rev().is_sorted() && some.len() == 10_000);
    near(some[5000] as f64, 25_000.0, 0.05, "evenly");
}

#[test]
fn bad_files_are_refused_with_the_place() {
    let refused = |content: &[u8]| in_file(content).1.draw(1, 0, SEED).unwrap_err();
    let Error::FileLine { line, found, .. } = refused(b"12\n\nabc\n5\n") else { panic!("a line") };
    assert_eq!((line, found.as_str()), (3, "abc"));
    for text in ["18446744073709551616\n", "-1\n", "1.5\n", "1 2\n", "1,2\n"] {
        let refused = refused(text.as_bytes());
        assert!(matches!(refused, Error::FileLine { line: 1, .. }), "{text}: {refused:?}");
    }
    let endless = refused("1".repeat(5000).as_bytes());
    assert!(matches!(endless, Error::FileLine { line: 1, .. }), "{endless:?}");
    let mut torn = bytes(&[1, 2, 3]);
    torn.truncate(21);
    let Error::FileBytes { position, left, .. } = refused(&torn) else { panic!("bytes") };
    assert_eq!((position, left), (16, 5));
    assert!(matches!(refused(b""), Error::TooFewKeys { wanted: 1, there: 0, .. }));
    let few = in_file(&bytes(&[9, 9, 9, 8])).1.draw(3, 0, SEED).unwrap_err();
    assert!(matches!(few, Error::TooFewKeys { wanted: 3, there: 2, .. }), "{few:?}");
    let absent = KeySet::File("/nowhere/keys".into()).draw(1, 0, SEED).unwrap_err();
    assert!(matches!(&absent, Error::FileUnreadable { path, .. } if path == "/nowhere/keys"), "{absent:?}");
    let folder = tempfile::tempdir().unwrap();
    let refused = KeySet::File(folder.path().into()).draw(1, 0, SEED);
    assert!(matches!(refused, Err(Error::FileUnreadable { .. })), "{refused:?}");
}
