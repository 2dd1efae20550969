//! Many requests at once. They go down the tree in groups, so that their waits for memory overlap.
//!
//! Answers come in the order of the requests, and requests for the same key are served in their order. Each
//! request is atomic; the batch is not.

use super::stored::{lend, own};
use super::{ByteStrings, Lent};
use crate::byte_tree::{EDITS, GROUP};
use crate::index::Incomplete;
use core::array;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index::check_side_by_side;

/// Bytes of a group's keys that need no memory of the allocator's: this many for each.
const SHORT: usize = 64;

/// The bytes of a group's keys, one after the other.
pub(super) struct GroupKeys {
    short: [u8; GROUP * SHORT],
    /// All of them, if they are more.
    long: Vec<u8>,
    ends: [usize; GROUP],
}

impl Default for GroupKeys {
    fn default() -> Self {
        Self { short: [0; GROUP * SHORT], long: Vec::new(), ends: [0; GROUP] }
    }
}

impl GroupKeys {
    /// Gives the bytes of these keys, at most [`GROUP`], to `serve`: those that the keys hold, or copies.
    #[inline]
    pub(super) fn with<'q, K: BytesKey, Q: BytesKey<K> + ?Sized + 'q, R>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'q Q> + Clone,
        serve: impl FnOnce(&[&[u8]]) -> R,
    ) -> R {
        let (mut held, mut count) = ([&[][..]; GROUP], 0);
        for (to, own) in held.iter_mut().zip(keys.clone().map_while(Q::held_bytes)) {
            *to = own;
            count += 1;
        }
        if count == keys.len() { serve(&held[..count]) } else { self.with_copies(keys, serve) }
    }

    fn with_copies<'q, K: BytesKey, Q: BytesKey<K> + ?Sized + 'q, R>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'q Q>,
        serve: impl FnOnce(&[&[u8]]) -> R,
    ) -> R {
        self.long.clear();
        let (len, mut filled) = (keys.len(), 0);
        for (to, key) in self.ends.iter_mut().zip(keys) {
            key.with_bytes(|key| {
                let end = filled + key.len();
                match self.short.get_mut(filled..end).filter(|_| self.long.is_empty()) {
                    Some(room) => room.copy_from_slice(key),
                    None => {
                        if self.long.is_empty() {
                            self.long.extend_from_slice(&self.short[..filled]);
                        }
                        self.long.extend_from_slice(key);
                    }
                }
                filled = end;
            });
            *to = filled;
        }
        let bytes = if self.long.is_empty() { &self.short[..] } else { &self.long[..] };
        let start = |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        let slices: [&[u8]; GROUP] =
            array::from_fn(|at| if at < len { &bytes[start(at)..self.ends[at]] } else { &[] });
        serve(&slices[..len])
    }
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// The values under many keys: `answers[i]` is that of `keys[i]`.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] when there isn't an answer for each key.
    pub fn get_many<Q: BytesKey<K>>(&self, keys: &[Q], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut group = GroupKeys::default();
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            let mut answers = answers.iter_mut();
            group.with(keys.iter(), |keys| {
                self.see_group(keys, |found| {
                    *answers.next().expect("an answer for each key") = found.map(own::<V>);
                });
            });
        }
        Ok(())
    }

    /// Shows the values under many keys, with the keys' places, in the order of the keys. Nothing is
    /// allocated for values that are byte strings.
    pub fn get_each<Q: BytesKey<K>>(&self, keys: &[Q], mut see: impl FnMut(usize, Option<Lent<'_, V>>)) {
        let (mut group, mut at) = (GroupKeys::default(), 0);
        for keys in keys.chunks(GROUP) {
            group.with(keys.iter(), |keys| {
                self.see_group(keys, |found| {
                    see(at, found);
                    at += 1;
                });
            });
        }
    }

    /// Returns the values under many keys in a new vector, in the order of the keys. See
    /// [`ByteStrings::get_many`].
    pub fn get_all<Q: BytesKey<K>>(&self, keys: &[Q]) -> Vec<Option<V>> {
        let mut answers = vec![None; keys.len()];
        self.get_many(keys, &mut answers).expect("as many answers as keys");
        answers
    }

    /// Inserts many entries in order; `replaced[i]` is the value that `entries[i]` replaced.
    ///
    /// # Errors
    /// The entries that were refused, and why; all others were inserted.
    pub fn insert_many<Q: BytesKey<K>>(
        &self,
        entries: &[(Q, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        if let Err(error) = check_side_by_side(entries.len(), replaced.len()) {
            return Err(Incomplete { error, refused: (0..entries.len()).collect() });
        }
        let key = |at: usize| &entries[at].0;
        let value = |at: usize| lend(&entries[at].1);
        self.put_each(entries.len(), key, value, |at, before| replaced[at] = before)
    }

    /// Inserts many entries in order, from columns: each value goes under the key at its place, and of
    /// equal keys the last one's value stays. Byte strings are taken as slices. Returns the number of keys
    /// that are new.
    ///
    /// # Errors
    /// The entries that were refused, and why; all others were inserted. With columns of unequal length,
    /// all are refused.
    pub fn insert_columns<Q: BytesKey<K>>(
        &self,
        keys: &[Q],
        values: &[Lent<'_, V>],
    ) -> Result<usize, Incomplete> {
        if let Err(error) = check_side_by_side(keys.len(), values.len()) {
            return Err(Incomplete { error, refused: (0..keys.len()).collect() });
        }
        let mut new = 0;
        let count = |_, before: Option<V>| new += usize::from(before.is_none());
        self.put_each(keys.len(), |at| &keys[at], |at| values[at], count)?;
        Ok(new)
    }

    /// Inserts this many entries in order, and calls `done` for each with the value that it replaced:
    /// `None` if it was refused.
    #[inline]
    fn put_each<'q, 'v, Q: BytesKey<K> + 'q>(
        &self,
        count: usize,
        key: impl Fn(usize) -> &'q Q,
        value: impl Fn(usize) -> Lent<'v, V>,
        mut done: impl FnMut(usize, Option<V>),
    ) -> Result<(), Incomplete> {
        let (mut group, mut incomplete) = (GroupKeys::default(), None);
        let mut from = 0;
        while from < count {
            let these = from..count.min(from + EDITS);
            let outcome = group.with(these.clone().map(&key), |keys| {
                self.put_group(keys, these.map(&value), |before| {
                    done(from, before);
                    from += 1;
                })
            });
            if let Err(error) = outcome {
                done(from, None);
                Incomplete::add(&mut incomplete, from, error);
                from += 1;
            }
        }
        Incomplete::or(incomplete, ())
    }

    /// Removes many keys: `removed[i]` is the value that `keys[i]` had.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] when there isn't a place for each key.
    pub fn remove_many<Q: BytesKey<K>>(&self, keys: &[Q], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        let mut group = GroupKeys::default();
        for (keys, removed) in keys.chunks(EDITS).zip(removed.chunks_mut(EDITS)) {
            let mut count = 0;
            let done = |before| {
                removed[count] = before;
                count += 1;
            };
            let outcome = group.with(keys.iter(), |keys| self.remove_group(keys, done));
            if let Err(Error::KeyTooLong { .. }) = outcome {
                // Such a key isn't there: those from there on one by one.
                let rest = keys.iter().zip(&mut *removed).skip(count);
                rest.for_each(|(key, removed)| *removed = self.remove(key));
            }
        }
        Ok(())
    }
}
