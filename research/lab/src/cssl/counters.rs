//! The queries of Figures 6 and 8, counted by valgrind's callgrind.
//!
//! The program runs itself under valgrind, which begins to count when everything is loaded: once with some
//! queries and once with twice as many; the difference is due to the queries. valgrind doesn't support
//! AVX-512, so searches use AVX2.

use super::data::{Spread, present, ranges};
use super::race::Queries;
use super::who::{Ask, Who};
use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use latchless_papers::cssl::Member;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, Stdio};

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 2_000);
/// The paper's machine has 15 MB in its last level; callgrind wants a power of two of sets.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=16777216,16,64"];
/// The translations of that machine, as caches of pages: 64, and 512 below them.
const PAGES: [&str; 3] = ["--I1=32768,8,64", "--D1=262144,4,4096", "--LL=2097152,4,4096"];
const CONTESTANTS: [Who; 6] = [
    Who::Cssl(Member::Cssl5, Ask::NineLanes, None),
    Who::Cssl(Member::Cssl2, Ask::NineLanes, None),
    Who::AdaptiveRadixTree,
    Who::Csb,
    Who::BinarySearch,
    Who::BPlus,
];
const REMARKS: &[&str] = &[
    "Counts of valgrind's models of caches (32 KB, then 16 MB) and of branches, on this machine's code. They are no \
     processor's events, and aren't compared with the paper's, which are on the model (`fig-6`, `fig-8`). Counts are \
     a query's, the load isn't in them.",
    "valgrind has no second level and no hardware prefetcher: of a run through consecutive lines it counts each as a miss.",
    "TLB misses are those of caches of 64 and 512 pages of 4 KB, in a run of their own.",
    "Masked loads, by which B+ and CSB+ read keys, are no accesses to valgrind: of their lookups' misses it counts \
     a part.",
];

pub(super) const VALGRIND: Experiment = Experiment {
    name: "valgrind",
    title: "A 10 % range and a lookup among 16M keys, counted by valgrind: instructions, branches, cache misses",
    remarks: REMARKS,
    body: Body::Timed { x_label: "keys", rows: valgrind },
};

/// The kind of queries that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ranges,
    Lookups,
}

/// The counts of valgrind for one run, or for one query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Counts {
    instructions: f64,
    first_level_misses: f64,
    last_level_misses: f64,
    mispredictions: f64,
    tlb_misses: f64,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Ranges => "ranges",
            Self::Lookups => "lookups",
        }
    }

    const fn panel(self, spread: Spread) -> &'static str {
        match (self, spread) {
            (Self::Ranges, Spread::Dense) => "ranges, dense",
            (Self::Ranges, Spread::Sparse) => "ranges, sparse",
            (Self::Lookups, Spread::Dense) => "lookups, dense",
            (Self::Lookups, Spread::Sparse) => "lookups, sparse",
        }
    }
}

fn valgrind(scale: Scale) -> Result<Vec<Row>> {
    let count = KEYS.at(scale);
    if Command::new("valgrind").arg("--version").output().is_err() {
        let row = Row::new("none", count as f64, "valgrind isn't installed", 0.0);
        return Ok(vec![Row { on: On::Native, ..row }]);
    }
    let mut rows = Vec::new();
    for kind in [Kind::Ranges, Kind::Lookups] {
        rows.extend(counts_of(scale, kind, count)?);
    }
    Ok(rows)
}

fn counts_of(scale: Scale, kind: Kind, count: usize) -> Result<Vec<Row>> {
    let (spreads, contestants): (&[Spread], &[Who]) = match scale {
        Scale::Small => (&[Spread::Dense], &[CONTESTANTS[0], CONTESTANTS[4]]),
        Scale::Paper => (&Spread::BOTH, &CONTESTANTS),
    };
    let queries = match kind {
        Kind::Ranges => Scaled::new(16, 4).at(scale),
        Kind::Lookups => Scaled::new(20_000, 50).at(scale),
    };
    let mut rows = Vec::new();
    for &spread in spreads {
        for &who in contestants {
            let Some(counts) = of_one_query(who, spread, kind, count, queries)? else { continue };
            rows.extend(
                [
                    ("instructions", counts.instructions),
                    ("mispredicted branches", counts.mispredictions),
                    ("first-level misses", counts.first_level_misses),
                    ("last-level misses", counts.last_level_misses),
                    ("TLB misses", counts.tlb_misses),
                ]
                .map(|(unit, ours)| Row {
                    panel: kind.panel(spread),
                    on: On::Native,
                    ..Row::new(who.name(), count as f64, unit, ours)
                }),
            );
        }
    }
    Ok(rows)
}

fn of_one_query(
    who: Who,
    spread: Spread,
    kind: Kind,
    count: usize,
    queries: usize,
) -> Result<Option<Counts>> {
    let run = |queries: usize, caches: [&str; 3]| {
        let specification = format!("{}:{}:{}:{count}:{queries}", who.name(), spread.name(), kind.name());
        counted(&specification, caches)
    };
    let each = |caches| -> Result<Option<Counts>> {
        let (Some(once), Some(twice)) = (run(queries, caches)?, run(2 * queries, caches)?) else {
            return Ok(None);
        };
        let each = |of: fn(&Counts) -> f64| (of(&twice) - of(&once)) / queries as f64;
        Ok(Some(Counts {
            instructions: each(|counts| counts.instructions),
            first_level_misses: each(|counts| counts.first_level_misses),
            last_level_misses: each(|counts| counts.last_level_misses),
            mispredictions: each(|counts| counts.mispredictions),
            tlb_misses: 0.0,
        }))
    };
    let (Some(lines), Some(pages)) = (each(CACHES)?, each(PAGES)?) else { return Ok(None) };
    Ok(Some(Counts { tlb_misses: pages.last_level_misses, ..lines }))
}

