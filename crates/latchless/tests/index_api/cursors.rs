//! Cursors, which survive all concurrent changes.

use crate::common::tens;
use latchless::Index;
use latchless::index::Cursor;
use std::sync::Arc;

#[test]
fn a_cursor_walks_both_ways_and_stays_at_the_ends() {
    let index = tens(3, 1);
    let mut cursor = index.cursor();
    assert_eq!((cursor.current(), cursor.prev()), (None, None));
    for key in 0..3 {
        assert_eq!(cursor.next(), Some((key, 10 * key)));
        assert_eq!(cursor.current(), Some((key, 10 * key)));
    }
    assert_eq!((cursor.next(), cursor.next(), cursor.current()), (None, None, None));
    for key in (0..3).rev() {
        assert_eq!(cursor.prev(), Some((key, 10 * key)));
    }
    assert_eq!((cursor.prev(), cursor.prev(), cursor.next()), (None, None, Some((0, 0))));
}

#[test]
fn seeking_finds_the_nearest_in_its_direction() {
    let index = tens(1000, 10);
    let mut cursor = index.cursor();
    assert_eq!(cursor.seek(500), Some((500, 5000)));
    assert_eq!(cursor.seek(501), Some((510, 5100)));
    assert_eq!(cursor.seek_for_prev(509), Some((500, 5000)));
    assert_eq!(cursor.seek_for_prev(500), Some((500, 5000)));
    assert_eq!((cursor.seek_first(), cursor.seek_last()), (Some((0, 0)), Some((990, 9900))));
    assert_eq!((cursor.seek(991), cursor.prev()), (None, Some((990, 9900))));
    index.insert(0, 1).unwrap();
    index.remove(0);
    assert_eq!((cursor.seek_for_prev(9), cursor.next()), (None, Some((10, 100))));
    let empty = Index::<u64, u64>::new().unwrap();
    let mut cursor = empty.cursor();
    assert_eq!(
        (cursor.seek(0), cursor.seek_first(), cursor.seek_last(), cursor.next()),
        (None, None, None, None)
    );
}

#[test]
fn a_cursor_survives_the_removal_of_its_key_and_of_everything() {
    let index = tens(1000, 1);
    let mut cursor = index.cursor();
    cursor.seek(500);
    index.remove(500);
    assert_eq!((cursor.current(), cursor.value_now()), (Some((500, 5000)), None));
    let mut twin = cursor.clone();
    assert_eq!((cursor.next(), twin.prev()), (Some((501, 5010)), Some((499, 4990))));
    index.remove_range(400..600).unwrap();
    assert_eq!((cursor.next(), twin.prev()), (Some((600, 6000)), Some((399, 3990))));
    index.clear();
    assert_eq!((cursor.current(), cursor.next()), (Some((600, 6000)), None));
    index.insert(7, 70).unwrap();
    assert_eq!((cursor.prev(), twin.prev()), (Some((7, 70)), Some((7, 70))));
}

#[test]
fn a_cursor_sees_what_was_put_in_beside_it() {
    let index = tens(100, 10);
    let mut cursor = index.cursor();
    cursor.seek(50);
    index.insert(51, 1).unwrap();
    index.insert(49, 2).unwrap();
    index.insert(50, 3).unwrap();
    assert_eq!((cursor.current(), cursor.value_now()), (Some((50, 500)), Some(3)));
    assert_eq!((cursor.next(), cursor.prev(), cursor.prev()), (Some((51, 1)), Some((50, 3)), Some((49, 2))));
}

#[test]
fn cursors_stop_at_the_largest_key() {
    let index: Index<u32, u64> = [(0, 1), (u32::MAX, 2)].into();
    let mut cursor = index.cursor();
    assert_eq!((cursor.seek(1), cursor.next()), (Some((u32::MAX, 2)), None));
    assert_eq!((cursor.prev(), cursor.prev(), cursor.prev()), (Some((u32::MAX, 2)), Some((0, 1)), None));
}

#[test]
fn cursors_can_be_kept_and_sent() {
    let index = Arc::new(tens(100, 1));
    let mut cursor = Cursor::of(Arc::clone(&index));
    cursor.seek(50);
    let walker = std::thread::spawn(move || {
        let found: Vec<_> = std::iter::from_fn(|| cursor.next()).map(|(key, _)| key).collect();
        (found, cursor.prev())
    });
    index.insert(50, 1).unwrap();
    assert_eq!(walker.join().unwrap(), ((51..100).collect(), Some((99, 990))));
}

#[test]
fn a_cursor_alone() {
    let mut index = tens(100, 1);
    let alone = index.exclusive();
    let mut cursor = alone.cursor();
    assert_eq!(
        (cursor.seek_for_prev(40), cursor.next(), cursor.value_now()),
        (Some((40, 400)), Some((41, 410)), Some(410))
    );
    assert!(format!("{cursor:?}").contains("At((41, 410))"));
}
