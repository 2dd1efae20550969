//! Which types are keys of an `Index`, how operations take them, and in which form each is stored.
//!
//! A key is stored in a word if it has at most 64 bits and its encoding keeps its order
//! ([`Key`](super::key::Key)), otherwise as bytes ([`BytesKey`](super::bytes_key::BytesKey)). Many types could
//! be either, so each says which one it is, and a tuple computes it from its parts. Nothing here knows how a
//! form is stored.

use core::fmt::Debug;
use core::marker::PhantomData;

/// A type of keys of an `Index`.
///
/// Implemented for the numbers of up to 128 bits, `bool`, `char`, `String`, `Vec<u8>`, `[u8; N]` of up to 64
/// bytes, `Box` and `Arc` of `str` and `[u8]`, arrays of other integers, IP addresses,
/// [`Nanos`](super::nanos::Nanos), and for `Option`s, `Reverse`s and tuples of two to six of these. By
/// features: `uuid::Uuid`, `bytes::Bytes`, and of `time`, `chrono` and `jiff` the times and dates without a
/// zone or in UTC.
///
/// A type of your own implements [`Key`](super::key::Key) if it has at most 64 bits, otherwise
/// [`BytesKey`](super::bytes_key::BytesKey), and says so here:
///
/// ```
/// # mod latchless { pub use latchless_core::*; pub use latchless_core::base::index_key::*; }
/// use latchless::{InWord, IndexKey, Key};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Account(u64);
/// impl Key for Account {
///     type Bits = u64;
///     fn encode(self) -> u64 {
///         self.0
///     }
///     fn decode(bits: u64) -> Self {
///         Self(bits)
///     }
/// }
/// impl IndexKey for Account {
///     type Form = InWord<u64>;
///     type Probe<'q> = Self;
///     fn probe(&self) -> Self {
///         *self
///     }
///     fn own(probe: Self) -> Self {
///         probe
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a key of an `Index`",
    label = "not a key",
    note = "keys are numbers, `bool`, `char`, `String`, `Vec<u8>`, `[u8; N]` of up to 64 bytes, IP addresses, \
            `latchless::Nanos`, and `Option`s, `Reverse`s and tuples of these",
    note = "`&str` and paths are stored as `String` or `Vec<u8>`, a `Duration` and the time since an epoch \
            as `latchless::Nanos`",
    note = "a type of your own that implements `latchless::Key` also implements `latchless::IndexKey`, with `type Form = \
            latchless::InWord<u64>; type Probe<'q> = Self; fn probe(&self) -> Self {{ *self }} fn own(probe: Self) -> Self {{ probe }}`; the form of a `latchless::BytesKey` is `latchless::InBytes`"
)]
pub trait IndexKey: Sized + 'static {
    /// How keys are stored: [`InWord`] or [`InBytes`].
    type Form: KeyForm;
    /// How operations take a key: by value if it is `Copy`, otherwise borrowed: `&str` for a `String`,
    /// `(u64, &str)` for a `(u64, String)`.
    type Probe<'q>: Copy + Debug;
    /// Returns the key as operations take it.
    ///
    /// ```
    /// # mod latchless { pub use latchless_core::base::index_key::IndexKey; }
    /// use latchless::IndexKey;
    ///
    /// let key = (7, "seven".to_owned());
    /// assert_eq!(key.probe(), (7, "seven"));
    /// assert_eq!(<(i32, String)>::own((7, "seven")), key);
    /// ```
    fn probe(&self) -> Self::Probe<'_>;
    /// Returns the key that operations take in this form.
    fn own(probe: Self::Probe<'_>) -> Self;
}

/// What an [`IndexKey`] has whose operations take it by value.
macro_rules! by_value {
    () => {
        type Probe<'q> = Self;

        #[inline(always)]
        fn probe(&self) -> Self {
            *self
        }

        #[inline(always)]
        fn own(probe: Self) -> Self {
            probe
        }
    };
}
pub(super) use by_value;

/// The form of a key that is stored in a word: `B` is its [`Key::Bits`](super::key::Key::Bits).
#[derive(Debug, Clone, Copy)]
pub struct InWord<B>(PhantomData<B>);

/// The form of a key that is stored as bytes: a [`BytesKey`](super::bytes_key::BytesKey).
#[derive(Debug, Clone, Copy)]
pub struct InBytes;

/// How keys are stored: [`InWord`] or [`InBytes`]. Sealed.
pub trait KeyForm: sealed::Sealed + 'static {
    /// The form of some parts of a tuple, if the next one has this form: `InWord<u32>` as long as all do.
    #[doc(hidden)]
    type And<Next: KeyForm>: KeyForm;
    /// The form of a part after parts of the form `InWord<u32>`.
    #[doc(hidden)]
    type AfterNarrow: KeyForm;
    /// The form of a tuple whose parts have this form.
    #[doc(hidden)]
    type Packed: KeyForm;
}

mod sealed {
    pub trait Sealed {}
    impl<B> Sealed for super::InWord<B> {}
    impl Sealed for super::InBytes {}
}

impl KeyForm for InWord<u32> {
    type And<Next: KeyForm> = Next::AfterNarrow;
    type AfterNarrow = Self;
    type Packed = InWord<u64>;
}

/// Forms of parts with which a tuple has more than 64 bits.
macro_rules! too_wide {
    ($($form:ty),*) => {$(
        impl KeyForm for $form {
            type And<Next: KeyForm> = InBytes;
            type AfterNarrow = InBytes;
            type Packed = InBytes;
        }
    )*};
}
too_wide!(InWord<u64>, InBytes);
