//! The declarations shared by all types of keys.

use crate::border::guard;
use crate::message;
use crate::options::{self, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::{c_char, c_int};

/// The number of the binary interface that this header is of. latchless_abi() is that of the library which
/// the program has found.
pub const LATCHLESS_ABI: u32 = 1;

/// What an index has under a key: 64 bits, which are the caller's own. An integer; a pointer by
/// (latchless_value)(uintptr_t)pointer, and back by (T *)(uintptr_t)value; a double by memcpy. The index
/// never looks at them, and frees nothing that they point to.
pub type latchless_value = u64;

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn latchless_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The number of the library's binary interface: LATCHLESS_ABI, unless the program found another library
/// than it was compiled for.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_abi() -> u32 {
    LATCHLESS_ABI
}

/// A few words about a status; of a number that is none, that it is none.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_status_text(status: c_int) -> *const c_char {
    latchless_status::of(status).map_or(c"no status of latchless", latchless_status::text).as_ptr()
}

/// Why the calling thread's last call that failed did: which function, what was wrong, and where. Empty if
/// none has failed. The text is there until the thread's next call that fails, and in no other thread. What
/// is over 511 bytes is cut.
#[unsafe(no_mangle)]
pub extern "C" fn latchless_last_error() -> *const c_char {
    message::get()
}

/// Fills in options. `size` is sizeof(latchless_options).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_options_init(
    options: *mut latchless_options,
    size: usize,
) -> latchless_status {
    // SAFETY: the caller keeps to what is said at the head of the header.
    let serve = || unsafe { options::init(options, size) }.map(|()| LATCHLESS_OK);
    guard("latchless_options_init", serve, || ())
}
