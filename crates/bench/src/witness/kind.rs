//! The kinds of index.

/// A kind of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// `Index<u64, u64>`
    Index,
    /// `Exclusive<u64, u64>`
    Exclusive,
    /// `Index<Vec<u8>, u64>`
    Bytes,
    /// Numbers to values of 32 bytes in slots
    Boxed,
    /// Byte strings to values of 32 bytes in slots
    BoxedBytes,
    /// `Index<VersionedKey, u64>`
    Versions,
}

impl Kind {
    /// In the order of the table.
    pub const ALL: [Self; 6] =
        [Self::Index, Self::Exclusive, Self::Bytes, Self::Boxed, Self::BoxedBytes, Self::Versions];

    /// Returns the name in the table and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Exclusive => "exclusive",
            Self::Bytes => "bytes",
            Self::Boxed => "boxed",
            Self::BoxedBytes => "boxed-bytes",
            Self::Versions => "versions",
        }
    }
}
