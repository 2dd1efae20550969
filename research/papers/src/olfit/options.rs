//! The options of the family's indexes.

/// Construction options of an index of the family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of a node: 64, 128 and so on up to 512. The paper's are of 128 bytes, which suit its machine
    /// best (Fig. 6).
    pub node_bytes: usize,
    /// Whether a key may be present more than once: see the [module's head](super).
    pub duplicates: bool,
    /// The maximum memory of its nodes, in bytes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether nodes are on huge pages if the system offers them.
    pub huge_pages: bool,
    /// The number of nodes that references can distinguish; `None`: 2^32 − 1. Tests make it tiny.
    pub node_references: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_bytes: 128,
            duplicates: false,
            limit_bytes: None,
            huge_pages: true,
            node_references: None,
        }
    }
}
