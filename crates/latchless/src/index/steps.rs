//! Lookups in single steps, with the feature `steps`: for an executor that interleaves them with other work,
//! such as the walks of another index, while cache misses are outstanding. [`Index::get_many`] interleaves a
//! batch of lookups without it.

use super::Index;
use super::access::{Encoded, decode_value, encode_key};
use crate::node::operation::Search;
use crate::tree::steps::{Place, TreeDriver, TreeSteps};
use core::marker::PhantomData;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The steps of lookups in an index. Each step reads what the step before prefetched, and prefetches what
/// the next one reads. Sealed.
pub trait Steps<K, V>: Copy + sealed::Sealed {
    /// The position of a lookup.
    type Place: Copy;

    /// Starts the lookup of a key.
    fn enter(&self, key: K) -> Self::Place;

    /// Runs a step; returns whether the lookup has arrived. It must not be called again then.
    fn step(&self, place: &mut Self::Place, key: K) -> bool;

    /// Returns the value of a key whose lookup has arrived, as of a moment of this call: changes by other
    /// threads since the lookup began are seen.
    fn answer(&self, place: Self::Place, key: K) -> Option<V>;
}

mod sealed {
    /// Restricts [`super::Steps`] to those of an index.
    pub trait Sealed {}
    impl<K: super::Key, V: super::Value, S> Sealed for super::TypedSteps<'_, K, V, S> {}
}

/// A user of an index's steps.
pub trait Driver<K, V> {
    /// The result.
    type Output;

    /// Runs the steps. It and all that it calls with them must be `#[inline(always)]`, so that the
    /// instructions that this processor is known to have are used throughout.
    fn drive<S: Steps<K, V> + Sync>(self, steps: S) -> Self::Output;
}

impl<K: Key, V: Value> Index<K, V> {
    /// Calls `driver` with the steps of this index's lookups.
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::{Driver, Steps};
    ///
    /// /// Looks two keys up, side by side.
    /// struct Two(u64, u64);
    ///
    /// impl Driver<u64, u64> for Two {
    ///     type Output = [Option<u64>; 2];
    ///
    ///     #[inline(always)]
    ///     fn drive<S: Steps<u64, u64>>(self, steps: S) -> Self::Output {
    ///         let keys = [self.0, self.1];
    ///         let mut places = keys.map(|key| steps.enter(key));
    ///         let mut arrived = [false; 2];
    ///         while arrived != [true; 2] {
    ///             for at in 0..2 {
    ///                 arrived[at] = arrived[at] || steps.step(&mut places[at], keys[at]);
    ///             }
    ///         }
    ///         [0, 1].map(|at| steps.answer(places[at], keys[at]))
    ///     }
    /// }
    ///
    /// let index: Index<u64, u64> = (0..1000).map(|key| (key, 2 * key)).collect();
    /// assert_eq!(index.drive(Two(700, 7000)), [Some(1400), None]);
    /// ```
    pub fn drive<D: Driver<K, V>>(&self, driver: D) -> D::Output {
        self.engine.tree.drive(Typed { driver, entry: PhantomData })
    }
}

/// A driver of steps over encoded keys.
struct Typed<K, V, D> {
    driver: D,
    entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Value, D: Driver<K, V>> TreeDriver<Encoded<K, V>> for Typed<K, V, D> {
    type Output = D::Output;

    #[inline(always)]
    fn drive<S: Search>(self, steps: TreeSteps<'_, Encoded<K, V>, S>) -> D::Output {
        self.driver.drive(TypedSteps { steps, entry: PhantomData })
    }
}

struct TypedSteps<'a, K: Key, V: Value, S> {
    steps: TreeSteps<'a, Encoded<K, V>, S>,
    entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Value, S> Clone for TypedSteps<'_, K, V, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Key, V: Value, S> Copy for TypedSteps<'_, K, V, S> {}

impl<'a, K: Key, V: Value, S: Search> Steps<K, V> for TypedSteps<'a, K, V, S> {
    type Place = Place<'a>;

    #[inline(always)]
    fn enter(&self, key: K) -> Place<'a> {
        self.steps.enter(encode_key::<K, V>(key))
    }

    #[inline(always)]
    fn step(&self, place: &mut Place<'a>, key: K) -> bool {
        self.steps.step(place, encode_key::<K, V>(key))
    }

    #[inline(always)]
    fn answer(&self, place: Place<'a>, key: K) -> Option<V> {
        self.steps.answer(place, encode_key::<K, V>(key)).map(decode_value::<K, V>)
    }
}
