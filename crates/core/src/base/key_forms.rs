//! The form of each key of the standard library's types: [`InWord`] where it is a [`Key`], otherwise
//! [`InBytes`].

use super::index_key::{InBytes, InWord, IndexKey, KeyForm, by_value};
use super::key::Key;
use super::nanos::Nanos;
use core::cmp::Reverse;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::num::NonZero;
use std::sync::Arc;

macro_rules! in_word {
    ($($key:ty),*) => {$(
        impl IndexKey for $key {
            type Form = InWord<<$key as Key>::Bits>;
            by_value!();
        }
    )*};
}
in_word!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, bool, char, Ipv4Addr, Nanos);
in_word!([u8; 1], [u8; 2], [u8; 3], [u8; 4], [u8; 5], [u8; 6], [u8; 7], [u8; 8]);
in_word!(Option<bool>, Option<u8>, Option<u16>, Option<i8>, Option<i16>, Option<char>, Option<Ipv4Addr>);
in_word!(
    Option<u32>,
    Option<i32>,
    Option<f32>,
    Option<[u8; 1]>,
    Option<[u8; 2]>,
    Option<[u8; 3]>,
    Option<[u8; 4]>
);

macro_rules! nonzero {
    ($($number:ty),*) => { in_word!($(NonZero<$number>, Option<NonZero<$number>>),*); };
}
nonzero!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// Keys as bytes, the types by which operations take them, and how those are made.
macro_rules! in_bytes {
    ($($(#[$condition:meta])* $key:ty => $probe:ty, $by:expr, $own:expr;)*) => {$(
        $(#[$condition])*
        impl IndexKey for $key {
            type Form = InBytes;
            type Probe<'q> = $probe;

            #[inline(always)]
            fn probe<'q>(&'q self) -> $probe {
                let by: for<'k> fn(&'k $key) -> <$key as IndexKey>::Probe<'k> = $by;
                by(self)
            }

            #[inline(always)]
            fn own(probe: Self::Probe<'_>) -> Self {
                let own: for<'k> fn(<$key as IndexKey>::Probe<'k>) -> $key = $own;
                own(probe)
            }
        }
    )*};
}

/// Such keys, and options of them.
macro_rules! in_bytes_or_none {
    ($($(#[$condition:meta])* $key:ty => $probe:ty, $by:expr, $own:expr;)*) => { in_bytes! {$(
        $(#[$condition])* $key => $probe, $by, $own;
        $(#[$condition])* Option<$key> => Option<$probe>, |key| key.as_ref().map($by), |probe| probe.map($own);
    )*} };
}
in_bytes_or_none! {
    String => &'q str, |key| key.as_str(), |probe| probe.to_owned();
    Box<str> => &'q str, |key| &**key, |probe| probe.into();
    Arc<str> => &'q str, |key| &**key, |probe| probe.into();
    Vec<u8> => &'q [u8], |key| key.as_slice(), |probe| probe.to_owned();
    Box<[u8]> => &'q [u8], |key| &**key, |probe| probe.into();
    Arc<[u8]> => &'q [u8], |key| &**key, |probe| probe.into();
    #[cfg(feature = "bytes")]
    bytes::Bytes => &'q [u8], |key| &**key, bytes::Bytes::copy_from_slice;
}

/// Keys that are their own probes.
macro_rules! itself {
    ($macro:ident: $($(#[$condition:meta])* $key:ty),*) => {
        $macro! { $($(#[$condition])* $key => $key, |key| *key, |probe| probe;)* }
    };
}
itself!(in_bytes_or_none: u128, i128, NonZero<u128>, NonZero<i128>, Ipv6Addr);
itself!(in_bytes_or_none: #[cfg(feature = "uuid")] uuid::Uuid);
itself!(in_bytes: Option<u64>, Option<usize>, Option<i64>, Option<isize>, Option<f64>, Option<Nanos>);
itself!(in_bytes: Option<[u8; 5]>, Option<[u8; 6]>, Option<[u8; 7]>, Option<[u8; 8]>);

macro_rules! arrays {
    ($($len:literal)*) => { itself!(in_bytes_or_none: $([u8; $len]),*); };
}
arrays!(9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36);
arrays!(37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);

/// Arrays of wider numbers, in the order of their elements: see [`wide`](super::wide).
macro_rules! wide {
    ($($number:ty),*) => {$(
        impl<const N: usize> IndexKey for [$number; N] {
            type Form = InBytes;
            by_value!();
        }

        impl<const N: usize> IndexKey for Option<[$number; N]> {
            type Form = InBytes;
            by_value!();
        }
    )*};
}
wide!(u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl<K: IndexKey> IndexKey for Reverse<K> {
    type Form = K::Form;
    type Probe<'q> = Reverse<K::Probe<'q>>;

    #[inline(always)]
    fn probe(&self) -> Reverse<K::Probe<'_>> {
        Reverse(self.0.probe())
    }

    #[inline(always)]
    fn own(Reverse(probe): Self::Probe<'_>) -> Self {
        Self(K::own(probe))
    }
}

/// The form of some parts, if another one follows.
type And<Form, K> = <Form as KeyForm>::And<<K as IndexKey>::Form>;

macro_rules! tuple {
    ($($key:ident),*; $form:ty) => {
        impl<$($key: IndexKey),*> IndexKey for ($($key),*) {
            type Form = $form;
            type Probe<'q> = ($($key::Probe<'q>),*);

            #[inline(always)]
            #[expect(non_snake_case, reason = "each part has the name of its type")]
            fn probe(&self) -> ($($key::Probe<'_>),*) {
                let ($($key),*) = self;
                ($($key.probe()),*)
            }

            #[inline(always)]
            #[expect(non_snake_case, reason = "each part has the name of its type")]
            fn own(($($key),*): Self::Probe<'_>) -> Self {
                ($($key::own($key)),*)
            }
        }

        impl<$($key: IndexKey),*> IndexKey for Option<($($key),*)> {
            type Form = InBytes;
            type Probe<'q> = Option<($($key::Probe<'q>),*)>;

            #[inline(always)]
            fn probe(&self) -> Option<($($key::Probe<'_>),*)> {
                self.as_ref().map(IndexKey::probe)
            }

            #[inline(always)]
            fn own(probe: Self::Probe<'_>) -> Self {
                probe.map(IndexKey::own)
            }
        }
    };
}
tuple!(A, B; <And<A::Form, B> as KeyForm>::Packed);
tuple!(A, B, C; <And<And<A::Form, B>, C> as KeyForm>::Packed);
tuple!(A, B, C, D; <And<And<And<A::Form, B>, C>, D> as KeyForm>::Packed);
tuple!(A, B, C, D, E; InBytes);
tuple!(A, B, C, D, E, F; InBytes);
