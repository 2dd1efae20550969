//! The functions and types that C sees. `u64` has the functions for keys of that type; `i64` and `f64` are
//! the same with that name in place of `u64`. A test keeps them equal and rewrites them by
//! `BLESS=1 cargo test -p latchless-capi the_other_keys`. They are files, not a macro's output, because
//! cbindgen and people read them. `bytes` has the functions for byte strings, `kv` those for byte strings
//! under byte strings.

#![expect(non_camel_case_types, reason = "C's names")]
#![expect(clippy::missing_safety_doc, reason = "what callers owe is the same for all: the head of the crate")]

pub mod bytes;
pub mod f64;
pub mod i64;
pub mod kv;
pub mod library;
pub mod u64;

/// Serves a call for a handle by a function of this crate whose safety contract is the header's.
macro_rules! serve {
    ($name:ident($handle:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        let call = $crate::handle::Call::new(stringify!($name), $handle);
        // SAFETY: the caller keeps to what is said at the head of the header.
        unsafe { $crate::$($place)::+(call, $($argument),*) }
    }};
}
use serve;
