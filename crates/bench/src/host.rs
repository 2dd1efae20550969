//! Properties of this machine, as far as the system reports them.

use std::fs;
use std::process::{Command, Stdio};

/// The size of the last-level cache if the system doesn't report it: larger than most.
const UNKNOWN_CACHE_BYTES: usize = 64 << 20;

/// Returns the size of the last-level data cache, in bytes.
pub fn last_level_cache_bytes() -> usize {
    (0..8)
        .filter_map(|index| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
            parse_size(fs::read_to_string(path).ok()?.trim())
        })
        .max()
        .unwrap_or(UNKNOWN_CACHE_BYTES)
}

/// Returns the processor's name, or its architecture if it has none.
pub fn processor() -> String {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_string())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

/// Returns the commit of the working folder's sources, with `-dirty` if files have changed since;
/// `unknown` outside of a repository.
pub fn commit() -> String {
    let described = Command::new("git")
        .args(["describe", "--always", "--dirty", "--exclude=*"])
        .stderr(Stdio::null())
        .output();
    let text = described.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map_or_else(|| "unknown".to_string(), |text| text.trim().to_string())
}

fn parse_size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let shift = match &text[digits.len()..] {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => 0,
    };
    digits.parse::<usize>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_have_suffixes() {
        assert_eq!(parse_size("32768K"), Some(32 << 20));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size("K"), None);
        assert_eq!(parse_size(""), None);
    }

    #[test]
    fn every_machine_has_a_name_and_a_cache() {
        assert!(!processor().is_empty());
        assert!(last_level_cache_bytes() >= 1 << 10);
    }
}
