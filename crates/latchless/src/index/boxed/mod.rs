//! Values of any type, and single keys with them; what goes by order stands in `order.rs`.

mod order;

pub use order::BoxedEntries;

use super::{Index, Options};
use crate::base::error::{Broken, Result};
use crate::base::index::check_side_by_side;
use crate::base::key::Key;
use crate::mem::boxed::{Handle, Pinned, Vault};
use core::fmt;

/// Keys that are looked up together.
const TOGETHER: usize = 64;

/// An ordered map from keys of fixed width to values of any type, for many readers and many writers
/// at once.
///
/// The keys stand in an [`Index`], the values beside it in slots of their own, so a lookup costs one
/// cache miss more than one in an [`Index`]. Keys of 32-bit lanes take 64-bit ones here.
///
/// Values are read by reference under a pin ([`BoxedIndex::pin`]). A value that was replaced or
/// removed is *retired*: it can still be read by who found it under a pin from before, and is dropped
/// once no such pin is left, by whichever thread comes to it. Every value is dropped exactly once, at
/// the latest with the index. A panic in a value's `Drop` leaves the index whole.
///
/// Operations on single keys are linearizable, ranges weakly consistent, as for [`Index`].
///
/// ```
/// use latchless::BoxedIndex;
///
/// let names = BoxedIndex::<u32, String>::new()?;
/// let pin = names.pin();
/// names.insert(7, "seven".to_owned(), &pin)?;
/// names.insert(9, "nine".to_owned(), &pin)?;
/// assert_eq!(names.get(7, &pin).map(String::as_str), Some("seven"));
/// let old = names.insert(7, "VII".to_owned(), &pin)?;
/// assert_eq!(old.map(String::as_str), Some("seven"));
/// assert_eq!(names.read(7, |name| name.len()), Some(3), "a pin of its own");
/// let all: Vec<_> = names.iter(&pin).map(|(key, name)| format!("{key} {name}")).collect();
/// assert_eq!(all, ["7 VII", "9 nine"]);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct BoxedIndex<K: Key, T: Send + Sync + 'static> {
    index: Index<K, Handle>,
    vault: Vault<T>,
}

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with options of the caller's choice. The limit holds for the nodes, and once
    /// more for the slots of the values; what values own elsewhere isn't counted.
    ///
    /// # Errors
    /// As [`Index::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { index: Index::with_options(options)?, vault: Vault::new(options.limit_bytes) })
    }

    /// Pins the calling thread: what it reads stays as long as the pin. One pin may serve many
    /// operations.
    pub fn pin(&self) -> Pinned {
        Pinned::new()
    }

    /// How many keys there are, as exact as [`Index::len`]. O(1).
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no key; as exact as [`BoxedIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Bytes of the nodes and of the values' slots; what values own elsewhere isn't counted. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes() + self.vault.bytes()
    }

    /// As [`Index::check_invariants`]; and every key's value is there. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let pin = self.pin();
        match self.index.iter().find(|&(_, handle)| self.vault.read(handle, &pin).is_none()) {
            Some((key, _)) => Err(Broken::new(format!("the value of {key:?} was retired"))),
            None => Ok(()),
        }
    }

    /// Takes out all keys and drops all values, now. If drops panic, all others are done first and
    /// then the first panic goes on.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// # drop(pin);
    /// # let mut names = names;
    /// names.clear();
    /// assert!(names.is_empty());
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn clear(&mut self) {
        self.index.exclusive().clear();
        self.vault.clear();
    }

    /// The value under a key. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!((names.get(7, &pin).unwrap().as_str(), names.get(8, &pin)), ("seven", None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<&'p T> {
        loop {
            // A handle that was retired meanwhile: the key has another one now, or none.
            if let Some(value) = self.vault.read(self.index.get(key)?, pin) {
                return Some(value);
            }
        }
    }

    /// What `read` makes of the value under a key, under a pin of its own. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// names.insert(7, "seven".to_owned(), &names.pin())?;
    /// assert_eq!(names.read(7, String::len), Some(5));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn read<R>(&self, key: K, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.get(key, &self.pin()).map(read)
    }

    /// A clone of the value under a key, under a pin of its own. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// names.insert(7, "seven".to_owned(), &names.pin())?;
    /// assert_eq!(names.get_cloned(7), Some("seven".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_cloned(&self, key: K) -> Option<T>
    where
        T: Clone,
    {
        self.read(key, T::clone)
    }

    /// Whether a key is there. O(log n); needs no pin.
    pub fn contains_key(&self, key: K) -> bool {
        self.index.contains_key(key)
    }

    /// One answer for each key, in the keys' order; the waits for memory overlap, as in
    /// [`Index::get_many`], those for the values included.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if `answers` isn't as long as `keys`.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// let mut answers = [None; 2];
    /// names.get_many(&[8, 7], &mut answers, &pin)?;
    /// assert_eq!((answers[0], answers[1].unwrap().as_str()), (None, "seven"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_many<'p>(&'p self, keys: &[K], answers: &mut [Option<&'p T>], pin: &'p Pinned) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut handles = [None; TOGETHER];
        for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            let handles = &mut handles[..keys.len()];
            self.index.get_many(keys, handles)?;
            handles.iter().flatten().for_each(|&handle| self.vault.prefetch(handle));
            for ((answer, &handle), &key) in answers.iter_mut().zip(&*handles).zip(keys) {
                *answer =
                    handle.and_then(|handle| self.vault.read(handle, pin).or_else(|| self.get(key, pin)));
            }
        }
        Ok(())
    }

    /// The value of a handle that this thread has just taken out of the index, which is retired.
    fn retire<'p>(&'p self, handle: Handle, pin: &'p Pinned) -> Option<&'p T> {
        let value = self.vault.read(handle, pin);
        let retired = self.vault.retire(handle, pin);
        debug_assert!(retired && value.is_some(), "a handle is taken out of the index by one thread");
        value
    }

    /// Puts a value in; a value that is refused is dropped.
    fn put(&self, value: T) -> Result<Handle> {
        self.vault.put(value).map_err(|(error, _)| error)
    }

    /// Puts a value under a key and returns the value that it replaces, which is retired. O(log n).
    ///
    /// # Errors
    /// When memory is refused; the index is then as before, and `value` is dropped.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.insert(7, "seven".to_owned(), &pin)?, None);
    /// assert_eq!(names.insert(7, "VII".to_owned(), &pin)?.unwrap(), "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn insert<'p>(&'p self, key: K, value: T, pin: &'p Pinned) -> Result<Option<&'p T>> {
        let handle = self.put(value)?;
        match self.index.insert(key, handle) {
            Ok(old) => Ok(old.and_then(|old| self.retire(old, pin))),
            Err(error) => {
                self.vault.retire(handle, pin);
                Err(error)
            }
        }
    }

    /// The value under a key; if the key isn't there, puts `value()` there. O(log n). `value` runs at
    /// most once; its result is dropped if another thread puts the key there meanwhile.
    ///
    /// # Errors
    /// When memory is refused; the index is then as before.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.get_or_insert_with(7, || "seven".to_owned(), &pin)?, "seven");
    /// assert_eq!(names.get_or_insert_with(7, || unreachable!(), &pin)?, "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert_with<'p>(
        &'p self,
        key: K,
        value: impl FnOnce() -> T,
        pin: &'p Pinned,
    ) -> Result<&'p T> {
        if let Some(value) = self.get(key, pin) {
            return Ok(value);
        }
        let own = self.put(value())?;
        // Looked up before others know of it: they may take it out again at once.
        let Some(own_value) = self.vault.read(own, pin) else {
            unreachable!("no other thread has the handle")
        };
        loop {
            match self.index.get_or_insert(key, own) {
                Ok(present) if present == own => return Ok(own_value),
                Ok(present) => {
                    // If it was retired meanwhile, the key has another value now, or none.
                    if let Some(value) = self.vault.read(present, pin) {
                        self.vault.retire(own, pin);
                        return Ok(value);
                    }
                }
                Err(error) => {
                    self.vault.retire(own, pin);
                    return Err(error);
                }
            }
        }
    }

    /// Changes the value of a key that is there: `change` is shown the value and makes the one that
    /// replaces it. Returns the value before, which is retired. O(log n). The
    /// [race rule](crate::index#races) holds for `change`.
    ///
    /// # Errors
    /// When memory is refused; the index is then as before. And
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey), see the race rule.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.update(7, |name| name.to_uppercase(), &pin)?.unwrap(), "seven");
    /// assert_eq!(names.get(7, &pin).unwrap(), "SEVEN");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn update<'p>(
        &'p self,
        key: K,
        mut change: impl FnMut(&T) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        let mut tries = self.index.tries(key);
        while let Some(old) = self.index.get(key) {
            let Some(value) = self.vault.read(old, pin) else { continue };
            let new = self.put(change(value))?;
            if self.index.compare_exchange(key, old, new).is_ok() {
                return Ok(self.retire(old, pin));
            }
            self.vault.retire(new, pin);
            tries.failed()?;
        }
        Ok(None)
    }

    /// Takes a key out and returns its value, which is retired. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.remove(7, &pin).unwrap(), "seven");
    /// assert_eq!(names.remove(7, &pin), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<&'p T> {
        self.index.remove(key).and_then(|handle| self.retire(handle, pin))
    }
}

impl<K: Key, T: Send + Sync + fmt::Debug + 'static> fmt::Debug for BoxedIndex<K, T> {
    /// As a map: `{7: "seven"}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter(&self.pin())).finish()
    }
}
