//! What memory lacks on systems other than Linux: requests that nothing serves there. An index works without
//! them.

use super::pages::Pages;

/// Whether pages can be made ready before they are written.
pub const PREFAULTS: bool = false;

impl Pages {
    /// Whether discarded bytes read as zeros, whatever they held.
    pub const DISCARDED_IS_ZERO: bool = false;

    /// Requests huge pages for these bytes: there are none.
    ///
    /// # Safety
    /// None: nothing happens.
    pub unsafe fn advise_huge(&self, _from: usize, _to: usize) {}

    /// Requests pages of one NUMA node: the system chooses.
    ///
    /// # Safety
    /// None: nothing happens.
    pub unsafe fn bind(&self, _bytes: usize, _node: usize) {}

    /// Has the system find memory for these bytes: it does so when they are written.
    ///
    /// # Safety
    /// None: nothing happens.
    pub unsafe fn populate(&self, _from: usize, _to: usize) {}
}

/// The limit on the process's address space, and what is taken of it: none is looked for. A reservation that
/// would pass one is refused.
pub fn address_space() -> Option<(usize, usize)> {
    None
}
