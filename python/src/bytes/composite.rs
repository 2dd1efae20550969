//! Composite keys: tuples of numbers, times, `str` and `bytes` as one byte string each, in the order of tuples.
//!
//! The bytes are those of Rust's tuples: a number or a time is eight bytes, a string is closed unless it is the
//! last part. So the bytes of the first parts are those that all keys with these parts begin with, and no others.

use super::engine::after_prefix;
use super::keys::{StringColumn, StringType};
use super::strings::Strings;
use crate::asked::{Asked, Closed, Ends};
use crate::batch::{Pulse, stretches};
use crate::column::{self, Column, Words};
use crate::core::DtypeOf;
use crate::dtype::KeyDtype;
use crate::engine::{NoKey, Undone};
use crate::failure;
use crate::lane::Lane;
use crate::map::Object;
use latchless::BytesKey;
use numpy::PyArray1;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::borrow::Cow;
use std::sync::atomic::AtomicU64;

/// The bytes of a word.
const WORD: usize = 8;
/// The end of a closed part that has no zeros.
const END: [u8; 2] = [0, 0];
/// So many bytes of the greatest value are after all keys.
const LAST: usize = 1 << 16;
/// A part that is closed, and all that follows it.
type ClosedPart = (Vec<u8>, Vec<u8>);

/// The type of a part.
pub enum Part {
    /// Strings.
    Strings(StringType),
    /// Words of 64 bits.
    Numbers(KeyDtype),
}

/// The types of the parts of keys. Not for users: `latchless.Index` makes it of its dtypes.
#[pyclass(frozen, module = "latchless._latchless")]
pub struct TupleType {
    /// The types.
    pub parts: Vec<Part>,
    /// Their names.
    pub name: String,
}

/// The column of a part; of one element that is repeated, the step is 0.
enum Given<'py> {
    Strings(Bound<'py, StringColumn>, usize),
    Words(Column<'py, AtomicU64>),
}

/// The same without its owner.
#[derive(Clone, Copy)]
enum Read<'a> {
    Strings(&'a Strings, usize),
    Words(Words<'a, AtomicU64>, &'a KeyDtype),
}

/// Why keys weren't made.
enum Wrong {
    /// An element of this part is no key.
    Part(usize, NoKey),
    Undone(Undone),
}

impl<E: Into<Undone>> From<E> for Wrong {
    fn from(undone: E) -> Self {
        Self::Undone(undone.into())
    }
}

#[pymethods]
impl TupleType {
    #[new]
    fn new(py: Python<'_>, name: String, parts: Vec<DtypeOf>) -> PyResult<Self> {
        let part = |of: DtypeOf| match StringType::of_code(&of.0, false) {
            Some(strings) => Ok(Part::Strings(strings)),
            None => KeyDtype::new(py, true, of).map(Part::Numbers),
        };
        Ok(Self { parts: parts.into_iter().map(part).collect::<PyResult<_>>()?, name })
    }

    /// The keys of columns, one for each part; of fewer columns what keys with these first parts begin with. A column
    /// of one element is repeated.
    fn encode(&self, py: Python<'_>, columns: Vec<Object<'_>>) -> PyResult<StringColumn> {
        self.check_count(columns.len(), true)?;
        let lengths = columns.iter().map(Object::len).collect::<PyResult<Vec<_>>>()?;
        let count = lengths.iter().copied().find(|&length| length != 1).unwrap_or(1);
        let given = self.parts.iter().zip(&columns).enumerate().map(|(at, (part, column))| match part {
            Part::Strings(own) => {
                let column = column.cast::<StringColumn>()?.clone();
                let strings = column.get().keys_of(*own).map_err(|error| in_part(py, at, error))?;
                let unequal =
                    || format!("there are {count} keys but {} elements of part {at}", strings.len());
                let step = strings.step_beside(count).ok_or_else(|| PyValueError::new_err(unequal()))?;
                Ok(Given::Strings(column, step))
            }
            Part::Numbers(_) => {
                let words = column::input::<u64>(column)?;
                words.beside(count, &format!("elements of part {at}")).map(Given::Words)
            }
        });
        let given = given.collect::<PyResult<Vec<_>>>()?;
        let read: Vec<_> = given.iter().zip(&self.parts).map(|(given, part)| given.read(part)).collect();
        let parts = self.parts.len();
        let strings = py.detach(|| encoded(&read, parts, count)).map_err(|wrong| match wrong {
            Wrong::Part(part, no_key) => match &self.parts[part] {
                Part::Numbers(of) => in_part(py, part, of.no_key(no_key)),
                Part::Strings(_) => unreachable!("every string is a key"),
            },
            Wrong::Undone(undone) => failure::undone(undone),
        })?;
        Ok(StringColumn { strings, of: StringType { is_text: false, is_value: false } })
    }

    /// The columns of keys: arrays of words, and lists of strings. Where a key is the empty string there is none:
    /// a word of `missing` is in its place, or None.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, StringColumn>,
        missing: Vec<u64>,
    ) -> PyResult<Vec<Object<'py>>> {
        let keys = &keys.get().strings;
        let mut rest: Vec<&[u8]> = keys.read(0..keys.len());
        let last = self.parts.len() - 1;
        let columns = self.parts.iter().zip(missing).enumerate().map(|(at, (part, missing))| match part {
            Part::Numbers(of) => {
                let word = |bytes: &mut &[u8]| {
                    take_word(bytes).map_or(missing, |word| word.restored(of.kind.order()))
                };
                let words = py.detach(|| rest.iter_mut().map(word).collect());
                Ok(PyArray1::from_vec(py, words).into_any())
            }
            Part::Strings(of) => {
                let (list, mut before) = (PyList::empty(py), None::<(Cow<'_, [u8]>, Object<'_>)>);
                for (bytes, row) in rest.iter_mut().zip(0..) {
                    if keys.get(row).is_empty() {
                        list.append(py.None())?;
                        continue;
                    }
                    let string = if at == last { Cow::Borrowed(*bytes) } else { open(bytes) };
                    // Neighbouring keys often have a part in common.
                    let object = match before.take() {
                        Some((its, object)) if its == string => object,
                        _ => of.object(py, &string)?,
                    };
                    list.append(&object)?;
                    before = Some((string, object));
                }
                Ok(list.into_any())
            }
        });
        columns.collect()
    }
}

