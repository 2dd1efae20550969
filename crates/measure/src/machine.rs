//! Descriptions of the machine: a line for a table, a short one for a page, and an object for a file of
//! results.

use crate::built;
use crate::host::{Host, Processor};
use latchless_core::search::Kernel;
use serde_json::{Map, Value, json};

/// Describes the processor, cores, memory, huge pages and search kernels. Properties that the system
/// doesn't report are left out.
pub fn line() -> String {
    let host = Host::here();
    let mut parts = vec![processor(&host.processor)];
    parts.extend(host.processors.map(|count| format!("{count} cores")));
    parts.extend(caches(&host));
    parts.extend(memory(&host));
    parts.extend(host.kernel.clone());
    parts.extend(host.transparent_huge_pages.as_ref().map(|when| format!("transparent huge pages: {when}")));
    parts.push(format!("search kernels: {} (best: {})", kernels().join(" "), Kernel::best().name()));
    parts.push(built::COMPILER.split(" (").next().unwrap_or_default().to_owned());
    parts.join(", ")
}

/// Describes the machine by what stays the same between runs.
pub fn short(host: &Host) -> String {
    let mut parts = vec![processor(&host.processor)];
    parts.extend(host.processors.map(|count| format!("{count} logical processors")));
    parts.extend(caches(host));
    parts.extend(memory(host));
    parts.extend(host.kernel.clone());
    parts.join(", ")
}

/// Returns everything that a reader of kept results needs to know of the machine and of the build.
pub fn json(host: &Host) -> Value {
    let processor = &host.processor;
    let caches: Map<String, Value> = host
        .caches
        .iter()
        .map(|cache| (cache.name.clone(), json!({ "bytes": cache.bytes, "shared_by": cache.shared_by })))
        .collect();
    let pools: Map<String, Value> =
        host.reserved_huge_pages.iter().map(|(kib, pages)| (format!("{kib}kB"), json!(pages))).collect();
    json!({
        "line": short(host),
        "processor": processor.name.clone().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        "family": processor.family,
        "model": processor.model,
        "stepping": processor.stepping,
        "microcode": processor.microcode,
        "virtual": processor.is_virtual,
        "mhz": { "nominal": processor.nominal_mhz, "max": processor.max_mhz, "current": processor.current_mhz },
        "governor": host.governor,
        "caches": caches,
        "logical_processors": host.processors,
        "numa_nodes": host.nodes,
        "memory_kib": host.memory_kib,
        "kernel": host.kernel,
        "huge_pages": {
            "transparent": host.transparent_huge_pages,
            "defrag": host.defrag,
            "hugetlb": pools,
        },
        "compiler": {
            "version": built::COMPILER,
            "target": built::TARGET,
            "target_cpu": built::TARGET_CPU,
            "features": built::FEATURES,
            "profile": built::PROFILE,
        },
    })
}

/// Returns the kernels that this processor supports.
pub fn kernels() -> Vec<&'static str> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(Kernel::name).collect()
}

/// Returns the memory that is available without swapping, in bytes.
pub fn available_bytes() -> Option<u64> {
    Host::here().available_kib.map(|kib| kib * 1024)
}

/// Returns the name of a processor with what distinguishes its models, or its architecture if it has none.
fn processor(of: &Processor) -> String {
    let name = of.name.as_deref().unwrap_or(std::env::consts::ARCH);
    let facts = [
        of.family.as_ref().map(|family| format!("family {family}")),
        of.model.as_ref().map(|model| format!("model {model}")),
        of.stepping.as_ref().map(|stepping| format!("stepping {stepping}")),
        of.nominal_mhz.map(|mhz| format!("{mhz} MHz")),
        of.is_virtual.then(|| "virtual".to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() { name.to_owned() } else { format!("{name} ({})", facts.join(" ")) }
}

/// Returns the sizes of the data caches.
fn caches(host: &Host) -> Option<String> {
    let data = host.caches.iter().filter(|cache| !cache.name.ends_with('i'));
    let sizes: Vec<String> = data.map(|cache| format!("{} {}", cache.name, size(cache.bytes))).collect();
    (!sizes.is_empty()).then(|| sizes.join(" "))
}

fn memory(host: &Host) -> Option<String> {
    host.memory_kib.map(|kib| format!("{:.0} GiB", kib as f64 / (1 << 20) as f64))
}

fn size(bytes: usize) -> String {
    if bytes < 1 << 20 {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{} MiB", bytes as f64 / (1 << 20) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::{SERVER, files};

    #[test]
    fn a_machine_is_one_object_with_all_of_its_facts() {
        let host = Host::at(files(SERVER).path());
        let object = json(&host);
        assert_eq!(object["processor"], "Intel(R) Xeon(R) Gold 6254 CPU @ 3.10GHz");
        assert_eq!(
            (&object["family"], &object["model"], &object["stepping"]),
            (&json!("6"), &json!("85"), &json!("7"))
        );
        assert_eq!(object["mhz"], json!({ "nominal": 3100, "max": 4000, "current": 3100 }));
        assert_eq!(object["caches"]["L3"], json!({ "bytes": 25_952_256, "shared_by": "0-17,36-53" }));
        assert_eq!((&object["logical_processors"], &object["numa_nodes"]), (&json!(72), &json!(2)));
        assert_eq!(object["memory_kib"], 396_212_352);
        let pools = json!({ "2048kB": 512, "1048576kB": 0 });
        assert_eq!(
            object["huge_pages"],
            json!({ "transparent": "madvise", "defrag": "madvise", "hugetlb": pools })
        );
        assert_eq!(object["governor"], "performance");
        assert_eq!(object["compiler"]["version"], built::COMPILER);
        assert_eq!(object["line"], short(&host));
    }

    #[test]
    fn a_line_has_what_stays_the_same() {
        let host = Host::at(files(SERVER).path());
        assert_eq!(
            short(&host),
            "Intel(R) Xeon(R) Gold 6254 CPU @ 3.10GHz (family 6 model 85 stepping 7 3100 MHz), 72 logical processors, \
             L1d 32 KiB L2 1 MiB L3 24.75 MiB, 378 GiB, Linux 6.1.0-18-amd64"
        );
    }

    #[test]
    fn a_machine_that_reports_nothing_has_its_architecture() {
        let nothing = Host::default();
        assert_eq!(short(&nothing), std::env::consts::ARCH);
        let object = json(&nothing);
        assert_eq!(object["processor"], std::env::consts::ARCH);
        assert!(object["memory_kib"].is_null() && object["caches"].as_object().unwrap().is_empty());
    }

    #[test]
    fn this_machine_has_a_line() {
        assert!(line().contains("search kernels: scalar"), "{}", line());
    }
}
