//! A trie's options.

/// Construction options of a trie.
#[derive(Debug, Clone, Copy)]
pub struct TrieOptions {
    /// The maximum number of bytes of nodes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether to request huge pages from the system.
    pub huge_pages: bool,
    /// The maximum number of nodes of a kind that references can distinguish; tests make it tiny.
    pub references: u32,
}

impl Default for TrieOptions {
    fn default() -> Self {
        Self { limit_bytes: None, huge_pages: true, references: u32::MAX }
    }
}
