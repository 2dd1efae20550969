//! Budgets of memory.

use crate::budget::Budgets;
use crate::options::latchless_budget;
use crate::status::latchless_status;
use core::ffi::c_void;
use core::ptr;

/// A callback of latchless_budget_new(), which gets the bytes that are taken. Any thread may call it during
/// an insert. It may use and change indexes. No exception and no longjmp() may leave it.
pub type latchless_high_water = Option<unsafe extern "C-unwind" fn(taken_bytes: usize, context: *mut c_void)>;

/// Serves a call for a budget by a function of this crate whose safety contract is the header's.
macro_rules! serve {
    ($name:ident($handle:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        let call = $crate::handle::Call::<Budgets>::new(stringify!($name), $handle);
        // SAFETY: the caller keeps to what is said at the head of the header.
        unsafe { $crate::$($place)::+(call, $($argument),*) }
    }};
}

/// Creates a budget: indexes that would exceed it get LATCHLESS_MEMORY_LIMIT.
/// \param high_water is called each time that the bytes rise to `mark_bytes`, or would exceed the limit: then
///   they are requested once more; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_budget_new(
    limit_bytes: usize,
    mark_bytes: usize,
    high_water: latchless_high_water,
    context: *mut c_void,
    out: *mut *mut latchless_budget,
) -> latchless_status {
    serve!(latchless_budget_new(ptr::null::<latchless_budget>()): budget::new(limit_bytes, (mark_bytes, high_water), context, out.cast()))
}

/// Gets the bytes that the indexes of a budget hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_budget_taken_bytes(
    budget: *const latchless_budget,
    taken_bytes: *mut usize,
) -> latchless_status {
    serve!(latchless_budget_taken_bytes(budget): budget::taken_bytes(taken_bytes))
}

/// Frees a budget, which may be NULL. Its indexes keep its limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_budget_free(budget: *mut latchless_budget) -> latchless_status {
    serve!(latchless_budget_free(budget): handle::free_index())
}
