//! A pointer to a value that is replaced as a whole.

use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, Ordering};

/// An owning pointer whose target can be exchanged while others read it.
///
/// Threads that share it also transfer ownership of the target, from the replacing thread to the dropping
/// one. So a type that can be shared but not sent, such as a guard of a mutex, can't be the target:
///
/// ```compile_fail,E0277
/// use latchless_papers::cssl::pointer::Pointer;
/// use std::sync::MutexGuard;
/// fn shared<T: Sync>() {}
/// shared::<MutexGuard<'static, u8>>();
/// shared::<Pointer<MutexGuard<'static, u8>>>();
/// ```
pub struct Pointer<T> {
    at: AtomicPtr<T>,
    owned: PhantomData<Box<T>>,
}

// SAFETY: through a shared pointer a `T` is read (T: Sync), and moved in by one thread and dropped by another
// (T: Send).
unsafe impl<T: Send + Sync> Sync for Pointer<T> {}

impl<T> Pointer<T> {
    /// Points to this.
    pub fn new(first: Box<T>) -> Self {
        Self { at: AtomicPtr::new(Box::into_raw(first)), owned: PhantomData }
    }

    /// Returns the target; the caller sees everything that was written before it was set.
    ///
    /// # Safety
    /// A target that is replaced meanwhile must not be dropped while the reference is in use.
    #[inline(always)]
    pub unsafe fn follow(&self) -> &T {
        // SAFETY: it always points to a box's content, which lives on by this function's contract.
        unsafe { &*self.at.load(Ordering::Acquire) }
    }

    /// Replaces the target, and returns the previous one: others may still be reading it.
    pub fn replace(&self, next: Box<T>) -> Replaced<T> {
        // Release: a thread that follows sees the content. Acquire: a thread that drops the old one also
        // sees its creation.
        Replaced(self.at.swap(Box::into_raw(next), Ordering::AcqRel))
    }
}

/// A replaced target of a [`Pointer`]. Not a box, because a box asserts exclusive access. Leaks unless it
/// is freed.
#[must_use = "it leaks unless it is freed"]
pub struct Replaced<T>(*mut T);

// SAFETY: it represents a box.
unsafe impl<T: Send> Send for Replaced<T> {}

impl<T> Replaced<T> {
    /// Drops it.
    ///
    /// # Safety
    /// There is no reference to it any more, and none can be obtained.
    pub unsafe fn free(self) {
        // SAFETY: made by `into_raw`, replaced once, and consumed here; no thread reads it by this
        // function's contract.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl<T> fmt::Debug for Replaced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaced").finish_non_exhaustive()
    }
}

impl<T> Drop for Pointer<T> {
    fn drop(&mut self) {
        // SAFETY: made by `into_raw` and not swapped out; no other thread can follow it any more.
        drop(unsafe { Box::from_raw(*self.at.get_mut()) });
    }
}

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pointer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_sent_and_shared_can_be_shared_and_sent() {
        fn both<T: Send + Sync>() {}
        both::<Pointer<String>>();
    }

    #[test]
    fn owns_what_it_points_to() {
        let pointer = Pointer::new(Box::new(String::from("one")));
        let old = pointer.replace(Box::new(String::from("two")));
        // SAFETY: nothing is freed or replaced meanwhile.
        let (first, second) = unsafe { (&*old.0, pointer.follow()) };
        assert_eq!((first.as_str(), second.as_str()), ("one", "two"));
        // SAFETY: the references above aren't used any more.
        unsafe { old.free() };
    }
}
