//! Floor `tree`: being built.