impl Given<'_> {
    fn read<'a>(&'a self, part: &'a Part) -> Read<'a> {
        match (self, part) {
            (Self::Words(words), Part::Numbers(of)) => Read::Words(words.words(), of),
            (Self::Strings(column, step), _) => Read::Strings(&column.get().strings, *step),
            (Self::Words(_), Part::Strings(_)) => unreachable!("a column was made for its part"),
        }
    }
}

impl TupleType {
    /// A key to be stored.
    pub fn key(&self, key: &Object<'_>) -> PyResult<Vec<u8>> {
        let parts = self.tuple(key)?;
        self.check_count(parts.len(), false)?;
        self.strictly(parts)
    }

    /// The bytes of some first parts, all of which must be keys.
    fn strictly(&self, parts: &Bound<'_, PyTuple>) -> PyResult<Vec<u8>> {
        let (py, mut bytes) = (parts.py(), Vec::new());
        for (at, (part, object)) in self.parts.iter().zip(parts).enumerate() {
            let pushed = match part {
                Part::Strings(of) => of.bytes(&object).map(|string| self.push(at, string, &mut bytes)),
                Part::Numbers(of) => of.key::<u64>(&object).map(|word| bytes.extend(word.to_be_bytes())),
            };
            pushed.map_err(|error| in_part(py, at, error))?;
        }
        Ok(bytes)
    }

