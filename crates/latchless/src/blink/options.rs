//! How a tree is made.

use super::arena::SharedArena;
use latchless_core::base::error::Result;
use latchless_core::mem::budget::Budget;
use latchless_core::search::{Dispatch, Kernel};
use latchless_core::sync::look_for_the_flag;
use std::sync::Arc;

/// Construction options of a tree.
#[derive(Debug, Clone)]
pub struct BlinkOptions {
    /// The maximum number of bytes of nodes. `None`: the machine's memory.
    pub limit_bytes: Option<usize>,
    /// A budget that other trees share.
    pub budget: Option<Arc<Budget>>,
    /// Whether to request huge pages.
    pub huge_pages: bool,
    /// Whether a thread of the process prefaults memory.
    pub prefault: bool,
    /// The search kernel. `None`: the fastest that this processor supports.
    pub kernel: Option<Kernel>,
    /// The number of nodes that references can distinguish; tests make it tiny.
    pub references: u32,
}

impl Default for BlinkOptions {
    fn default() -> Self {
        let (limit_bytes, budget, kernel) = (None, None, None);
        Self { limit_bytes, budget, huge_pages: true, prefault: false, kernel, references: u32::MAX }
    }
}

impl BlinkOptions {
    /// Creates the memory of a tree's nodes, and chooses the kernel.
    ///
    /// # Errors
    /// The kernel isn't available here.
    #[inline(always)]
    pub(crate) fn begin<const LINES: usize>(&self) -> Result<(SharedArena<LINES>, Dispatch)> {
        look_for_the_flag();
        let dispatch = self.kernel.map_or_else(|| Ok(Dispatch::best()), Dispatch::of)?;
        let mut arena = SharedArena::new(self.limit_bytes, self.huge_pages, self.references)?;
        if let Some(budget) = &self.budget {
            arena.share(Arc::clone(budget));
        }
        if self.prefault {
            arena.prefault();
        }
        Ok((arena, dispatch))
    }
}
