//! A description of the machine in one line.

use crate::host::processor;
use latchless_core::search::Kernel;
use std::fs;

/// Describes the processor, cores, memory, huge pages and search kernels. Properties that the system
/// doesn't report are left out.
pub fn line() -> String {
    let mut parts = vec![processor()];
    if let Ok(cores) = std::thread::available_parallelism() {
        parts.push(format!("{cores} cores"));
    }
    if let Some(kib) = memory_kib("MemTotal") {
        parts.push(format!("{:.0} GiB", kib as f64 / (1 << 20) as f64));
    }
    if let Some(setting) = huge_pages() {
        parts.push(format!("transparent huge pages: {setting}"));
    }
    parts.push(format!("search kernels: {} (best: {})", kernels().join(" "), Kernel::best().name()));
    parts.join(", ")
}

/// Returns the kernels that this processor supports.
pub fn kernels() -> Vec<&'static str> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(Kernel::name).collect()
}

/// Returns the memory that is available without swapping, in bytes.
pub fn available_bytes() -> Option<u64> {
    memory_kib("MemAvailable").map(|kib| kib * 1024)
}

fn memory_kib(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(field)?.strip_prefix(':')?;
        rest.trim().strip_suffix("kB")?.trim().parse().ok()
    })
}

/// Returns the setting in brackets: `always`, `madvise` or `never`.
fn huge_pages() -> Option<String> {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}
