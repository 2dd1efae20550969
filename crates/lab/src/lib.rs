//! The papers' experiments as data, one runner, and the memory-hierarchy model.
