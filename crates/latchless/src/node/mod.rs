//! Floor `node`: being built.
