//! An index in the race, by its own type if its users would name it.

use super::word::Word;
use crate::races::catalogue::{self, FLAGSHIP, SINGLE_THREADED};
use latchless::Index;
use latchless::index::ExclusiveIndex;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::stats::Stats;
use latchless_rivals::{BTree, Driven};
use latchless_terminal::failure::Failure;
use std::ops::{Deref, DerefMut};

/// An index in the race. The recommended index and the baseline are called as their users call them: the
/// timed loops are compiled for each of them. All others go through a table of functions.
pub enum Raced<L: Word> {
    /// [`Index`].
    Index(Box<Index<L, L>>),
    /// [`ExclusiveIndex`].
    Exclusive(Box<ExclusiveIndex<L, L>>),
    /// The standard library's map.
    Map(Box<Driven<BTree<L>>>),
    /// Any other.
    Other(Box<dyn OrderedIndex<L, L>>),
}

impl<L: Word> Raced<L> {
    /// Creates an empty index of that name.
    ///
    /// # Errors
    /// Those of [`catalogue::build`].
    pub fn build(name: &str, options: &catalogue::Options) -> Result<Self, Failure> {
        Ok(match name {
            FLAGSHIP => Self::Index(Box::new(catalogue::flagship(options)?)),
            SINGLE_THREADED => Self::Exclusive(Box::new(catalogue::flagship(options)?.into())),
            "btreemap" => Self::Map(Box::default()),
            other => Self::Other(catalogue::build(other, options)?),
        })
    }
}

impl<L: Word> Raced<L> {
    /// Returns the statistics of the recommended index, or of its single-threaded form. O(nodes).
    pub fn form(&self) -> Option<Stats> {
        match self {
            Self::Index(index) => Some(index.stats()),
            Self::Exclusive(index) => OrderedIndex::stats(&**index),
            Self::Map(_) | Self::Other(_) => None,
        }
    }
}

impl<L: Word> Deref for Raced<L> {
    type Target = dyn OrderedIndex<L, L>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Index(index) => &**index,
            Self::Exclusive(index) => &**index,
            Self::Map(map) => &**map,
            Self::Other(index) => &**index,
        }
    }
}

impl<L: Word> DerefMut for Raced<L> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Index(index) => &mut **index,
            Self::Exclusive(index) => &mut **index,
            Self::Map(map) => &mut **map,
            Self::Other(index) => &mut **index,
        }
    }
}
