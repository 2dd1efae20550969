//! Arrays of a caller, read and written one word at a time.
//!
//! # Thread safety
//! The interpreter's lock is released while a batch runs, so other threads may write the very arrays that
//! the batch reads. Therefore no slice of plain words is ever formed over them: a column is a slice of
//! atomics, each word is loaded once, and the batch works with the loaded words. An array can't be freed
//! meanwhile: the column holds a reference to it. The column also holds weak references to it and to every
//! array that it is a view of, because NumPy refuses to resize an array that has one, even with
//! `refcheck=False`. On an interpreter without a global lock NumPy's check can pass just before the batch
//! begins: there `refcheck=False` is as unsafe during a batch as it is during NumPy's own functions.
//!
//! A [`Fresh`] array is exclusively ours until it is returned, and is written like any memory.

use crate::lane::{Lane, Shared};
use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyWeakrefReference;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// Words of a caller's array.
pub struct Column<'py, A> {
    words: &'py [A],
    /// 0 for a column of a single word that is repeated.
    step: usize,
    /// The array, and weak references that keep it from being resized.
    _holds: Vec<Bound<'py, PyAny>>,
}

/// The words of a column without their owner: the form that a batch uses while the lock is released.
#[derive(Debug)]
pub struct Words<'a, A> {
    words: &'a [A],
    step: usize,
}

impl<A> Clone for Words<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Words<'_, A> {}

impl<'a, A: Shared> Words<'a, A> {
    /// The word at a position.
    #[inline(always)]
    pub fn load(&self, at: usize) -> A::Word {
        self.words[at * self.step].load()
    }

    /// The words of a stretch of a column that has as many words as positions.
    #[inline(always)]
    pub fn stretch(&self, at: Range<usize>) -> impl Iterator<Item = A::Word> + use<'a, A> {
        debug_assert_eq!(self.step, 1, "one word doesn't stand for many");
        self.words[at].iter().map(A::load)
    }

    /// Writes a word at a position.
    #[inline(always)]
    pub fn store(&self, at: usize, word: A::Word) {
        self.words[at * self.step].store(word);
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }
}

impl<'py, A: Shared> Column<'py, A> {
    /// The words, for as long as the column is there.
    pub fn words(&self) -> Words<'_, A> {
        Words { words: self.words, step: self.step }
    }

    /// The column as long as another one: it must be, or have a single word, which then is repeated.
    pub fn beside(mut self, len: usize, what: &str) -> PyResult<Self> {
        match self.words.len() {
            own if own == len => Ok(self),
            1 => {
                self.step = 0;
                Ok(self)
            }
            own => Err(PyValueError::new_err(format!("there are {len} keys but {own} {what}"))),
        }
    }

    fn over<T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<Self> {
        const { assert!(size_of::<T>() == size_of::<A>()) };
        // First of all: from here on the array stays as it is.
        let holds = holds(array.as_untyped())?;
        let (start, len) = (array.data().cast::<A>(), array.len());
        let words = if len == 0 {
            &[]
        } else if !array.is_c_contiguous() || !start.is_aligned() {
            return Err(PyValueError::new_err("the array is not contiguous or not aligned"));
        } else {
            // SAFETY: `len` words of an array of `T` begin at `start`, contiguous and aligned, as was
            // checked. An atomic has the size and alignment of its word, and allows others to write it. The
            // array's memory stays where it is while `_holds` is there, and the words are lent no longer
            // than that.
            unsafe { std::slice::from_raw_parts(start, len) }
        };
        Ok(Self { words, step: 1, _holds: holds })
    }
}

/// Keys or values to read.
pub fn input<'py, B: Lane>(array: &Bound<'py, PyAny>) -> PyResult<Column<'py, B::Atomic>> {
    Column::over(array.cast::<PyArray1<B>>()?)
}

/// Room for keys or values, one for each of `len` requests.
pub fn output<'py, B: Lane>(array: &Bound<'py, PyAny>, len: usize) -> PyResult<Column<'py, B::Atomic>> {
    room(array.cast::<PyArray1<B>>()?, len)
}

/// Room for a bool for each of `len` requests.
pub fn flags<'py>(array: &Bound<'py, PyAny>, len: usize) -> PyResult<Column<'py, AtomicU8>> {
    room(array.cast::<PyArray1<bool>>()?, len)
}

fn room<'py, A: Shared, T: Element>(array: &Bound<'py, PyArray1<T>>, len: usize) -> PyResult<Column<'py, A>> {
    // SAFETY: the array is alive, and so is its header.
    let flags = unsafe { (*array.as_array_ptr()).fields.flags };
    if flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyValueError::new_err("the array for the answers is read-only"));
    }
    if array.len() != len {
        let own = array.len();
        return Err(PyValueError::new_err(format!("there are {len} keys but {own} places for answers")));
    }
    Column::over(array)
}

/// The array, and a weak reference to it and to each array that it is a view of.
fn holds<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut holds = vec![array.as_any().clone()];
    let mut next = array.as_any().clone();
    while next.is_instance_of::<PyUntypedArray>() {
        holds.push(PyWeakrefReference::new(&next)?.into_any());
        next = next.getattr("base")?;
    }
    Ok(holds)
}

/// A new array for answers. NumPy makes it, because its memory may come on huge pages.
pub struct Fresh<'py, T> {
    array: Bound<'py, PyArray1<T>>,
}

impl<'py, T: Element> Fresh<'py, T> {
    /// With this many places. MemoryError if they are refused.
    pub fn new(py: Python<'py>, len: usize) -> PyResult<Self> {
        static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let made = EMPTY.import(py, "numpy", "empty")?.call1((len, T::get_dtype(py)))?;
        let array = made.cast_into::<PyArray1<T>>()?;
        if array.len() == len && array.is_c_contiguous() && array.data().is_aligned() {
            Ok(Self { array })
        } else {
            Err(PyRuntimeError::new_err("numpy.empty gives other arrays than NumPy's"))
        }
    }

    /// The places, which have no answers yet.
    pub fn places(&mut self) -> &mut [MaybeUninit<T>] {
        if self.array.len() == 0 {
            return &mut [];
        }
        // SAFETY: an array of this many elements begins there, contiguous and aligned. It has just been
        // made and isn't shared, and is borrowed as long as the places are.
        unsafe { std::slice::from_raw_parts_mut(self.array.data().cast(), self.array.len()) }
    }

    /// The array, when all of its places have answers.
    pub fn into_any(self) -> Bound<'py, PyAny> {
        self.array.into_any()
    }
}
