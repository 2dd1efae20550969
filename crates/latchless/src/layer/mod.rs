//! Floor 7: index layers. Built from a sorted level of keys, never changed, swapped whole.

pub mod routed;
