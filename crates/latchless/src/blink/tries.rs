//! Detection of closures that change their own key.
//!
//! An operation with a closure calls it again if the entry has changed meanwhile. If the closure itself
//! changes it each time, through the index, that never ends. A count of tries can't distinguish this from a
//! key that other threads keep changing, which must not make an operation fail. So the changes of this one
//! key by this thread are counted:
//!
//! 1. The first [`FREE_TRIES`] failures cost nothing.
//! 2. From then on the operation is *listed*: it is in its thread's list, and the tree's count of listed
//!    operations isn't zero.
//! 3. An edit that has replaced or removed a value reads that count; if it isn't zero, it notifies the
//!    operations in its own thread's list that use the same key. Edits that add a key needn't: a closure
//!    that changes an entry each time replaces or removes it at least every other time.
//! 4. A failed try of a listed operation counts if the operation was notified. After [`OWN_CHANGES_MAX`] of
//!    these the operation fails.
//!
//! Keys are numbers here: those of fixed width are their encoding, byte strings are their hashes. Two byte
//! strings with one hash count as one key, which makes an operation fail only if its closure changes the
//! other one each time that another thread changes the operation's key.

use core::cell::{Cell, RefCell};
use core::ops::RangeInclusive;
use latchless_core::base::error::{Error, Result};
use latchless_core::sync::Word;
use std::rc::Rc;

/// How many tries of an operation may fail before it is listed.
pub const FREE_TRIES: u32 = 64;
/// How many tries of a listed operation may fail after its own thread changed its key.
pub const OWN_CHANGES_MAX: u32 = 64;

/// An operation that is listed.
#[derive(Debug)]
struct Listed {
    /// The address of its tree's count.
    of: usize,
    key: u64,
    /// Whether this thread has changed the key since the last check.
    changed: Cell<bool>,
}

thread_local! {
    /// The calling thread's listed operations: several if a closure calls an operation with a closure.
    static LISTED: RefCell<Vec<Rc<Listed>>> = const { RefCell::new(Vec::new()) };
}

/// The number of listed operations of a tree.
#[derive(Debug)]
pub struct Listing(Word);

/// The tries of an operation with a closure.
#[derive(Debug)]
pub struct Tries<'a> {
    listing: &'a Listing,
    key: u64,
    /// Failed tries: before it was listed, and after its own thread changed the key.
    failed: u32,
    listed: Option<Rc<Listed>>,
}

impl Tries<'_> {
    /// Returns whether these are tries of the same key of the same tree.
    fn is_of_key_of(&self, other: &Self) -> bool {
        core::ptr::eq(self.listing, other.listing) && self.key == other.key
    }

    /// Records a failed try: the entry isn't what the closure was shown.
    ///
    /// # Errors
    /// [`Error::ClosureChangesItsKey`] if the closure itself changes it.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self) -> Result<()> {
        let Some(listed) = &self.listed else {
            self.failed += 1;
            if self.failed == FREE_TRIES {
                (self.failed, self.listed) = (0, Some(self.listing.list(self.key)));
            }
            return Ok(());
        };
        self.failed += u32::from(listed.changed.take());
        if self.failed < OWN_CHANGES_MAX {
            return Ok(());
        }
        Err(Error::ClosureChangesItsKey { tries: OWN_CHANGES_MAX })
    }
}

/// The tries of a transaction, by the keys that it conflicts at.
#[derive(Debug, Default)]
pub struct Conflicts<'a>(Vec<Tries<'a>>);

impl<'a> Conflicts<'a> {
    /// Records a failed try at the key of `tries`, which haven't begun.
    ///
    /// # Errors
    /// Those of [`Tries::failed`].
    pub fn failed(&mut self, tries: Tries<'a>) -> Result<()> {
        let at = self.0.iter().position(|earlier| earlier.is_of_key_of(&tries)).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(tries);
        }
        self.0[at].failed()
    }
}

impl Drop for Tries<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(listed) = self.listed.take() {
            self.listing.unlist(&listed);
        }
    }
}

impl Listing {
    /// Creates an empty count.
    pub const fn empty() -> Self {
        Self(Word::new(0))
    }

    /// Returns the tries of an operation with a closure on `key`.
    #[inline(always)]
    pub fn tries(&self, key: u64) -> Tries<'_> {
        Tries { listing: self, key, failed: 0, listed: None }
    }

    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    fn list(&self, key: u64) -> Rc<Listed> {
        let listed = Rc::new(Listed { of: self.address(), key, changed: Cell::new(false) });
        self.0.add(1);
        // A thread that is ending has no list any more; its operations are treated as if they weren't
        // listed.
        let _ = LISTED.try_with(|list| list.borrow_mut().push(Rc::clone(&listed)));
        listed
    }

    #[cold]
    fn unlist(&self, listed: &Rc<Listed>) {
        self.0.add(u64::MAX);
        let _ = LISTED.try_with(|list| list.borrow_mut().retain(|other| !Rc::ptr_eq(other, listed)));
    }

    /// Returns whether any operation is listed.
    #[inline(always)]
    pub fn is_in_use(&self) -> bool {
        // Unordered with other threads' operations, which aren't in this thread's list anyway.
        self.0.load_relaxed() != 0
    }

    /// Records that the calling thread has replaced or removed the values of keys in this range.
    #[inline(always)]
    pub fn note_change(&self, keys: RangeInclusive<u64>) {
        if self.is_in_use() {
            self.tell_listed(&keys);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_listed(&self, keys: &RangeInclusive<u64>) {
        let tell = |listed: &Rc<Listed>| {
            if listed.of == self.address() && keys.contains(&listed.key) {
                listed.changed.set(true);
            }
        };
        let _ = LISTED.try_with(|list| list.borrow().iter().for_each(tell));
    }
}
