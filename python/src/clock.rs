//! Single times and spans of time as words, without Python's functions: those of NumPy, of `datetime` and of
//! pandas whose unit makes no difference. All others go through the package's functions, which say what is wrong.

use crate::map::Object;
use numpy::npyffi::{PY_ARRAY_API, PyArray_Descr};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::ffi::c_int;

/// NaT.
const MISSING: i64 = i64::MIN;

/// The start of a scalar of NumPy's `datetime64` and `timedelta64`: `PyDatetimeScalarObject` of its C API.
#[repr(C)]
struct Scalar {
    head: ffi::PyObject,
    value: i64,
    unit: c_int,
    units: c_int,
}

/// The length of a unit in nanoseconds, by NumPy's number for it. Shorter ones are rare, and longer ones have no
/// fixed length.
fn nanoseconds(unit: c_int) -> Option<i128> {
    const SECOND: i128 = 1_000_000_000;
    Some(match unit {
        2 => 7 * 86_400 * SECOND,
        4 => 86_400 * SECOND,
        5 => 3_600 * SECOND,
        6 => 60 * SECOND,
        7 => SECOND,
        8 => 1_000_000,
        9 => 1_000,
        10 => 1,
        _ => return None,
    })
}

/// The times of a dtype.
#[derive(Debug)]
pub struct Clock {
    /// NumPy's type of scalars.
    scalar: Py<PyType>,
    /// The dtype, without a zone.
    dtype: Py<PyAny>,
    /// The type in `datetime`.
    own: Py<PyType>,
    /// Of times, the moment that they are counted from, with a zone if they have one.
    epoch: Option<Py<PyAny>>,
    /// Whether they have a zone.
    is_zoned: bool,
    /// The dtype's unit: NumPy's number, and how many make one; and its length.
    unit: (c_int, c_int),
    length: Option<i128>,
}

impl Clock {
    /// Those of a dtype, given its name without a zone.
    pub fn new(py: Python<'_>, name: &str, is_zoned: bool) -> PyResult<Self> {
        let (numpy, datetime) = (py.import("numpy")?, py.import("datetime")?);
        let dtype = numpy.getattr("dtype")?.call1((name,))?;
        let is_time = name.starts_with('d');
        let (scalar, own) = if is_time { ("datetime64", "datetime") } else { ("timedelta64", "timedelta") };
        let (scalar, own) = (numpy.getattr(scalar)?.cast_into::<PyType>()?, datetime.getattr(own)?);
        let own = own.cast_into::<PyType>()?;
        let sample = numpy.getattr("zeros")?.call1((1, &dtype))?.get_item(0)?;
        let Some((_, unit)) = parts(&sample, &scalar) else {
            return Err(PyTypeError::new_err(format!("{name} is no dtype of times")));
        };
        let epoch = is_time.then(|| {
            let zone = PyDict::new(py);
            if is_zoned {
                zone.set_item("tzinfo", datetime.getattr("timezone")?.getattr("utc")?)?;
            }
            own.call((1970, 1, 1), Some(&zone))
        });
        Ok(Self {
            scalar: scalar.unbind(),
            dtype: dtype.unbind(),
            own: own.unbind(),
            epoch: epoch.transpose()?.map(Bound::unbind),
            is_zoned,
            unit,
            length: nanoseconds(unit.0).map(|length| length * i128::from(unit.1)),
        })
    }

    /// The integer of a time, if it is one of those that need no look at their zone or their fractions.
    #[inline]
    pub fn integer(&self, object: &Object<'_>) -> Option<i64> {
        let scalar = self.scalar.bind(object.py());
        if let Some((value, unit)) = parts(object, scalar) {
            // NumPy's times have no zone.
            return if self.is_zoned && value != MISSING { None } else { self.converted(value, unit) };
        }
        if object.get_type().is(self.own.bind(object.py())) {
            return self.of_microseconds(object);
        }
        self.of_pandas(object, scalar)
    }

    /// The time of an integer, as NumPy's.
    pub fn scalar<'py>(&self, py: Python<'py>, integer: i64) -> PyResult<Object<'py>> {
        let (mut value, dtype) = (integer, self.dtype.as_ptr().cast::<PyArray_Descr>());
        // SAFETY: `dtype` is a `numpy.dtype` of eight bytes, whose elements are integers. The function copies one
        // from `value`, and gives a new object, or null and an exception.
        unsafe {
            let made = PY_ARRAY_API.PyArray_Scalar(py, (&raw mut value).cast(), dtype, std::ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, made)
        }
    }

    /// A count of another unit as one of this unit, if it is exact.
    fn converted(&self, value: i64, unit: (c_int, c_int)) -> Option<i64> {
        if unit == self.unit || value == MISSING {
            return Some(value);
        }
        let given = i128::from(value) * nanoseconds(unit.0)?.checked_mul(i128::from(unit.1))?;
        self.of_nanoseconds(given)
    }

    fn of_nanoseconds(&self, given: i128) -> Option<i64> {
        let length = self.length?;
        if given % length != 0 {
            return None;
        }
        i64::try_from(given / length).ok().filter(|&integer| integer != MISSING)
    }

    /// That of a `datetime` or a `timedelta`, which no subclass has made another thing.
    fn of_microseconds(&self, object: &Object<'_>) -> Option<i64> {
        let py = object.py();
        let span = match &self.epoch {
            // It is refused where one of them has a zone and the other has none.
            Some(epoch) => object.sub(epoch.bind(py)).ok()?,
            None => object.clone(),
        };
        let part = |name| span.getattr(name).ok()?.extract::<i64>().ok();
        let seconds = 86_400 * part(intern!(py, "days"))? + part(intern!(py, "seconds"))?;
        let micros = i128::from(seconds) * 1_000_000 + i128::from(part(intern!(py, "microseconds"))?);
        self.of_nanoseconds(1_000 * micros)
    }

    /// That of pandas' `Timestamp` and `Timedelta`.
    fn of_pandas(&self, object: &Object<'_>, scalar: &Bound<'_, PyType>) -> Option<i64> {
        let py = object.py();
        let name =
            if self.epoch.is_some() { intern!(py, "to_datetime64") } else { intern!(py, "to_timedelta64") };
        let (value, unit) = parts(&object.call_method0(name).ok()?, scalar)?;
        if self.epoch.is_some() && value != MISSING {
            let has_zone = !object.getattr(intern!(py, "tzinfo")).ok()?.is_none();
            if has_zone != self.is_zoned {
                return None;
            }
        }
        self.converted(value, unit)
    }
}

/// The count of a scalar of exactly this type, and its unit.
#[inline]
fn parts(object: &Object<'_>, scalar: &Bound<'_, PyType>) -> Option<(i64, (c_int, c_int))> {
    if !object.get_type().is(scalar) {
        return None;
    }
    // SAFETY: an object whose type is NumPy's `datetime64` or `timedelta64` itself begins with these fields, in
    // every version of NumPy, and they never change.
    let Scalar { value, unit, units, .. } = unsafe { &*object.as_ptr().cast::<Scalar>() };
    Some((*value, (*unit, *units)))
}
