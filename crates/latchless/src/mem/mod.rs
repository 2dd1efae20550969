//! Floor 2: memory. Cache lines and prefetch, the arena that nodes live in, the slots that values of
//! any type live in, and the touch hook through which a structure tells the memory-hierarchy model
//! what it reads and writes.

pub mod arena;
pub mod boxed;
pub mod budget;
pub mod filled;
mod growth;
pub mod guarded;
mod kinds;
mod left;
mod lent;
pub mod line;
mod mapping;
mod memory;
mod numbers;
mod reach;
pub mod shared_arena;
pub mod sheet;
mod space;
pub mod strips;
pub mod topology;
pub mod touch;
pub mod units;
mod window;
pub mod words;

/// The machine's memory in bytes: no index can grow larger.
fn machine_bytes() -> usize {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let info = rustix::system::sysinfo();
        (info.totalram as usize).saturating_mul(info.mem_unit as usize).max(1 << 28)
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        1 << 40
    }
}
