//! The destination of a scan's entries: a caller's buffers, or just a count.

use core::marker::PhantomData;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::value::Fits;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::touch::{Trace, Work};

/// Takes entries a leaf's stretch at a time.
pub trait Sink<B: Bits> {
    /// Whether the keys are needed.
    const KEYS: bool;
    /// Whether the values are needed.
    const VALUES: bool;
    /// Returns how many more entries there is room for.
    fn room(&self) -> usize;
    /// Receives consecutive entries, at most as many as there is room for.
    fn take<T: Trace>(&mut self, keys: &[B], values: &[B]);
    /// Takes the same, the last one first.
    fn take_reversed<T: Trace>(&mut self, keys: &[B], values: &[B]);
    /// Prefetches the places of `count` entries that follow the next `after` ones.
    fn prefetch<T: Trace>(&self, after: usize, count: usize);
}

/// Keys and values in pairs.
#[derive(Debug)]
pub struct Pairs<'b, K, V> {
    keys: &'b mut [K],
    values: &'b mut [V],
    filled: usize,
}

impl<'b, K, V> Pairs<'b, K, V> {
    /// Creates a sink for two buffers; the shorter one determines the room.
    pub fn new(keys: &'b mut [K], values: &'b mut [V]) -> Self {
        Self { keys, values, filled: 0 }
    }
}

impl<K: Key, V: Fits<K::Bits>> Sink<K::Bits> for Pairs<'_, K, V> {
    const KEYS: bool = true;
    const VALUES: bool = true;

    #[inline(always)]
    fn room(&self) -> usize {
        self.keys.len().min(self.values.len()) - self.filled
    }

    #[inline(always)]
    fn take<T: Trace>(&mut self, keys: &[K::Bits], values: &[K::Bits]) {
        let to = self.filled + keys.len();
        copy_keys::<K, T>(&mut self.keys[self.filled..to], keys.iter().copied());
        copy_values::<K::Bits, V, T>(&mut self.values[self.filled..to], values.iter().copied());
        self.filled = to;
    }

    #[inline(always)]
    fn take_reversed<T: Trace>(&mut self, keys: &[K::Bits], values: &[K::Bits]) {
        let to = self.filled + keys.len();
        copy_keys::<K, T>(&mut self.keys[self.filled..to], keys.iter().rev().copied());
        copy_values::<K::Bits, V, T>(&mut self.values[self.filled..to], values.iter().rev().copied());
        self.filled = to;
    }

    #[inline(always)]
    fn prefetch<T: Trace>(&self, after: usize, count: usize) {
        ask_for::<K, T>(self.keys, self.filled + after, count);
        ask_for::<V, T>(self.values, self.filled + after, count);
    }
}

/// Values alone, as the paper's scans return them.
#[derive(Debug)]
pub struct ValuesOnly<'b, V> {
    values: &'b mut [V],
    filled: usize,
}

impl<'b, V> ValuesOnly<'b, V> {
    /// Into one buffer.
    pub fn new(values: &'b mut [V]) -> Self {
        Self { values, filled: 0 }
    }
}

impl<B: Bits, V: Fits<B>> Sink<B> for ValuesOnly<'_, V> {
    const KEYS: bool = false;
    const VALUES: bool = true;

    #[inline(always)]
    fn room(&self) -> usize {
        self.values.len() - self.filled
    }

    #[inline(always)]
    fn take<T: Trace>(&mut self, _: &[B], values: &[B]) {
        let to = self.filled + values.len();
        copy_values::<B, V, T>(&mut self.values[self.filled..to], values.iter().copied());
        self.filled = to;
    }

    #[inline(always)]
    fn take_reversed<T: Trace>(&mut self, _: &[B], values: &[B]) {
        let to = self.filled + values.len();
        copy_values::<B, V, T>(&mut self.values[self.filled..to], values.iter().rev().copied());
        self.filled = to;
    }

    #[inline(always)]
    fn prefetch<T: Trace>(&self, after: usize, count: usize) {
        ask_for::<V, T>(self.values, self.filled + after, count);
    }
}

/// Entries as lanes, at most `N` of them, for a thread that decodes them one by one. Places of a key's own
/// type would have to be initialized, and a type may have no value for bits that were never stored.
#[derive(Debug)]
pub struct Lanes<B, const N: usize> {
    entries: [(B, B); N],
    filled: usize,
}

impl<B: Bits, const N: usize> Lanes<B, N> {
    /// The entries.
    #[inline(always)]
    pub fn entries(&self) -> &[(B, B)] {
        &self.entries[..self.filled]
    }

