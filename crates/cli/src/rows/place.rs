//! Places among keys, and the spans between them.
//!
//! A question sees every key, also one that is a single number, as bytes in the keys' order
//! ([`super::keys`]).

use latchless::BytesKey;

/// A place among keys: before all that begin with some bytes, or after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    bytes: Vec<u8>,
    is_after: bool,
}

impl Place {
    /// Before all keys that begin with these bytes.
    pub fn before(bytes: Vec<u8>) -> Self {
        Self { bytes, is_after: false }
    }

    /// After all keys that begin with these bytes.
    pub fn after(bytes: Vec<u8>) -> Self {
        Self { bytes, is_after: true }
    }

    /// The first bytes after it; `None`: it is after all.
    pub fn next(&self) -> Option<Vec<u8>> {
        let mut next = self.bytes.clone();
        if self.is_after {
            while next.pop_if(|last| *last == u8::MAX).is_some() {}
            *next.last_mut()? += 1;
        }
        Some(next)
    }
}

/// The keys from one place to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    low: Place,
    high: Place,
}

impl Span {
    /// `None` if no key can be in it.
    pub fn new(low: Place, high: Place) -> Option<Self> {
        let is_room = match (low.next(), high.next()) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(low), Some(high)) => low < high,
        };
        is_room.then_some(Self { low, high })
    }

    /// Its ends, both included, where each key is one number: its order-keeping bits.
    pub fn numbers(&self) -> (u64, u64) {
        (u64::from_bytes(&self.low.bytes), u64::from_bytes(&self.high.bytes))
    }

    /// The bytes that it begins with, and those that it ends before, if it ends.
    pub fn bytes(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        (self.low.next().unwrap_or_default(), self.high.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_hold_what_lies_between_their_places() {
        let bytes = |text: &[u8]| text.to_vec();
        let (before, after) = (|text| Place::before(bytes(text)), |text| Place::after(bytes(text)));
        let keys: [&[u8]; 8] = [b"", b"a", b"a\0", b"ab", b"a\xff\xff", b"b", b"\xff", b"\xff\xff"];
        for (low, high, expected) in [
            (before(b""), after(b""), &keys[..]),
            (before(b"a"), after(b"a"), &keys[1..5]),
            (before(b"a"), before(b"a\0"), &keys[1..2]),
            (after(b"a"), after(b"b"), &keys[5..6]),
            (before(b"a\xff"), after(b"a\xff"), &keys[4..5]),
            (before(b"\xff"), after(b"\xff"), &keys[6..]),
            (after(b"\xff"), after(b""), &[]),
            (after(b"a"), before(b"b"), &[]),
            (before(b"b"), before(b"a"), &[]),
            (after(b""), after(b""), &[]),
        ] {
            let span = Span::new(low, high);
            let is_in = |key: &&[u8]| {
                span.as_ref().is_some_and(|span| {
                    let (low, high) = span.bytes();
                    low <= key.to_vec() && high.is_none_or(|high| key.to_vec() < high)
                })
            };
            assert_eq!(keys.into_iter().filter(is_in).collect::<Vec<_>>(), expected, "{span:?}");
            assert_eq!(span.is_none(), expected.is_empty());
        }
    }
}
