//! Memory: cache lines and prefetch, growing regions, pools of nodes in them, arrays of words, and the
//! tracing hook that reports a structure's memory accesses to the memory-hierarchy model.

pub mod budget;
pub mod filled;
mod free;
mod growth;
mod kinds;
pub mod left;
mod lent;
pub mod line;
pub mod mapping;
mod memory;
pub mod node_ref;
mod prefault;
mod reach;
pub mod refusal;
pub mod segment;
pub mod space;
pub mod touch;
pub mod words;

/// Returns the machine's memory in bytes, the upper bound of every index.
pub fn machine_bytes() -> usize {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: all of its fields are numbers, which may be zero.
        let mut info: libc::sysinfo = unsafe { core::mem::zeroed() };
        // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
        let told = unsafe { libc::sysinfo(&mut info) } == 0;
        let bytes = (info.totalram as usize).saturating_mul(info.mem_unit as usize);
        if told { bytes.max(1 << 28) } else { 1 << 40 }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        1 << 40
    }
}
