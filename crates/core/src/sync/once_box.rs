//! A box that is filled once through a shared reference: one pointer, null until then.
//!
//! # Thread safety
//! The pointer is set by a compare-and-swap from null, with release, and read with acquire. So a thread that
//! finds a value finds it whole. It stays until the box is dropped or borrowed mutably.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// See the module documentation.
pub struct OnceBox<T> {
    at: AtomicPtr<T>,
    owns: PhantomData<Box<T>>,
}

impl<T> OnceBox<T> {
    /// Creates an empty one.
    pub const fn empty() -> Self {
        Self { at: AtomicPtr::new(null_mut()), owns: PhantomData }
    }
}

impl<T: Send + Sync> OnceBox<T> {
    /// Returns the value, if there is one.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: null, or the address of a box that `set` leaked, which is freed by `drop` alone.
        unsafe { self.at.load(Ordering::Acquire).as_ref() }
    }

    /// Fills the box, unless another thread has, and returns what is in it.
    pub fn set(&self, value: Box<T>) -> &T {
        let own = Box::into_raw(value);
        let at = match self.at.compare_exchange(null_mut(), own, Ordering::Release, Ordering::Acquire) {
            Ok(_) => own,
            Err(other) => {
                // SAFETY: leaked above, and no other thread knows of it.
                drop(unsafe { Box::from_raw(own) });
                other
            }
        };
        // SAFETY: the address of a box that `set` leaked, which is freed by `drop` alone.
        unsafe { &*at }
    }

    /// Returns the value. The first caller makes it.
    ///
    /// # Errors
    /// Those of `make`.
    #[inline]
    pub fn get_or_try<E>(&self, make: impl FnOnce() -> Result<Box<T>, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => Ok(self.set(make()?)),
        }
    }
}

impl<T> Drop for OnceBox<T> {
    fn drop(&mut self) {
        let at = *self.at.get_mut();
        if !at.is_null() {
            // SAFETY: leaked by `set`, and freed once.
            drop(unsafe { Box::from_raw(at) });
        }
    }
}

impl<T> Default for OnceBox<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: fmt::Debug + Send + Sync> fmt::Debug for OnceBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_first_value_stays_and_all_others_are_dropped() {
        let (shared, once) = (Arc::new(()), OnceBox::empty());
        assert!(once.get().is_none());
        let found: Vec<usize> = std::thread::scope(|scope| {
            let fill = |nth: usize| {
                let (once, value) = (&once, Box::new((nth, Arc::clone(&shared))));
                scope.spawn(move || once.set(value).0)
            };
            let threads: Vec<_> = (0..4).map(fill).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|&nth| once.get().is_some_and(|value| value.0 == nth)));
        assert_eq!(Arc::strong_count(&shared), 2, "one value is left");
        let refused = once.get_or_try(|| Err::<Box<_>, _>(()));
        assert_eq!(refused.map(|value| value.0), Ok(found[0]));
        drop(once);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    #[test]
    fn a_refusal_leaves_it_empty() {
        let once = OnceBox::<u32>::empty();
        assert_eq!(once.get_or_try(|| Err(7)), Err(7));
        assert_eq!((once.get(), once.get_or_try(|| Ok::<_, ()>(Box::new(8)))), (None, Ok(&8)));
    }
}
