//! The index underneath: from each distinct key to the number of its run.
//!
//! Keys are numbers or byte strings. A question needs only the two ends of a span, because runs are numbered
//! in the order of their keys ([`super::postings`]).

use super::keys::Keys;
use super::place::Span;
use super::postings::Postings;
use super::sort;
use latchless::index::{Options, Range};
use latchless::{Bits, Direction, FillFactor, Index, Key, KeyFor};
use std::num::NonZeroUsize;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// An index whose values are the numbers of runs.
pub trait Runs {
    /// The run of a span's first key, or of its last one for [`Direction::Reverse`].
    ///
    /// # Errors
    /// Those of the index.
    fn end(&self, span: &Span, end: Direction) -> latchless::Result<Option<u32>>;

    /// The runs of the first and the last key of each of many spans; `None` for one without keys.
    ///
    /// # Errors
    /// Those of the index.
    fn ends(&self, spans: &[&Span]) -> latchless::Result<Vec<Option<(u32, u32)>>>;

    /// The run of each of many keys, which are of the index's type.
    ///
    /// # Errors
    /// Those of the index.
    fn equal(&self, keys: &Keys) -> latchless::Result<Vec<Option<u32>>>;

    /// The run of the smallest key that isn't below each of many keys, or of the largest that isn't above it
    /// for [`Direction::Reverse`].
    ///
    /// # Errors
    /// Those of the index.
    fn near(&self, keys: &Keys, direction: Direction) -> latchless::Result<Vec<Option<u32>>>;

    /// How many keys there are.
    fn keys(&self) -> usize;

    /// Bytes that the index takes.
    fn memory_bytes(&self) -> usize;
}

/// A type of keys of an index, whose spans are ranges.
trait Ends: KeyFor<u32> {
    /// Returns the entries of a span.
    fn entries<'i>(index: &'i Index<Self, u32>, span: &Span) -> latchless::Result<Range<'i, Self, u32>>;

    /// Returns the runs of the first keys that aren't below many spans, and of the last that aren't above
    /// them.
    fn ends(index: &Index<Self, u32>, spans: &[&Span]) -> latchless::Result<[Vec<Option<u32>>; 2]>;

    /// Returns keys as the index takes them.
    fn probes(keys: &Keys) -> Vec<Self::Probe<'_>>;
}

macro_rules! numbers {
    ($($key:ty: $keys:ident),*) => {$(
        impl Ends for $key {
            fn entries<'i>(
                index: &'i Index<Self, u32>,
                span: &Span,
            ) -> latchless::Result<Range<'i, Self, u32>> {
                let (low, high) = span.numbers();
                index.try_range(Self::truncate(low)..=Self::truncate(high))
            }

            fn ends(index: &Index<Self, u32>, spans: &[&Span]) -> latchless::Result<[Vec<Option<u32>>; 2]> {
                let (lows, highs): (Vec<Self>, Vec<Self>) = spans
                    .iter()
                    .map(|span| span.numbers())
                    .map(|(low, high)| (Self::truncate(low), Self::truncate(high)))
                    .unzip();
                let mut entries = vec![None; spans.len()];
                index.ceiling_many(&lows, &mut entries)?;
                let first = runs(&mut entries);
                index.floor_many(&highs, &mut entries)?;
                Ok([first, runs(&mut entries)])
            }

            fn probes(keys: &Keys) -> Vec<Self> {
                match keys {
                    Keys::$keys(keys) => keys.clone(),
                    _ => unreachable!("the index has keys of another type"),
                }
            }
        }
    )*};
}
numbers!(u32: Narrow, u64: Wide);

