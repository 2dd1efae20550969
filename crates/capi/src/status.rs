//! The statuses of calls.

#![expect(non_camel_case_types, reason = "C's names")]

/// The result of a call. Zero or above: the call succeeded, and this is its answer. Below zero: the call
/// was refused, nothing changed unless the function says otherwise, and latchless_last_error() says why.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_status {
    /// The call succeeded.
    LATCHLESS_OK = 0,
    /// There is no such key or entry, or no further one.
    LATCHLESS_NOT_FOUND = 1,
    /// The key was present already.
    LATCHLESS_PRESENT = 2,
    /// The key's value isn't the expected one.
    LATCHLESS_MISMATCH = 3,
    /// The callback stopped the call.
    LATCHLESS_STOPPED = 4,
    /// The system refused memory.
    LATCHLESS_OUT_OF_MEMORY = -1,
    /// The index would exceed its `limit_bytes`.
    LATCHLESS_MEMORY_LIMIT = -2,
    /// A pointer that must not be NULL is.
    LATCHLESS_NULL = -3,
    /// The handle is NULL, was freed, is of another kind, or isn't a handle.
    LATCHLESS_BAD_HANDLE = -4,
    /// Another argument is out of range.
    LATCHLESS_INVALID = -5,
    /// A key is NaN.
    LATCHLESS_NAN = -6,
    /// Keys that must be ascending aren't.
    LATCHLESS_UNSORTED = -7,
    /// Keys that must be distinct aren't.
    LATCHLESS_DUPLICATE = -8,
    /// The low end of a range is above its high end.
    LATCHLESS_INVERTED_RANGE = -9,
    /// An array of this many elements can't exist.
    LATCHLESS_TOO_LONG = -10,
    /// Another thread is using the cursor; or a cursor keeps the index that is to be shrunk.
    LATCHLESS_BUSY = -11,
    /// The system refused to read or write a file, or the path to save to names something other than a file.
    LATCHLESS_IO = -12,
    /// The file isn't a snapshot, is damaged, or has other types.
    LATCHLESS_BAD_FILE = -13,
    /// A check found the index broken: a bug of the library.
    LATCHLESS_BROKEN = -14,
    /// The key has more bytes than LATCHLESS_KEY_MAX.
    LATCHLESS_KEY_TOO_LONG = -15,
    /// A key or a value doesn't fit into the caller's memory.
    LATCHLESS_SMALL_ROOM = -16,
    /// The value has more bytes than LATCHLESS_VALUE_MAX.
    LATCHLESS_VALUE_TOO_LONG = -17,
    /// A bug of the library, or an index that was changing at a fork(). The handle can only be freed.
    LATCHLESS_PANIC = -99,
}

use latchless_status::*;

impl latchless_status {
    const ALL: [Self; 23] = [
        LATCHLESS_OK,
        LATCHLESS_NOT_FOUND,
        LATCHLESS_PRESENT,
        LATCHLESS_MISMATCH,
        LATCHLESS_STOPPED,
        LATCHLESS_OUT_OF_MEMORY,
        LATCHLESS_MEMORY_LIMIT,
        LATCHLESS_NULL,
        LATCHLESS_BAD_HANDLE,
        LATCHLESS_INVALID,
        LATCHLESS_NAN,
        LATCHLESS_UNSORTED,
        LATCHLESS_DUPLICATE,
        LATCHLESS_INVERTED_RANGE,
        LATCHLESS_TOO_LONG,
        LATCHLESS_BUSY,
        LATCHLESS_IO,
        LATCHLESS_BAD_FILE,
        LATCHLESS_BROKEN,
        LATCHLESS_KEY_TOO_LONG,
        LATCHLESS_SMALL_ROOM,
        LATCHLESS_VALUE_TOO_LONG,
        LATCHLESS_PANIC,
    ];

    /// The status of this number, if there is one: C may pass any.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|&status| status as i32 == number)
    }

    /// A few words for people.
    pub fn text(self) -> &'static core::ffi::CStr {
        match self {
            LATCHLESS_OK => c"done",
            LATCHLESS_NOT_FOUND => c"not found",
            LATCHLESS_PRESENT => c"the key was there already",
            LATCHLESS_MISMATCH => c"the key's value isn't the expected one",
            LATCHLESS_STOPPED => c"the callback ended the call",
            LATCHLESS_OUT_OF_MEMORY => c"the system refused memory",
            LATCHLESS_MEMORY_LIMIT => c"the index would outgrow its limit",
            LATCHLESS_NULL => c"a pointer is NULL that must not be",
            LATCHLESS_BAD_HANDLE => c"the handle is NULL, freed, of another kind, or none",
            LATCHLESS_INVALID => c"an argument is outside of what is allowed",
            LATCHLESS_NAN => c"a key is NaN",
            LATCHLESS_UNSORTED => c"the keys don't ascend",
            LATCHLESS_DUPLICATE => c"a key comes twice",
            LATCHLESS_INVERTED_RANGE => c"the range's low end is above its high end",
            LATCHLESS_TOO_LONG => c"an array of so many elements can't exist",
            LATCHLESS_BUSY => c"another thread or a cursor is using it",
            LATCHLESS_IO => c"the system refused to read or write a file",
            LATCHLESS_BAD_FILE => c"the file is no snapshot, or is damaged, or has other types",
            LATCHLESS_BROKEN => c"the index is broken: a bug of the library",
            LATCHLESS_KEY_TOO_LONG => c"the key is too long",
            LATCHLESS_SMALL_ROOM => c"the room for a key or a value is too small",
            LATCHLESS_VALUE_TOO_LONG => c"the value is too long",
            LATCHLESS_PANIC => c"a bug of the library, or a fork amid a change",
        }
    }
}
