//! The facts about this machine that its system reports in files: processor, caches, memory, huge pages,
//! kernel.
//!
//! Facts that a system doesn't report are absent. Only Linux has these files.

use std::fs;
use std::path::Path;

/// The size of the last-level cache if the system doesn't report it: larger than most.
const UNKNOWN_CACHE_BYTES: usize = 64 << 20;

/// A machine, as its system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Host {
    /// The processor.
    pub processor: Processor,
    /// The caches of the first processor, by level.
    pub caches: Vec<Cache>,
    /// Logical processors that are online.
    pub processors: Option<usize>,
    /// NUMA nodes that have memory or processors.
    pub nodes: Option<usize>,
    /// Memory in all, in KiB.
    pub memory_kib: Option<u64>,
    /// Memory that is available without swapping, in KiB.
    pub available_kib: Option<u64>,
    /// The system's kernel: its name and release.
    pub kernel: Option<String>,
    /// When memory is on transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// When the system makes room for huge pages: `always`, `defer`, `madvise`, …
    pub defrag: Option<String>,
    /// The pools of `hugetlb`: the size of a page in KiB, and the number of pages that are reserved.
    pub reserved_huge_pages: Vec<(u64, u64)>,
    /// The frequency governor of the first processor.
    pub governor: Option<String>,
}

/// A processor, as `/proc/cpuinfo` describes the first one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Processor {
    /// The marketing name. Several models of a maker can share one, above all in virtual machines.
    pub name: Option<String>,
    /// The family; on Arm the implementer.
    pub family: Option<String>,
    /// The model; on Arm the part.
    pub model: Option<String>,
    /// The stepping; on Arm the revision.
    pub stepping: Option<String>,
    /// The version of the microcode.
    pub microcode: Option<String>,
    /// Whether it is part of a virtual machine, as the hypervisor says.
    pub is_virtual: bool,
    /// The nominal frequency.
    pub nominal_mhz: Option<u64>,
    /// The highest frequency.
    pub max_mhz: Option<u64>,
    /// The frequency at this moment.
    pub current_mhz: Option<u64>,
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// `L1d`, `L1i`, `L2`, `L3`.
    pub name: String,
    /// Its capacity.
    pub bytes: usize,
    /// Logical processors that share it, such as `0-7`.
    pub shared_by: Option<String>,
}

impl Host {
    /// Returns the facts about this machine.
    pub fn here() -> Self {
        let host = Self::at(Path::new("/"));
        let counted = std::thread::available_parallelism().ok().map(usize::from);
        Self { processors: host.processors.or(counted), ..host }
    }

