//! Floor 2: memory. Cache lines and prefetch, the arena that nodes live in, and the touch hook
//! through which a structure tells the memory-hierarchy model what it reads and writes.

pub mod arena;
pub mod line;
mod mapping;
pub mod touch;
