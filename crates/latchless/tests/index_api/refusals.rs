//! What an index refuses, and that it is as before then.

use crate::common::{scaled, tens, tiny};
use latchless::index::Options;
use latchless::search::Kernel;
use latchless::{Error, FillFactor, Index, TryInsertError};

#[test]
fn a_full_index_refuses_new_keys_and_serves_everything_else() {
    let index = tiny();
    let refused = (0..).find(|&key| index.insert(key, 10 * key).is_err()).unwrap();
    let len = index.len();
    assert!(index.iter().eq((0..refused).map(|key| (key, 10 * key))));
    assert!(matches!(index.insert(refused, 0), Err(Error::MemoryLimit { limit_bytes: 32_768, .. })));
    assert!(matches!(index.try_insert(refused, 0), Err(TryInsertError::Refused(Error::MemoryLimit { .. }))));
    assert!(index.upsert(refused, |_| 0).is_err());
    assert!(index.compute(refused, |_| Some(0)).is_err());
    assert!(index.get_or_insert(refused, 0).is_err());
    assert!(index.try_extend([(refused, 0)]).is_err());
    assert_eq!((index.len(), index.get(refused)), (len, None));
    index.check_invariants().unwrap();
    assert_eq!(index.insert(3, 4), Ok(Some(30)));
    assert_eq!(index.update(3, |value| value + 1), Some(4));
    assert_eq!(index.try_insert(3, 0), Err(TryInsertError::Present(5)));
    assert_eq!(index.remove_range(..refused / 2), Ok(refused as usize / 2));
    assert_eq!(index.insert(refused, 1), Ok(None), "there is room again");
    index.check_invariants().unwrap();
}

#[test]
fn extending_stops_at_the_batch_that_is_refused() {
    let index = tiny();
    let mut asked = 0;
    let endless = (0..).inspect(|_| asked += 1).map(|key| (key, key));
    assert!(matches!(index.try_extend(endless), Err(Error::MemoryLimit { .. })));
    assert!(asked < index.len() as u64 + 300, "{asked}");
    index.check_invariants().unwrap();
}

#[test]
#[should_panic(expected = "an index can't be extended")]
fn extend_panics_as_it_can_return_no_error() {
    tiny().extend((0..).map(|key| (key, key)));
}

#[test]
fn bulk_loads_name_the_position_at_fault() {
    let load = |entries: &[(u64, u64)]| Index::from_sorted(entries, FillFactor::FULL).err();
    assert_eq!(load(&[(1, 0), (3, 0), (2, 0), (1, 0)]), Some(Error::Unsorted { position: 2 }));
    assert_eq!(load(&[(1, 0), (3, 0), (3, 0), (1, 0)]), Some(Error::DuplicateKey { position: 2 }));
    let mut index = tens(10, 1);
    assert_eq!(index.bulk_load(&[(1, 0)], FillFactor::FULL), Err(Error::NotEmpty { len: 10 }));
    assert!(index.iter().eq((0..10).map(|key| (key, 10 * key))));
    let floats = [(-0.0, 0u32), (0.0, 0), (f64::NAN, 0)];
    assert!(Index::from_sorted(&floats, FillFactor::FULL).is_ok(), "in the total order");
}

#[test]
fn a_bulk_load_over_the_limit_leaves_the_index_empty_and_usable() {
    let mut index = tiny();
    let entries: Vec<(u64, u64)> = (0..10_000).map(|key| (key, key)).collect();
    assert!(matches!(index.bulk_load(&entries, FillFactor::FULL), Err(Error::MemoryLimit { .. })));
    assert!(index.is_empty());
    let few = &entries[..if cfg!(latchless_small_nodes) { 50 } else { 500 }];
    index.bulk_load(few, FillFactor::FULL).unwrap();
    assert!(index.iter().eq(few.iter().copied()));
    index.check_invariants().unwrap();
}

#[test]
fn node_references_run_out_in_good_order() {
    let options = Options { node_references: 20, huge_pages: false, ..Options::default() };
    let index = Index::<u32, u32>::with_options(options).unwrap();
    let refused = (0..1_000_000).find(|&key| index.insert(key, key).is_err()).expect("nodes end");
    assert!(matches!(index.insert(refused, 0), Err(Error::ReferencesExhausted { limit: 20 })));
    index.check_invariants().unwrap();
    assert!(index.keys().eq(0..refused));
}

#[test]
fn a_kernel_that_is_not_here_is_refused_and_every_other_serves() {
    for kernel in Kernel::ALL {
        let options = Options { kernel: Some(kernel), ..Options::default() };
        let index = Index::<u64, u64>::with_options(options);
        if !kernel.is_available() {
            assert_eq!(index.err(), Some(Error::KernelUnavailable { kernel: kernel.name() }));
            continue;
        }
        let index = index.unwrap();
        let n = scaled(3000) as u64;
        index.try_extend((0..n).rev().map(|key| (key, !key))).unwrap();
        assert!(index.iter().eq((0..n).map(|key| (key, !key))), "{}", kernel.name());
        index.check_invariants().unwrap();
    }
}