    /// Returns the facts in the files below `root`, which has the folders `proc` and `sys`.
    pub fn at(root: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(root.join(path)).ok();
        let line = |path: &str| read(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let memory = read("proc/meminfo").unwrap_or_default();
        let kernel = (line("proc/sys/kernel/ostype"), line("proc/sys/kernel/osrelease"));
        let huge_pages = "sys/kernel/mm/transparent_hugepage";
        Self {
            processor: Processor::at(&read),
            caches: caches(&read),
            processors: line("sys/devices/system/cpu/online").and_then(|list| count(&list)),
            nodes: line("sys/devices/system/node/online").and_then(|list| count(&list)),
            memory_kib: kib(&memory, "MemTotal"),
            available_kib: kib(&memory, "MemAvailable"),
            kernel: kernel.0.zip(kernel.1).map(|(name, release)| format!("{name} {release}")),
            transparent_huge_pages: line(&format!("{huge_pages}/enabled")).and_then(|text| chosen(&text)),
            defrag: line(&format!("{huge_pages}/defrag")).and_then(|text| chosen(&text)),
            reserved_huge_pages: reserved(root),
            governor: line("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        }
    }

    /// Returns the size of a cache.
    pub fn cache_bytes(&self, name: &str) -> Option<usize> {
        self.caches.iter().find(|cache| cache.name == name).map(|cache| cache.bytes)
    }
}

impl Processor {
    fn at(read: &impl Fn(&str) -> Option<String>) -> Self {
        let text = read("proc/cpuinfo").unwrap_or_default();
        let first = text.split("\n\n").next().unwrap_or_default();
        let field = |names: &[&str]| {
            let value = |name: &&str| {
                let of_name = |line: &str| {
                    let (field, value) = line.split_once(':')?;
                    (field.trim() == *name).then(|| value.trim().to_owned())
                };
                first.lines().find_map(of_name).filter(|value| !value.is_empty())
            };
            names.iter().find_map(value)
        };
        let mhz = |file: &str| {
            let khz = read(&format!("sys/devices/system/cpu/cpu0/cpufreq/{file}"))?;
            Some(khz.trim().parse::<u64>().ok()? / 1000)
        };
        let flags = field(&["flags"]).unwrap_or_default();
        let current = field(&["cpu MHz"]).and_then(|text| text.parse::<f64>().ok());
        Self {
            name: field(&["model name", "cpu model"]),
            family: field(&["cpu family", "CPU implementer"]),
            model: field(&["model", "CPU part"]),
            stepping: field(&["stepping", "CPU revision"]),
            microcode: field(&["microcode"]),
            is_virtual: flags.split(' ').any(|flag| flag == "hypervisor"),
            nominal_mhz: mhz("base_frequency"),
            max_mhz: mhz("cpuinfo_max_freq"),
            current_mhz: current.map(|mhz| mhz.round() as u64),
        }
    }
}

/// Returns the size of the last-level data cache, in bytes.
pub fn last_level_cache_bytes() -> usize {
    let caches = caches(&|path| fs::read_to_string(Path::new("/").join(path)).ok());
    caches.iter().map(|cache| cache.bytes).max().unwrap_or(UNKNOWN_CACHE_BYTES)
}

/// Reads the first processor's caches.
fn caches(read: &impl Fn(&str) -> Option<String>) -> Vec<Cache> {
    let one = |index: usize| {
        let fact = |name: &str| {
            let text = read(&format!("sys/devices/system/cpu/cpu0/cache/index{index}/{name}"))?;
            Some(text.trim().to_owned())
        };
        let kind = match fact("type")?.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let name = format!("L{}{kind}", fact("level")?);
        Some(Cache { name, bytes: parse_size(&fact("size")?)?, shared_by: fact("shared_cpu_list") })
    };
    let mut caches: Vec<Cache> = (0..8).filter_map(one).collect();
    caches.sort_by(|left, right| left.name.cmp(&right.name));
    caches
}

/// Counts the members of a list such as `0-3,8`.
fn count(list: &str) -> Option<usize> {
    let part = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        (to.parse::<usize>().ok()? + 1).checked_sub(from.parse().ok()?)
    };
    list.split(',').map(part).sum()
}

/// Returns a field of `/proc/meminfo`.
fn kib(text: &str, field: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(field)?.strip_prefix(':')?;
        rest.trim().strip_suffix("kB")?.trim().parse().ok()
    })
}

