//! Where an array's memory is to be: on which pages, and on which node.

use latchless_core::base::error::{Error, Result};
use latchless_core::mem::mapping::{HUGE_PAGE_BYTES, Mapping};

/// The intended place of an array's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Placement {
    /// Whether to request huge pages from the system.
    pub huge_pages: bool,
    /// The NUMA node to bind the memory to, by the system's number. `None`: where it is first touched.
    pub node: Option<usize>,
}

impl Placement {
    /// Maps usable memory of at least that many bytes, starting at a page boundary.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn mapping(self, bytes: usize) -> Result<Mapping> {
        let mut mapping = Mapping::reserve(bytes)?;
        if mapping.bytes() < bytes {
            return Err(Error::OutOfMemory { requested_bytes: bytes });
        }
        if self.huge_pages && bytes >= HUGE_PAGE_BYTES {
            mapping.advise_huge(0);
        }
        if let Some(node) = self.node {
            mapping.bind(node);
        }
        mapping.commit(0, mapping.bytes())?;
        Ok(mapping)
    }
}
