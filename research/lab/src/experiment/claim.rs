//! A paper's number, and what it is about.

use super::published::Published;
use super::yardstick::Yardstick;
use crate::subject::Subject;

/// A published number and its subject.
#[derive(Debug, Clone, Copy)]
pub struct Claim<Y: 'static = Yardstick> {
    /// The measured quantity.
    pub yardstick: Y,
    /// The indexes.
    pub series: &'static [Subject],
    /// The first x.
    pub from: usize,
    /// To which x, itself included.
    pub to: usize,
    /// The number.
    pub published: Published,
}

impl<Y: Copy + PartialEq> Claim<Y> {
    /// Along the whole axis.
    pub const fn everywhere(yardstick: Y, series: &'static [Subject], published: Published) -> Self {
        Self { yardstick, series, from: 0, to: usize::MAX, published }
    }

    /// Returns the claim restricted to the x from one to another, both included.
    pub const fn between(
        from: usize,
        to: usize,
        yardstick: Y,
        series: &'static [Subject],
        published: Published,
    ) -> Self {
        Self { yardstick, series, from, to, published }
    }

    /// At one x.
    pub const fn at(x: usize, yardstick: Y, series: &'static [Subject], published: Published) -> Self {
        Self::between(x, x, yardstick, series, published)
    }

    /// Returns whether it applies to this point.
    pub fn is_about(&self, yardstick: Y, subject: Subject, x: usize) -> bool {
        self.yardstick == yardstick && (self.from..=self.to).contains(&x) && self.series.contains(&subject)
    }
}
