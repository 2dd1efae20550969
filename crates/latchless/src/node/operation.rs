//! Whole operations on the index, which are compiled once for each kernel.

use super::lines::Lines;

latchless_core::operations!(Lines);
