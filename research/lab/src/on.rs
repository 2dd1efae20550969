//! Where a number is from.

use serde::{Serialize, Serializer};

/// The source of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum On {
    /// The memory-hierarchy model, with the paper's machine.
    Model,
    /// This machine.
    Native,
    /// Neither: it is a count or a formula, and the same everywhere.
    Anywhere,
}

impl On {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Native => "native",
            Self::Anywhere => "anywhere",
        }
    }
}

impl Serialize for On {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(to)
    }
}
