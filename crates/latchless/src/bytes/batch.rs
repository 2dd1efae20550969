//! Many requests at once. They go down the tree in groups, so that their waits for memory overlap.
//!
//! Answers come in the order of the requests, and requests for the same key are served in their order. Each
//! request is atomic; the batch is not.

use super::BytesIndex;
use crate::byte_tree::GROUP;
use crate::index::Incomplete;
use core::array;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index::check_side_by_side;

/// The bytes of a group's keys, one after the other.
#[derive(Default)]
struct GroupKeys {
    bytes: Vec<u8>,
    ends: [usize; GROUP],
}

impl GroupKeys {
    /// Takes the bytes of these keys, and gives them to `serve`.
    fn with<'q, Q: BytesKey + ?Sized + 'q, R>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'q Q>,
        serve: impl FnOnce(&[&[u8]]) -> R,
    ) -> R {
        self.bytes.clear();
        let len = keys.len();
        for (end, key) in self.ends.iter_mut().zip(keys) {
            key.with_bytes(|key| self.bytes.extend_from_slice(key));
            *end = self.bytes.len();
        }
        let start = |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        let slices: [&[u8]; GROUP] =
            array::from_fn(|at| if at < len { &self.bytes[start(at)..self.ends[at]] } else { &[] });
        serve(&slices[..len])
    }
}

impl<K: BytesKey<Owned = K>, V: BytesValue> BytesIndex<K, V> {
    /// The values under many keys: `answers[i]` is that of `keys[i]`.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] when there isn't an answer for each key.
    ///
    /// ```
    /// # use latchless::bytes::BytesIndex;
    /// let index: BytesIndex<String, u32> = [("a".into(), 1), ("b".into(), 2)].into();
    /// let mut answers = [None; 3];
    /// index.get_many(&["b", "x", "a"], &mut answers)?;
    /// assert_eq!(answers, [Some(2), None, Some(1)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_many<Q: BytesKey<Owned = K>>(&self, keys: &[Q], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut group = GroupKeys::default();
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            group.with(keys.iter(), |keys| self.get_group(keys, answers));
        }
        Ok(())
    }

    /// As [`BytesIndex::get_many`], into a new vector.
    pub fn get_all<Q: BytesKey<Owned = K>>(&self, keys: &[Q]) -> Vec<Option<V>> {
        let mut answers = vec![None; keys.len()];
        self.get_many(keys, &mut answers).expect("as many answers as keys");
        answers
    }

    /// Puts many entries in, in order: `replaced[i]` is what `entries[i]` replaced.
    ///
    /// # Errors
    /// Which entries were refused, and why; all others were put in.
    ///
    /// ```
    /// # use latchless::bytes::BytesIndex;
    /// let index = BytesIndex::<String, u32>::new()?;
    /// let mut replaced = [None; 3];
    /// index.insert_many(&[("a", 1), ("b", 2), ("a", 3)], &mut replaced)?;
    /// assert_eq!(replaced, [None, None, Some(1)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn insert_many<Q: BytesKey<Owned = K>>(
        &self,
        entries: &[(Q, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        if let Err(error) = check_side_by_side(entries.len(), replaced.len()) {
            return Err(Incomplete { error, refused: (0..entries.len()).collect() });
        }
        let (mut group, mut incomplete) = (GroupKeys::default(), None);
        let chunks = entries.chunks(GROUP).zip(replaced.chunks_mut(GROUP));
        for (first, (entries, replaced)) in (0..).step_by(GROUP).zip(chunks) {
            let mut from = 0;
            while from < entries.len() {
                let rest = &entries[from..];
                let mut at = from;
                let done = |before| {
                    replaced[at] = before;
                    at += 1;
                };
                let outcome = group.with(rest.iter().map(|(key, _)| key), |keys| {
                    self.put_group(keys, rest.iter().map(|(_, value)| value), done)
                });
                from = at;
                if let Err(error) = outcome {
                    replaced[from] = None;
                    Incomplete::add(&mut incomplete, first + from, error);
                    from += 1;
                }
            }
        }
        Incomplete::or(incomplete, ())
    }

    /// Removes many keys: `removed[i]` is the value that `keys[i]` had.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] when there isn't a place for each key.
    pub fn remove_many<Q: BytesKey<Owned = K>>(&self, keys: &[Q], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        let mut group = GroupKeys::default();
        for (keys, removed) in keys.chunks(GROUP).zip(removed.chunks_mut(GROUP)) {
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
