//! Single keys and values: from Python's objects to words and back.

use crate::cells::CellForm;
use crate::clock::Clock;
use crate::lane::Order;
use latchless::snapshot::{DataType, TimeUnit};
use pyo3::create_exception;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use std::borrow::Cow;
use std::ffi::{CStr, CString};

create_exception!(_latchless, NoKey, PyValueError, "NaN or NaT where a key is wanted.");

/// How the objects of a dtype become words.
#[derive(Debug)]
enum Form {
    Signed {
        bits: u32,
    },
    Unsigned {
        bits: u32,
    },
    Bool,
    /// In words of 64 bits it is widened, as integers are.
    Float32 {
        wide: bool,
    },
    Float64,
    /// Times that `clock` doesn't know go through functions of the package: from an object to an `int`, and
    /// back where they have a zone.
    Time {
        clock: Box<Clock>,
        encode: Py<PyAny>,
        decode: Option<Py<PyAny>>,
    },
}

/// The name of a type in Arrow's C data interface.
pub type Format = Cow<'static, CStr>;

/// The type of a column in Arrow's C data interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrowType {
    /// Its code, with the zone of times that have one.
    pub format: Format,
    /// Bytes of a cell; of bool, whose cells are bits, 0.
    pub width: usize,
}

/// Python's functions from a single time to a word and back; numbers have none.
pub type Hooks = Option<(Py<PyAny>, Py<PyAny>)>;

/// A dtype: the conversion of its single objects to words of an index.
#[derive(Debug)]
pub struct Kind {
    form: Form,
    name: String,
    is_key: bool,
}

impl Kind {
    /// The kind of a dtype, given NumPy's code for it (`i8`, `u2`, `f4`, `b1`, `M8`, …).
    pub fn new(
        py: Python<'_>,
        wide: bool,
        (code, name, hooks): (&str, String, Hooks),
        is_key: bool,
    ) -> PyResult<Self> {
        let unknown = || PyTypeError::new_err(format!("keys and values can't be of dtype {name}"));
        let (letter, bytes) =
            (code.chars().next(), code.get(1..).and_then(|bytes| bytes.parse::<u32>().ok()));
        let form = match (letter, bytes, hooks) {
            (Some('i'), Some(bytes @ (1 | 2 | 4 | 8)), None) => Form::Signed { bits: 8 * bytes },
            (Some('u'), Some(bytes @ (1 | 2 | 4 | 8)), None) => Form::Unsigned { bits: 8 * bytes },
            (Some('b'), Some(1), None) => Form::Bool,
            (Some('f'), Some(4), None) => Form::Float32 { wide },
            (Some('f'), Some(8), None) => Form::Float64,
            (Some('M' | 'm'), Some(8), Some((encode, decode))) => {
                let (plain, is_zoned) = match name.split_once(", ") {
                    Some((plain, _)) => (Cow::Owned(format!("{plain}]")), true),
                    None => (Cow::Borrowed(&*name), false),
                };
                let clock = Box::new(Clock::new(py, &plain, is_zoned)?);
                Form::Time { clock, encode, decode: is_zoned.then_some(decode) }
            }
            _ => return Err(unknown()),
        };
        Ok(Self { form, name, is_key })
    }

    /// How words of this kind are ordered.
    pub fn order(&self) -> Order {
        match self.form {
            Form::Signed { .. } => Order::Signed,
            Form::Unsigned { .. } | Form::Bool => Order::Unsigned,
            Form::Float32 { .. } | Form::Float64 => Order::Float,
            Form::Time { .. } => Order::Time,
        }
    }

    /// The word of an object, in the low bits.
    #[inline]
    pub fn word(&self, object: &Bound<'_, PyAny>) -> PyResult<u64> {
        match &self.form {
            Form::Signed { bits } => {
                let number = object.extract::<i64>().map_err(|error| self.refused(object, error))?;
                let spare = 64 - bits;
                if number << spare >> spare == number { Ok(number as u64) } else { Err(self.outside(object)) }
            }
            Form::Unsigned { bits } => {
                let number = object.extract::<u64>().map_err(|error| self.refused(object, error))?;
                let spare = 64 - bits;
                if number << spare >> spare == number { Ok(number) } else { Err(self.outside(object)) }
            }
            Form::Bool => self.truth(object).map(u64::from),
            Form::Float64 => self.float(object, 1 << 53).map(f64::to_bits),
            &Form::Float32 { wide } => {
                let given = self.float(object, 1 << 24)?;
                let narrow = given as f32;
                let refused = if self.is_key { f64::from(narrow) != given } else { narrow.is_infinite() };
                if refused && given.is_finite() {
                    let what = if self.is_key { "would be rounded" } else { "is too large" };
                    return Err(PyOverflowError::new_err(format!("{object} {what} as {}", self.name)));
                }
                Ok(if wide { f64::from(narrow).to_bits() } else { u64::from(narrow.to_bits()) })
            }
            Form::Time { clock, encode, .. } => {
                if let Some(integer) = clock.integer(object) {
                    return Ok(integer as u64);
                }
                Ok(encode.bind(object.py()).call1((object,))?.extract::<i64>()? as u64)
            }
        }
    }

