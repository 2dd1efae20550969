//! Floor `chain`: being built.
