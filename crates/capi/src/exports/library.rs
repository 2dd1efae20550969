//! The declarations shared by all handles.

use crate::border::guard;
use crate::message;
use crate::options::{self, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::{c_char, c_int};

/// The version of the binary interface that this header describes. latchless_abi() is that of the library
/// that the program is linked with.
pub const LATCHLESS_ABI: u32 = 1;

/// The value of a key: 64 bits that the index doesn't interpret. An integer; a pointer by
/// (latchless_value)(uintptr_t)pointer, and back by (T *)(uintptr_t)value; a double by memcpy(). The index
/// doesn't own what a value points to.
pub type latchless_value = u64;

/// Returns the library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn latchless_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Returns the version of the library's binary interface: LATCHLESS_ABI, or that of another header.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_abi() -> u32 {
    LATCHLESS_ABI
}

/// Returns a short description of a status, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_status_text(status: c_int) -> *const c_char {
    latchless_status::of(status).map_or(c"no status of latchless", latchless_status::text).as_ptr()
}

/// Returns a message about the last call of the calling thread that failed: the function, what was wrong
/// and where; empty if no call has failed. The text has at most 511 bytes, and is valid until the next call
/// of this thread that fails. Other threads must not read it.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_last_error() -> *const c_char {
    message::get()
}

/// Sets options to their defaults; `size` is sizeof(latchless_options).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_options_init(
    options: *mut latchless_options,
    size: usize,
) -> latchless_status {
    // SAFETY: the caller keeps to what is said at the head of the header.
    let serve = || unsafe { options::init(options, size) }.map(|()| LATCHLESS_OK);
    guard("latchless_options_init", serve, || ())
}
