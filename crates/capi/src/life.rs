//! Making and freeing indexes, and operations on a whole index.

use crate::budget;
use crate::column::{place, put};
use crate::failure::Failure;
use crate::family::Family;
use crate::handle::{self, Call, with_index, with_whole_index};
use crate::options::{self, Parsed, latchless_options};
use crate::stats::{self, latchless_stats};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::whole::Whole;
use core::ptr;
use engine::FillFactor;

/// Makes an index by `fill`, and a handle for it.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn make<F: Family<Index: Whole>>(
    call: Call<F>,
    options: *const latchless_options,
    out: *mut *mut (),
    fill: impl FnOnce(&mut F::Index, &Parsed) -> Result<(), Failure>,
) -> latchless_status {
    let serve = || {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        // SAFETY: as the caller promises.
        let mut parsed = unsafe { options::read(options)? };
        // SAFETY: as the caller promises.
        parsed.options.budget = unsafe { budget::read(parsed.budget)? };
        let content = F::content(&parsed)?;
        let mut index = F::Index::with_options(parsed.options.clone())?;
        fill(&mut index, &parsed)?;
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out_index(call, (index, content), out)? };
        Ok(LATCHLESS_OK)
    };
    call.guard(serve)
}

/// An empty index.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn new<F: Family<Index: Whole>>(
    call: Call<F>,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    // SAFETY: as the caller promises.
    unsafe { make(call, options, out, |_, _| Ok(())) }
}

/// How many keys there are.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn len<F: Family<Index: Whole>>(call: Call<F>, len: *mut usize) -> latchless_status {
    let serve = |index: &F::Index| {
        // SAFETY: as the caller promises.
        unsafe { place("len", len)? }.put(0, index.len());
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Bytes that the index holds, and of those the ones in use.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn memory_bytes<F: Family<Index: Whole>>(
    call: Call<F>,
    held: *mut usize,
    live: *mut usize,
) -> latchless_status {
    let serve = |index: &F::Index| {
        // SAFETY: as the caller promises.
        unsafe {
            put(held, index.memory_bytes());
            put(live, index.live_bytes());
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Removes all keys.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn clear<F: Family<Index: Whole>>(call: Call<F>) -> latchless_status {
    let serve = |index: &F::Index| {
        index.clear();
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Moves all entries to new nodes, filled to this degree, and returns the memory of the old ones.
///
/// # Safety
/// The contract at the head of the crate; no other thread is using the index.
pub unsafe fn shrink<F: Family<Index: Whole>>(call: Call<F>, fill: f64) -> latchless_status {
    let serve = |index: &mut F::Index| {
        index.shrink(FillFactor::new(fill)?)?;
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_whole_index(call, serve) }
}

/// Statistics of the index.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn stats<F: Family<Index: Whole>>(call: Call<F>, to: *mut latchless_stats) -> latchless_status {
    let serve = |index: &F::Index| {
        // SAFETY: as the caller promises.
        unsafe { stats::fill(index, to)? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Checks every node.
///
/// # Safety
/// The contract at the head of the crate.
pub unsafe fn check_invariants<F: Family<Index: Whole>>(call: Call<F>) -> latchless_status {
    let serve = |index: &F::Index| {
        index.check_invariants()?;
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}