    /// Forgets the entries.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    #[inline(always)]
    fn extend<'a, T: Trace>(&mut self, entries: impl ExactSizeIterator<Item = (&'a B, &'a B)>) {
        let to = &mut self.entries[self.filled..][..entries.len()];
        tell_copy::<(B, B), T>(to);
        self.filled += to.len();
        to.iter_mut().zip(entries).for_each(|(to, (&key, &value))| *to = (key, value));
    }
}

impl<B: Bits, const N: usize> Default for Lanes<B, N> {
    fn default() -> Self {
        Self { entries: [(B::MIN, B::MIN); N], filled: 0 }
    }
}

impl<B: Bits, const N: usize> Sink<B> for Lanes<B, N> {
    const KEYS: bool = true;
    const VALUES: bool = true;

    #[inline(always)]
    fn room(&self) -> usize {
        N - self.filled
    }

    #[inline(always)]
    fn take<T: Trace>(&mut self, keys: &[B], values: &[B]) {
        self.extend::<T>(keys.iter().zip(values));
    }

    #[inline(always)]
    fn take_reversed<T: Trace>(&mut self, keys: &[B], values: &[B]) {
        self.extend::<T>(keys.iter().rev().zip(values.iter().rev()));
    }

    #[inline(always)]
    fn prefetch<T: Trace>(&self, after: usize, count: usize) {
        ask_for::<(B, B), T>(&self.entries, self.filled + after, count);
    }
}

/// Counts entries without reading them.
#[derive(Debug, Default)]
pub struct Tally;

impl<B: Bits> Sink<B> for Tally {
    const KEYS: bool = false;
    const VALUES: bool = false;

    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    fn take<T: Trace>(&mut self, _: &[B], _: &[B]) {}

    #[inline(always)]
    fn take_reversed<T: Trace>(&mut self, _: &[B], _: &[B]) {}

    #[inline(always)]
    fn prefetch<T: Trace>(&self, _: usize, _: usize) {}
}

/// Adds up values without copying them.
#[derive(Debug)]
pub struct Total<V> {
    room: usize,
    total: u64,
    value: PhantomData<fn() -> V>,
}

impl<V> Total<V> {
    /// Creates a count of at most that many entries.
    pub fn of(room: usize) -> Self {
        Self { room, total: 0, value: PhantomData }
    }

    /// The encoded values, added up modulo 2^64.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl<B: Bits, V: Fits<B>> Sink<B> for Total<V> {
    const KEYS: bool = false;
    const VALUES: bool = true;

    #[inline(always)]
    fn room(&self) -> usize {
        self.room
    }

    #[inline(always)]
    fn take<T: Trace>(&mut self, _: &[B], values: &[B]) {
        T::work(Work::Copy(values.len()));
        self.room -= values.len();
        let encoded = values.iter().map(|&bits| V::decode_from(bits).encode().to_u64());
        self.total = encoded.fold(self.total, u64::wrapping_add);
    }

    #[inline(always)]
    fn take_reversed<T: Trace>(&mut self, keys: &[B], values: &[B]) {
        self.take::<T>(keys, values);
    }

    #[inline(always)]
    fn prefetch<T: Trace>(&self, _: usize, _: usize) {}
}

#[inline(always)]
fn copy_keys<K: Key, T: Trace>(to: &mut [K], from: impl Iterator<Item = K::Bits>) {
    tell_copy::<K, T>(to);
    for (to, bits) in to.iter_mut().zip(from) {
        *to = K::decode(bits);
    }
}

#[inline(always)]
fn copy_values<B: Bits, V: Fits<B>, T: Trace>(to: &mut [V], from: impl Iterator<Item = B>) {
    tell_copy::<V, T>(to);
    for (to, bits) in to.iter_mut().zip(from) {
        *to = V::decode_from(bits);
    }
}

#[inline(always)]
fn tell_copy<X, T: Trace>(to: &[X]) {
    T::work(Work::Copy(to.len()));
    T::write(to.as_ptr().cast(), size_of_val(to));
}

/// Prefetches the lines of `count` places of a buffer from `at` on, as far as it extends.
#[inline(always)]
fn ask_for<X, T: Trace>(buffer: &[X], at: usize, count: usize) {
    let Some(rest) = buffer.get(at..) else { return };
    let places = &rest[..count.min(rest.len())];
    // The processor's own prefetcher follows a buffer that is written from front to back, so prefetching
    // pays only on a model without such a prefetcher.
    if T::LISTENING {
        prefetch_read_all(places.as_ptr().cast(), size_of_val(places));
        T::prefetch(places.as_ptr().cast(), size_of_val(places));
    }
}
