//! Budgets: memory limits that several indexes share. The safety contract of all unsafe functions here is at
//! the head of the crate.

use crate::column::place;
use crate::failure::{Failure, Fault};
use crate::family::Family;
use crate::handle::{self, Call, Handle, Named, with_index};
use crate::options::{Parsed, latchless_budget};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::c_void;
use core::ptr;
use engine::index::Budget;

/// A function of the caller's that gets the bytes that are taken. Exceptions: see [`crate::ranges::Visitor`].
pub type HighWater = unsafe extern "C-unwind" fn(usize, *mut c_void);

/// Handles of budgets.
#[derive(Debug, Clone, Copy)]
pub struct Budgets;

impl Family for Budgets {
    type Index = Budget;
    /// There are none.
    type Cursor = ();
    const CONTENT: Option<u64> = None;

    fn content(_: &Parsed) -> Result<u64, Failure> {
        Ok(0)
    }
}

impl Named for latchless_budget {
    const NAME: &'static str = "latchless_budget";
}

impl Handle<Budgets> for latchless_budget {}

/// What the caller's function gets.
struct Context(*mut c_void);

// SAFETY: only the caller's function uses it, which any thread may call.
unsafe impl Send for Context {}
// SAFETY: the same.
unsafe impl Sync for Context {}

impl Context {
    /// Calls the caller's function.
    unsafe fn call(&self, high_water: HighWater, taken: usize) {
        // SAFETY: as the caller promises.
        unsafe { high_water(taken, self.0) }
    }
}

pub unsafe fn new(
    call: Call<Budgets>,
    limit_bytes: usize,
    (mark_bytes, high_water): (usize, Option<HighWater>),
    context: *mut c_void,
    out: *mut *mut (),
) -> latchless_status {
    let serve = || {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        let context = Context(context);
        let budget = match high_water {
            None => Budget::new(limit_bytes),
            // SAFETY: as the caller promises.
            Some(high_water) => Budget::with_high_water(limit_bytes, mark_bytes, move |taken| unsafe {
                context.call(high_water, taken);
            }),
        };
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out_index(call, (budget, 0), out)? };
        Ok(LATCHLESS_OK)
    };
    call.guard(serve)
}

pub unsafe fn taken_bytes(call: Call<Budgets>, taken: *mut usize) -> latchless_status {
    let serve = |budget: &Budget| {
        // SAFETY: as the caller promises.
        unsafe { place("taken_bytes", taken)? }.put(0, budget.taken_bytes());
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// The budget that the options of an index name.
///
/// # Safety
/// As for [`handle::copy_of`].
pub unsafe fn read(budget: *const latchless_budget) -> Result<Option<Budget>, Fault> {
    if budget.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    unsafe { handle::copy_of(Call::<Budgets>::new("", budget)) }.map(Some)
}
