//! The keys of an index of byte strings: `str` or `bytes`, numbers and times as eight bytes that have their order,
//! or tuples of these.

use super::composite::TupleType;
use super::engine::Ends as Bounds;
use super::keys::{StringColumn, StringType};
use super::strings::Strings;
use crate::asked::{Asked, Ends};
use crate::column;
use crate::core::DtypeOf;
use crate::dtype::KeyDtype;
use crate::engine::NoKey;
use crate::export::{self, Exported};
use crate::failure;
use crate::kind::Format;
use crate::lane::Lane;
use crate::map::Object;
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::ops::Deref;

/// The type of keys.
pub enum KeyType {
    /// Strings.
    Strings(StringType),
    /// Words of 64 bits.
    Numbers(KeyDtype),
    /// Tuples.
    Tuples(Py<TupleType>),
}

/// The description of the type of keys.
#[derive(FromPyObject)]
pub enum KeyOf {
    /// Of tuples.
    Tuples(Py<TupleType>),
    /// Of all others.
    Plain(DtypeOf),
}

/// The bytes of a key.
#[derive(Debug, Clone)]
pub enum KeyBytes<'a> {
    /// Those of an object.
    Lent(&'a [u8]),
    /// A tuple's.
    Made(Vec<u8>),
    /// A word's, the highest first.
    Word([u8; 8]),
}

impl KeyBytes<'_> {
    fn of(word: u64) -> Self {
        Self::Word(word.to_be_bytes())
    }
}

impl Deref for KeyBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Made(bytes) => bytes,
            Self::Word(bytes) => bytes,
        }
    }
}

impl Ends<KeyBytes<'_>> {
    /// The ends of a range of byte strings.
    pub fn of_bytes(&self) -> Bounds<'_> {
        let Self { low, high, closed } = self;
        Ends { low: low.as_deref(), high: high.as_deref(), closed: *closed }.bounds()
    }
}

/// The keys of a batch.
pub enum BatchKeys<'a> {
    /// Those of a column.
    Lent(&'a Strings),
    /// Of an array of words.
    Made(Strings),
}

impl Deref for BatchKeys<'_> {
    type Target = Strings;

    fn deref(&self) -> &Strings {
        match self {
            Self::Lent(strings) => strings,
            Self::Made(strings) => strings,
        }
    }
}

impl KeyType {
    /// The type that Python's side describes.
    pub fn new(py: Python<'_>, of: KeyOf) -> PyResult<Self> {
        let of = match of {
            KeyOf::Tuples(of) => return Ok(Self::Tuples(of)),
            KeyOf::Plain(of) => of,
        };
        match StringType::of_code(&of.0, false) {
            Some(strings) => Ok(Self::Strings(strings)),
            None => KeyDtype::new(py, true, of).map(Self::Numbers),
        }
    }

    /// The name of the type.
    pub fn name(&self) -> &str {
        match self {
            Self::Strings(of) => of.name(),
            Self::Numbers(of) => of.kind.name(),
            Self::Tuples(of) => &of.get().name,
        }
    }

    /// A key to be stored.
    #[inline]
    pub fn key<'a>(&self, key: &'a Object<'_>) -> PyResult<KeyBytes<'a>> {
        match self {
            Self::Strings(of) => of.bytes(key).map(KeyBytes::Lent),
            Self::Numbers(of) => of.key(key).map(KeyBytes::of),
            Self::Tuples(of) => of.get().key(key).map(KeyBytes::Made),
        }
    }

    /// The place of an object among the keys; the inner error if it has none.
    #[inline]
    pub fn asked<'a>(&self, key: &'a Object<'_>) -> PyResult<Result<Asked<KeyBytes<'a>>, PyErr>> {
        match self {
            Self::Strings(of) => Ok(of.asked(key)?.map(|bytes| Asked::Key(KeyBytes::Lent(bytes)))),
            Self::Numbers(of) => Ok(of.asked(key)?.map(|asked| asked.map(KeyBytes::of))),
            Self::Tuples(of) => Ok(of.get().asked(key)?.map(|asked| asked.map(KeyBytes::Made))),
        }
    }

    /// Does something with the range of the keys that begin with a prefix.
    pub fn with_prefix<T>(
        &self,
        prefix: Option<&Object<'_>>,
        work: impl FnOnce(Ends<KeyBytes<'_>>) -> PyResult<T>,
    ) -> PyResult<T> {
        match self {
            Self::Strings(of) => of.with_prefix(prefix, |Ends { low, high, closed }| {
                work(Ends { low: low.map(KeyBytes::Lent), high: high.map(KeyBytes::Lent), closed })
            }),
            Self::Numbers(of) => Err(of.no_prefix()),
            Self::Tuples(of) => of.get().with_prefix(prefix, |Ends { low, high, closed }| {
                work(Ends { low: low.map(KeyBytes::Lent), high: high.map(KeyBytes::Lent), closed })
            }),
        }
    }

    /// The keys of a batch.
    pub fn batch<'a>(&self, keys: &'a Object<'_>) -> PyResult<BatchKeys<'a>> {
        let of = match self {
            Self::Strings(of) => {
                return keys.cast::<StringColumn>()?.get().keys_of(*of).map(BatchKeys::Lent);
            }
            Self::Tuples(_) => return Ok(BatchKeys::Lent(&keys.cast::<StringColumn>()?.get().strings)),
            Self::Numbers(of) => of,
        };
        let words = column::input::<u64>(keys)?;
        let words = words.words();
        let refused = |error| failure::exception(&error);
        keys.py().detach(|| {
            let mut strings = Strings::with_room(words.len(), 8 * words.len()).map_err(refused)?;
            for at in 0..words.len() {
                let word = words.load(at).ordered(of.kind.order()).ok_or_else(|| of.no_key(NoKey(at)))?;
                strings.push(&word.to_be_bytes()).map_err(refused)?;
            }
            Ok(BatchKeys::Made(strings))
        })
    }

    /// The keys of a batch that is to be stored: none is too long.
    pub fn batch_to_store<'a>(&self, keys: &'a Object<'_>) -> PyResult<BatchKeys<'a>> {
        if !matches!(self, Self::Numbers(_)) {
            keys.cast::<StringColumn>()?.get().check_lengths()?;
        }
        self.batch(keys)
    }

    /// A key as an object.
    pub fn object<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Object<'py>> {
        match self {
            Self::Strings(of) => of.object(py, key),
            Self::Numbers(of) => of.kind.object(py, word(of, key)),
            Self::Tuples(of) => of.get().object(py, key),
        }
    }

