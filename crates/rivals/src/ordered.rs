//! Any peer as an index: keys and values become lanes, bounds become inclusive ends, and requests that
//! every index must refuse are refused here.

use crate::driven::Driven;
use crate::peer::{Ask, Peer, SharedPeer};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{
    ConcurrentIndex, Scanner, Span, Sum, check_buffers, check_side_by_side, serve_shared,
};
use latchless_core::base::key::Bits;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::span::{before, behind, encoded_range};
use latchless_core::bulk::check_ascending;
use latchless_core::{Direction, Error, FillFactor, Fits, Key, Result};

impl<K, V, P> OrderedIndex<K, V> for Driven<P>
where
    K: Key,
    V: Fits<K::Bits>,
    P: Peer<K::Bits>,
{
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: K) -> Option<V> {
        self.0.get_alone(key.encode()).map(V::decode_from)
    }

    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let pin = self.0.pin();
        for (answer, key) in answers.iter_mut().zip(keys) {
            *answer = self.0.get(key.encode(), &pin).map(V::decode_from);
        }
        Ok(())
    }

    fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.0.insert(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    fn remove(&mut self, key: K) -> Option<V> {
        self.0.remove(key.encode()).map(V::decode_from)
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        let lanes = encoded_range(&span)?;
        check_buffers(keys.len(), values.len())?;
        let Some((low, high)) = lanes else { return Ok(0) };
        let (mut found, room) = (0, keys.len());
        self.0.visit(Ask { low, high, direction, limit: room }, |key, value| {
            keys[found] = K::decode(key);
            values[found] = V::decode_from(value);
            found += 1;
            // Asked before the next entry, so that no map steps one too far.
            found < room
        })?;
        Ok(found)
    }

    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum> {
        let mut sum = Sum::default();
        let Some((low, high)) = encoded_range(&span)?.filter(|_| limit > 0) else { return Ok(sum) };
        self.0.visit_values(Ask { low, high, direction: Direction::Forward, limit }, |value| {
            sum.entries += 1;
            sum.total = sum.total.wrapping_add(value.to_u64());
            sum.entries < limit
        })?;
        Ok(sum)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(Resumed { map: self, rest: encoded_range(&span)?, direction }))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        encoded_range(&span)?.map_or(Ok(0), |(low, high)| self.0.count(low, high))
    }

    fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        if !self.0.is_empty() {
            return Err(Error::NotEmpty { len: self.0.len() });
        }
        check_ascending(entries.iter().map(|entry| entry.0.encode()))?;
        self.0.load(entries.iter().map(|&(key, value)| (key.encode(), value.encode_as())))
    }

    fn memory_bytes(&self) -> Option<usize> {
        self.0.memory_bytes()
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        let (mut seen, mut last, mut ordered) = (0, None, true);
        let everything =
            Ask { low: K::Bits::MIN, high: K::Bits::MAX, direction: Direction::Forward, limit: usize::MAX };
        let walked = self.0.visit(everything, |key, _| {
            ordered &= last.is_none_or(|last| last < key);
            last = Some(key);
            seen += 1;
            true
        });
        match walked {
            // A map without scans can't be checked from outside.
            Err(_) => Ok(()),
            Ok(()) if !ordered => Err(Broken::new(format!("{}: keys out of order", P::NAME))),
            Ok(()) if seen != self.0.len() => {
                Err(Broken::new(format!("{}: {} keys counted, {seen} found", P::NAME, self.0.len())))
            }
            Ok(()) => Ok(()),
        }
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        P::as_concurrent(self)
    }
}

impl<K, V, P> ConcurrentIndex<K, V> for Driven<P>
where
    K: Key,
    V: Fits<K::Bits>,
    P: SharedPeer<K::Bits>,
{
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.0.insert_shared(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.0.remove_shared(key.encode()).map(V::decode_from)
    }

    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        // One pin round a batch makes those of its updates cheap.
        let _pin = self.0.pin();
        for (replaced, &(key, value)) in replaced.iter_mut().zip(entries) {
            *replaced = self.insert_shared(key, value)?;
        }
        Ok(())
    }

    fn remove_many_shared(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        let _pin = self.0.pin();
        for (removed, &key) in removed.iter_mut().zip(keys) {
            *removed = self.remove_shared(key);
        }
        Ok(())
    }

    fn execute_shared(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>)
    where
        K: Default,
        V: Default,
    {
        let _pin = self.0.pin();
        serve_shared(self, requests, replies);
    }
}

/// A scan that finds its place again by its last key: no guard is held between two fills.
struct Resumed<'a, P, B> {
    map: &'a Driven<P>,
    /// The rest of the range, both ends inclusive.
    rest: Option<(B, B)>,
    direction: Direction,
}

impl<P, B: Bits> Resumed<'_, P, B> {
    /// Shows up to `room` further entries to `each` and moves past them.
    fn advance(&mut self, room: usize, mut each: impl FnMut(usize, B, B)) -> Result<usize>
    where
        P: Peer<B>,
    {
        let Some((low, high)) = self.rest else { return Ok(0) };
        let (mut found, mut last) = (0, None);
        self.map.0.visit(Ask { low, high, direction: self.direction, limit: room }, |key, value| {
            each(found, key, value);
            found += 1;
            last = Some(key);
            found < room
        })?;
        let full = found == room;
        self.rest = last.filter(|_| full).and_then(|last| match self.direction {
            Direction::Forward if last < high => Some((behind(last), high)),
            Direction::Reverse if last > low => Some((low, before(last))),
            _ => None,
        });
        Ok(found)
    }
}

impl<K, V, P> Scanner<K, V> for Resumed<'_, P, K::Bits>
where
    K: Key,
    V: Fits<K::Bits>,
    P: Peer<K::Bits>,
{
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        self.advance(keys.len(), |at, key, value| {
            keys[at] = K::decode(key);
            values[at] = V::decode_from(value);
        })
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        if values.is_empty() {
            return Err(Error::EmptyBuffer);
        }
        self.advance(values.len(), |at, _, value| values[at] = V::decode_from(value))
    }
}
