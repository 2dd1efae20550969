//! The same pages for all indexes in a race.
//!
//! This library puts its nodes on huge pages by default; other indexes are where the allocator puts them.
//! glibc's allocator requests (transparent) huge pages if an environment variable says so when the process
//! starts. So a race on other pages runs in another process.
//!
//! glibc 2.36 doesn't request huge pages in every process, even if the variable is set; whether it does is
//! a matter of chance. So each process checks, and starts another one if it got none.

use latchless_terminal::failure::Failure;
use latchless_terminal::say;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages for all indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Pages {
    /// All on huge pages, as far as the system grants them
    Huge,
    /// All on small pages
    Small,
    /// Everything on huge pages, then everything on small ones
    Both,
}

/// The variable that glibc reads, and its entry for transparent huge pages.
const VARIABLE: &str = "GLIBC_TUNABLES";
const TUNABLE: &str = "glibc.malloc.hugetlb=";
/// The variable with the number of processes that were tried so far, and their maximum.
pub const TRIED: &str = "LATCHLESS_PAGES_TRIED";
const TRIES: u32 = 30;
/// Heap that is probed for huge pages, for the decision and for the report; and the step between the bytes
/// that are written.
const GLANCE_BYTES: usize = 8 << 20;
const PROBE_BYTES: usize = 64 << 20;
const SMALL_PAGE_BYTES: usize = 4096;

impl Pages {
    /// Returns the word on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Huge => "huge",
            Self::Small => "small",
            Self::Both => "both",
        }
    }

    /// Returns the tunable's value.
    const fn value(self) -> &'static str {
        if matches!(self, Self::Huge) { "1" } else { "0" }
    }
}

/// Returns whether this process's allocator uses these pages.
pub fn are_here(pages: Pages) -> bool {
    let tunables = std::env::var(VARIABLE).unwrap_or_default();
    let set = tunables.split(':').filter_map(|entry| entry.strip_prefix(TUNABLE)).next_back();
    match pages {
        Pages::Both => false,
        Pages::Huge => set == Some("1") && (is_lucky() || tried() >= TRIES),
        Pages::Small => matches!(set, None | Some("0")),
    }
}

/// Returns whether the allocator has huge pages, or the system doesn't report it.
fn is_lucky() -> bool {
    huge_share_of_heap(GLANCE_BYTES).is_none_or(|share| share >= 0.5)
}

fn tried() -> u32 {
    std::env::var(TRIED).ok().and_then(|tried| tried.parse().ok()).unwrap_or(0)
}

/// Runs this command again on such pages; for both kinds one after the other, with separate reports.
///
/// # Errors
/// The process can't be started, or it failed.
pub fn run_there(pages: Pages, report: Option<&Path>) -> Result<(), Failure> {
    if pages != Pages::Both {
        return child(pages, report.map(Path::to_owned));
    }
    for pages in [Pages::Huge, Pages::Small] {
        child(pages, report.map(|file| named_after(file, pages)))?;
    }
    Ok(())
}

fn child(pages: Pages, report: Option<PathBuf>) -> Result<(), Failure> {
    let mut flags: Vec<OsString> = std::env::args_os().skip(1).collect();
    flags.extend(["--pages", pages.name()].map(OsString::from));
    flags.extend(report.into_iter().flat_map(|file| [OsString::from("--report"), file.into_os_string()]));
    let mut command = Command::new(std::env::current_exe().map_err(cannot_start)?);
    let tunables = with_tunable(&std::env::var(VARIABLE).unwrap_or_default(), pages);
    let status = command
        .args(flags)
        .env(VARIABLE, tunables)
        .env(TRIED, (tried() + 1).to_string())
        .status()
        .map_err(cannot_start)?;
    let failed = format!("the race on {} pages failed", pages.name());
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(Failure::usage(failed)),
        Some(3) => Err(Failure::wrong(failed)),
        _ => Err(Failure::run(failed)),
    }
}

fn cannot_start(error: std::io::Error) -> Failure {
    Failure::run(format!("a process for other pages can't be started: {error}"))
}

/// Returns the variable's value with the entry for these pages instead of any other.
fn with_tunable(tunables: &str, pages: Pages) -> String {
    let others = tunables.split(':').filter(|entry| !entry.is_empty() && !entry.starts_with(TUNABLE));
    let ours = format!("{TUNABLE}{}", pages.value());
    others.chain([ours.as_str()]).collect::<Vec<_>>().join(":")
}

/// Returns the name of a report: `report.md` becomes `report-huge.md`.
fn named_after(file: &Path, pages: Pages) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", pages.name()));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

/// Describes the pages of all indexes, the setting, and what the system granted. Warns if the allocator
/// got other pages.
pub fn line(pages: Pages) -> String {
    let granted = huge_share_of_heap(PROBE_BYTES);
    let share = granted.map_or_else(
        || "the system doesn't report what it granted".to_owned(),
        |share| format!("{:.0} % of a 64 MiB heap block is on huge ones", 100.0 * share),
    );
    let off = match (pages, granted) {
        (Pages::Huge, Some(share)) => share < 0.5,
        (Pages::Small, Some(share)) => share > 0.1,
        (Pages::Huge, None) => true,
        _ => false,
    };
    if off {
        say::warn(format_args!(
            "note: --pages {} isn't what the allocator got: {share} (/sys/kernel/mm/transparent_hugepage/enabled)",
            pages.name()
        ));
    }
    format!("all on {} pages ({VARIABLE}={TUNABLE}{}; {share})", pages.name(), pages.value())
}

/// Returns the share of a fresh heap block that is on huge pages.
fn huge_share_of_heap(bytes: usize) -> Option<f64> {
    let before = huge_bytes()?;
    let mut block = vec![0u8; bytes];
    block.iter_mut().step_by(SMALL_PAGE_BYTES).for_each(|byte| *byte = 1);
    let after = huge_bytes()?;
    drop(std::hint::black_box(block));
    Some(after.saturating_sub(before) as f64 / bytes as f64)
}

/// Returns the bytes of this process that are on transparent huge pages.
fn huge_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tunables_stay() {
        assert_eq!(with_tunable("", Pages::Huge), "glibc.malloc.hugetlb=1");
        let others = "glibc.malloc.arena_max=2:glibc.malloc.hugetlb=2";
        let merged = "glibc.malloc.arena_max=2:glibc.malloc.hugetlb=0";
        assert_eq!(with_tunable(others, Pages::Small), merged);
    }

    #[test]
    fn reports_are_told_apart() {
        assert_eq!(named_after(Path::new("a.b/keys.md"), Pages::Huge), Path::new("a.b/keys-huge.md"));
        assert_eq!(named_after(Path::new("keys"), Pages::Small), Path::new("keys-small"));
    }
}