/// Runs this program as a probe under valgrind; nothing if the build is without the contestant.
fn counted(specification: &str, caches: [&str; 3]) -> Result<Option<Counts>> {
    let failed = |source| LabError::Probe { what: specification.to_string(), source };
    run_counted(specification, caches).map_err(failed)
}

fn run_counted(specification: &str, caches: [&str; 3]) -> io::Result<Option<Counts>> {
    let mut probe = Command::new("valgrind")
        .args(["--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes"])
        .arg("--callgrind-out-file=/dev/null")
        .args(caches)
        .arg(std::env::current_exe()?)
        .args(["paper", "--probe", specification])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut answers = BufReader::new(probe.stdout.take().ok_or(ErrorKind::BrokenPipe)?);
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    if answer.trim_end() == LOADED {
        let control =
            Command::new("callgrind_control").arg("--instr=on").arg(probe.id().to_string()).output()?;
        if !control.status.success() {
            probe.kill()?;
            return Err(io::Error::other("callgrind can't be started"));
        }
        if let Some(mut to) = probe.stdin.take() {
            to.write_all(b"\n")?;
        }
    }
    answers.read_line(&mut answer)?;
    let output = probe.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(said.lines().last().unwrap_or("no output").to_string()));
    }
    Ok((answer.trim_end() != ABSENT).then(|| parse(&said)))
}

/// The line that a probe prints before its queries.
const LOADED: &str = "loaded";
/// The line that a probe prints if its build doesn't have the contestant.
const ABSENT: &str = "absent";

/// The counts in callgrind's summary.
fn parse(summary: &str) -> Counts {
    let number = |name: &str| {
        let line = summary.lines().find(|line| line.contains(name))?;
        let number = line.split(name).nth(1)?.trim_start().split([' ', '(']).next()?;
        number.replace(',', "").parse().ok()
    };
    Counts {
        instructions: number("I   refs:").or_else(|| number("I refs:")).unwrap_or(0.0),
        first_level_misses: number("D1  misses:").or_else(|| number("D1 misses:")).unwrap_or(0.0),
        last_level_misses: number("LLd misses:").unwrap_or(0.0),
        mispredictions: number("Mispredicts:").unwrap_or(0.0),
        tlb_misses: 0.0,
    }
}

/// Loads a contestant and serves queries: the process that runs under valgrind. `specification` is
/// `NAME:SPREAD:KIND:KEYS:QUERIES`. When everything is loaded, `ready` is called with a word to print,
/// before the first query.
///
/// # Errors
/// An invalid specification, refused memory, or the error of `ready`.
pub fn probe(specification: &str, ready: impl FnOnce(&str) -> io::Result<()>) -> Result<String> {
    let bad = || LabError::Wrong { index: "probe", what: format!("'{specification}' is no specification") };
    let parts: Vec<&str> = specification.split(':').collect();
    let [name, spread, kind, count, queries] = parts[..] else { return Err(bad()) };
    let who = CONTESTANTS.into_iter().find(|who| who.name() == name).ok_or_else(bad)?;
    let spread = Spread::BOTH.into_iter().find(|one| one.name() == spread).ok_or_else(bad)?;
    let count: usize = count.parse().map_err(|_| bad())?;
    let queries: usize = queries.parse().map_err(|_| bad())?;
    let keys = spread.keys(count);
    let Some(loaded) = who.load(&keys)? else { return Ok(ABSENT.to_string()) };
    let (ranges, wanted) = (ranges(&keys, count as u32 / 10, queries), present(&keys, queries));
    let asked = match kind {
        "ranges" => Queries::Ranges(&ranges),
        "lookups" => Queries::Lookups(&wanted),
        _ => return Err(bad()),
    };
    ready(LOADED).map_err(|source| LabError::Probe { what: specification.to_string(), source })?;
    Ok(asked.ask(&*loaded, 0, queries).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_s_summary_is_read() {
        let summary = "==1== I   refs:      1,234,567\n==1== D   refs: 5 (3 rd + 2 wr)\n\
             ==1== D1  misses:        1,200  (1,000 rd   + 200 wr)\n==1== LLd misses:  34  ( 30 rd   +  4 wr)\n\
             ==1== Mispredicts:    12,345  (    12,000 cond +     345 ind)\n";
        let expected = Counts {
            instructions: 1_234_567.0,
            first_level_misses: 1_200.0,
            last_level_misses: 34.0,
            mispredictions: 12_345.0,
            tlb_misses: 0.0,
        };
        assert_eq!(parse(summary), expected);
    }

    #[test]
    fn a_probe_answers_and_refuses_nonsense() {
        let probe = |specification| {
            probe(specification, |word| {
                assert_eq!(word, LOADED);
                Ok(())
            })
        };
        assert_eq!(
            probe("cssl5, nine lanes:dense:ranges:1000:3").unwrap(),
            probe("binary search:dense:ranges:1000:3").unwrap()
        );
        assert_eq!(probe("cssl2, nine lanes:sparse:lookups:1000:7").unwrap(), "7");
        for nonsense in
            ["", "cssl5", "cssl5:dense:ranges:x:1", "what:dense:ranges:1:1", "cssl5:dense:walks:1:1"]
        {
            assert!(probe(nonsense).is_err(), "{nonsense}");
        }
    }
}
