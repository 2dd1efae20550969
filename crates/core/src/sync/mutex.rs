//! The standard library's mutex, with two differences. A panic under it doesn't poison it, since what it
//! guards here is consistent whenever foreign code runs. And in a forked child, waiting for a mutex that a
//! thread of the parent held panics instead of hanging ([`Origin`]).

use super::backoff::Backoff;
use super::origin::Origin;
use std::sync::{MutexGuard, PoisonError, TryLockError};

/// A mutex. See the module documentation.
#[derive(Debug)]
pub struct Mutex<T> {
    origin: Origin,
    inner: std::sync::Mutex<T>,
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Mutex<T> {
    /// Creates a mutex that guards this value.
    pub fn new(guarded: T) -> Self {
        Self { origin: Origin::here(), inner: std::sync::Mutex::new(guarded) }
    }

    /// Waits until it is free, and takes it.
    ///
    /// # Panics
    /// If a thread held it at a fork, and this is the child.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.lock_slowly())
    }

    /// Takes it if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.inner.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    #[cold]
    fn lock_slowly(&self) -> MutexGuard<'_, T> {
        // Under the deterministic scheduler coroutines wait by steps: one that blocked would never be woken.
        if !self.origin.is_inherited() && !cfg!(latchless_shuttle) {
            return self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        }
        let mut backoff = Backoff::default();
        loop {
            backoff.wait_at(&self.origin);
            if let Some(held) = self.try_lock() {
                return held;
            }
        }
    }

    /// Returns the guarded value.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
