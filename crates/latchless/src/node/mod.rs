//! Floor 5: what a node looks like. Everything in which nodes can differ is one parameter, the
//! [`Shape`]; where each field stands follows from it ([`Layout`]); [`Nodes`] reads and writes them.
//!
//! [`hinted`] are the nodes of the concurrent tree: they may be read while they are written. So may
//! [`olfit`], whose schemes say who may, and [`page`], the large ones of Spiderman's tree.

pub mod hinted;
mod inner;
mod layout;
mod leaf;
pub mod olfit;
pub mod page;
mod shape;
mod store;

pub use layout::Layout;
pub use shape::{Children, External, Form, Grouped, Internal, Jump, Plain, Shape, Shaped, Sweeping};
pub use store::{NodeOptions, Nodes};
