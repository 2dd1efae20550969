//! One range by several threads ("intra-query parallelism", §7): the range is divided into pieces of about
//! equally many entries, one for each thread.

use super::map::CsslMap;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index::{Span, Sum};
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Fits;

impl<K: Key, V: Fits<K::Bits>> CsslMap<K, V> {
    /// Divides a range into at most `pieces` ranges with about equally many entries, for as many threads.
    /// Empty for an empty range. O(pieces · log n).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn cut(&self, range: impl RangeBounds<K>, pieces: usize) -> Result<Vec<Span<K>>> {
        let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
        let lanes = self.cut_lanes(&(start, end), pieces)?;
        // The lanes at which pieces start are keys, except the first.
        let begins = lanes.iter().skip(1).map(|&(low, _)| K::decode(low));
        let starts = core::iter::once(start).chain(begins.clone().map(Bound::Included));
        let ends = begins.map(Bound::Excluded).chain(core::iter::once(end));
        Ok(starts.zip(ends).take(lanes.len()).collect())
    }

    /// Divides a range of lanes, both ends included; see [`CsslMap::cut`].
    fn cut_lanes(&self, span: &Span<K>, pieces: usize) -> Result<Vec<(K::Bits, K::Bits)>> {
        let Some((low, high)) = encoded_range(span)? else { return Ok(Vec::new()) };
        Ok(self.list.cut(&self.list.enter(), low, high, pieces.max(1)))
    }

    /// Reads a range by that many threads: each folds a piece of it, starting with the result of `start`,
    /// and `join` combines the results, in the pieces' order. Starting a thread takes some 20 µs: for
    /// ranges of 100,000 entries and more.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    ///
    /// # Panics
    /// When one of the functions does.
    ///
    /// ```
    /// # use latchless_papers::cssl::CsslMap;
    /// let entries: Vec<(u32, u32)> = (0..10_000).map(|key| (key, key % 7)).collect();
    /// let map = CsslMap::from_sorted(&entries)?;
    /// let most = map.fold_on_threads(1000..3000, 2, || 0, |most, _, value| value.max(most), u32::max)?;
    /// assert_eq!(most, 6);
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    pub fn fold_on_threads<A: Send>(
        &self,
        range: impl RangeBounds<K>,
        threads: usize,
        start: impl Fn() -> A + Sync,
        fold: impl Fn(A, K, V) -> A + Sync,
        join: impl Fn(A, A) -> A,
    ) -> Result<A> {
        let one = |low: K::Bits, high: K::Bits| {
            self.list.fold(&self.list.enter(), low, high, start(), |so_far, key, value| {
                ControlFlow::Continue(fold(so_far, K::decode(key), V::decode_from(value)))
            })
        };
        let pieces = self.on_threads(&range, threads, &one)?;
        Ok(pieces.into_iter().reduce(join).unwrap_or_else(start))
    }

    /// Copies a range's entries by that many threads; ascending.
    ///
    /// # Errors
    /// [`Error::InvertedRange`], or memory is refused.
    ///
    /// ```
    /// # use latchless_papers::cssl::CsslMap;
    /// let entries: Vec<(u32, u32)> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let map = CsslMap::from_sorted(&entries)?;
    /// assert_eq!(map.copy_on_threads(1000..3000, 2)?, entries[1000..3000]);
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    pub fn copy_on_threads(&self, range: impl RangeBounds<K>, threads: usize) -> Result<Vec<(K, V)>> {
        let one = |low: K::Bits, high: K::Bits| {
            let inside = self.list.enter();
            let mut copied = room_for(self.list.count(&inside, low, high))?;
            self.list.fold(&inside, low, high, (), |(), key, value| {
                copied.push((K::decode(key), V::decode_from(value)));
                ControlFlow::Continue(())
            });
            Ok(copied)
        };
        let pieces = self.on_threads(&range, threads, &one)?.into_iter().collect::<Result<Vec<_>>>()?;
        let mut pieces = pieces.into_iter();
        let mut all = pieces.next().unwrap_or_default();
        let more: usize = pieces.as_slice().iter().map(Vec::len).sum();
        all.try_reserve_exact(more).map_err(|_| refused::<(K, V)>(more))?;
        pieces.for_each(|piece| all.extend(piece));
        Ok(all)
    }

    /// Sums a range by that many threads, each of which sums a piece; see [`CsslMap::sum`]. See
    /// [`CsslMap::fold_on_threads`] for when that is worthwhile.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    ///
    /// ```
    /// # use latchless_papers::cssl::CsslMap;
    /// let entries: Vec<(u32, u32)> = (0..10_000).map(|key| (key, key)).collect();
    /// let map = CsslMap::from_sorted(&entries)?;
    /// assert_eq!(map.sum_on_threads(1000..3000, 2)?, map.sum(1000..3000)?);
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    pub fn sum_on_threads(&self, range: impl RangeBounds<K>, threads: usize) -> Result<Sum> {
        let one = |low: K::Bits, high: K::Bits| self.pin().sum_lanes(low, high, usize::MAX);
        let sums = self.on_threads(&range, threads, &one)?;
        Ok(sums.into_iter().fold(Sum::default(), |so_far, sum| Sum {
            entries: so_far.entries + sum.entries,
            total: so_far.total.wrapping_add(sum.total),
        }))
    }

    /// Returns the results of `one` for each piece of a range, in the pieces' order. The caller's thread
    /// takes the first.
    fn on_threads<A: Send>(
        &self,
        range: &impl RangeBounds<K>,
        threads: usize,
        one: &(impl Fn(K::Bits, K::Bits) -> A + Sync),
    ) -> Result<Vec<A>> {
        let pieces = self.cut_lanes(&(range.start_bound().cloned(), range.end_bound().cloned()), threads)?;
        let Some((&(low, high), others)) = pieces.split_first() else { return Ok(Vec::new()) };
        Ok(std::thread::scope(|scope| {
            let others: Vec<_> =
                others.iter().map(|&(low, high)| scope.spawn(move || one(low, high))).collect();
            let mut all = vec![one(low, high)];
            for thread in others {
                match thread.join() {
                    Ok(result) => all.push(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        }))
    }
}

fn room_for<X>(entries: usize) -> Result<Vec<X>> {
    let mut room = Vec::new();
    room.try_reserve_exact(entries).map_err(|_| refused::<X>(entries))?;
    Ok(room)
}

fn refused<X>(entries: usize) -> Error {
    Error::OutOfMemory { requested_bytes: entries.saturating_mul(size_of::<X>()) }
}
