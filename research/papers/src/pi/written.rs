//! How much of an index layer rebuilds write: all of a whole one; of one in parts, only the parts where
//! something changed.

use super::{EntryKeys, LayerStats, Options, Pi};

const KEYS: u64 = if cfg!(miri) { 2_000 } else { 40_000 };

/// Creates an index with a part for about 250 keys, and rebuilds when the test requests them.
fn index(options: Options) -> Pi<u64, u64> {
    let options = Options { segment_nodes: 16, ..options };
    let mut index = Pi::with_options(&options).unwrap();
    let entries: Vec<(u64, u64)> = (0..KEYS).map(|nth| (nth * 100, nth)).collect();
    index.bulk_load(&entries).unwrap();
    index
}

fn in_parts() -> Options {
    Options { part_segments: Some(16), rebuild_from: 1 << 30, ..Options::default() }
}

/// Returns what a rebuild writes after these inserts.
fn written_after(index: &mut Pi<u64, u64>, keys: impl Iterator<Item = u64>) -> LayerStats {
    let entries: Vec<(u64, u64)> = keys.map(|key| (key, key)).collect();
    index.insert_many(&entries, &mut vec![None; entries.len()]).unwrap();
    index.rebuild().unwrap();
    index.check_invariants().unwrap();
    assert!(entries.iter().all(|&(key, value)| index.get(key) == Some(value)));
    index.layer_stats()
}

#[test]
fn a_few_neighbours_have_one_or_two_parts_written_and_changes_everywhere_all() {
    for entry_keys in [EntryKeys::Four, EntryKeys::Eight, EntryKeys::Sixteen] {
        for threads in [1, 2] {
            let mut index = index(Options { entry_keys, threads, ..in_parts() });
            let parts = index.layer_stats().parts;
            assert!(parts > KEYS as usize / 700 && index.layer_stats().parts_written == parts);
            let all = index.layer_stats().bytes_written;
            for middle in [100, KEYS * 31, KEYS * 60, KEYS * 100 - 300] {
                let here = written_after(&mut index, (0..8).map(|nth| middle + nth * 50 + 1));
                assert!((1..=2).contains(&here.parts_written), "{here:?} around {middle}");
                assert!(
                    here.parts.abs_diff(parts) <= 2 && here.bytes_written < all / (parts / 5),
                    "{here:?}"
                );
            }
            assert_eq!(written_after(&mut index, core::iter::empty()).parts_written, 0);
            let everywhere = written_after(&mut index, (0..KEYS / 10).map(|nth| nth * 1000 + 7));
            assert_eq!(everywhere.parts_written, everywhere.parts);
            let values = written_after(&mut index, (0..KEYS / 10).map(|nth| nth * 1000));
            assert_eq!(values.parts_written, 0, "new values change no shape");
        }
    }
}

#[test]
fn removed_neighbours_have_a_few_parts_written() {
    let mut index = index(in_parts());
    let gone: Vec<u64> = (KEYS / 2..KEYS / 2 + 300).map(|nth| nth * 100).collect();
    index.remove_many(&gone, &mut vec![None; gone.len()]).unwrap();
    index.rebuild().unwrap();
    index.check_invariants().unwrap();
    let stats = index.layer_stats();
    assert!((1..=4).contains(&stats.parts_written), "{stats:?}");
    assert_eq!(index.len() as u64, KEYS - 300);
}

#[test]
fn the_background_shares_parts_as_well() {
    let mut index = index(Options { rebuild_percent: 0, rebuild_from: 5, ..in_parts() });
    index.settle().unwrap();
    let entries: Vec<(u64, u64)> = (0..20).map(|nth| (KEYS * 50 + nth, nth)).collect();
    index.insert_many(&entries, &mut [None; 20]).unwrap();
    assert!(index.engine.domains[0].rebuilds.running());
    index.settle().unwrap();
    index.check_invariants().unwrap();
    assert_eq!(index.rebuilds(), 1);
    assert!((1..=2).contains(&index.layer_stats().parts_written), "{:?}", index.layer_stats());
}

#[test]
fn a_whole_layer_is_one_part_that_is_always_written() {
    let mut index = index(Options { part_segments: None, ..in_parts() });
    let bytes = index.layer_stats().bytes_written;
    let here = written_after(&mut index, 1..9);
    assert_eq!((here.parts, here.parts_written), (1, 1));
    assert!(here.bytes_written >= bytes && here.bytes_written == here.memory_bytes);
}
