//! Sizes that all charts have.

/// The width of all charts: that of a small telephone, where text must not be scaled down.
pub const WIDTH: f64 = 340.0;
/// Pixels of a letter.
pub const LETTER: f64 = 7.7;
