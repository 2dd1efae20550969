//! Charts: read from rows, and drawn as curves, bars, stacks or a table.

mod axis;
mod bars;
mod chart;
mod curves;
mod labels;
mod marks;
mod number;
mod size;
mod stacks;
mod table;

pub use bars::bars;
pub use chart::Plot;
pub use curves::curves;
pub use number::short;
pub use stacks::stacks;
pub use table::table;

#[cfg(test)]
mod tests;
