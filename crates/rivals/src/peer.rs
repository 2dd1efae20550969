//! The interface of a map that can be driven.

use crate::driven::Driven;
use latchless_core::base::index::ConcurrentIndex;
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Fits, Key, Result};

/// A range to be walked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<B> {
    /// The smallest key of the range, inclusive; not above `high`.
    pub low: B,
    /// The largest key of the range, inclusive. The largest lane means that there is no end, so that
    /// a map with a cheaper open-ended call can use it.
    pub high: B,
    /// The direction.
    pub direction: Direction,
    /// After how many entries the caller will stop: room to reserve, no more.
    pub limit: usize,
}

impl<B: Bits> Ask<B> {
    /// Whether the range has an upper end.
    pub fn is_open(&self) -> bool {
        self.high == B::MAX
    }
}

/// An ordered map over lanes of one width, keys and values alike.
pub trait Peer<B: Bits>: Default + Send + Sync + 'static {
    /// The name on the command line.
    const NAME: &'static str;

    /// A guard that keeps memory in place while a reader uses it: an epoch guard, or nothing. Taken once
    /// per batch.
    type Pin<'a>;

    /// Pins this thread.
    fn pin(&self) -> Self::Pin<'_>;

    /// How many keys there are. May take linear time.
    fn len(&self) -> usize;

    /// Whether there is no key.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under `key`.
    fn get(&self, key: B, pin: &Self::Pin<'_>) -> Option<B>;

    /// The value under `key`, for a single lookup. A map that pins this thread itself needs no pin here.
    fn get_alone(&self, key: B) -> Option<B> {
        self.get(key, &self.pin())
    }

    /// Inserts `value` under `key` and returns the value that it replaces.
    ///
    /// # Errors
    /// When the map refuses.
    fn insert(&mut self, key: B, value: B) -> Result<Option<B>>;

    /// Removes `key` and returns its value.
    fn remove(&mut self, key: B) -> Option<B>;

    /// Fills the empty map from strictly ascending entries, by the map's own bulk call where it
    /// has one.
    ///
    /// # Errors
    /// When the map refuses.
    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        for (key, value) in entries {
            self.insert(key, value)?;
        }
        Ok(())
    }

    /// Shows the range's entries to `each`, in order, until they end or `each` returns `false`.
    ///
    /// # Errors
    /// [`latchless_core::base::error::Error::Unsupported`] where the map has no such call.
    fn visit(&self, ask: Ask<B>, each: impl FnMut(B, B) -> bool) -> Result<()>;

    /// Shows the values of the range's entries to `each`, in order, until they end or `each` returns
    /// `false`.
    ///
    /// # Errors
    /// Those of [`Peer::visit`].
    fn visit_values(&self, ask: Ask<B>, mut each: impl FnMut(B) -> bool) -> Result<()> {
        self.visit(ask, |_, value| each(value))
    }

    /// The number of keys in `low..=high`.
    ///
    /// # Errors
    /// Those of [`Peer::visit`].
    fn count(&self, low: B, high: B) -> Result<usize> {
        let mut count = 0;
        self.visit(Ask { low, high, direction: Direction::Forward, limit: usize::MAX }, |_, _| {
            count += 1;
            true
        })?;
        Ok(count)
    }

    /// Bytes held, where the map counts them itself.
    fn memory_bytes(&self) -> Option<usize> {
        None
    }

    /// The driven map for updates from many threads; a [`SharedPeer`] answers `Some(driven)`.
    fn as_concurrent<K, V>(driven: &Driven<Self>) -> Option<&dyn ConcurrentIndex<K, V>>
    where
        K: Key<Bits = B>,
        V: Fits<B>,
    {
        let _ = driven;
        None
    }
}

/// A peer that takes updates through `&self`, from many threads at once.
pub trait SharedPeer<B: Bits>: Peer<B> {
    /// Inserts `value` under `key` and returns the value that it replaces, while other threads use the map.
    ///
    /// # Errors
    /// When the map refuses.
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>>;

    /// Removes `key` and returns its value, while other threads use the map.
    fn remove_shared(&self, key: B) -> Option<B>;
}

/// Shows the entries of a map's range to `each`, in the requested direction, until it returns `false`.
#[cfg_attr(not(feature = "all"), allow(dead_code))]
pub(crate) fn walk<R: DoubleEndedIterator>(
    mut range: R,
    direction: Direction,
    each: impl FnMut(R::Item) -> bool,
) -> Result<()> {
    let _ = match direction {
        Direction::Forward => range.all(each),
        Direction::Reverse => range.rev().all(each),
    };
    Ok(())
}

/// Inside `impl Peer<B>` for a wrapper: a map with the methods of the standard library's.
macro_rules! methods_are_std {
    () => {
        type Pin<'a> = ();

        fn pin(&self) -> Self::Pin<'_> {}

        fn len(&self) -> usize {
            self.0.len()
        }

        fn get(&self, key: B, (): &()) -> Option<B> {
            self.0.get(&key).copied()
        }

        fn insert(&mut self, key: B, value: B) -> latchless_core::Result<Option<B>> {
            Ok(self.0.insert(key, value))
        }

        fn remove(&mut self, key: B) -> Option<B> {
            self.0.remove(&key)
        }
    };
}
pub(crate) use methods_are_std;

/// Inside `impl Peer<B>`: the updates of a [`SharedPeer`]. With exclusive access it updates as it does
/// concurrently.
#[cfg_attr(not(feature = "all"), allow(unused_macros))]
macro_rules! updates_are_shared {
    () => {
        fn insert(&mut self, key: B, value: B) -> latchless_core::Result<Option<B>> {
            self.insert_shared(key, value)
        }

        fn remove(&mut self, key: B) -> Option<B> {
            self.remove_shared(key)
        }

        fn as_concurrent<K, V>(
            driven: &$crate::Driven<Self>,
        ) -> Option<&dyn latchless_core::base::index::ConcurrentIndex<K, V>>
        where
            K: latchless_core::Key<Bits = B>,
            V: latchless_core::Fits<B>,
        {
            Some(driven)
        }
    };
}
#[cfg_attr(not(feature = "all"), allow(unused_imports))]
pub(crate) use updates_are_shared;
