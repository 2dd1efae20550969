//! Pages where there is nothing to map memory with, such as WebAssembly, and under Miri: zeroed memory of the
//! allocator's. All of it is taken at once, and goes back at the end.

use crate::mem::lent::Lent;
use core::ptr::NonNull;

/// Whether memory can be returned before it is released. Miri plays along, so that it sees what follows from
/// that.
pub const GIVES_BACK: bool = cfg!(miri);

/// Reserved pages.
#[derive(Debug)]
pub struct Pages(Lent);

impl Pages {
    /// Allocates this many bytes, from a multiple of `align`, a power of two, on.
    pub fn reserve(bytes: usize, align: usize) -> Option<Self> {
        Lent::new(bytes, align).ok().map(Self)
    }

    /// Where they begin.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.0.start()
    }

    /// Makes the bytes `from..to` readable and writable, which they are.
    ///
    /// # Safety
    /// None: nothing happens.
    pub unsafe fn commit(&self, _from: usize, _to: usize) -> bool {
        true
    }

    /// Returns the pages of these bytes to the system: no page goes back.
    ///
    /// # Safety
    /// None: nothing happens.
    pub unsafe fn discard(&self, _from: usize, _to: usize) {}
}

/// The machine's memory in bytes, if the system says so.
pub fn machine_bytes() -> Option<usize> {
    None
}