impl Ends for Vec<u8> {
    fn entries<'i>(index: &'i Index<Self, u32>, span: &Span) -> latchless::Result<Range<'i, Self, u32>> {
        let (low, high) = span.bytes();
        let high = high.as_deref().map_or(Unbounded, Excluded);
        Ok(index.range((Included(&low[..]), high)))
    }

    fn ends(index: &Index<Self, u32>, spans: &[&Span]) -> latchless::Result<[Vec<Option<u32>>; 2]> {
        let (lows, highs): (Vec<Self>, Vec<Option<Self>>) = spans.iter().map(|span| span.bytes()).unzip();
        let mut entries = vec![None; spans.len()];
        index.ceiling_many(&lows.iter().map(|low| &low[..]).collect::<Vec<_>>(), &mut entries)?;
        let first = runs(&mut entries);
        let ended: Vec<&[u8]> = highs.iter().map(|high| high.as_deref().unwrap_or_default()).collect();
        index.lower_many(&ended, &mut entries)?;
        let mut last = runs(&mut entries);
        let end = index.last().map(|(_, run)| run);
        highs.iter().zip(&mut last).filter(|(high, _)| high.is_none()).for_each(|(_, last)| *last = end);
        Ok([first, last])
    }

    fn probes(keys: &Keys) -> Vec<&[u8]> {
        match keys {
            Keys::Bytes(keys) => keys.iter().collect(),
            _ => unreachable!("the index has keys of another type"),
        }
    }
}

impl<K: Ends> Runs for Index<K, u32> {
    fn end(&self, span: &Span, end: Direction) -> latchless::Result<Option<u32>> {
        let mut entries = K::entries(self, span)?;
        let entry = if end == Direction::Forward { entries.next() } else { entries.next_back() };
        Ok(entry.map(|(_, run)| run))
    }

    fn ends(&self, spans: &[&Span]) -> latchless::Result<Vec<Option<(u32, u32)>>> {
        let [first, last] = K::ends(self, spans)?;
        Ok(first.into_iter().zip(last).map(|(first, last)| first.zip(last).filter(|(a, b)| a <= b)).collect())
    }

    fn equal(&self, keys: &Keys) -> latchless::Result<Vec<Option<u32>>> {
        let mut runs = vec![None; keys.len()];
        self.get_many(&K::probes(keys), &mut runs)?;
        Ok(runs)
    }

    fn near(&self, keys: &Keys, direction: Direction) -> latchless::Result<Vec<Option<u32>>> {
        let mut entries: Vec<Option<(K, u32)>> = (0..keys.len()).map(|_| None).collect();
        match direction {
            Direction::Forward => self.ceiling_many(&K::probes(keys), &mut entries)?,
            Direction::Reverse => self.floor_many(&K::probes(keys), &mut entries)?,
        }
        Ok(runs(&mut entries))
    }

    fn keys(&self) -> usize {
        self.len()
    }

    fn memory_bytes(&self) -> usize {
        self.memory_bytes()
    }
}

/// The runs of entries.
fn runs<K>(entries: &mut [Option<(K, u32)>]) -> Vec<Option<u32>> {
    entries.iter_mut().map(|entry| Some(entry.take()?.1)).collect()
}

/// An index of the distinct keys, and which rows each of them has.
///
/// # Errors
/// Memory is refused.
pub fn build(keys: &Keys, options: Options) -> latchless::Result<(Box<dyn Runs>, Postings)> {
    match keys {
        Keys::Narrow(keys) => of_numbers(keys, options),
        Keys::Wide(keys) => of_numbers(keys, options),
        Keys::Bytes(keys) => {
            // Rows are distinct, so the order of the pairs is the stable order of the keys.
            let (entries, postings) = Postings::group(keys.iter(), |pairs| pairs.sort_unstable());
            let mut index = Index::<Vec<u8>, u32>::with_options(options)?;
            index.bulk_load_by(entries.len(), |at| entries[at], FillFactor::FULL, NonZeroUsize::MIN)?;
            Ok((Box::new(index), postings))
        }
    }
}

fn of_numbers<B>(keys: &[B], options: Options) -> latchless::Result<(Box<dyn Runs>, Postings)>
where
    B: Bits + Key<Bits = B> + Ends,
{
    let (entries, postings) = Postings::group(keys.iter().copied(), sort::by_key);
    let mut index = Index::<B, u32>::with_options(options)?;
    index.bulk_load(&entries, FillFactor::FULL)?;
    Ok((Box::new(index), postings))
}
