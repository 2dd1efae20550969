//! The size of a run, and values that depend on it.

/// The size of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scale {
    /// Seconds for everything: checks that the experiments run, without comparable numbers.
    Small,
    /// The paper's sizes.
    #[default]
    Paper,
}

impl Scale {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Paper => "paper",
        }
    }
}

/// A value for each scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled<T> {
    /// At [`Scale::Paper`].
    pub paper: T,
    /// At [`Scale::Small`].
    pub small: T,
}

impl<T: Copy> Scaled<T> {
    /// Returns one value for each scale.
    pub const fn new(paper: T, small: T) -> Self {
        Self { paper, small }
    }

    /// Returns the same value for every scale.
    pub const fn same(value: T) -> Self {
        Self { paper: value, small: value }
    }

    /// The value at `scale`.
    pub const fn at(self, scale: Scale) -> T {
        match scale {
            Scale::Small => self.small,
            Scale::Paper => self.paper,
        }
    }
}
