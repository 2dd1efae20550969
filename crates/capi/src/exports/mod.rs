//! The functions and types that C sees, each once: `index` has those for keys that are words, `bytes`
//! those for byte strings. They are plain functions, not a macro's output, because cbindgen and people
//! read them.

#![expect(non_camel_case_types, reason = "C's names")]
#![expect(clippy::missing_safety_doc, reason = "what callers owe is the same for all: the head of the crate")]

pub mod budget;
pub mod bytes;
pub mod index;
pub mod library;
pub mod multi;

/// Serves a call for a handle of words by a function of this crate whose safety contract is the header's.
macro_rules! serve {
    ($name:ident($handle:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        let call = $crate::handle::Call::<$crate::key::WordKeys>::new(stringify!($name), $handle);
        // SAFETY: the caller keeps to what is said at the head of the header.
        unsafe { $crate::$($place)::+(call, $($argument),*) }
    }};
}
use serve;

/// The same for a handle of byte strings, by the form of the function for its kind of values.
macro_rules! serve_strings {
    ($name:ident($handle:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        // SAFETY: the caller keeps to what is said at the head of the header.
        let kind = unsafe { $crate::handle::value_kind($handle) };
        $crate::exports::of_kind!(kind, $name($handle): $($place)::+($($argument),*))
    }};
}
use serve_strings;

/// Serves a call for byte strings with values of this kind.
macro_rules! of_kind {
    ($kind:expr, $name:ident($handle:expr): $($place:ident)::+($($argument:expr),*)) => {{
        use $crate::handle::Call;
        use $crate::key::{ByteStrings, ValueKind};
        // SAFETY: the caller keeps to what is said at the head of the header.
        unsafe {
            match $kind {
                ValueKind::LATCHLESS_VALUE_WORD => {
                    let call = Call::<ByteStrings<u64>>::new(stringify!($name), $handle);
                    $crate::$($place)::+(call, $($argument),*)
                }
                ValueKind::LATCHLESS_VALUE_BYTES => {
                    let call = Call::<ByteStrings<Vec<u8>>>::new(stringify!($name), $handle);
                    $crate::$($place)::+(call, $($argument),*)
                }
            }
        }
    }};
}
use of_kind;