/// Returns the setting in brackets.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Reads the pools of `hugetlb`, the smallest pages first.
fn reserved(root: &Path) -> Vec<(u64, u64)> {
    let Ok(folders) = fs::read_dir(root.join("sys/kernel/mm/hugepages")) else { return Vec::new() };
    let pool = |folder: fs::DirEntry| {
        let name = folder.file_name().into_string().ok()?;
        let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let pages = fs::read_to_string(folder.path().join("nr_hugepages")).ok()?;
        Some((kib, pages.trim().parse().ok()?))
    };
    let mut pools: Vec<_> = folders.filter_map(|folder| pool(folder.ok()?)).collect();
    pools.sort_unstable();
    pools
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
pub(crate) mod tests {
    use super::*;

    /// Files as a system has them: each with its text.
    pub(crate) fn files(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// A server of two sockets.
    pub(crate) const SERVER: &[(&str, &str)] = &[
        (
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) \
             Gold 6254 CPU @ 3.10GHz\nstepping\t: 7\nmicrocode\t: 0x5003302\ncpu MHz\t\t: 3099.812\nflags\t\t: fpu sse \
             avx512f\n\nprocessor\t: 1\nmodel name\t: another\ncpu MHz\t\t: 1200.000\n",
        ),
        (
            "proc/meminfo",
            "MemTotal:       396212352 kB\nMemFree:        1 kB\nMemAvailable:   390000000 kB\n",
        ),
        ("proc/sys/kernel/ostype", "Linux\n"),
        ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("sys/devices/system/cpu/online", "0-71\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "3100000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,36\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/level", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/size", "32K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index2/level", "2\n"),
        ("sys/devices/system/cpu/cpu0/cache/index2/type", "Unified\n"),
        ("sys/devices/system/cpu/cpu0/cache/index2/size", "1024K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/size", "25344K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-17,36-53\n"),
        ("sys/devices/system/node/online", "0-1\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
        ("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n"),
        ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n"),
    ];

    #[test]
    fn a_servers_files_are_read() {
        let root = files(SERVER);
        let host = Host::at(root.path());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            host.processor,
            Processor {
                name: text("Intel(R) Xeon(R) Gold 6254 CPU @ 3.10GHz"),
                family: text("6"),
                model: text("85"),
                stepping: text("7"),
                microcode: text("0x5003302"),
                is_virtual: false,
                nominal_mhz: Some(3100),
                max_mhz: Some(4000),
                current_mhz: Some(3100),
            }
        );
        let caches: Vec<_> = host.caches.iter().map(|cache| (cache.name.as_str(), cache.bytes)).collect();
        assert_eq!(caches, [("L1d", 32 << 10), ("L1i", 32 << 10), ("L2", 1 << 20), ("L3", 25_344 << 10)]);
        assert_eq!(host.caches[3].shared_by.as_deref(), Some("0-17,36-53"));
        assert_eq!((host.cache_bytes("L2"), host.cache_bytes("L4")), (Some(1 << 20), None));
        assert_eq!((host.processors, host.nodes), (Some(72), Some(2)));
        assert_eq!((host.memory_kib, host.available_kib), (Some(396_212_352), Some(390_000_000)));
        assert_eq!(host.kernel, text("Linux 6.1.0-18-amd64"));
        assert_eq!((host.transparent_huge_pages, host.defrag), (text("madvise"), text("madvise")));
        assert_eq!(host.reserved_huge_pages, [(2048, 512), (1_048_576, 0)]);
        assert_eq!(host.governor, text("performance"));
    }

    #[test]
    fn a_virtual_machine_reports_less_and_an_arm_processor_otherwise() {
        let cpuinfo = "model name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n";
        let root = files(&[("proc/cpuinfo", cpuinfo), ("proc/sys/kernel/osrelease", "6.18\n")]);
        let host = Host::at(root.path());
        assert_eq!(host.processor.name.as_deref(), Some("AMD EPYC"));
        assert!(host.processor.is_virtual && host.processor.nominal_mhz.is_none());
        assert_eq!((host.kernel, host.governor), (None, None));
        let cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\nCPU revision\t: 1\n";
        let arm = Host::at(files(&[("proc/cpuinfo", cpuinfo)]).path()).processor;
        let facts = [arm.family, arm.model, arm.stepping].map(Option::unwrap);
        assert_eq!(facts, ["0x41", "0xd40", "1"]);
        assert_eq!(arm.name, None);
    }

    #[test]
    fn absent_and_odd_files_are_absent_facts() {
        assert_eq!(Host::at(files(&[]).path()), Host::default());
        let odd = files(&[
            ("proc/cpuinfo", "cpu MHz\t: fast\nmodel name\t:\nno colon\n"),
            ("proc/meminfo", "MemTotal: many kB\nMemAvailable: 7\n"),
            ("sys/devices/system/cpu/online", "3-1\n"),
            ("sys/devices/system/node/online", "\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "madvise\n"),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "some\n"),
            ("sys/kernel/mm/hugepages/other/nr_hugepages", "1\n"),
        ]);
        assert_eq!(Host::at(odd.path()), Host::default());
    }

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(count("0-71"), Some(72));
        assert_eq!(count("0-3,8,10-11"), Some(7));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("2-"), None);
    }

    #[test]
    fn cache_sizes_have_suffixes() {
        assert_eq!(parse_size("32768K"), Some(32 << 20));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size("K"), None);
        assert_eq!(parse_size(""), None);
    }

    #[test]
    fn every_machine_has_processors_and_a_cache() {
        assert!(Host::here().processors.unwrap() >= 1);
        assert!(last_level_cache_bytes() >= 1 << 10);
    }
}
