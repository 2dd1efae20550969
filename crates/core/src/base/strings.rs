//! Byte strings and texts as keys, in every type that owns one: `Vec`, `String`, `Box`, `Arc`, and `Bytes`.

use super::bytes_key::{BytesKey, STORED};
use std::borrow::Cow;
use std::sync::Arc;

/// Byte strings as they are; the way from the bytes to an owned key.
macro_rules! byte_string {
    ($($(#[$condition:meta])* $key:ty => $owned:ty: $own:expr;)*) => {$(
        $(#[$condition])*
        impl BytesKey<$owned> for $key {
            const FIXED: Option<usize> = None;

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(self)
            }

            #[inline]
            fn held_bytes(&self) -> Option<&[u8]> {
                Some(self)
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> $owned {
                $own(bytes)
            }

            fn is_key(_: &[u8]) -> bool {
                true
            }

            fn type_name() -> Cow<'static, str> {
                "bytes".into()
            }
        }
    )*};
}
byte_string! {
    [u8] => Vec<u8>: <[u8]>::to_vec;
    Vec<u8> => Vec<u8>: <[u8]>::to_vec;
    Box<[u8]> => Box<[u8]>: Box::from;
    Arc<[u8]> => Arc<[u8]>: Arc::from;
    #[cfg(feature = "bytes")]
    bytes::Bytes => bytes::Bytes: bytes::Bytes::copy_from_slice;
    // For lookups. Of references alone: a `[u8]` means a `Vec<u8>` where nothing names the owned type.
    &[u8] => Box<[u8]>: Box::from;
    &[u8] => Arc<[u8]>: Arc::from;
    #[cfg(feature = "bytes")]
    &[u8] => bytes::Bytes: bytes::Bytes::copy_from_slice;
}

/// Texts in UTF-8, whose bytes have the order of their characters.
macro_rules! text {
    ($($key:ty => $owned:ty),*) => {$(
        impl BytesKey<$owned> for $key {
            const FIXED: Option<usize> = None;

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(self.as_bytes())
            }

            #[inline]
            fn held_bytes(&self) -> Option<&[u8]> {
                Some(self.as_bytes())
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> $owned {
                core::str::from_utf8(bytes).expect(STORED).into()
            }

            fn is_key(bytes: &[u8]) -> bool {
                core::str::from_utf8(bytes).is_ok()
            }

            fn type_name() -> Cow<'static, str> {
                "text".into()
            }
        }
    )*};
}
text!(str => String, String => String, Box<str> => Box<str>, Arc<str> => Arc<str>);
// For lookups, as above.
text!(&str => Box<str>, &str => Arc<str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_are_lawful, bytes_of, random_cases};
    use core::fmt::Debug;
    use proptest::prelude::*;

    /// Checks all promises of a type, for two keys that compare by their own order.
    fn lawful<K: BytesKey + Ord + Debug>(a: &K, b: &K) {
        bytes_are_lawful(a, b, a.cmp(b));
    }

    /// Checks that a borrowed form has the bytes of its owned form.
    fn same<K: BytesKey + PartialEq + Debug, Q: BytesKey<K> + ?Sized>(borrowed: &Q, owned: &K) {
        assert_eq!(bytes_of(borrowed), bytes_of(owned));
        assert_eq!(Q::from_bytes(&bytes_of(borrowed)), *owned);
        assert!(borrowed.held_bytes().is_none_or(|held| held == bytes_of(borrowed)));
        assert_eq!(Q::FIXED, K::FIXED);
    }

    #[test]
    fn a_byte_string_comes_before_those_that_begin_with_it() {
        let keys: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"ab", b"\xff"];
        for (i, a) in keys.iter().enumerate() {
            for (j, b) in keys.iter().enumerate() {
                bytes_are_lawful(&a.to_vec(), &b.to_vec(), i.cmp(&j));
            }
            same(*a, &a.to_vec());
        }
    }

    #[test]
    fn borrowed_and_owned_types_have_one_name() {
        fn name<K, Q: BytesKey<K> + ?Sized>() -> Cow<'static, str> {
            Q::type_name()
        }
        assert_eq!(
            [name::<String, &str>(), name::<String, Cow<str>>(), name::<Arc<str>, Arc<str>>()],
            ["text"; 3]
        );
        let names = [name::<Vec<u8>, [u8]>(), name::<Box<[u8]>, &[u8]>(), name::<[u8; 16], [u8; 16]>()];
        assert_eq!(names, ["bytes", "bytes", "[u8; 16]"]);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn byte_strings_and_texts(a: Vec<u8>, b: Vec<u8>, kept in 0usize..9, x: String, y: String) {
            lawful(&a, &b);
            let prefix = a[..kept.min(a.len())].to_vec();
            lawful(&a, &prefix);
            lawful(&x, &y);
            prop_assert_eq!(bytes_of(&x).cmp(&bytes_of(&y)), x.chars().cmp(y.chars()));
            same(&a[..], &a);
            same(&&a[..], &a);
            same(&a.clone().into_boxed_slice(), &a);
            same(&x[..], &x);
            same(&&&x[..], &x);
            same(&x.clone().into_boxed_str(), &x);
            lawful::<Box<str>>(&x[..].into(), &y[..].into());
            lawful::<Arc<str>>(&x[..].into(), &y[..].into());
            lawful::<Box<[u8]>>(&a[..].into(), &prefix[..].into());
            lawful::<Arc<[u8]>>(&a[..].into(), &b[..].into());
            lawful::<(Arc<str>, u8)>(&(x[..].into(), 7), &(y[..].into(), 3));
            #[cfg(feature = "bytes")]
            lawful::<(bytes::Bytes, u8)>(&(a.clone().into(), 7), &(prefix.clone().into(), 3));
            same(&Cow::Borrowed(&x[..]), &x);
            same(&Cow::<str>::Owned(x.clone()), &x);
        }
    }
}
