//! Refused operations, after which the index is unchanged.

use crate::common::{scaled, tens, tiny};
use latchless::index::Options;
use latchless::{Error, FillFactor, InWord, Index, IndexKey, Kernel, Key, TryInsertError};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_full_index_refuses_new_keys_and_serves_everything_else() {
    let index = tiny();
    let refused = (0..).find(|&key| index.insert(key, 10 * key).is_err()).unwrap();
    let len = index.len();
    assert!(index.iter().eq((0..refused).map(|key| (key, 10 * key))));
    assert!(matches!(index.insert(refused, 0), Err(Error::MemoryLimit { limit_bytes: 32_768, .. })));
    let not_inserted = index.try_insert(refused, 7).unwrap_err();
    assert!(matches!(not_inserted, TryInsertError::Refused { error: Error::MemoryLimit { .. }, value: 7 }));
    assert_eq!((not_inserted.clone().into_value(), not_inserted.to_string().contains("limit")), (7, true));
    assert!(matches!(Error::from(not_inserted), Error::MemoryLimit { .. }));
    assert!(index.upsert(refused, |_| 0).is_err());
    assert!(index.compute(refused, |_| Some(0)).is_err());
    assert!(index.get_or_insert(refused, 0).is_err());
    assert!(index.try_extend([(refused, 0)]).is_err());
    assert_eq!((index.len(), index.get(refused)), (len, None));
    index.check_invariants().unwrap();
    assert_eq!(index.insert(3, 4), Ok(Some(30)));
    assert_eq!(index.update(3, |value| value + 1), Some(4));
    assert_eq!(index.try_insert(3, 0), Err(TryInsertError::Present { present: 5, value: 0 }));
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

/// A key of which some can't be encoded.
#[derive(Debug, Clone, Copy)]
struct Odd(u64);

impl IndexKey for Odd {
    type Form = InWord<u64>;
    type Probe<'q> = Self;

    fn probe(&self) -> Self {
        *self
    }

    fn own(probe: Self) -> Self {
        probe
    }
}

impl Key for Odd {
    type Bits = u64;

    fn encode(self) -> u64 {
        assert!(self.0 % 2 == 1, "not odd");
        self.0
    }

    fn decode(bits: u64) -> Self {
        Self(bits)
    }
}

#[test]
fn a_bulk_load_whose_keys_panic_gives_its_nodes_back() {
    let options = Options { limit_bytes: Some(2 << 20), huge_pages: false, ..Options::default() };
    let mut index = Index::<Odd, u64>::with_options(options).unwrap();
    let before = index.live_bytes();
    let len = if cfg!(any(miri, latchless_small_nodes)) { 500 } else { 60_000 };
    let odd: Vec<(Odd, u64)> = (0..len).map(|at| (Odd(2 * at + 1), at)).collect();
    for (at, threads) in [(0, 1), (odd.len() / 2, 1), (odd.len() - 1, 4), (1, 4)] {
        let mut entries = odd.clone();
        entries[at].0 = Odd(2 * at as u64);
        let load = || index.bulk_load_with(&entries, FillFactor::FULL, NonZero::new(threads).unwrap());
        assert!(catch_unwind(AssertUnwindSafe(load)).is_err());
        assert_eq!((index.live_bytes(), index.len()), (before, 0), "at {at}, by {threads} threads");
        index.check_invariants().unwrap();
    }
    index.bulk_load(&odd, FillFactor::FULL).unwrap();
    assert_eq!(index.len(), odd.len());
    index.check_invariants().unwrap();
}

#[test]
fn what_try_insert_refuses_is_an_error_like_others() {
    let index = tens(10, 1);
    let register = |key, value| -> latchless::Result<()> {
        index.try_insert(key, value)?;
        Ok(())
    };
    assert_eq!((register(3, 7), register(10, 7)), (Err(Error::KeyPresent), Ok(())));
    assert_eq!(index.try_insert(10, 8).map_err(TryInsertError::into_value), Err(8));
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
