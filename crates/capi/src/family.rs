//! What handles of one type have in common: their content, its kind where one type has several, and how C
//! passes keys, values and places for them.

use crate::column::{Keys, Source, words};
use crate::datum::{Argument, Batch, Datum, Target};
use crate::failure::Failure;
use crate::key::{ByteStrings, KeyKind, RowKeys, WordKeys};
use crate::near::Near;
use crate::options::Parsed;
use crate::place::{Key, Passed, PassedPlace, bounds};
use crate::rows_cursor::RowsCursor;
use crate::strings::{Column, Names, latchless_column};
use crate::whole::{Rows, Strings, Whole, Words};
use core::ops::Bound;
use engine::bytes::{BytesCursor, Holder};
use engine::index::{Columned, Own, Scan, Scanned};
use engine::{Index, KeyFor};
use std::sync::Arc;

/// The content of handles whose calls are served by the same functions. Cursors keep their index alive.
pub trait Family: Copy {
    type Index: Send + Sync;
    type Cursor: Send;
    /// The kind of the content, where handles of one type have different ones.
    const CONTENT: Option<u64>;
    /// The kind of an index that is made with these options.
    fn content(parsed: &Parsed) -> Result<u64, Failure>;
}

/// A key as the index takes it.
pub type View<'a, F> = <<F as Map>::Key as Datum>::View<'a>;
/// The index of a family with one value a key.
pub type MapOf<F> = Index<<F as Map>::Key, <F as Map>::Value>;
/// Ends of a range of keys.
pub type Ends<'a, F> = (Bound<View<'a, F>>, Bound<View<'a, F>>);
/// An entry that was found.
pub type Entry<F> = Option<(<F as Map>::Key, <F as Map>::Value)>;

/// An engine that lends keys as they are taken.
pub trait Lends<K: Datum, V: Datum>: for<'a> Scanned<K, V, KeyRef<'a> = <K as Datum>::View<'a>> {}
impl<K: Datum, V: Datum, E> Lends<K, V> for E where E: for<'a> Scanned<K, V, KeyRef<'a> = K::View<'a>> {}

/// A family whose indexes have one value a key. Keys that are words are of a kind.
pub trait Map: Family<Index: Whole> {
    type Key: Datum
        + KeyFor<Self::Value, Engine: Columned<Self::Key, Self::Value> + Lends<Self::Key, Self::Value>>;
    type Value: Datum;
    /// How C passes a key, a value, a place for either, and a column of either.
    type KeyIn: Argument<Self::Key>;
    type ValueIn: Argument<Self::Value>;
    type Out: Target;
    type Passed: Copy;
    type Keys: Batch<Self::Key>;
    type Values: Batch<Self::Value>;

    /// The index itself.
    fn map(index: &Self::Index) -> &MapOf<Self>;
    /// The index itself, to be filled.
    fn map_mut(index: &mut Self::Index) -> &mut MapOf<Self>;

    /// The key under the name `argument`.
    ///
    /// # Safety
    /// The contract at the head of the crate.
    unsafe fn key<'a>(
        kind: KeyKind,
        argument: &'static str,
        key: Self::KeyIn,
    ) -> Result<View<'a, Self>, Failure>;
    /// The range that a caller means.
    ///
    /// # Safety
    /// The contract at the head of the crate.
    unsafe fn range<'a>(
        kind: KeyKind,
        low: Self::KeyIn,
        high: Self::KeyIn,
    ) -> Result<Ends<'a, Self>, Failure>;
    /// The entry that is nearest to a key on either side.
    fn nearest(index: &MapOf<Self>, kind: KeyKind, key: View<'_, Self>) -> Result<Entry<Self>, Failure>;
    /// The keys of a batch.
    ///
    /// # Safety
    /// The contract at the head of the crate.
    unsafe fn keys(kind: KeyKind, passed: Self::Passed, count: usize) -> Result<Self::Keys, Failure>;
    /// The values of a batch.
    ///
    /// # Safety
    /// The contract at the head of the crate.
    unsafe fn values(passed: Self::Passed, count: usize) -> Result<Self::Values, Failure>;
}

impl Family for WordKeys {
    type Index = Words;
    type Cursor = Scan<Arc<Words>>;
    /// All are alike inside; the kind is what the keys mean.
    const CONTENT: Option<u64> = None;

    fn content(parsed: &Parsed) -> Result<u64, Failure> {
        let given = parsed.values as u64;
        let wanted = "LATCHLESS_VALUE_WORD for a latchless_index";
        if given == 0 {
            Ok(parsed.keys as u64)
        } else {
            Err(Failure::Field { field: "value_kind", given, wanted })
        }
    }
}

impl Map for WordKeys {
    type Key = u64;
    type Value = u64;
    type KeyIn = u64;
    type ValueIn = u64;
    type Out = *mut u64;
    type Passed = *const u64;
    type Keys = Keys;
    type Values = Source<u64>;

    #[inline(always)]
    fn map(index: &Words) -> &Words {
        index
    }

    fn map_mut(index: &mut Words) -> &mut Words {
        index
    }

