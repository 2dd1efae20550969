//! Nodes, together with a structure that leads to them and is replaced as a whole: both stay readable for
//! a thread that entered before they were retired. One epoch guards both, so a reader pins once.
//!
//! # Thread safety
//! 1. The published structure is reached only by pinned threads, and they change only its own atomics.
//! 2. Publishing exchanges a pointer; the replaced structure gets a stamp and is dropped when every pinned
//!    thread entered after it (`sync/epochs.rs` says why that is enough).
//! 3. Nodes are retired by the same clock.

use crate::common::epochs::Epochs;
use crate::common::units::{NodePoolOptions, Pin, Reuse, UnitArena};
use crate::cssl::pointer::{Pointer, Replaced};
use crate::error::Result;
use core::fmt;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::NoTrace;
use latchless_core::sync::{BitsWord, Mutex};
use std::collections::VecDeque;
use std::sync::MutexGuard;

/// See the file's head.
pub struct Guarded<W: BitsWord, T> {
    arena: UnitArena<W>,
    current: Pointer<T>,
    /// Replaced structures with their stamps, the oldest first.
    replaced: Mutex<VecDeque<(u64, Replaced<T>)>>,
}

impl<W: BitsWord, T: Send + Sync> Guarded<W, T> {
    /// Creates the arena of nodes by these options, and publishes `first`.
    ///
    /// # Errors
    /// [`NodeWords`](crate::Error::NodeWords) when nodes aren't whole words, or memory is refused.
    pub fn new(options: NodePoolOptions, first: T) -> Result<Self> {
        let arena = UnitArena::new(options, Reuse::Later, 0)?;
        Ok(Self { arena, current: Pointer::new(Box::new(first)), replaced: Mutex::default() })
    }

    /// The nodes' arena.
    #[inline(always)]
    pub fn arena(&self) -> &UnitArena<W> {
        &self.arena
    }

    /// Returns the arena, with exclusive access.
    pub fn arena_mut(&mut self) -> &mut UnitArena<W> {
        &mut self.arena
    }

    /// Pins the calling thread.
    ///
    /// ```
    /// use latchless_papers::cssl::guarded::Guarded;
    /// use latchless_papers::common::units::NodePoolOptions;
    /// use latchless_core::sync::Word;
    /// let options = NodePoolOptions {
    ///     node_bytes: 64, unit_nodes: 1, limit_bytes: None, huge_pages: false, references: 100,
    /// };
    /// let guarded = Guarded::<Word, String>::new(options, "old".to_owned())?;
    /// let inside = guarded.enter();
    /// guarded.publish("new".to_owned());
    /// assert_eq!(guarded.enter().published(), "new");
    /// assert_eq!(inside.published(), "old", "as long as this one is inside");
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    #[inline(always)]
    pub fn enter(&self) -> Inside<'_, W, T> {
        let pin = self.arena.pin::<NoTrace>();
        // SAFETY: loaded after the pin, which `Inside` holds as long as the reference; a published
        // structure is dropped when no thread has been pinned since before it was replaced.
        let published = unsafe { self.current.follow() };
        Inside { home: self, published, _pin: pin }
    }

    /// Publishes another structure. The replaced one lives on for pinned threads.
    pub fn publish(&self, next: T) {
        let old = self.current.replace(Box::new(next));
        let stamp = self.epochs().stamp();
        self.replaced().push_back((stamp, old));
        self.collect();
    }

    /// Returns whether every pinned thread entered after this call of [`Guarded::stamp`].
    pub fn is_past(&self, stamp: u64) -> bool {
        self.epochs().oldest() > stamp
    }

    /// The moment: see [`Guarded::is_past`].
    pub fn stamp(&self) -> u64 {
        self.epochs().stamp()
    }

    /// Frees a node that was unlinked, for reuse once no thread can read it.
    pub fn retire(&self, node: NodeRef) {
        self.arena.retire::<NoTrace>(0, node);
    }

    /// Drops replaced structures that no thread can read.
    pub fn collect(&self) {
        let oldest = self.epochs().oldest();
        let mut dropped = Vec::new();
        let mut replaced = self.replaced();
        while let Some((_, old)) = replaced.pop_front_if(|replaced| replaced.0 < oldest) {
            dropped.push(old);
        }
        // Dropping may take long, or panic: after the mutex is released.
        drop(replaced);
        for old in dropped {
            // SAFETY: every pinned thread entered after it was replaced, so no thread can reach it; and it
            // is removed from the queue once.
            unsafe { old.free() };
        }
    }

    /// Publishes another structure when no thread can be pinned.
    pub fn set(&mut self, next: T) {
        let old = self.current.replace(Box::new(next));
        self.replaced.get_mut().push_back((0, old));
        self.free_all();
    }

    fn epochs(&self) -> &Epochs {
        self.arena.epochs().expect("an arena whose units wait has epochs")
    }

    fn replaced(&self) -> MutexGuard<'_, VecDeque<(u64, Replaced<T>)>> {
        // No foreign code is called under it.
        self.replaced.lock()
    }
}

