//! A durable index is read by a reader.

use latchless::Direction;
use latchless_log::{DurableBytesIndex, DurableIndex, DurableMultiIndex, Options, SyncMode};

fn never() -> Options {
    Options { sync: SyncMode::Never, ..Options::default() }
}

#[test]
fn a_reader_outlives_the_borrow_that_made_it_and_answers_as_the_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let (numbers, _) =
        DurableIndex::<u64, u64>::open(folder.path().join("numbers"), never()).expect("it opens");
    numbers.insert_many(&[(1, 10), (2, 20), (3, 30)]).expect("entries");
    let range = numbers.index().range(2..);
    assert!(range.eq([(2, 20), (3, 30)]));
    let mut cursor = numbers.index().cursor();
    assert_eq!((cursor.seek(2), cursor.next()), (Some((2, 20)), Some((3, 30))));
    let (mut keys, mut values) = ([0; 2], [0; 2]);
    let reader = numbers.index();
    assert_eq!(reader.page(.., Direction::Reverse, &mut keys, &mut values), Ok(2));
    assert_eq!((keys, reader.rank(3), reader.nth(0), reader.count(..3)), ([3, 2], 2, Some((1, 10)), 2));
    assert_eq!(reader.into_iter().count(), 3);
    assert_eq!(reader.save(folder.path().join("copy.arrow")).expect("a file"), 3);

    let texts = folder.path().join("texts");
    let (texts, _) = DurableBytesIndex::<String, u64>::open(texts, never()).expect("it opens");
    texts.insert_many(&[("a", 1), ("ab", 2), ("b", 3)]).expect("entries");
    let prefix = texts.index().prefix("a");
    assert!(prefix.map(|(_, value)| value).eq([1, 2]));
    assert_eq!(texts.index().floor("az"), Some(("ab".to_owned(), 2)));
    assert_eq!(texts.index().save(folder.path().join("copy.arrow")).expect("a file"), 3);

    let pairs = folder.path().join("pairs");
    let (pairs, _) = DurableMultiIndex::<String>::open(pairs, never()).expect("it opens");
    pairs.insert_many(&[("a", 1), ("a", 2), ("b", 3)]).expect("pairs");
    let rows = pairs.index().rows("a");
    assert!(rows.eq([1, 2]));
    assert_eq!(pairs.index().save(folder.path().join("copy.arrow")).expect("a file"), 3);
}
