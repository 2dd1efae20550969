//! Batches, loads and owned iteration, for every engine: against `BTreeMap`. `types.rs` has the pairs of
//! types.

use crate::common::{Rng, scaled};
use core::fmt::Debug;
use core::num::NonZeroUsize;
use latchless::{Error, FillFactor, Index, IndexValue, KeyFor};
use std::collections::BTreeMap;

/// Inserts and removes in batches, loads sorted entries, and takes an index apart, compared with a map.
pub fn agree<K, V, P, G>(key: &impl Fn(u64) -> K, value: &impl Fn(u64) -> V, (probe, given): (&P, &G))
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
    G: for<'v> Fn(&'v V) -> V::Given<'v> + Sync,
    K: Sync,
    V: Sync,
{
    let (index, mut map) = (Index::<K, V>::new().unwrap(), BTreeMap::new());
    let mut rng = Rng(29);
    for step in 0..scaled(40) as u64 {
        let len = rng.next() % 200;
        let keys: Vec<K> = (0..len).map(|_| key(rng.next() % 400)).collect();
        let values: Vec<V> = (0..len).map(|at| value(200 * step + at)).collect();
        let probes: Vec<_> = keys.iter().map(probe).collect();
        let mut answers = vec![Some(value(0)); keys.len()];
        if step % 3 < 2 {
            let entries: Vec<_> = probes.iter().copied().zip(values.clone()).collect();
            let mut refused = vec![None; keys.len() + 1];
            let unequal = index.insert_many(&entries, &mut refused).unwrap_err();
            assert_eq!(unequal.refused.len(), keys.len());
            index.insert_many(&entries, &mut answers).unwrap();
            let replaced: Vec<_> =
                keys.iter().zip(values).map(|(key, value)| map.insert(key.clone(), value)).collect();
            assert_eq!(answers, replaced);
        } else {
            assert_eq!(index.remove_many(&probes, &mut []).is_err(), len > 0);
            index.remove_many(&probes, &mut answers).unwrap();
            assert_eq!(answers, keys.iter().map(|key| map.remove(key)).collect::<Vec<_>>());
        }
        assert!(index.iter().eq(map.clone()));
    }
    index.check_invariants().unwrap();

    // In the order of the index.
    let mut entries: Vec<(K, V)> = index.iter().collect();
    let mut loaded = Index::from_sorted(&entries, FillFactor::default()).unwrap();
    loaded.check_invariants().unwrap();
    assert!(loaded.iter().eq(entries.iter().cloned()));
    assert!(matches!(loaded.bulk_load(&entries, FillFactor::FULL), Err(Error::NotEmpty { .. })));
    assert!(loaded.into_iter().rev().eq(entries.iter().rev().cloned()));
    let mut apart = index.into_iter();
    assert_eq!((apart.next(), apart.next_back()), (entries.first().cloned(), entries.last().cloned()));
    let mut lent = Index::<K, V>::new().unwrap();
    let entry_at = |at: usize| (entries[at].0.probe(), given(&entries[at].1));
    lent.bulk_load_by(entries.len(), entry_at, FillFactor::FULL, NonZeroUsize::MIN).unwrap();
    lent.check_invariants().unwrap();
    assert!(lent.iter().eq(entries.iter().cloned()));
    lent.reset();
    lent.check_invariants().unwrap();
    assert!(lent.is_empty() && lent.iter().next().is_none());
    lent.bulk_load(&entries, FillFactor::FULL).unwrap();
    assert_eq!(lent.len(), entries.len());
    entries.swap(3, 4);
    let unsorted = Index::from_sorted(&entries, FillFactor::FULL);
    assert!(matches!(unsorted, Err(Error::Unsorted { position: 4 })));
    entries[3] = entries[4].clone();
    let twice = Index::from_sorted(&entries, FillFactor::FULL);
    assert!(matches!(twice, Err(Error::DuplicateKey { position: 4 })));
}