impl<W: BitsWord, T> Guarded<W, T> {
    fn free_all(&mut self) {
        for (_, old) in self.replaced.get_mut().drain(..) {
            // SAFETY: a thread that is inside borrows this one, and it is borrowed mutably.
            unsafe { old.free() };
        }
    }
}

impl<W: BitsWord, T> Drop for Guarded<W, T> {
    fn drop(&mut self) {
        self.free_all();
    }
}

impl<W: BitsWord, T: fmt::Debug> fmt::Debug for Guarded<W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("arena", &self.arena).finish_non_exhaustive()
    }
}

/// A pin: the published structure stays readable, and no reachable node is reused.
#[must_use = "who doesn't stay inside keeps nothing"]
pub struct Inside<'a, W: BitsWord, T> {
    home: &'a Guarded<W, T>,
    published: &'a T,
    // Dropped last: the reference above is used until then.
    _pin: Option<Pin<'a, NoTrace>>,
}

impl<'a, W: BitsWord, T> Inside<'a, W, T> {
    /// Returns the structure that was published when this thread entered.
    #[inline(always)]
    pub fn published(&self) -> &T {
        self.published
    }

    /// Returns the owner of the pin.
    #[inline(always)]
    pub fn home(&self) -> &'a Guarded<W, T> {
        self.home
    }
}

impl<W: BitsWord, T> fmt::Debug for Inside<'_, W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use latchless_core::sync::{Word, Word32};
    use std::sync::Arc;

    fn guarded<T: Send + Sync>(first: T) -> Guarded<Word, T> {
        let options = NodePoolOptions {
            node_bytes: 64,
            unit_nodes: 1,
            limit_bytes: None,
            huge_pages: false,
            references: u32::MAX,
        };
        Guarded::new(options, first).unwrap()
    }

    #[test]
    fn what_is_replaced_is_dropped_once_nobody_reads_it() {
        let (first, second) = (Arc::new(1), Arc::new(2));
        let mut guarded = guarded(Arc::clone(&first));
        let inside = guarded.enter();
        guarded.publish(Arc::clone(&second));
        guarded.collect();
        assert_eq!((Arc::strong_count(&first), **inside.published()), (2, 1), "somebody is inside");
        drop(inside);
        guarded.collect();
        assert_eq!((Arc::strong_count(&first), **guarded.enter().published()), (1, 2));
        guarded.set(Arc::clone(&first));
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        drop(guarded);
        assert_eq!(Arc::strong_count(&first), 1);
    }

    #[test]
    fn nodes_whose_words_would_be_misaligned_are_refused() {
        fn refused<W: BitsWord>(node_bytes: usize) -> Option<Error> {
            let unit = NodePoolOptions {
                node_bytes,
                unit_nodes: 1,
                limit_bytes: None,
                huge_pages: false,
                references: 100,
            };
            Guarded::<W, u8>::new(unit, 0).err()
        }
        for (given, halves) in [(0, false), (6, false), (12, true), (24, true), (60, true), (71, false)] {
            let of_words = given == 24;
            let error = |word_bytes| Some(Error::NodeWords { given, word_bytes });
            assert_eq!(refused::<Word>(given), if of_words { None } else { error(8) });
            assert_eq!(refused::<Word32>(given), if halves { None } else { error(4) });
        }
    }

    #[test]
    fn a_stamp_is_past_when_all_who_were_inside_left() {
        let guarded = guarded(0);
        let inside = guarded.enter();
        let stamp = guarded.stamp();
        assert!(!guarded.is_past(stamp));
        drop(inside);
        let _later = guarded.enter();
        assert!(guarded.is_past(stamp));
    }

    #[test]
    fn readers_beside_a_publisher_see_something_whole() {
        let guarded = guarded(vec![0u64; 8]);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
                        let inside = guarded.enter();
                        let seen = inside.published();
                        assert!(seen.iter().all(|number| *number == seen[0]));
                    }
                });
            }
            (1..if cfg!(miri) { 10 } else { 2_000 }).for_each(|number| guarded.publish(vec![number; 8]));
        });
    }
}
