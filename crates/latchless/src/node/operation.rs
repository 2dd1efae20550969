//! Whole operations on the index, compiled once for each kernel.

use super::lines::Lines;

latchless_core::operations!(Lines);
