//! The places to run on.

use crate::on::On;

/// The places to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Places {
    /// The memory-hierarchy model alone.
    #[default]
    Model,
    /// This machine alone.
    Native,
    /// Both.
    Both,
}

impl Places {
    /// Returns them one by one.
    pub(super) fn list(self) -> &'static [On] {
        match self {
            Self::Model => &[On::Model],
            Self::Native => &[On::Native],
            Self::Both => &[On::Model, On::Native],
        }
    }
}
