//! Intervals in groups, and those that overlap others: features of chromosomes, calendars, sessions.
//!
//! ```
//! use latchless::intervals::IntervalIndex;
//!
//! let genes = IntervalIndex::<String, i64>::new()?;
//! genes.insert("chr1", 100..200, 7)?; // Through `&self`, from any thread.
//! genes.insert("chr1", 150..400, 8)?;
//! genes.insert("chr2", 100..200, 9)?;
//! assert_eq!(genes.overlaps("chr1", 180..185), [(100..=199, 7), (150..=399, 8)]);
//! assert_eq!(genes.containing("chr1", 200), [(150..=399, 8)]);
//! assert_eq!(genes.nearest("chr2", 250..260).map(|near| (near.id, near.distance)), Some((9, 51)));
//! assert_eq!(genes.coverage("chr1", 0..1000), 300);
//! // Many questions at once take a fraction of the time of as many single ones.
//! let found = genes.overlaps_many(&[("chr2", 0..1000), ("chr1", 300..301)])?;
//! assert_eq!((found.ids, found.offsets), (vec![9, 8], vec![0, 1, 2]));
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! # Intervals
//! An interval is a range of positions in a group, with an id. Any [`RangeBounds`] of integers is one:
//! `5..9` and `5..=8` are the same, and `5..` lasts until the greatest position. Answers are inclusive
//! ranges, because an interval that has the greatest position is no half-open range. An interval has a
//! position: an empty one is refused as [`Error::EmptyInterval`]. A question may be empty, and then overlaps
//! nothing.
//!
//! Group, range and id together are what an interval is: the same one that is inserted twice is stored once,
//! and equal ranges with different ids are different intervals. An index without groups has the group `()`.
//!
//! # Cost
//! `n`: intervals, `k`: answers, `l`: classes of length that are in use, 33 at most: lengths within a factor
//! of four are of one class. In each class of its group, a question looks at the intervals that begin at most
//! the class's greatest length before it.
//!
//! | operation | cost |
//! |---|---|
//! | [`insert`](IntervalIndex::insert), [`remove`](IntervalIndex::remove) | O(log n) |
//! | [`overlaps`](IntervalIndex::overlaps), [`containing`](IntervalIndex::containing) | O(l log n + k), if intervals of a class are spread evenly |
//! | [`count`](IntervalIndex::count) | O(l log n + k / 50), and the intervals that begin before the question |
//! | [`coverage`](IntervalIndex::coverage) | as overlaps, and O(k log k) |
//! | [`nearest`](IntervalIndex::nearest), … | as overlaps of the gap |
//! | [`overlaps_many`](IntervalIndex::overlaps_many), … of m questions | as these; if m is more than n / 128, O(n + m log m + k) |
//! | [`view`](IntervalIndex::view) | O(n), 24 bytes an interval |
//!
//! # Guarantees
//! Inserts and removals are atomic, and any number of threads make them while others read. Answers about
//! several intervals are weakly consistent, as [ranges](crate::index) are: an interval that is there
//! throughout is seen exactly once, and one that is inserted or removed meanwhile is seen or not.

mod answers;
mod batch;
mod interval_index;
mod queries;
mod source;
mod span;
mod view;

pub use answers::Overlaps;
pub use interval_index::IntervalIndex;
pub use queries::Near;
pub use span::Position;
pub use view::IntervalView;

#[cfg(doc)]
use core::ops::RangeBounds;
#[cfg(doc)]
use latchless_core::base::error::Error;
