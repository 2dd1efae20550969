//! Floor 10: what batches have in common: descents interleaved, their order by key, where they may be cut,
//! and edits side by side on many threads; and what PI adds: queries and nodes handed from thread to thread,
//! threads that follow the load of NUMA nodes.

mod carry;
mod interleave;
mod mailbox;
mod order;
mod partition;
mod pool;
#[cfg(feature = "rayon")]
mod side_by_side;
mod sorted;
mod tune;

pub use carry::{Carry, chain};
pub use interleave::{BatchSize, Interleaving, interleave};
pub use mailbox::{Receiver, Sender, mailbox};
pub use order::{Order, cut};
pub use partition::{Neighbours, Piece, Share, row, staying};
pub use pool::{Assignment, Hands, Pool, assign, threads_per_node};
#[cfg(feature = "rayon")]
pub use side_by_side::edit_side_by_side;
pub use sorted::sorted;
pub use tune::{BATCH_SIZES, BatchTuner, QuerySetSize};
