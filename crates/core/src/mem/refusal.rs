//! Simulated allocation failures, for tests: the n-th allocation of a thread is refused.
//!
//! Fallible allocations call `allowed` first, or go through [`reserve`]. Outside of tests it always succeeds
//! and costs nothing.

use crate::base::error::{Error, Result};
#[cfg(any(test, feature = "testing"))]
use core::cell::Cell;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc};

#[cfg(any(test, feature = "testing"))]
thread_local! {
    /// The number of further allocations of this thread that succeed before one is refused, if one is to be.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns whether `requested_bytes` may be allocated.
///
/// # Errors
/// [`Error::OutOfMemory`], if a test has requested it.
#[inline(always)]
pub(crate) fn allowed(requested_bytes: usize) -> Result<()> {
    #[cfg(any(test, feature = "testing"))]
    if is_refused() {
        return Err(Error::OutOfMemory { requested_bytes });
    }
    let _ = requested_bytes;
    Ok(())
}

/// Reserves room for `more` further elements of a vector.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    if vec.capacity() - vec.len() >= more {
        return Ok(());
    }
    let requested_bytes = more.saturating_mul(size_of::<T>());
    allowed(requested_bytes)?;
    vec.try_reserve(more).map_err(|_| Error::OutOfMemory { requested_bytes })
}

/// Allocates a box, like [`Box::new`], but reports refused memory.
///
/// # Errors
/// [`Error::OutOfMemory`]; the value is then dropped.
pub fn boxed<T>(value: T) -> Result<Box<T>> {
    let requested_bytes = size_of::<T>();
    if requested_bytes == 0 {
        return Ok(Box::new(value));
    }
    allowed(requested_bytes)?;
    // SAFETY: the layout has a size.
    let at = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    let at = NonNull::new(at).ok_or(Error::OutOfMemory { requested_bytes })?;
    // SAFETY: memory of the global allocator for one `T`, which is written before the box owns it.
    unsafe {
        at.write(value);
        Ok(Box::from_raw(at.as_ptr()))
    }
}

#[cfg(any(test, feature = "testing"))]
fn is_refused() -> bool {
    let left = LEFT.get();
    LEFT.set(left.and_then(|left| left.checked_sub(1)));
    left == Some(0)
}

/// Runs `work` and refuses the allocation after the first `count` ones of this thread. Returns the result of
/// `work`, and whether it reached that allocation.
#[cfg(any(test, feature = "testing"))]
pub fn refusing<R>(count: usize, work: impl FnOnce() -> R) -> (R, bool) {
    LEFT.set(Some(count));
    let done = work();
    (done, LEFT.take().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allocation_is_refused_and_those_around_it_are_not() {
        let three = || [(); 3].map(|()| allowed(8).is_ok());
        assert_eq!(refusing(0, three), ([false, true, true], true));
        assert_eq!(refusing(2, three), ([true, true, false], true));
        assert_eq!(refusing(3, three), ([true; 3], false));
        assert_eq!(three(), [true; 3]);
        let refused = Err(Error::OutOfMemory { requested_bytes: 4 });
        assert_eq!(refusing(0, || [boxed(7u32), boxed(8)]), ([refused, Ok(Box::new(8))], true));
        assert_eq!(refusing(0, || boxed(())), (Ok(Box::new(())), false));
        let mut vec = Vec::with_capacity(4);
        assert_eq!(refusing(0, || reserve::<u64>(&mut vec, 4)), (Ok(()), false), "there is room");
        let refused = Err(Error::OutOfMemory { requested_bytes: 40 });
        assert_eq!(refusing(0, || reserve(&mut vec, 5)), (refused, true));
    }
}