    /// The words of the `float32`s before and after a Python float that isn't one. `None` for any other
    /// object or kind.
    pub fn words_beside(&self, object: &Bound<'_, PyAny>) -> Option<(u64, u64)> {
        let (&Form::Float32 { wide }, Ok(float)) = (&self.form, object.cast::<PyFloat>()) else {
            return None;
        };
        let (given, near) = (float.value(), float.value() as f32);
        let (down, up) =
            if f64::from(near) > given { (near.next_down(), near) } else { (near, near.next_up()) };
        let word = |float: f32| if wide { f64::from(float).to_bits() } else { u64::from(float.to_bits()) };
        Some((word(down), word(up)))
    }

    /// The object of a word.
    #[inline]
    pub fn object<'py>(&self, py: Python<'py>, word: u64) -> PyResult<Bound<'py, PyAny>> {
        match &self.form {
            Form::Signed { bits: 64 } => Ok((word as i64).into_pyobject(py)?.into_any()),
            // Narrower ones were extended to 32 or to 64 bits; the low 32 bits have the number in either
            // case.
            Form::Signed { .. } => Ok((word as i32).into_pyobject(py)?.into_any()),
            Form::Unsigned { .. } => Ok(word.into_pyobject(py)?.into_any()),
            Form::Bool => Ok(PyBool::new(py, word != 0).to_owned().into_any()),
            Form::Float32 { wide: false } => {
                Ok(f64::from(f32::from_bits(word as u32)).into_pyobject(py)?.into_any())
            }
            Form::Float32 { wide: true } | Form::Float64 => {
                Ok(f64::from_bits(word).into_pyobject(py)?.into_any())
            }
            Form::Time { decode: Some(decode), .. } => decode.bind(py).call1((word as i64,)),
            Form::Time { clock, .. } => clock.scalar(py, word as i64),
        }
    }

    /// The column's type in a snapshot. If Arrow has none, the dtype's name gives the meaning of the
    /// integers.
    pub fn data_type(&self) -> DataType {
        match &self.form {
            Form::Signed { bits: 8 } => DataType::Int8,
            Form::Signed { bits: 16 } => DataType::Int16,
            Form::Signed { bits: 32 } => DataType::Int32,
            Form::Signed { .. } => DataType::Int64,
            Form::Unsigned { bits: 8 } | Form::Bool => DataType::UInt8,
            Form::Unsigned { bits: 16 } => DataType::UInt16,
            Form::Unsigned { bits: 32 } => DataType::UInt32,
            Form::Unsigned { .. } => DataType::UInt64,
            Form::Float32 { .. } => DataType::Float32,
            Form::Float64 => DataType::Float64,
            Form::Time { .. } => {
                let unit = match self.unit_and_zone().0 {
                    "s" => TimeUnit::Second,
                    "ms" => TimeUnit::Millisecond,
                    "us" => TimeUnit::Microsecond,
                    "ns" => TimeUnit::Nanosecond,
                    _ => return DataType::Int64,
                };
                if self.name.starts_with('d') { DataType::Timestamp(unit) } else { DataType::Duration(unit) }
            }
        }
    }

    /// The unit of times and the name of their zone, which is empty where they have none.
    fn unit_and_zone(&self) -> (&str, &str) {
        let unit = self.name.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
        unit.split_once(", ").unwrap_or((unit, ""))
    }

    /// The column's type in a stream of Arrow's, if it has one.
    pub fn arrow_type(&self) -> Option<ArrowType> {
        let (format, width) = match &self.form {
            Form::Bool => (c"b", 0),
            Form::Signed { bits: 8 } => (c"c", 1),
            Form::Signed { bits: 16 } => (c"s", 2),
            Form::Signed { bits: 32 } => (c"i", 4),
            Form::Signed { .. } => (c"l", 8),
            Form::Unsigned { bits: 8 } => (c"C", 1),
            Form::Unsigned { bits: 16 } => (c"S", 2),
            Form::Unsigned { bits: 32 } => (c"I", 4),
            Form::Unsigned { .. } => (c"L", 8),
            Form::Float32 { .. } => (c"f", 4),
            Form::Float64 => (c"g", 8),
            Form::Time { .. } => return self.arrow_time(),
        };
        Some(ArrowType { format: Cow::Borrowed(format), width })
    }

    fn arrow_time(&self) -> Option<ArrowType> {
        let (unit, zone) = self.unit_and_zone();
        let (format, width) = match (self.name.starts_with('d'), unit) {
            (true, "s") => (c"tss:", 8),
            (true, "ms") => (c"tsm:", 8),
            (true, "us") => (c"tsu:", 8),
            (true, "ns") => (c"tsn:", 8),
            (true, "D") => (c"tdD", 4),
            (false, "s") => (c"tDs", 8),
            (false, "ms") => (c"tDm", 8),
            (false, "us") => (c"tDu", 8),
            (false, "ns") => (c"tDn", 8),
            _ => return None,
        };
        let format = match zone {
            "" => Cow::Borrowed(format),
            zone => Cow::Owned(CString::new([format.to_bytes(), zone.as_bytes()].concat()).ok()?),
        };
        Some(ArrowType { format, width })
    }

    /// Whether it is bool.
    pub fn is_bool(&self) -> bool {
        matches!(self.form, Form::Bool)
    }

    /// Whether it is a time.
    pub fn is_time(&self) -> bool {
        matches!(self.form, Form::Time { .. })
    }

    /// Whether a word is null in Arrow: NaT.
    #[inline(always)]
    pub fn is_missing(&self, word: u64) -> bool {
        self.is_time() && word == 1 << 63
    }

    /// The dtype's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its words are cells of a file's column.
    pub fn cell_form(&self) -> CellForm {
        let signed_bits = if let Form::Signed { bits } = self.form { Some(bits) } else { None };
        let widened = matches!(self.form, Form::Float32 { wide: true });
        CellForm { data_type: self.data_type(), signed_bits, widened }
    }

    /// The error for an object that is no key: NaN or NaT.
    pub fn no_key(&self) -> PyErr {
        let name = if matches!(self.form, Form::Time { .. }) { "NaT" } else { "NaN" };
        NoKey::new_err(format!("{name} can't be a key"))
    }

    /// The error for the word at a position of a batch that is no key.
    pub fn no_key_at(&self, position: usize) -> PyErr {
        let name = if matches!(self.form, Form::Time { .. }) { "NaT" } else { "NaN" };
        NoKey::new_err(format!("{name} can't be a key, but the key at position {position} is {name}"))
    }

    fn truth(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        // `bool` of NumPy is no subclass of `bool`, but converts to one; so would a list.
        let is_numpy = || object.get_type().name().is_ok_and(|name| name == "bool" || name == "bool_");
        if object.is_instance_of::<PyBool>() || is_numpy() {
            object.is_truthy()
        } else {
            Err(self.wrong(object))
        }
    }

    /// A float, of an integer only if it isn't rounded: those up to `exact` aren't.
    fn float(&self, object: &Bound<'_, PyAny>, exact: i64) -> PyResult<f64> {
        if let Ok(float) = object.cast::<PyFloat>() {
            return Ok(float.value());
        }
        if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
            let number = object.extract::<i64>().map_err(|error| self.refused(object, error))?;
            return if (-exact..=exact).contains(&number) {
                Ok(number as f64)
            } else {
                Err(PyOverflowError::new_err(format!("{object} may be rounded as {}", self.name)))
            };
        }
        let float = object.extract::<f64>().map_err(|error| self.refused(object, error))?;
        // A number of a longer type, or a fraction, may be between floats.
        if self.is_key && !float.is_nan() && !object.eq(float)? {
            return Err(PyOverflowError::new_err(format!("{object} would be rounded as {}", self.name)));
        }
        Ok(float)
    }

    fn wrong(&self, object: &Bound<'_, PyAny>) -> PyErr {
        let what = if self.is_key { "key" } else { "value" };
        let its = object.get_type().name().map_or_else(|_| "it".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a {what} of dtype {} can't be made from {its}", self.name))
    }

    fn outside(&self, object: &Bound<'_, PyAny>) -> PyErr {
        PyOverflowError::new_err(format!("{object} is outside of {}", self.name))
    }

    /// The error for an object that isn't a number of this kind.
    #[cold]
    fn refused(&self, object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
        let py = object.py();
        if error.is_instance_of::<PyOverflowError>(py) {
            self.outside(object)
        } else if error.is_instance_of::<PyTypeError>(py) {
            self.wrong(object)
        } else {
            error
        }
    }
}
