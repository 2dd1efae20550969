//! Figures 6 and 8: the processor events of a query, counted by valgrind's callgrind.
//!
//! The program runs itself under valgrind, which begins to count when everything is loaded: once with some
//! queries and once with twice as many; the difference is due to the queries. valgrind doesn't support
//! AVX-512, so searches use AVX2.

use super::contestant::{Ask, Who};
use super::data::{Spread, present, ranges};
use super::race::{Point, Queries, native};
use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
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
    "Counted by valgrind's model of caches (32 KB, then 16 MB as the last level) and of branches; the paper \
     counted events of its processor. Counts are a query's, the load isn't in them. \"level 3 hits\" are misses \
     of the first level that the last one has: the paper's have its second level's hits taken off.",
    "valgrind's caches have no hardware prefetcher. Of a run through consecutive lines it counts each as a miss, where \
     the paper's processor had most of them fetched ahead: so last-level misses of ranges are far above the paper's.",
    "TLB misses are those of caches of 64 and 512 pages of 4 KB, in a run of their own.",
    "\"estimated cycles\" are KCachegrind's: instructions, 10 for each misprediction and each first-level miss, 100 for \
     each last-level miss.",
    "Masked loads, by which B+ and CSB+ read keys, are no accesses to valgrind: of their lookups' misses it counts \
     a part.",
];

pub(super) const FIG_6: Experiment = Experiment {
    name: "fig-6",
    title: "A 10 % range among 16M keys: instructions, mispredicted branches, cache misses",
    remarks: REMARKS,
    body: Body::Timed { x_label: "keys", rows: |scale| figure(scale, Kind::Ranges) },
};

pub(super) const FIG_8: Experiment = Experiment {
    name: "fig-8",
    title: "A lookup among 16M keys: instructions, mispredicted branches, cache misses",
    remarks: REMARKS,
    body: Body::Timed { x_label: "keys", rows: |scale| figure(scale, Kind::Lookups) },
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

impl Counts {
    /// Returns KCachegrind's estimate of the cycles of a run.
    fn cycles(self) -> f64 {
        self.instructions
            + 10.0 * (self.mispredictions + self.first_level_misses)
            + 100.0 * self.last_level_misses
    }
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Ranges => "ranges",
            Self::Lookups => "lookups",
        }
    }

    /// Returns the numbers of Figures 6 and 8 for a query.
    fn published(self, who: Who, spread: Spread) -> Option<Stated> {
        let place = CONTESTANTS.iter().position(|one| *one == who)?;
        let [cycles, mispredictions, hits, misses, tlb_misses] = match (self, spread) {
            (Self::Ranges, Spread::Dense) => [
                [202e3, 661e3, 501e6, 27e6, 3.4e6, 1_070e6],
                [12.0, 15.0, 813e3, 46.0, 13.0, 1.4e3],
                [8e3, 24e3, 1.3e6, 49e3, 21e3, 1.6e3],
                [21.0, 7.3e3, 2.7e6, 243e3, 7.4e3, 7.8e6],
                [5.0, 13.0, 1.6e6, 99.0, 24.0, 381e3],
            ],
            (Self::Ranges, Spread::Sparse) => [
                [5e3, 13e3, 4.5e6, 620e3, 59e3, 1_095e6],
                [13.0, 16.0, 16e3, 4.6e3, 13.0, 832.0],
                [139.0, 373.0, 14e3, 364.0, 325.0, 1.8e3],
                [23.0, 165.0, 28e3, 5.7e3, 278.0, 7.4e6],
                [3.0, 5.0, 19e3, 958.0, 10.0, 369e3],
            ],
            (Self::Lookups, Spread::Dense) => [
                [927.0, 956.0, 209.0, 1_068.0, 1_036.0, 5_889.0],
                [9.0, 13.0, 0.0, 1.0, 12.0, 12.0],
                [11.0, 8.0, 2.0, 3.0, 21.0, 28.0],
                [5.0, 8.0, 2.0, 5.0, 9.0, 39.0],
                [1.0, 3.0, 2.0, 3.0, 4.0, 20.0],
            ],
            (Self::Lookups, Spread::Sparse) => [
                [926.0, 951.0, 383.0, 1_054.0, 1_029.0, 5_789.0],
                [9.0, 13.0, 0.0, 3.0, 12.0, 12.0],
                [11.0, 8.0, 5.0, 3.0, 20.0, 29.0],
                [5.0, 8.0, 3.0, 4.0, 10.0, 38.0],
                [1.0, 3.0, 4.0, 5.0, 4.0, 20.0],
            ],
        };
        let of = |counter: [f64; 6]| Published::About(counter[place]);
        Some(Stated {
            cycles: of(cycles),
            mispredictions: of(mispredictions),
            hits: of(hits),
            misses: of(misses),
            tlb_misses: of(tlb_misses),
        })
    }
}

/// A column of Figure 6 or 8.
struct Stated {
    cycles: Published,
    mispredictions: Published,
    hits: Published,
    misses: Published,
    tlb_misses: Published,
}

fn figure(scale: Scale, kind: Kind) -> Result<Vec<Row>> {
    let count = KEYS.at(scale);
    let at = |panel| Point { panel, x: count as f64, scale };
    if Command::new("valgrind").arg("--version").output().is_err() {
        let row = Row::new("none", count as f64, "valgrind isn't installed", 0.0);
        return Ok(vec![native(row, at(""))]);
    }
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
            let said = kind.published(who, spread);
            let row = |unit: &str, ours: f64, published: fn(&Stated) -> Published| {
                Row::new(who.name(), count as f64, unit, ours).beside(said.as_ref().map(published))
            };
            let hits = counts.first_level_misses - counts.last_level_misses;
            rows.extend(
                [
                    row("mispredicted branches", counts.mispredictions, |said| said.mispredictions),
                    row("estimated cycles", counts.cycles(), |said| said.cycles),
                    row("level 3 hits", hits, |said| said.hits),
                    row("last-level misses", counts.last_level_misses, |said| said.misses),
                    row("TLB misses", counts.tlb_misses, |said| said.tlb_misses),
                    Row::new(who.name(), count as f64, "instructions", counts.instructions),
                    Row::new(who.name(), count as f64, "first-level misses", counts.first_level_misses),
                ]
                .map(|row| native(row, at(spread.name()))),
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
        assert_eq!(parse(summary).cycles(), 1_234_567.0 + 10.0 * 13_545.0 + 100.0 * 34.0);
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
