//! The interface of a map over byte strings.

use latchless_core::Result;

/// A thread's way to a map.
pub trait Reach {
    /// A session for requests: the map, and a guard that keeps its memory in place. Removed memory may not
    /// be freed while a session is held, so take a new one regularly.
    fn session(&mut self) -> impl Session;
}

/// A way that makes sessions by a function.
pub struct Way<F>(pub F);

impl<S: Session, F: FnMut() -> S> Reach for Way<F> {
    fn session(&mut self) -> impl Session {
        (self.0)()
    }
}

/// An ordered map from byte strings to numbers. Its own sessions are those of one thread.
pub trait Peer: Reach + Send + 'static {
    /// How many keys there are. May take linear time.
    fn len(&self) -> usize;

    /// Whether there is no key.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The way of one of many threads; through a lock, if the map isn't made for many.
    fn shared(&self) -> impl Reach + Send;

    /// Fills the empty map from strictly ascending entries, by the map's own bulk call where it has one.
    ///
    /// # Errors
    /// When the map refuses.
    fn load<'k>(&mut self, entries: impl Iterator<Item = (&'k [u8], u64)>) -> Result<()> {
        let mut session = self.session();
        for (key, value) in entries {
            session.insert(key, value)?;
        }
        Ok(())
    }

    /// Bytes held, keys and values included, where the map counts them itself.
    fn memory_bytes(&self) -> Option<usize> {
        None
    }
}

/// The requests of one thread.
pub trait Session {
    /// The value under `key`.
    fn get(&self, key: &[u8]) -> Option<u64>;

    /// The values under keys side by side with these answers; as many of one as of the other.
    ///
    /// # Errors
    /// When the map refuses.
    fn get_many(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) -> Result<()> {
        for (key, answer) in keys.iter().zip(answers) {
            *answer = self.get(key);
        }
        Ok(())
    }

    /// Inserts `value` under `key` and returns the value that it replaces.
    ///
    /// # Errors
    /// When the map refuses.
    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>>;

    /// Inserts values under keys, and writes each replaced value to its place in `replaced`.
    ///
    /// # Errors
    /// If the map refuses; the entries before are inserted.
    fn insert_many(&mut self, entries: &[(&[u8], u64)], replaced: &mut [Option<u64>]) -> Result<()> {
        for (&(key, value), replaced) in entries.iter().zip(replaced) {
            *replaced = self.insert(key, value)?;
        }
        Ok(())
    }

    /// Removes `key` and returns its value.
    fn remove(&mut self, key: &[u8]) -> Option<u64>;

    /// Shows the entries from `from` upwards to `each`, in order, until they end or it returns `false`. The
    /// keys are lent.
    ///
    /// # Errors
    /// [`latchless_core::Error::Unsupported`] where the map has no such call.
    fn scan(&self, from: &[u8], each: impl FnMut(&[u8], u64) -> bool) -> Result<()>;
}

/// A range that starts at a key and doesn't end.
pub(super) type Upwards<'a> = (core::ops::Bound<&'a [u8]>, core::ops::Bound<&'a [u8]>);

/// The range from a key upwards. The empty key is the smallest there is, so nothing is before it.
pub(super) fn upwards(from: &[u8]) -> Upwards<'_> {
    use core::ops::Bound::{Included, Unbounded};
    (if from.is_empty() { Unbounded } else { Included(from) }, Unbounded)
}
