//! Counters of a processor's events: those of the hardware, by `perf`, or valgrind's model of them.
//!
//! Each runs this program again, as a process that fills one index and runs its operations. valgrind counts
//! each operation by itself. `perf` counts whole processes, so the events of an operation are the difference
//! between a process that ends after it and one that ends before. valgrind's counts repeat; the hardware's
//! counts of misses vary between runs.

use super::kind::Kind;
use super::work::{self, COUNTED, Done};
use latchless_terminal::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is counted.
pub const EVENTS: [&str; 3] = ["instructions", "branch misses", "last-level misses"];
/// The modelled caches, the same on every machine: 32 KiB beside the processor, 1 MiB at the last level.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];
/// `perf`'s names of [`EVENTS`].
const HARDWARE: &str = "instructions:u,branch-misses:u,cache-misses:u";

/// The way in which events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Counter {
    /// The hardware's counters
    Perf,
    /// valgrind's model of a processor with AVX2
    Valgrind,
}

/// The events of an operation, per operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    pub operation: String,
    pub times: usize,
    pub events: [f64; 3],
}

impl Counter {
    /// Returns the hardware's counters if this machine has them, or else valgrind.
    pub fn best() -> Self {
        let output = Command::new("perf").args(["stat", "-x,", "-e", HARDWARE, "true"]).output();
        let counts = output.is_ok_and(|output| of_perf(&String::from_utf8_lossy(&output.stderr)).is_some());
        if counts { Self::Perf } else { Self::Valgrind }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Valgrind => "valgrind",
        }
    }

    /// Counts the events of all operations of an index of this kind; also returns the name of the kernel.
    ///
    /// # Errors
    /// The counter isn't there, or the counted process fails.
    pub fn count(self, kind: Kind, records: usize) -> Result<(String, Vec<Counted>), Failure> {
        match self {
            Self::Perf => by_perf(kind, records),
            Self::Valgrind => by_valgrind(kind, records),
        }
    }
}

/// Returns the words by which a build of this program runs the operations of an index.
pub fn request(kind: Kind, records: usize, operations: usize) -> [String; 7] {
    let words = ["witness", "--serve", kind.name(), "--records", "", "--operations", ""];
    let mut words = words.map(str::to_owned);
    (words[4], words[6]) = (records.to_string(), operations.to_string());
    words
}

/// Runs a command and returns its output, which is that of [`work::write`].
///
/// # Errors
/// The command can't be run, or it fails.
pub fn served(command: &mut Command) -> Result<(String, Vec<Done>, Output), Failure> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| Failure::run(format!("{program}: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let served = output.status.success().then(|| work::read(&String::from_utf8_lossy(&output.stdout)));
    let Some((kernel, done)) = served.flatten() else {
        return Err(Failure::run(format!("{program} failed: {}", said.trim_end())));
    };
    Ok((kernel, done, output))
}

fn by_valgrind(kind: Kind, records: usize) -> Result<(String, Vec<Counted>), Failure> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("counted");
    let valgrind = installed("valgrind").ok_or_else(|| {
        Failure::run("neither perf's counters nor valgrind are here: install what Debian calls valgrind")
    })?;
    let mut command = Command::new(valgrind);
    // The environment is on the stack, so it moves the addresses that the caches see.
    command.env_clear().args(["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"]).args(CACHES);
    // Two patterns, although one would do: valgrind takes one action for each pattern.
    command.arg(format!("--toggle-collect=*::{COUNTED}*")).arg(format!("--dump-after=*{COUNTED}*"));
    command.arg(format!("--callgrind-out-file={}", out.display()));
    let (kernel, done, _) =
        served(command.arg(std::env::current_exe()?).args(request(kind, records, usize::MAX)))?;
    let mut counted = Vec::new();
    for (at, done) in done.into_iter().enumerate() {
        let part = PathBuf::from(format!("{}.{}", out.display(), at + 1));
        let totals = of_valgrind(&std::fs::read_to_string(&part)?);
        let totals = totals.ok_or_else(|| Failure::run("callgrind's output has no totals"))?;
        counted.push(per_operation(&done, totals));
    }
    Ok((kernel, counted))
}

fn by_perf(kind: Kind, records: usize) -> Result<(String, Vec<Counted>), Failure> {
    let (mut counted, mut before) = (Vec::new(), [0.0; 3]);
    for operations in 0.. {
        let mut command = Command::new("perf");
        command.args(["stat", "-x,", "-e", HARDWARE]).arg(std::env::current_exe()?);
        let (kernel, done, output) = served(command.args(request(kind, records, operations)))?;
        let totals = of_perf(&String::from_utf8_lossy(&output.stderr));
        let totals = totals.ok_or_else(|| Failure::run("the hardware's counters aren't available"))?;
        if operations > 0 {
            if done.len() == counted.len() {
                return Ok((kernel, counted));
            }
            let last = done.last().expect("one more than before");
            counted.push(per_operation(last, [0, 1, 2].map(|event| totals[event] - before[event])));
        }
        before = totals;
    }
    unreachable!("the operations end")
}

fn per_operation(done: &Done, totals: [f64; 3]) -> Counted {
    let events = totals.map(|total| total / done.times as f64);
    Counted { operation: done.operation.clone(), times: done.times, events }
}

/// Reads the totals of a part of callgrind's output.
fn of_valgrind(text: &str) -> Option<[f64; 3]> {
    let after = |head: &str| text.lines().find_map(|line| line.strip_prefix(head));
    let names: Vec<&str> = after("events: ")?.split_whitespace().collect();
    let totals: Vec<f64> =
        after("totals: ")?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // Totals end with the last number that isn't zero.
    let of = |wanted: &str| {
        let at = names.iter().position(|name| *name == wanted)?;
        Some(totals.get(at).copied().unwrap_or(0.0))
    };
    Some([of("Ir")?, of("Bcm")? + of("Bim")?, of("DLmr")? + of("DLmw")?])
}

/// Reads the counts of `perf stat -x,`.
fn of_perf(text: &str) -> Option<[f64; 3]> {
    let mut names = HARDWARE.split(',');
    let mut of = || {
        let name = names.next()?;
        let line = text.lines().find(|line| line.split(',').nth(2) == Some(name))?;
        line.split(',').next()?.parse().ok()
    };
    Some([of()?, of()?, of()?])
}

/// Returns the path of an installed program.
fn installed(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| Path::is_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_s_totals_are_read_by_name() {
        let text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\nfn=(1) f\n1 2\n\
            totals: 1000 300 200 1 50 40 1 30 20 100 7 10 3\n";
        assert_eq!(of_valgrind(text), Some([1000.0, 10.0, 50.0]));
        let short = text.replace(" 7 10 3\n", "\n");
        assert_eq!(of_valgrind(&short), Some([1000.0, 0.0, 50.0]));
        assert_eq!(of_valgrind("events: Ir\n"), None);
    }

    #[test]
    fn perf_s_counts_are_read_by_name() {
        let text = "started\n77,,branch-misses:u,9,100.00,,\n1000,,instructions:u,9,100.00,,\n\
            5,,cache-misses:u,9,100.00,,\n";
        assert_eq!(of_perf(text), Some([1000.0, 77.0, 5.0]));
        assert_eq!(of_perf(&text.replace("5,", "<not supported>,")), None);
    }
}
