//! Uses of the search kernels by the papers' structures, and whole operations that are compiled once for
//! each kernel.

use super::runs::Runs;
use latchless_core::search::Ranks;

latchless_core::operations!(Ranks + Runs);
