//! Keys and values of any length, drawn from few bytes.

use arbitrary::Arbitrary;
use latchless::BytesValue;
use latchless::bytes::{Form, Lent};
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// One letter many times, and then bytes: a short input makes a long key.
#[derive(Debug, Clone, Arbitrary)]
pub struct Stretched {
    letter: u8,
    count: u16,
    end: Vec<u8>,
}

impl Stretched {
    /// The bytes; fewer than `longest` before the end.
    pub fn bytes(&self, longest: u16) -> Vec<u8> {
        let mut bytes = vec![self.letter; usize::from(self.count % longest)];
        bytes.extend(&self.end);
        bytes
    }
}

/// The keys of a history: operations name them by number, so that they meet each other often.
#[derive(Debug, Arbitrary)]
pub struct Keys(Vec<Stretched>);

/// A key of [`Keys`], or one that begins with it and ends with a number.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Name {
    /// The key.
    Own(u8),
    /// The key and the bytes of a number.
    Numbered(u8, u16),
}

/// `count` keys with numbers from `from` on, `step` apart: a short input fills many nodes.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Run {
    of: u8,
    from: u16,
    step: u16,
    count: u16,
}

/// An end of a range.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum End {
    /// With this key.
    Included(Name),
    /// Without it.
    Excluded(Name),
    /// None.
    Open,
}

impl Keys {
    /// The bytes of a key. One of a history may be as long as the longest key or longer, some have lines of
    /// a few hundred bytes, and most are short.
    pub fn key(&self, name: Name) -> Vec<u8> {
        let (Name::Own(at) | Name::Numbered(at, _)) = name;
        let mut key = match usize::from(at).checked_rem(self.0.len()) {
            Some(0) => self.0[0].bytes(u16::MAX),
            Some(at @ (1 | 2)) => self.0[at].bytes(700),
            Some(at) => self.0[at].bytes(24),
            None => Vec::new(),
        };
        if let Name::Numbered(_, number) = name {
            key.extend(number.to_be_bytes());
        }
        key
    }

    /// The keys of a run.
    pub fn run(&self, run: Run) -> Vec<Vec<u8>> {
        let number = |i: u16| run.from.wrapping_add(run.step.wrapping_mul(i));
        (0..run.count % 512).map(|i| self.key(Name::Numbered(run.of, number(i)))).collect()
    }

    /// The bounds of a range, and whether it starts after its end.
    pub fn range(&self, (low, high): (End, End)) -> (Range, bool) {
        let bound = |end| match end {
            End::Included(name) => Included(self.key(name)),
            End::Excluded(name) => Excluded(self.key(name)),
            End::Open => Unbounded,
        };
        let range = (bound(low), bound(high));
        let is_inverted = match &range {
            (Included(low) | Excluded(low), Included(high) | Excluded(high)) => low > high,
            _ => false,
        };
        (range, is_inverted)
    }
}

/// A range of byte strings.
pub type Range = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The range as operations take it.
pub fn lent((low, high): &Range) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (low.as_ref().map(|key| &key[..]), high.as_ref().map(|key| &key[..]))
}

/// Whether a key is in a range: also in one for which `BTreeMap` panics.
pub fn contains(range: &Range, key: &[u8]) -> bool {
    std::ops::RangeBounds::<[u8]>::contains(&lent(range), key)
}

/// A value that a number makes.
pub trait Drawn: BytesValue + PartialEq {
    /// The value; numbers that are close to each other make values of many lengths.
    fn drawn(number: u16) -> Self;

    /// The value as operations take it.
    fn lend(&self) -> Lent<'_, Self> {
        Self::Form::lend(self)
    }

    /// Whether replacing a value may need memory.
    const MAY_NEED_MEMORY: bool = false;
}

impl Drawn for u64 {
    fn drawn(number: u16) -> Self {
        number.into()
    }
}

impl Drawn for [u64; 3] {
    fn drawn(number: u16) -> Self {
        [number.into(), !u64::from(number), 7]
    }
}

impl Drawn for Vec<u8> {
    fn drawn(number: u16) -> Self {
        // Up to 192 bytes are stored in the leaf; none is nearly as long as one may be.
        let longest = match number % 16 {
            0 => usize::from(number) + 5,
            1..=3 => 2000,
            _ => 60,
        };
        vec![number as u8; usize::from(number) * 7 % (longest + 1)]
    }

    const MAY_NEED_MEMORY: bool = true;
}
