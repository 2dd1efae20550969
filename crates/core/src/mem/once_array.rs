//! An array whose elements are made one by one. It takes memory from the first element on: until then it is
//! one null pointer.
//!
//! # Thread safety
//! An element stays where it is until the array is dropped. If two threads make one at once, one of both
//! stays.

use super::refusal::boxed;
use crate::base::error::Result;
use crate::sync::OnceBox;
use core::fmt;
use std::sync::OnceLock;

/// See the module documentation.
pub struct OnceArray<T, const N: usize>(OnceBox<[OnceLock<T>; N]>);

impl<T: Send + Sync, const N: usize> OnceArray<T, N> {
    /// Creates an array without elements.
    pub const fn empty() -> Self {
        Self(OnceBox::empty())
    }

    /// Returns an element, if it was made.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get()?.get(at)?.get()
    }

    /// Returns an element. The first caller makes it.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory) for the array, and those of `make`.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn get_or_try(&self, at: usize, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let element = &self.0.get_or_try(|| boxed([const { OnceLock::new() }; N]))?[at];
        if element.get().is_none() {
            // Another thread may have been first.
            let _ = element.set(make()?);
        }
        Ok(element.get().expect("it was set"))
    }

    /// Returns the elements that were made, with their positions.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let all = self.0.get().map_or(&[][..], |all| &all[..]);
        all.iter().enumerate().filter_map(|(at, element)| Some((at, element.get()?)))
    }
}

impl<T: fmt::Debug + Send + Sync, const N: usize> fmt::Debug for OnceArray<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::mem::refusal::refusing;

    #[test]
    fn elements_are_made_once_and_refusals_make_none() {
        let array = OnceArray::<Box<u32>, 4>::empty();
        assert_eq!((array.get(0), array.iter().count()), (None, 0));
        let (refused, was_reached) = refusing(0, || array.get_or_try(2, || boxed(5)).is_err());
        assert!(refused && was_reached && array.iter().count() == 0);
        let error = Error::OutOfMemory { requested_bytes: 1 };
        assert_eq!(array.get_or_try(2, || Err(error.clone())), Err(error));
        assert_eq!(array.get_or_try(2, || boxed(7)), Ok(&Box::new(7)));
        assert_eq!(array.get_or_try(2, || unreachable!("it is there")), Ok(&Box::new(7)));
        array.get_or_try(0, || boxed(9)).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 4].map(|at| array.get(at).map(|own| **own)),
            [Some(9), None, Some(7), None, None]
        );
        assert!(array.iter().map(|(at, own)| (at, **own)).eq([(0, 9), (2, 7)]));
    }
}
