//! The layout of nodes. One parameter, the [`Shape`], has everything in which nodes can differ; it
//! determines the offset of each field ([`Layout`]); [`Nodes`] reads and writes them.

mod inner;
mod layout;
mod leaf;
mod shape;
mod store;

pub use layout::Layout;
pub use shape::{Children, External, Form, Grouped, Internal, Jump, Plain, Shape, Shaped, Sweeping};
pub use store::{NodeOptions, Nodes, Placement};
