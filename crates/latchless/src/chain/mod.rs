//! Floor 8: what strings leaves together, so that a scan knows the leaves ahead of it: the
//! root-to-leaf path that a scan keeps and sweeps, and the paper's jump-pointer arrays. And the sorted list
//! of single entries under CSSL's lanes, and PI's list of data nodes, in segments that are owned.

mod jump_array;
pub mod list;
mod path;
pub mod segments;

pub use jump_array::{JumpArray, JumpCursor};
pub use path::{MAX_LEVELS, Path};
