//! Keys that are too long.

use super::{Census, Counted, empty};
use latchless::index::Incomplete;
use latchless::{Error, FillFactor};
use std::sync::Arc;

#[test]
fn a_key_that_is_too_long_is_refused_by_what_would_add_it_and_found_by_nothing() {
    let census = Census::new();
    let mut index = empty::<Vec<u8>, Arc<Counted>>();
    {
        let value = || census.value(0, 0);
        let (short, long) = (&b"short"[..], &vec![7; 1 << 24][..]);
        let too_long = |error: &Error| matches!(error, Error::KeyTooLong { .. });
        index.insert(short, value()).unwrap();
        assert!(too_long(&index.insert(long, value()).unwrap_err()));
        assert!(too_long(&index.try_insert(long, value()).unwrap_err().into()));
        assert!(too_long(&index.upsert(long, |_| value()).unwrap_err()));
        assert!(too_long(&index.compute(long, |_| Some(value())).unwrap_err()));
        assert!(too_long(&index.get_or_insert(long, value()).unwrap_err()));
        let entries = [(long, value()), (short, value()), (long, value())];
        let Incomplete { error, refused } =
            index.insert_many(&entries, &mut [const { None }; 3]).unwrap_err();
        assert!(too_long(&error) && refused == [0, 2]);
        assert!(index.get(long).is_none() && !index.contains_key(long));
        assert!(index.replace(long, value()).unwrap().is_none());
        assert!(index.update(long, |_| unreachable!()).unwrap().is_none());
        assert!(index.compute(long, |_| None).unwrap().is_none());
        assert!(index.remove_if(long, |_| unreachable!()).is_none());
        assert!(index.remove(long).is_none());
        let mut removed = [const { None }; 3];
        index.remove_many(&[long, short, long], &mut removed).unwrap();
        assert!(removed[0].is_none() && removed[1].is_some() && removed[2].is_none());
    }
    let entries = [(vec![1], census.value(1, 0)), (vec![7; 1 << 24], census.value(2, 0))];
    let refused = index.bulk_load(&entries, FillFactor::FULL).unwrap_err();
    assert!(matches!(refused, Error::KeyTooLong { .. }));
    assert!(index.is_empty());
    index.check_invariants().unwrap();
    drop(entries);
    // None of the refused values keeps its slot.
    census.all_dropped_once_by(|| index.flush());
}