    /// Keys as a column.
    pub fn column<'py>(&self, py: Python<'py>, strings: Strings) -> PyResult<Object<'py>> {
        match self {
            &Self::Strings(of) => Ok(Bound::new(py, StringColumn { strings, of })?.into_any()),
            Self::Tuples(_) => Ok(Bound::new(py, StringColumn { strings, of: TUPLE })?.into_any()),
            Self::Numbers(of) => Ok(PyArray1::from_vec(py, words(of, &strings)).into_any()),
        }
    }

    /// Keys as the answers of a batch: a list or an array, with another one where there is none; of tuples a column
    /// of their bytes, with none there.
    pub fn answers<'py, 'a>(
        &self,
        answers: impl Iterator<Item = (&'a Strings, &'a [bool])>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        match self {
            Self::Strings(of) => {
                let list = PyList::empty(missing.py());
                for answers in answers {
                    super::value::append(&list, *of, answers, missing)?;
                }
                Ok(list.into_any())
            }
            Self::Numbers(of) => {
                let (mut array, none) = (Vec::new(), missing.extract::<u64>()?);
                for (strings, found) in answers {
                    let places = found.iter().enumerate();
                    array.extend(places.map(|(at, &is)| if is { word(of, strings.get(at)) } else { none }));
                }
                Ok(PyArray1::from_vec(missing.py(), array).into_any())
            }
            Self::Tuples(_) => {
                let mut all = Strings::default();
                for (strings, _) in answers {
                    let copied = (0..strings.len()).try_for_each(|at| all.push(strings.get(at)));
                    copied.map_err(|error| failure::exception(&error))?;
                }
                self.column(missing.py(), all)
            }
        }
    }

    /// Keys as a column of Arrow's.
    pub fn exported(&self, strings: Strings) -> PyResult<Exported> {
        match self {
            Self::Strings(of) => Ok(export::string_column(c"key", of.is_text, strings)),
            Self::Numbers(of) => export::column(c"key", &of.kind, words(of, &strings)),
            Self::Tuples(_) => Err(self.no_arrow()),
        }
    }

    /// The type of that column.
    pub fn format(&self) -> PyResult<Format> {
        match self {
            Self::Strings(of) => Ok(export::string_format(of.is_text)),
            Self::Numbers(of) => export::format(&of.kind),
            Self::Tuples(_) => Err(self.no_arrow()),
        }
    }

    /// Whether two keys have a distance: of tuples, if those of a group are asked for, which differ in the last part
    /// alone.
    pub fn is_measured(&self, grouped: bool) -> bool {
        match self {
            Self::Strings(_) => false,
            Self::Numbers(_) => true,
            Self::Tuples(of) => grouped && of.get().is_measured(),
        }
    }

    /// How far a key is from another one, if they are of one group; 0 if it can't be measured.
    pub fn distance(&self, one: &[u8], other: &[u8]) -> Option<u64> {
        let stored =
            |key: &[u8]| u64::from_be_bytes(*key.first_chunk().expect("eight bytes are stored for each"));
        match self {
            Self::Strings(_) => Some(0),
            Self::Numbers(of) => Some(stored(one).distance(stored(other), of.kind.order())),
            Self::Tuples(of) => of.get().distance(one, other),
        }
    }

    /// The exception for keys without a distance.
    pub fn no_distance(&self) -> PyErr {
        PyTypeError::new_err(match self {
            Self::Tuples(of) if of.get().is_measured() => {
                "tuples have no distance: asof measures that of their last parts where the others are equal"
                    .to_owned()
            }
            Self::Tuples(_) => "the last part of the keys is a string, which has no distance".to_owned(),
            Self::Strings(_) | Self::Numbers(_) => {
                format!("keys that are {} have no distance: numbers and times have", self.name())
            }
        })
    }

    fn no_arrow(&self) -> PyErr {
        PyTypeError::new_err(
            "tuples are no column of Arrow's: range() returns a column for each part of the keys",
        )
    }
}

/// The type of a column of the bytes of tuples.
pub const TUPLE: StringType = StringType { is_text: false, is_value: false };

/// The word of a key.
fn word(of: &KeyDtype, key: &[u8]) -> u64 {
    let bytes = key.first_chunk().expect("eight bytes are stored for each");
    u64::from_be_bytes(*bytes).restored(of.kind.order())
}

/// The words of keys.
fn words(of: &KeyDtype, strings: &Strings) -> Vec<u64> {
    (0..strings.len()).map(|at| word(of, strings.get(at))).collect()
}
