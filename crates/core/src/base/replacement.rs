//! What operations return that replace a value: whether memory can be refused to them is known from the form
//! of the values.

use super::error::Result;

/// A form of values, by whether a value can always be replaced in place.
///
/// If all values of the form have the same size, a replacement needs no memory and can't be refused.
/// Otherwise it can be, as an insert can.
pub trait Replacement {
    /// The outcome of a replacement: `T` itself if it can't be refused, otherwise a `Result<T>`.
    type Outcome<T>;
    /// Returns the outcome of a replacement.
    ///
    /// # Panics
    /// If it is an error and no memory can be refused: a closure changes its own key in every call.
    #[doc(hidden)]
    fn outcome<T>(result: Result<T>) -> Self::Outcome<T>;
    /// Returns an outcome as a `Result`, for code that is generic over the form.
    ///
    /// # Errors
    /// The replacement was refused.
    fn into_result<T>(outcome: Self::Outcome<T>) -> Result<T>;
}

/// Implements [`Replacement`] for a form whose values all have the same size.
macro_rules! in_place {
    ([$($parameter:tt)*] $form:ty) => {
        impl<$($parameter)*> $crate::base::replacement::Replacement for $form {
            type Outcome<T> = T;

            #[inline(always)]
            fn outcome<T>(result: $crate::base::error::Result<T>) -> T {
                result.unwrap_or_else(|error| panic!("{error}"))
            }

            #[inline(always)]
            fn into_result<T>(outcome: T) -> $crate::base::error::Result<T> {
                Ok(outcome)
            }
        }
    };
}
pub(crate) use in_place;

/// Implements [`Replacement`] for a form whose values have different sizes, or are outside of the nodes.
macro_rules! with_memory {
    ($form:ty) => {
        impl $crate::base::replacement::Replacement for $form {
            type Outcome<T> = $crate::base::error::Result<T>;

            #[inline(always)]
            fn outcome<T>(result: $crate::base::error::Result<T>) -> $crate::base::error::Result<T> {
                result
            }

            #[inline(always)]
            fn into_result<T>(outcome: $crate::base::error::Result<T>) -> $crate::base::error::Result<T> {
                outcome
            }
        }
    };
}
pub(crate) use with_memory;
