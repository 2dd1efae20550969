//! Questions: the arguments of lookups, which needn't be keys that the index can have.

use crate::lookups::Near;
use pyo3::prelude::*;
use std::ops::Bound as End;

/// A question among the keys that an index can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked<P> {
    /// It can be a key.
    Key(P),
    /// The greatest key before it and the least one after it, if there are any. NaN has neither.
    Between(Option<P>, Option<P>),
    /// It is right before what can be a key, and after all keys that are less.
    Before(P),
}

impl<P> Asked<P> {
    /// The same question of other keys.
    #[inline]
    pub fn map<Q>(self, mut each: impl FnMut(P) -> Q) -> Asked<Q> {
        match self {
            Self::Key(key) => Asked::Key(each(key)),
            Self::Between(down, up) => Asked::Between(down.map(&mut each), up.map(each)),
            Self::Before(key) => Asked::Before(each(key)),
        }
    }

    /// The neighbour that answers the question, as a neighbour of a key.
    #[inline]
    pub fn near(self, near: Near) -> Option<(Near, P)> {
        match (self, near) {
            (Self::Key(key), near) => Some((near, key)),
            (Self::Between(down, _), Near::Floor | Near::Lower) => Some((Near::Floor, down?)),
            (Self::Between(_, up), Near::Ceiling | Near::Higher) => Some((Near::Ceiling, up?)),
            (Self::Before(key), Near::Floor | Near::Lower) => Some((Near::Lower, key)),
            (Self::Before(key), Near::Ceiling | Near::Higher) => Some((Near::Ceiling, key)),
        }
    }
}

/// The ends of a range that belong to it.
#[derive(Debug, Clone, Copy)]
pub struct Closed {
    /// Whether its low end does.
    pub low: bool,
    /// Whether its high end does.
    pub high: bool,
}

/// A range whose ends can be keys.
#[derive(Debug, Clone, Copy)]
pub struct Ends<P> {
    /// The low end.
    pub low: Option<P>,
    /// The high end.
    pub high: Option<P>,
    /// The ends that belong to it.
    pub closed: Closed,
}

impl<P> Ends<P> {
    /// Of all keys.
    pub const ALL: Self = Self { low: None, high: None, closed: Closed { low: true, high: true } };

    /// Those of a range between two questions; nothing if no key can be in it.
    pub fn between(low: Option<Asked<P>>, high: Option<Asked<P>>, closed: (bool, bool)) -> Option<Self> {
        let (low, low_belongs) = match low {
            None => (None, closed.0),
            Some(Asked::Key(key)) => (Some(key), closed.0),
            Some(Asked::Between(_, up)) => (Some(up?), true),
            Some(Asked::Before(key)) => (Some(key), true),
        };
        let (high, high_belongs) = match high {
            None => (None, closed.1),
            Some(Asked::Key(key)) => (Some(key), closed.1),
            Some(Asked::Between(down, _)) => (Some(down?), true),
            Some(Asked::Before(key)) => (Some(key), false),
        };
        Some(Self { low, high, closed: Closed { low: low_belongs, high: high_belongs } })
    }

    /// The ends as the given keys, not as the words next to them, which a narrower column of a log can't
    /// have.
    pub fn bounds(self) -> (End<P>, End<P>) {
        let end = |key: Option<P>, closed| match key {
            None => End::Unbounded,
            Some(key) if closed => End::Included(key),
            Some(key) => End::Excluded(key),
        };
        (end(self.low, self.closed.low), end(self.high, self.closed.high))
    }
}

/// The error for an object that can't be a key of a `dict` either: a list or an array, say, which is meant
/// as a batch.
#[cold]
pub fn no_key_of_a_dict(key: &Bound<'_, PyAny>) -> PyResult<()> {
    key.hash().map(drop)
}