    #[inline(always)]
    unsafe fn key<'a>(kind: KeyKind, argument: &'static str, key: u64) -> Result<View<'a, Self>, Failure> {
        if kind.has(key) { Ok(key) } else { Err(Failure::Nan { argument }) }
    }

    /// Both ends are included, and each is a key or the end of all words.
    #[inline(always)]
    unsafe fn range<'a>(kind: KeyKind, low: u64, high: u64) -> Result<Ends<'a, Self>, Failure> {
        words(kind, low, high).map(|range| (Bound::Included(*range.start()), Bound::Included(*range.end())))
    }

    fn nearest(index: &Words, kind: KeyKind, key: u64) -> Result<Entry<Self>, Failure> {
        Ok(index.nearest_by(key, Own::Counts, |one, other| kind.distance(one, other)))
    }

    unsafe fn keys(kind: KeyKind, passed: *const u64, count: usize) -> Result<Keys, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Keys::new("keys", kind, passed, count) }
    }

    unsafe fn values(passed: *const u64, count: usize) -> Result<Source<u64>, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Source::new("values", passed, count) }
    }
}

impl Family for RowKeys {
    type Index = Rows;
    type Cursor = RowsCursor;
    const CONTENT: Option<u64> = None;

    fn content(parsed: &Parsed) -> Result<u64, Failure> {
        let kinds = [("key_kind", parsed.keys as u64), ("value_kind", parsed.values as u64)];
        let wanted = "0, the default, for a latchless_multi";
        let other = kinds.into_iter().find(|kind| kind.1 != 0);
        other.map_or(Ok(0), |(field, given)| Err(Failure::Field { field, given, wanted }))
    }
}

/// A cursor of byte strings.
pub struct StringsCursor<H: Holder> {
    pub inner: BytesCursor<H>,
    /// The value that C has the address of, if it is a word.
    pub word: u64,
}

impl<H: Holder> StringsCursor<H> {
    /// A cursor before the first entry.
    pub fn of(holder: H) -> Self {
        Self { inner: BytesCursor::of(holder), word: 0 }
    }
}

/// A family whose keys are byte strings.
pub trait Strung: Map<Key = Vec<u8>> + Family<Cursor = StringsCursor<Self::Holder>> {
    /// What keeps the index of a cursor alive.
    type Holder: Holder<Key = Vec<u8>, Value = Self::Value> + Send;
    /// The index as a cursor keeps it.
    fn hold(index: Arc<Self::Index>) -> Self::Holder;
}

macro_rules! strung {
    ($value:ty, $check:expr) => {
        impl Family for ByteStrings<$value> {
            type Index = Strings<$value>;
            type Cursor = StringsCursor<Arc<Strings<$value>>>;
            const CONTENT: Option<u64> = Some(<$value>::KIND as u64);

            fn content(parsed: &Parsed) -> Result<u64, Failure> {
                let given = parsed.keys as u64;
                let wanted = "LATCHLESS_KEY_U64, the default, for a latchless_bytes";
                if given == 0 {
                    Ok(<$value>::KIND as u64)
                } else {
                    Err(Failure::Field { field: "key_kind", given, wanted })
                }
            }
        }

        impl Map for ByteStrings<$value> {
            type Key = Vec<u8>;
            type Value = $value;
            type KeyIn = Passed;
            type ValueIn = Passed;
            type Out = PassedPlace;
            type Passed = *const latchless_column;
            type Keys = Column;
            type Values = Column;

            fn map(index: &Strings<$value>) -> &Strings<$value> {
                index
            }

            fn map_mut(index: &mut Strings<$value>) -> &mut Strings<$value> {
                index
            }

            #[inline(always)]
            unsafe fn key<'a>(_: KeyKind, argument: &'static str, key: Passed) -> Result<&'a [u8], Failure> {
                // SAFETY: as the caller promises.
                unsafe { Key::new(argument, key) }.map(Key::bytes)
            }

            /// From the first one on, up to the second one.
            unsafe fn range<'a>(_: KeyKind, begin: Passed, end: Passed) -> Result<Ends<'a, Self>, Failure> {
                // SAFETY: as the caller promises.
                unsafe { bounds(begin, end) }
            }

            fn nearest(_: &Strings<$value>, _: KeyKind, _: &[u8]) -> Result<Entry<Self>, Failure> {
                let wanted = "another latchless_near: byte strings have no distance";
                Err(Failure::Field { field: "near", given: Near::LATCHLESS_NEAREST as u64, wanted })
            }

            unsafe fn keys(
                _: KeyKind,
                passed: *const latchless_column,
                count: usize,
            ) -> Result<Column, Failure> {
                // SAFETY: as the caller promises.
                unsafe { Column::new(&Names::KEYS, passed, count) }
            }

            unsafe fn values(passed: *const latchless_column, count: usize) -> Result<Column, Failure> {
                // SAFETY: as the caller promises.
                let column = unsafe { Column::new(&Names::VALUES, passed, count)? };
                let check: fn(&Column, usize) -> Result<(), Failure> = $check;
                check(&column, count).map(|()| column)
            }
        }

        impl Strung for ByteStrings<$value> {
            type Holder = Arc<Strings<$value>>;

            fn hold(index: Arc<Strings<$value>>) -> Self::Holder {
                index
            }
        }
    };
}
strung!(u64, Column::check_words);
strung!(Vec<u8>, |_, _| Ok(()));

/// A cursor of words.
pub type Cursor = <WordKeys as Family>::Cursor;
