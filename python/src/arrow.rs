//! The structs of Arrow's C data interface, by which libraries exchange columns without copying them, and
//! without depending on each other. Python wraps them in capsules.
//!
//! # Ownership
//! A struct with a `release` owns the memory that it points to, and dropping it releases that. A struct
//! moves when its bytes are copied and the `release` of the old place is cleared: [`take`].

use core::ffi::{CStr, c_char, c_int, c_void};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// A field may have nulls.
pub const NULLABLE: i64 = 2;
/// The format string of a struct.
pub const STRUCT: &CStr = c"+s";

/// The type of an array. The fields are the interface's.
#[repr(C)]
pub struct Schema {
    /// Its type, in the interface's own code.
    pub format: *const c_char,
    /// The field's name, or null.
    pub name: *const c_char,
    /// Encoded pairs, or null.
    pub metadata: *const c_char,
    /// [`NULLABLE`] and others.
    pub flags: i64,
    /// How many children there are.
    pub child_count: i64,
    /// The types of the children.
    pub children: *mut *mut Schema,
    /// The type of a dictionary's values, or null.
    pub dictionary: *mut Schema,
    /// Releases the targets of the struct's pointers.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// The producer's own.
    pub private: *mut c_void,
}

/// The cells of an array. The fields are the interface's.
#[repr(C)]
pub struct Array {
    /// How many cells there are.
    pub length: i64,
    /// How many of them are null; −1: not counted.
    pub null_count: i64,
    /// The first cell's place in the buffers.
    pub offset: i64,
    /// How many buffers there are.
    pub buffer_count: i64,
    /// How many children there are.
    pub child_count: i64,
    /// Bits that are set where a cell isn't null, or null; and the cells.
    pub buffers: *mut *const c_void,
    /// The columns of a struct.
    pub children: *mut *mut Array,
    /// The values of a dictionary, or null.
    pub dictionary: *mut Array,
    /// Releases the targets of the struct's pointers.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// The producer's own.
    pub private: *mut c_void,
}

/// Arrays of one type, one after the other. The fields are the interface's.
#[repr(C)]
pub struct Stream {
    /// Their type.
    pub schema: Option<unsafe extern "C" fn(*mut Self, *mut Schema) -> c_int>,
    /// The next of them; one that is released after the last.
    pub next: Option<unsafe extern "C" fn(*mut Self, *mut Array) -> c_int>,
    /// The message of the last error, or null.
    pub last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    /// Releases the targets of the struct's pointers.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// The producer's own.
    pub private: *mut c_void,
}

/// A struct of the interface.
pub trait Owning: Send + Sized + 'static {
    /// The name of a capsule that holds one.
    const CAPSULE: &'static CStr;

    /// Marks it as owning nothing any more.
    fn clear(&mut self);
}

macro_rules! owning {
    ($($name:ident: $capsule:literal;)*) => {$(
        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct owns the targets of its pointers, as it has a `release`; after
                    // this it is gone.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface allows a struct to be used and released on any thread, by one at a time.
        unsafe impl Send for $name {}

        impl Owning for $name {
            const CAPSULE: &'static CStr = $capsule;

            fn clear(&mut self) {
                self.release = None;
            }
        }
    )*};
}
owning! {
    Schema: c"arrow_schema";
    Array: c"arrow_array";
    Stream: c"arrow_array_stream";
}

impl Schema {
    /// One that owns nothing.
    pub const fn released() -> Self {
        let (text, none) = (core::ptr::null(), core::ptr::null_mut());
        Self {
            format: text,
            name: text,
            metadata: text,
            flags: 0,
            child_count: 0,
            children: core::ptr::null_mut(),
            dictionary: none,
            release: None,
            private: core::ptr::null_mut(),
        }
    }
}

impl Array {
    /// One that owns nothing.
    pub const fn released() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            buffer_count: 0,
            child_count: 0,
            buffers: core::ptr::null_mut(),
            children: core::ptr::null_mut(),
            dictionary: core::ptr::null_mut(),
            release: None,
            private: core::ptr::null_mut(),
        }
    }
}

/// Moves the struct out of a capsule, which is then empty. An error if it is no such capsule, or empty.
pub fn take<T: Owning>(capsule: &Bound<'_, PyAny>) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let place = capsule.pointer_checked(Some(T::CAPSULE))?.cast::<T>().as_ptr();
    // SAFETY: by Arrow's rules a capsule of that name holds such a struct, and no other thread uses it
    // while the interpreter is ours. The old place is marked as owning nothing any more.
    unsafe {
        let taken = place.read();
        (*place).clear();
        Ok(taken)
    }
}