    /// The place of a tuple of all parts, or of some first ones, among the keys; the inner error if it has none.
    pub fn asked(&self, key: &Object<'_>) -> PyResult<Result<Asked<Vec<u8>>, PyErr>> {
        let parts = self.tuple(key).and_then(|parts| self.check_count(parts.len(), true).map(|()| parts));
        let parts = match parts {
            Ok(parts) => parts,
            Err(error) => return Ok(Err(error)),
        };
        let (py, mut bytes) = (key.py(), Vec::new());
        for (at, (part, object)) in self.parts.iter().zip(parts).enumerate() {
            let named = |error| in_part(py, at, error);
            let asked = match part {
                Part::Strings(of) => of.asked(&object).map_err(named)?.map(|string| {
                    self.push(at, string, &mut bytes);
                    None
                }),
                Part::Numbers(of) => of.asked::<u64>(&object).map_err(named)?.map(|asked| match asked {
                    Asked::Key(word) => {
                        bytes.extend(word.to_be_bytes());
                        None
                    }
                    Asked::Between(None, None) => Some(Asked::Between(None, None)),
                    Asked::Between(_, Some(up)) | Asked::Before(up) => {
                        Some(Asked::Before([&bytes[..], &up.to_be_bytes()].concat()))
                    }
                    // All keys that begin so are less.
                    Asked::Between(_, None) => Some(match after_prefix(&bytes) {
                        Some(after) => Asked::Before(after),
                        None => Asked::Between(Some(vec![u8::MAX; LAST]), None),
                    }),
                }),
            };
            match asked {
                Ok(None) => {}
                Ok(Some(between)) => return Ok(Ok(between)),
                Err(error) => return Ok(Err(named(error))),
            }
        }
        Ok(Ok(if parts.len() < self.parts.len() { Asked::Before(bytes) } else { Asked::Key(bytes) }))
    }

    /// Does something with the range of the keys that have these first parts: a tuple, or the first one alone. Of
    /// all parts, the last one is a prefix if it is a string.
    pub fn with_prefix<T>(
        &self,
        prefix: Option<&Object<'_>>,
        work: impl FnOnce(Ends<&[u8]>) -> PyResult<T>,
    ) -> PyResult<T> {
        let prefix = prefix.ok_or_else(|| PyTypeError::new_err("a prefix is a tuple of parts, not None"))?;
        let parts = match prefix.cast::<PyTuple>() {
            Ok(parts) => parts.clone(),
            Err(_) => PyTuple::new(prefix.py(), [prefix])?,
        };
        self.check_count(parts.len(), true)?;
        let low = self.strictly(&parts)?;
        let after = after_prefix(&low);
        work(Ends { low: Some(&low), high: after.as_deref(), closed: Closed { low: true, high: false } })
    }

    /// A key as a tuple.
    pub fn object<'py>(&self, py: Python<'py>, mut key: &[u8]) -> PyResult<Object<'py>> {
        let last = self.parts.len() - 1;
        let parts = self.parts.iter().enumerate().map(|(at, part)| match part {
            Part::Strings(of) if at == last => of.object(py, key),
            Part::Strings(of) => of.object(py, &open(&mut key)),
            Part::Numbers(of) => {
                let word: u64 = take_word(&mut key).expect("eight bytes are stored for each");
                of.kind.object(py, word.restored(of.kind.order()))
            }
        });
        Ok(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    /// Whether these bytes are a key. A maliciously made file may have others.
    pub fn has(&self, mut key: &[u8]) -> bool {
        let last = self.parts.len() - 1;
        self.parts.iter().enumerate().all(|(at, part)| match part {
            Part::Strings(of) if at == last => !of.is_text || str::from_utf8(key).is_ok(),
            Part::Strings(of) => {
                ClosedPart::is_key(key) && {
                    let string = open(&mut key);
                    !of.is_text || str::from_utf8(&string).is_ok()
                }
            }
            Part::Numbers(of) => take_word(&mut key).is_some_and(|word| {
                word.restored(of.kind.order()).ordered(of.kind.order()) == Some(word)
                    && (at < last || key.is_empty())
            }),
        })
    }

    /// How far another key is from one, if all parts but the last are the same: 0 if that is a string. None: they
    /// aren't.
    pub fn distance(&self, one: &[u8], other: &[u8]) -> Option<u64> {
        let mut rest = one;
        let (last, first) = self.parts.split_last().expect("there are at least two parts");
        for part in first {
            match part {
                Part::Strings(_) => drop(open(&mut rest)),
                Part::Numbers(_) => drop(take_word(&mut rest)),
            }
        }
        let mut its_rest = other.strip_prefix(&one[..one.len() - rest.len()])?;
        let Part::Numbers(of) = last else { return Some(0) };
        Some(take_word(&mut rest)?.distance(take_word(&mut its_rest)?, of.kind.order()))
    }

    /// Whether the last parts have a distance.
    pub fn is_measured(&self) -> bool {
        matches!(self.parts.last(), Some(Part::Numbers(_)))
    }

    fn push(&self, at: usize, string: &[u8], bytes: &mut Vec<u8>) {
        if at + 1 == self.parts.len() { bytes.extend_from_slice(string) } else { close(string, bytes) }
    }

    fn tuple<'a, 'py>(&self, key: &'a Object<'py>) -> PyResult<&'a Bound<'py, PyTuple>> {
        key.cast::<PyTuple>().map_err(|_| {
            let its = key.get_type().name().map_or_else(|_| "another type".to_owned(), |its| its.to_string());
            PyTypeError::new_err(format!(
                "a key is a tuple of {} parts, {}, not of type {its}",
                self.parts.len(),
                self.name
            ))
        })
    }

    fn check_count(&self, count: usize, fewer: bool) -> PyResult<()> {
        let own = self.parts.len();
        if count == own || (fewer && 0 < count && count < own) {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("a key has {own} parts, {}, not {count}", self.name)))
    }
}

