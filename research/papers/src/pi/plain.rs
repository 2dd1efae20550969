//! A typical skip list (Pugh, CACM 1990), with none of PI's optimizations: the starting point of Fig. 15.
//!
//! A node is a key, a value and a tower of adjacent links, one for each list that it is in; nodes are
//! placed in the order of their arrival. Keys are compared one by one.
//!
//! ```text
//! key │ value │ link of list 0 │ link of list 1 │ …      lanes, in one vector of them
//! ```
//! The height of a tower is a function of the key, so it isn't stored. A link is the place of a node's
//! key.

use super::options::Options;
use crate::common::ordered::forwarded;
use crate::pi::mem::budget::Budget;
use crate::pi::routed::{Heights, LEVELS_MAX};
use core::marker::PhantomData;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, OrderedIndex, Scanner, Span, check_buffers};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::{encoded_range, next, previous};
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::bulk::check_ascending;
use latchless_core::mem::touch::{NoTrace, Trace, Work};

/// No node.
const NIL: u32 = u32::MAX;
const HEIGHT_MAX: usize = LEVELS_MAX + 1;
/// Lanes of a node before its tower.
const KEY_AND_VALUE: usize = 2;

/// A skip list for one writer or many readers. Operations are O(log n).
///
/// ```
/// use latchless_papers::pi::{Options, SkipList};
/// let mut list = SkipList::<u64, u32>::with_options(&Options::default());
/// list.insert(7, 1)?;
/// assert_eq!((list.get(7), list.remove(7), list.get(7)), (Some(1), Some(1), None));
/// # Ok::<(), latchless_papers::Error>(())
/// ```
#[derive(Debug)]
pub struct SkipList<K: Key, V: Fits<K::Bits>, T: Trace = NoTrace> {
    /// The nodes, one after the other.
    lanes: Vec<K::Bits>,
    /// The first node of each list.
    head: [u32; HEIGHT_MAX],
    /// Lists that have had a node.
    lists: usize,
    /// Nodes that were taken out, by their height.
    free: Vec<Vec<u32>>,
    heights: Heights,
    budget: Budget,
    len: usize,
    entry: PhantomData<fn(K, T) -> V>,
}

/// The unread part of a range of lanes.
type Left<B> = Option<(B, B)>;

/// On each level the last node before a key; `NIL`: the list's beginning.
type Path = [u32; HEIGHT_MAX];

impl<K: Key, V: Fits<K::Bits>, T: Trace> SkipList<K, V, T> {
    /// An empty list. Of the options, seed and memory limit count.
    pub fn with_options(options: &Options) -> Self {
        Self {
            lanes: Vec::new(),
            head: [NIL; HEIGHT_MAX],
            lists: 0,
            free: vec![Vec::new(); HEIGHT_MAX + 1],
            heights: Heights::new(options.seed),
            budget: Budget::new(options.limit_bytes, 0),
            len: 0,
            entry: PhantomData,
        }
    }

    /// Reports a read of some lanes.
    #[inline(always)]
    fn tell_read(&self, at: usize, lanes: usize) {
        T::read(self.lanes.as_ptr().wrapping_add(at).cast(), lanes * K::Bits::BYTES);
    }

    #[inline(always)]
    fn link(&self, node: u32, level: usize) -> u32 {
        if node == NIL {
            T::read(core::ptr::from_ref(&self.head[level]).cast(), size_of::<u32>());
            return self.head[level];
        }
        let at = node as usize + KEY_AND_VALUE + level;
        self.tell_read(at, 1);
        self.lanes[at].to_u64() as u32
    }

    fn set_link(&mut self, node: u32, level: usize, to: u32) {
        if node == NIL {
            T::write(core::ptr::from_ref(&self.head[level]).cast(), size_of::<u32>());
            self.head[level] = to;
            return;
        }
        let lane = &mut self.lanes[node as usize + KEY_AND_VALUE + level];
        T::write(core::ptr::from_ref(lane).cast(), K::Bits::BYTES);
        *lane = K::Bits::truncate(u64::from(to));
    }

