//! A concurrent ordered map in main memory: [`Index`]. All operations take `&self`. Readers take no latch in
//! the common case; writers latch one leaf.
//!
//! ```
//! use latchless::Index;
//!
//! let index = Index::<u64, u32>::new()?;
//! std::thread::scope(|threads| {
//!     for thread in 0..4 {
//!         let index = &index;
//!         threads.spawn(move || {
//!             for key in (thread..1000).step_by(4) {
//!                 index.insert(key, 2 * key as u32).expect("memory");
//!             }
//!         });
//!     }
//! });
//! assert_eq!(index.len(), 1000);
//! assert_eq!(index.range(500..).next(), Some((500, 1000)));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! # Keys and values
//! The types choose how entries are stored:
//!
//! | keys | values | stored as |
//! |---|---|---|
//! | at most 64 bits ([`Key`](crate::Key)): numbers, `char`, `[u8; 8]`, IPv4 addresses, tuples of parts of at most 32 bits that pack into 64 bits | at most 64 bits ([`Value`](crate::Value)) | words |
//! | … | `String`, `Vec<u8>`, `u128`, `[u8; 32]`, `(u64, u64)`, … ([`BytesValue`](crate::BytesValue)) | byte strings |
//! | `String`, `Vec<u8>`, `Arc<str>`, `u128`, IPv6 addresses, `[u8; 32]`, `[u64; 4]`, all other tuples ([`BytesKey`](crate::BytesKey)) | any of these | byte strings |
//! | any of these | [`Arc<T>`](std::sync::Arc) or [`Slot<T>`](Slot) with a `T` of any type | as above, with a handle in place of the value |
//!
//! Words are the fastest and take the least memory. A node of 32-bit keys and values has twice as many
//! entries as one of 64-bit keys or values. The module [`bytes`](crate::bytes) has the order and the limits
//! of byte strings.
//!
//! A key is passed by value, and named by a borrowed type where it has one ([`IndexKey`](crate::IndexKey)):
//!
//! ```
//! use latchless::Index;
//! use std::sync::Arc;
//!
//! let numbers = Index::<u64, u32>::new()?;
//! numbers.insert(7, 70)?;
//! let names = Index::<String, u64>::new()?;
//! names.insert("seven", 7)?;
//! assert_eq!(names.get("seven"), Some(7));
//! let rows = Index::<(u64, String), [u8; 32]>::new()?;
//! rows.insert((7, "seven"), [0; 32])?;
//! assert_eq!(rows.range((7, "")..(8, "")).count(), 1);
//! let files = Index::<String, Arc<Vec<String>>>::new()?;
//! files.insert("a", Arc::new(vec!["first line".to_owned()]))?;
//! assert_eq!(files.get_with("a", |lines| lines.len()), Some(1));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! The methods with `K: Key, V: Value` need words. A key type of your own says its form in
//! [`IndexKey`](crate::IndexKey). A [`Slot`] stores values of any type without an `Arc`.
//!
//! # Cost
//! `n` is the number of entries in the index, `r` that of entries in the range.
//!
//! | operation | cost | takes a latch |
//! |---|---|---|
//! | [`get`](Index::get), [`first`](Index::first), [`floor`](Index::floor), … | O(log n), 2 cache lines per level | no |
//! | [`insert`](Index::insert), [`remove`](Index::remove), [`compare_exchange`](Index::compare_exchange), … | O(log n) | one leaf's |
//! | [`get_many`](Index::get_many), [`insert_columns`](Index::insert_columns), [`floor_many`](Index::floor_many), [`execute`](Index::execute), … | O(log n) per request, with overlapping cache misses | as the single ones |
//! | [`range`](Index::range), [`fold`](Index::fold), [`scan`](Index::scan), [`scan_many`](Index::scan_many), … | O(log n + r), with prefetch of the leaves ahead | no |
//! | [`count`](Index::count), each range of [`count_many`](Index::count_many), [`rank`](Index::rank), [`nth`](Index::nth) | O(log n + n / 10,000), and one cache line per leaf near a change since the last call | one leaf's at a time, of those leaves |
//! | … of byte strings | O(log n + r / 50), `r` up to the key or the position | no |
//! | [`remove_range`](Index::remove_range) | O(log n + r) | one leaf's at a time |
//! | [`from_sorted`](Index::from_sorted), [`bulk_load`](Index::bulk_load) | O(n) | none |
//! | [`len`](Index::len) | O(1) | no |
//! | [`stats`](Index::stats), [`check_invariants`](Index::check_invariants), [`dump`](Index::dump) | O(n) | no |
//!
//! # Ranges that start after their end
//! `range(6..3)` is a mistake of the program, or the input of a user. All indexes here treat it in the same
//! way:
//!
//! | operation | of an inverted range |
//! |---|---|
//! | reads: [`range`](Index::range), [`count`](Index::count), [`fold`](Index::fold), [`for_each`](Index::for_each), [`scan`](Index::scan), [`scan_lent`](Index::scan_lent), [`scan_chunks`](Index::scan_chunks), [`page`](Index::page), [`scanner`](Index::scanner), [`scan_many`](Index::scan_many), [`range_many`](Index::range_many), [`count_many`](Index::count_many), [`range_columns`](Index::range_columns), … | it is empty |
//! | [`try_range`](Index::try_range) | [`InvertedRange`](crate::Error::InvertedRange) |
//! | changes: [`remove_range`](Index::remove_range) | [`InvertedRange`](crate::Error::InvertedRange), nothing is removed |
//!
//! # Guarantees
//! | operation | with concurrent changes by other threads |
//! |---|---|
//! | on one key: [`get`](Index::get), [`insert`](Index::insert), [`remove`](Index::remove), [`compare_exchange`](Index::compare_exchange), … | linearizable: takes effect in one atomic step between its call and its return |
//! | by order: [`first`](Index::first), [`last`](Index::last), [`floor`](Index::floor), [`ceiling`](Index::ceiling), [`lower`](Index::lower), [`higher`](Index::higher), [`nearest`](Index::nearest), [`pop_first`](Index::pop_first), [`pop_last`](Index::pop_last), a step of a [`Cursor`] | linearizable: the answer was the nearest entry at that moment, with none in between; for `nearest`, on neither side |
//! | with a closure: [`update`](Index::update), [`upsert`](Index::upsert), [`compute`](Index::compute), … | linearizable: see *Races* |
//! | batches: [`get_many`](Index::get_many), [`insert_columns`](Index::insert_columns), [`floor_many`](Index::floor_many), [`nearest_many`](Index::nearest_many), [`execute`](Index::execute), … | each request is linearizable, the batch isn't: others may see some of its updates and not yet the rest |
//! | [`iter`](Index::iter), [`range`](Index::range), [`fold`](Index::fold), [`scan`](Index::scan), [`page`](Index::page), [`range_columns`](Index::range_columns), … | weakly consistent: the entries of one leaf (for iterators, of a part of a leaf) are of one moment; different leaves may be of different moments. A key that is present throughout is seen exactly once: see [`Entries`] |
//! | [`count`](Index::count), [`count_many`](Index::count_many), [`rank`](Index::rank) | weakly consistent: a sum over leaves that are counted at different moments, so possibly a number that the range never had. A key that is present throughout counts once, one that is inserted or removed meanwhile at most once |
//! | [`nth`](Index::nth), [`split_points`](Index::split_points) | weakly consistent: the entry was present, and the number of keys before it is one that [`rank`](Index::rank) might have returned |
//! | [`len`](Index::len), [`is_empty`](Index::is_empty) | a sum of counters that are read at different moments. An update is counted shortly after it has taken effect. Exact while no update is under way |
//! | [`remove_range`](Index::remove_range), [`clear`](Index::clear), [`retain`](Index::retain) | not atomic as a whole: other threads see some entries removed and others not yet. Each leaf's entries are removed in one step; with `retain`, each entry is |
//! | [`stats`](Index::stats), [`dump`](Index::dump), [`check_invariants`](Index::check_invariants) | for an index that no thread is changing |
//!
//! Moreover:
//!
//! * Reads hold nothing: no iterator, cursor or paused scan delays a writer or the reuse of memory.
//! * Refused memory is a typed [`Error`](crate::Error), and the index is then unchanged.
//! * A panic in a closure or in an iterator's user leaves the index intact: no code of the caller runs while
//!   anything is latched.
//!
//! # Races
//! Operations with closures ([`update`](Index::update), [`upsert`](Index::upsert),
//! [`compute`](Index::compute), [`remove_if`](Index::remove_if), [`retain`](Index::retain)) read the entry,
//! call the closure, and store its result if the entry is unchanged; otherwise they call it again with the
//! current value. So a closure may run several times; its last result counts, and it was computed from the
//! very value that it replaced. Side effects of a closure happen as often as it runs.
//! [`get_or_insert_with`](Index::get_or_insert_with) runs its closure at most once and drops the result if
//! another thread was faster.
//!
//! A closure may use the index itself, but it must not change its own key: its result is then out of date,
//! and it is called again. Other threads may change that key any number of times. But if the closure's own
//! thread does so in every call, the operation gives up, after at least 128 tries: with
//! [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey) if it returns a `Result`, otherwise
//! by a panic with the same message. The index is then as the closure left it. (A closure that makes
//! *another* thread change its key in every call never terminates.)
//!
//! # After a fork
//! A child of the process has a copy of the index and only the thread that forked. It may use the index, and
//! change its copy, if no other thread was inside an operation that changes the index at the moment of the
//! fork. Otherwise a leaf may be latched by a thread that the child lacks, and both reads and updates need
//! leaves at rest. Such a wait can't end: after a second the operation panics with a message that names this
//! section. No operation hangs, and none of those that return is wrong, except that [`len`](Index::len) may
//! miss changes that were under way. After that panic, and through [`Index::exclusive`], which never waits,
//! the child must not use the index any more. An index that the child creates is not affected.
//!
//! Two things stay with the parent. Values outside of the tree that an [`Index`] replaces or removes in the
//! child aren't dropped there if a thread of the parent was pinned at the fork. And the child has none of
//! rayon's threads: `par_range` and the other operations of the feature `rayon` need a thread pool that was
//! started in the child.
//!
//! # Exclusive access
//! A caller that has the index by `&mut` has exclusive access to it: [`Index::exclusive`] lends it as an
//! [`Exclusive`], which has the same operations and takes no latches.

