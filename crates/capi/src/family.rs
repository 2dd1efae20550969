//! What handles of one type have in common: their content, and its kind where one type has several.

use crate::failure::Failure;
use crate::key::{ByteStrings, RowKeys, ValueKind, WordKeys};
use crate::options::Parsed;
use crate::whole::{Rows, Strings, Whole, Words};
use engine::BytesValue;
use engine::bytes::BytesCursor;
use engine::index::Scan;
use std::sync::Arc;

/// The content of handles whose calls are served by the same functions. Cursors keep their index alive.
pub trait Family: Copy {
    type Index: Whole;
    type Cursor: Send;
    /// The kind of the content, where handles of one type have different ones.
    const CONTENT: Option<u64>;
    /// The kind of an index that is made with these options.
    fn content(parsed: &Parsed) -> Result<u64, Failure>;
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

impl Family for RowKeys {
    type Index = Rows;
    /// There are none.
    type Cursor = ();
    const CONTENT: Option<u64> = None;

    fn content(parsed: &Parsed) -> Result<u64, Failure> {
        let kinds = [("key_kind", parsed.keys as u64), ("value_kind", parsed.values as u64)];
        let wanted = "0, the default, for a latchless_multi";
        let other = kinds.into_iter().find(|kind| kind.1 != 0);
        other.map_or(Ok(0), |(field, given)| Err(Failure::Field { field, given, wanted }))
    }
}

/// A type of values, whose kind a handle has.
pub trait Stored: BytesValue {
    const KIND: ValueKind;
}

impl Stored for u64 {
    const KIND: ValueKind = ValueKind::LATCHLESS_VALUE_WORD;
}

impl Stored for Vec<u8> {
    const KIND: ValueKind = ValueKind::LATCHLESS_VALUE_BYTES;
}

/// A cursor of byte strings.
pub struct StringsCursor<V: BytesValue> {
    pub inner: BytesCursor<Arc<Strings<V>>>,
    /// The value that C has the address of, if it is a word.
    pub word: u64,
}

impl<V: Stored> Family for ByteStrings<V> {
    type Index = Strings<V>;
    type Cursor = StringsCursor<V>;
    const CONTENT: Option<u64> = Some(V::KIND as u64);

    fn content(parsed: &Parsed) -> Result<u64, Failure> {
        let given = parsed.keys as u64;
        let wanted = "LATCHLESS_KEY_U64, the default, for a latchless_bytes";
        if given == 0 { Ok(V::KIND as u64) } else { Err(Failure::Field { field: "key_kind", given, wanted }) }
    }
}

/// A cursor of words.
pub type Cursor = <WordKeys as Family>::Cursor;
