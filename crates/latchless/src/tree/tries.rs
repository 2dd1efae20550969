//! Closures that change the very key that they are asked about.
//!
//! An operation with a closure asks it again when the entry has changed meanwhile. If the closure itself
//! changes it each time, through the index, that never ends. Counting tries can't tell it from a key that
//! other threads keep changing, which must not make an operation fail. So the changes of this one thread to
//! this one key are counted:
//!
//! 1. The first [`FREE_TRIES`] that fail cost nothing.
//! 2. From then on the operation is *listed*: it is in a list of its own thread, and the tree's count of
//!    listed operations isn't zero.
//! 3. An edit that has replaced or removed a value looks at that count; if it isn't zero, it tells those in
//!    its own thread's list that are about its key. Edits that add a key needn't: who changes an entry each
//!    time replaces or removes it at least every other time.
//! 4. A try of a listed operation that fails counts if the operation was told. After [`OWN_CHANGES_MAX`] of
//!    these the operation fails.
//!
//! Keys are numbers here: those of fixed width are their own, byte strings are their hashes. Two byte
//! strings with one hash count as one key, which makes an operation fail only if its closure changes the
//! other one each time that another thread changes its own.

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
    /// Where its tree's count is.
    of: usize,
    key: u64,
    /// Whether this thread has changed the key since this was last looked at.
    changed: Cell<bool>,
}

thread_local! {
    /// The calling thread's listed operations: several if a closure calls an operation with a closure.
    static LISTED: RefCell<Vec<Rc<Listed>>> = const { RefCell::new(Vec::new()) };
}

/// How many operations on a tree are listed.
#[derive(Debug)]
pub struct Listing(Word);

/// The tries of an operation with a closure.
#[derive(Debug)]
pub struct Tries<'a> {
    listing: &'a Listing,
    key: u64,
    /// Tries that failed: before it was listed, and after its own thread changed the key.
    failed: u32,
    listed: Option<Rc<Listed>>,
}

impl Tries<'_> {
    /// A try has failed: the entry isn't what the closure was shown.
    ///
    /// # Errors
    /// [`Error::ClosureChangesItsKey`] when that is the closure's own doing.
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

impl Drop for Tries<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(listed) = self.listed.take() {
            self.listing.unlist(&listed);
        }
    }
}

impl Listing {
    /// None are.
    pub const fn empty() -> Self {
        Self(Word::new(0))
    }

    /// The tries of an operation with a closure about `key`.
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
        // A thread that is ending has no list any more; its operations are as if they weren't listed.
        let _ = LISTED.try_with(|list| list.borrow_mut().push(Rc::clone(&listed)));
        listed
    }

    #[cold]
    fn unlist(&self, listed: &Rc<Listed>) {
        self.0.add(u64::MAX);
        let _ = LISTED.try_with(|list| list.borrow_mut().retain(|other| !Rc::ptr_eq(other, listed)));
    }

    /// Whether any operation is listed.
    #[inline(always)]
    pub fn is_in_use(&self) -> bool {
        // In no order with other threads' operations, which aren't in this thread's list anyway.
        self.0.load_relaxed() != 0
    }

    /// The calling thread has replaced or removed the values of keys between these.
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