    #[inline(always)]
    fn key(&self, node: u32) -> K::Bits {
        T::work(Work::Visit);
        self.tell_read(node as usize, 1);
        self.lanes[node as usize]
    }

    fn value(&self, node: u32) -> V {
        self.tell_read(node as usize + 1, 1);
        V::decode_from(self.lanes[node as usize + 1])
    }

    /// The way to the last node whose key is below `key`, and the node after it.
    fn find(&self, key: K::Bits) -> (Path, u32) {
        T::work(Work::Operation);
        let (mut path, mut at) = ([NIL; HEIGHT_MAX], NIL);
        let mut behind = NIL;
        for level in (0..self.lists).rev() {
            loop {
                let next = self.link(at, level);
                // The list above has shown that this node is too far.
                if next == behind {
                    break;
                }
                T::work(Work::Probe);
                if self.key(next) >= key {
                    behind = next;
                    break;
                }
                at = next;
            }
            path[level] = at;
        }
        (path, behind)
    }

    fn found(&self, key: K::Bits) -> (Path, Option<u32>) {
        let (path, behind) = self.find(key);
        (path, (behind != NIL && self.lanes[behind as usize] == key).then_some(behind))
    }

    /// The value under a key.
    pub fn get(&self, key: K) -> Option<V> {
        let (_, found) = self.found(key.encode());
        found.map(|node| self.value(node))
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`], [`Error::ReferencesExhausted`]; the list is then as before.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        let (key, value) = (key.encode(), value.encode_as());
        let (path, found) = self.found(key);
        if let Some(node) = found {
            let lane = &mut self.lanes[node as usize + 1];
            T::write(core::ptr::from_ref(lane).cast(), K::Bits::BYTES);
            return Ok(Some(V::decode_from(core::mem::replace(lane, value))));
        }
        let height = self.heights.of(key);
        let node = self.allocate(height)?;
        self.lists = self.lists.max(height);
        let at = node as usize;
        T::write(self.lanes.as_ptr().wrapping_add(at).cast(), KEY_AND_VALUE * K::Bits::BYTES);
        self.lanes[at..at + KEY_AND_VALUE].copy_from_slice(&[key, value]);
        for (level, &before) in path.iter().enumerate().take(height) {
            let next = self.link(before, level);
            self.set_link(node, level, next);
            self.set_link(before, level, node);
        }
        self.len += 1;
        Ok(None)
    }

    /// Allocates a node of this height.
    fn allocate(&mut self, height: usize) -> Result<u32> {
        T::work(Work::Allocate);
        if let Some(node) = self.free[height].pop() {
            return Ok(node);
        }
        let (at, lanes) = (self.lanes.len(), KEY_AND_VALUE + height);
        if at + lanes > NIL as usize {
            return Err(Error::ReferencesExhausted { limit: u64::from(NIL) });
        }
        let bytes = lanes * K::Bits::BYTES;
        self.lanes.try_reserve(lanes).map_err(|_| Error::OutOfMemory { requested_bytes: bytes })?;
        self.budget.claim(bytes)?;
        self.lanes.resize(at + lanes, K::Bits::MAX);
        Ok(at as u32)
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let (path, found) = self.found(key.encode());
        let node = found?;
        let (value, height) = (self.value(node), self.heights.of(key.encode()));
        for (level, &before) in path.iter().enumerate().take(height) {
            let next = self.link(node, level);
            self.set_link(before, level, next);
        }
        self.free[height].push(node);
        self.len -= 1;
        Some(value)
    }

    /// Passes at most `room` entries of a range to `to`, and returns the unread part.
    fn hand_out(
        &self,
        (low, high): (K::Bits, K::Bits),
        direction: Direction,
        room: usize,
        mut to: impl FnMut(usize, K, V),
    ) -> (usize, Left<K::Bits>) {
        let (mut filled, mut left) = (0, Some((low, high)));
        let mut at = if direction == Direction::Forward { self.find(low).1 } else { NIL };
        while let Some((low, high)) = left.filter(|_| filled < room) {
            let node = match direction {
                Direction::Forward => at,
                // The last node before the first key that is too large.
                Direction::Reverse => match next(high) {
                    Some(beyond) => self.find(beyond).0[0],
                    None => match self.found(high) {
                        (_, Some(last)) => last,
                        (path, None) => path[0],
                    },
                },
            };
            let Some(key) = (node != NIL).then(|| self.key(node)) else { return (filled, None) };
            if key < low || key > high {
                return (filled, None);
            }
            to(filled, K::decode(key), self.value(node));
            filled += 1;
            left = match direction {
                Direction::Forward => {
                    at = self.link(at, 0);
                    next(key).filter(|&from| from <= high).map(|from| (from, high))
                }
                Direction::Reverse => previous(key).filter(|&to| to >= low).map(|to| (low, to)),
            };
        }
        (filled, left)
    }
}

/// A paused scan.
struct Paused<'a, K: Key, V: Fits<K::Bits>, T: Trace> {
    list: &'a SkipList<K, V, T>,
    direction: Direction,
    left: Left<K::Bits>,
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Paused<'_, K, V, T> {
    fn hand_out(&mut self, room: usize, to: impl FnMut(usize, K, V)) -> usize {
        let Some(range) = self.left else { return 0 };
        let (filled, left) = self.list.hand_out(range, self.direction, room, to);
        self.left = left;
        filled
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Scanner<K, V> for Paused<'_, K, V, T> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.hand_out(keys.len(), |at, key, value| (keys[at], values[at]) = (key, value)))
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.hand_out(values.len(), |at, _, value| values[at] = value))
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> OrderedIndex<K, V> for SkipList<K, V, T> {
    forwarded! { get insert remove }

    fn len(&self) -> usize {
        self.len
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Paused { list: self, direction, left: encoded_range(&span)? }.fill(keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(Paused { list: self, direction, left: encoded_range(&span)? }))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        let mut all = Paused { list: self, direction: Direction::Forward, left: encoded_range(&span)? };
        Ok(all.hand_out(usize::MAX, |_, _, _| ()))
    }

    /// Inserts one entry after the other: a list without any of the optimizations isn't laid out in order
    /// either. The entries' order is scrambled, so that neighbours in the list aren't neighbours in
    /// memory.
    fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        if self.len > 0 {
            return Err(Error::NotEmpty { len: self.len });
        }
        check_ascending(entries.iter().map(|entry| entry.0.encode()))?;
        // An odd step reaches each of a power of two of places once.
        let places = entries.len().next_power_of_two();
        let scrambled = (0..places).map(|nth| nth.wrapping_mul(0x9E37_79B1) & (places - 1));
        for at in scrambled.filter(|&at| at < entries.len()) {
            let (key, value) = entries[at];
            if let Err(error) = self.insert(key, value) {
                entries.iter().for_each(|entry| _ = self.remove(entry.0));
                return Err(error);
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.budget.held_bytes())
    }

    /// Lists as levels, nodes as leaves.
    fn stats(&self) -> Option<Stats> {
        let lists = self.head.iter().filter(|&&first| first != NIL).count();
        let (levels, leaves) = (lists.max(1), self.len.max(1));
        let leaf_fill = self.len as f64 / leaves as f64;
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.leaves = leaves;
        stats.leaf_fill = leaf_fill;
        Some(stats)
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        for level in 0..HEIGHT_MAX {
            let (mut at, mut seen, mut before) = (self.head[level], 0, None);
            while at != NIL {
                let key = self.lanes[at as usize];
                if before.is_some_and(|before| before >= key) || self.heights.of(key) <= level {
                    return Err(Broken::new(format!("level {level}: {key:?} is out of order")));
                }
                (before, seen, at) = (Some(key), seen + 1, self.link(at, level));
            }
            if level == 0 && seen != self.len {
                return Err(Broken::new(format!("{seen} of {} keys are linked", self.len)));
            }
        }
        Ok(())
    }
}
