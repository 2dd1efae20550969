//! Floor 7: index layers, which lead from a key to an anchor in the level of entries below. They are built
//! whole from that level and replaced when it has drifted away from them.

mod drift;
pub mod lanes;
mod marks;
pub mod routed;

pub use drift::Drift;
pub use marks::Marks;
