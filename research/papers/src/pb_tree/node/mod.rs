//! What a node looks like. Everything in which nodes can differ is one parameter, the
//! [`Shape`]; where each field is follows from it ([`Layout`]); [`Nodes`] reads and writes them.

mod inner;
mod layout;
mod leaf;
mod shape;
mod store;

pub use layout::Layout;
pub use shape::{Children, External, Form, Grouped, Internal, Jump, Plain, Shape, Shaped, Sweeping};
pub use store::{NodeOptions, Nodes};