mod access;
pub(crate) mod ahead;
mod alone;
mod batch;
pub(crate) mod boxed;
mod budget;
pub(crate) mod bulk;
pub(crate) mod changes;
mod closures;
pub(crate) mod columns;
mod common;
mod conditional;
mod cursor;
#[doc(hidden)]
pub mod engine;
mod exclusive;
mod execute;
mod holder;
mod in_columns;
mod keys;
mod lent;
mod load;
mod memory;
#[cfg(feature = "metrics")]
mod metrics;
mod nearest;
mod neighbours;
mod neighbours_many;
#[doc(hidden)]
pub mod newest;
mod operations;
mod options;
pub(crate) mod order;
mod ordered;
pub(crate) mod pages;
#[cfg(feature = "rayon")]
mod parallel;
#[cfg(feature = "rayon")]
mod parallel_update;
mod point;
mod position;
pub(crate) mod prefix;
mod range;
mod ranks;
mod refused;
mod scan;
mod scanned;
mod shared;
#[cfg(feature = "rayon")]
mod side_by_side;
mod slot;
#[cfg(feature = "steps")]
mod steps;
mod storage;
pub(crate) mod traits;
mod words;

pub use crate::slot_map::Pinned;
pub use crate::tree::{Group, Own};
#[doc(hidden)]
pub use alone::ExclusiveIndex;
pub use budget::{Budget, Reserved};
pub use changes::Comparable;
pub(crate) use closures::settled;
#[doc(hidden)]
pub use columns::Columned;
pub use common::{IntoRange, Range};
pub use conditional::Replaced;
pub use cursor::{Cursor, LentEntry, Source};
pub use exclusive::Exclusive;
pub(crate) use in_columns::reserve;
pub use keys::Keys;
pub(crate) use keys::key;
#[doc(inline)]
pub use latchless_core::base::replacement::Replacement;
pub use lent::LentKey;
pub use options::Options;
#[doc(hidden)]
pub use order::Scanned;
pub use pages::{OwnedRange, Pages};
#[cfg(feature = "rayon")]
pub use parallel::ParallelRange;
pub use prefix::PrefixKey;
pub(crate) use prefix::Prefixed;
#[doc(hidden)]
pub use prefix::WordPrefix;
pub use range::Entries;
pub use refused::{Incomplete, TryInsertError};
pub use scan::Scan;
pub use shared::Index;
#[cfg(feature = "rayon")]
#[doc(hidden)]
pub use side_by_side::edit_side_by_side;
pub use slot::{ByReference, Slot};
#[cfg(feature = "steps")]
pub use steps::{Driver, Steps};
pub(crate) use storage::{Storage, storage};
#[cfg(feature = "snapshot")]
pub(crate) use {access::Holder, scan::scan_all};
