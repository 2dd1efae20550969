//! The public interface of `latchless::Index`: the documented behaviour, and every operation against
//! `BTreeMap`.

mod batches;
mod boxed;
mod bulk;
mod by_order;
mod changes;
mod closures;
mod columns;
mod common;
mod cursors;
mod lent;
mod map;
mod model;
mod nearest;
mod neighbours_many;
#[cfg(feature = "rayon")]
mod parallel;
mod prefixes;
mod ranges;
mod ranks;
mod refusals;
mod stored;
mod threads;
mod types;
mod walks;