/// The keys of rows, or what those begin with that have this many parts.
fn encoded(columns: &[Read<'_>], parts: usize, count: usize) -> Result<Strings, Wrong> {
    let (mut keys, pulse) = (Strings::with_room(count, WORD * columns.len() * count)?, &mut Pulse::new());
    for stretch in stretches(count) {
        for row in stretch {
            let mut no_key = None;
            let length = columns.iter().map(|column| column.len_max(row)).sum();
            keys.push_with(length, |bytes| {
                for (at, column) in columns.iter().enumerate() {
                    match *column {
                        Read::Words(words, of) => match words.load(row).ordered(of.kind.order()) {
                            Some(word) => bytes.extend_from_slice(&word.to_be_bytes()),
                            None => no_key = Some(Wrong::Part(at, NoKey(row))),
                        },
                        Read::Strings(strings, step) if at + 1 == parts => {
                            bytes.extend_from_slice(strings.get(row * step));
                        }
                        Read::Strings(strings, step) => close(strings.get(row * step), bytes),
                    }
                }
            })?;
            no_key.map_or(Ok(()), Err)?;
        }
        pulse.check()?;
    }
    Ok(keys)
}

impl Read<'_> {
    /// At most so many bytes are its part of a key.
    fn len_max(&self, row: usize) -> usize {
        match self {
            Self::Words(..) => WORD,
            Self::Strings(strings, step) => 2 * strings.get(row * step).len() + END.len(),
        }
    }
}

/// Appends a part that another one follows.
fn close(part: &[u8], bytes: &mut Vec<u8>) {
    if part.contains(&0) {
        let nothing: &[u8] = &[];
        return BytesKey::<ClosedPart>::with_bytes(&(part, nothing), |closed| {
            bytes.extend_from_slice(closed)
        });
    }
    bytes.extend_from_slice(part);
    bytes.extend_from_slice(&END);
}

/// Takes a part that another one follows from the bytes of a key.
pub fn open<'a>(bytes: &mut &'a [u8]) -> Cow<'a, [u8]> {
    let end = bytes.windows(END.len()).position(|its| its[0] == 0).filter(|&at| bytes[at + 1] == 0);
    if let Some(end) = end {
        let (part, rest) = bytes.split_at(end);
        *bytes = &rest[END.len()..];
        return Cow::Borrowed(part);
    }
    let (part, rest) = ClosedPart::from_bytes(bytes);
    *bytes = &bytes[bytes.len() - rest.len()..];
    Cow::Owned(part)
}

/// Takes a word from the bytes of a key.
fn take_word(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk::<WORD>()?;
    *bytes = rest;
    Some(u64::from_be_bytes(*word))
}

/// An error about a part of a key, which it then names.
#[cold]
pub fn in_part(py: Python<'_>, at: usize, error: PyErr) -> PyErr {
    let kind = error.get_type(py);
    let known =
        [py.get_type::<PyTypeError>(), py.get_type::<PyValueError>(), py.get_type::<PyOverflowError>()];
    let message = format!("part {at} of the key: {}", error.value(py));
    if known.iter().any(|known| kind.is(known)) || error.is_instance_of::<crate::kind::NoKey>(py) {
        PyErr::from_type(kind, message)
    } else {
        error
    }
}
