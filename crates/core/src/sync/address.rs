//! An address that one thread sets and others read.

use core::sync::atomic::{AtomicPtr, Ordering};

/// An address. Owns nothing, and orders nothing else: a word that is published after it does that.
#[derive(Debug)]
pub struct Address(AtomicPtr<u8>);

impl Address {
    /// Returns the null address.
    pub const fn null() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// Returns the address.
    #[inline(always)]
    pub fn load_relaxed(&self) -> *mut u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the address.
    pub fn store_relaxed(&self, to: *mut u8) {
        self.0.store(to, Ordering::Relaxed);
    }
}
