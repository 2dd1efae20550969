//! Between C and the library: failures and panics become statuses, and leave a message.

use crate::failure::Failure;
use crate::message;
use crate::status::latchless_status::{self, LATCHLESS_PANIC};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a function that serves a call.
pub type Served = Result<latchless_status, Failure>;

/// Serves a call of the function `name`. No panic leaves it; after one, `spoil` is called.
#[inline]
pub fn guard(name: &str, serve: impl FnOnce() -> Served, spoil: impl FnOnce()) -> latchless_status {
    match catch_unwind(AssertUnwindSafe(serve)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => refused(name, &failure),
        Err(panic) => {
            spoil();
            panicked(name, panic)
        }
    }
}

/// Refuses a call of the function `name`.
#[cold]
pub fn refuse(name: &str, failure: impl Into<Failure>) -> latchless_status {
    refused(name, &failure.into())
}

#[cold]
#[inline(never)]
fn refused(name: &str, failure: &Failure) -> latchless_status {
    message::set(format_args!("{name}: {failure}"));
    failure.status()
}

#[cold]
#[inline(never)]
fn panicked(name: &str, panic: Box<dyn Any + Send>) -> latchless_status {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    message::set(format_args!("{name}: {text}"));
    LATCHLESS_PANIC
}
