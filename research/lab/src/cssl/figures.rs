//! Figures 4, 5, 9 and 10: ranges, ranges with lookups, and the genome; and what SIMD is worth.

use super::bpt::Walk;
use super::data::{Spread, chromosome_22, genome, mixed, present, ranges};
use super::on_model;
use super::race::{Field, Point, Queries, field, in_order, native, over, over_all, race, rows, time_of};
use super::who::{Ask, Who};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::Row;
use latchless_core::search::Kernel;
use latchless_measure::huge_pages;
use latchless_papers::cssl::Member;

pub(super) const CSSL2: Who = Who::Cssl(Member::Cssl2, Ask::Along, None);
pub(super) const CSSL5: Who = Who::Cssl(Member::Cssl5, Ask::Along, None);
const CSSL5_DESCENTS: Who = Who::Cssl(Member::Cssl5, Ask::Descents, None);
pub(super) const CSSL5_BATCHED: Who = Who::Cssl(Member::Cssl5, Ask::Batched, None);
/// The paper's own forms.
pub(super) const CSSL5_UNGUESSED: Who = Who::Cssl(Member::Cssl5, Ask::Unguessed, None);
pub(super) const CSSL2_UNGUESSED: Who = Who::Cssl(Member::Cssl2, Ask::Unguessed, None);
pub(super) const CSSL5_NINE: Who = Who::Cssl(Member::Cssl5, Ask::NineLanes, None);
pub(super) const CSSL2_NINE: Who = Who::Cssl(Member::Cssl2, Ask::NineLanes, None);
/// The same by Algorithm 1, which branches at each key.
pub(super) const CSSL5_BRANCHING: Who = Who::Cssl(Member::Cssl5, Ask::Branching, None);
pub(super) const CSSL2_BRANCHING: Who = Who::Cssl(Member::Cssl2, Ask::Branching, None);
pub(super) const PARTS: Who = Who::Cssl(Member::Cssl, Ask::Descents, None);
pub(super) const PARTS_BATCHED: Who = Who::Cssl(Member::Cssl, Ask::Batched, None);
const WALK: Who = Who::BinarySearch;
const ENDS: Who = Who::BinarySearchBothEnds;

/// The paper's B+-Tree, and the same whose walk stops at the end of a range.
pub(super) const BPT: Who = Who::Bpt(Walk::ToTheLastLeaf);
const BPT_STOPPING: Who = Who::Bpt(Walk::ToItsEnd);

/// The paper's order of those that CSSL outperforms: the second best competitor first (§5.1, 5.3, 5.4).
const ORDER: [Who; 4] = [WALK, Who::Csb, Who::AdaptiveRadixTree, BPT];
/// The forms of CSSL that the paper's claims are about.
const CLAIMED: [Who; 4] = [CSSL5_UNGUESSED, CSSL2_UNGUESSED, CSSL5_NINE, CSSL2_NINE];

/// The paper's six, its CSSL with nine lanes, other B+-Trees, and ours with a table of guesses.
const PAPER_S: [Who; 13] = [
    CSSL5_UNGUESSED,
    CSSL2_UNGUESSED,
    CSSL5_NINE,
    CSSL2_NINE,
    WALK,
    Who::Csb,
    Who::AdaptiveRadixTree,
    BPT,
    BPT_STOPPING,
    Who::BPlus,
    Who::BTreeMap,
    CSSL5,
    CSSL2,
];
/// The contestants that find both ends of a range by search alone.
const BY_ENDS: [Who; 6] = [CSSL5_DESCENTS, CSSL5_BATCHED, PARTS, PARTS_BATCHED, ENDS, Who::EytzingerBothEnds];

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const MANY_KEYS: Scaled<usize> = Scaled::new(256_000_000, 40_000);
/// As many as fit eight gigabytes: two lists, the array, and the entries from which they are loaded.
const HALF_AS_MANY: Scaled<usize> = Scaled::new(128_000_000, 35_000);
/// As many as leave room for a radix tree's leaves.
const FEWER_KEYS: Scaled<usize> = Scaled::new(64_000_000, 30_000);
/// The number of positions on chromosomes 1 and 2, as in the paper.
const POSITIONS: Scaled<usize> = Scaled::new(13_571_394, 20_000);
/// Percent of n (or of the genome's interval) that a range is wide.
const WIDTHS: [f64; 3] = [0.1, 1.0, 10.0];
const QUERIES: usize = 1 << 12;
const LOOKUPS: usize = 1 << 16;
/// Gigabytes of the paper's machine.
const PAPER_S_MEMORY: f64 = 32.0;

const SAID_IN_WORDS: &str = "The figures are images; the text gives the highest ratio of CSSL5 to binary search, of \
    10 % ranges. A sparse range is as wide as a dense one and so holds fewer keys.";
const WALKS: &str = "Rivals without \"both ends\" walk: they find a range's first key and look at each one up to \
    its last, as the paper's evidently do (binary search alone would take the same time for all sizes). Who \
    finds both ends by search alone is listed as well.";
const CITED: &str = "`bpt` is the B+-Tree that the paper cites: of order 4, with a block of memory for each node, array \
    and record. Its walk goes on to the last leaf of the tree, whatever the range; \"bpt, stopping\" ends at the first \
    key beyond it. `b-plus` is a later B+-Tree: nodes of a line, loaded full.";

pub(super) const GUESSES: &str = "The paper's CSSL is the one \"without a guess\", and what the paper says is set beside it \
    and beside the one that also has the paper's nine lanes, however many would be best. The others guess by a small \
    table where in lane 1 a key is.";
pub(super) const FAIR: &str = "Once all are loaded the system is asked to put all of the process's memory on huge pages, so the \
    rivals' memory as well as ours; \"share on huge pages\" says how much was. One thread; contestants take turns, \
    and of five rounds the median counts.";

pub(super) const FIG_4: Experiment = Experiment {
    name: "fig-4",
    title: "Ranges of 0.1, 1 and 10 % among 16M keys, dense and sparse",
    remarks: &[SAID_IN_WORDS, WALKS, CITED, GUESSES, FAIR, on_model::FORMS],
    body: Body::Driven {
        x_label: "width of a range, percent of n",
        rows: |on, scale| on_model::either(on, scale, on_model::figure_4, figure_4),
    },
};

pub(super) const FIG_5: Experiment = Experiment {
    name: "fig-5",
    title: "Ranges of 0.1, 1 and 10 % among 256M keys, dense and sparse",
    remarks: &[
        "The paper's B+-Tree and CSB+-Tree ran out of memory here, of 32 GB: \"GB for all keys\" is what ours would \
         take, by the bytes a key of a smaller set. Its ART took part. The crate that takes its place allocates each of \
         256M leaves by itself, which doesn't fit this machine beside the lists. So it takes part among 64M keys, in \
         panels of their own.",
        "Two lists of 256M keys fit 24 GB at a time: CSSL5 and CSSL2 without a guess take turns with binary search, and \
         then the others do, with binary search again.",
        WALKS,
        GUESSES,
        FAIR,
    ],
    body: Body::Timed { x_label: "width of a range, percent of n", rows: |scale| figure_5(scale, MANY_KEYS) },
};

pub(super) const FIG_5_HALF: Experiment = Experiment {
    name: "fig-5-half",
    title: "Figure 5 among 128M keys, half of the paper's",
    remarks: &[
        "As `fig-5`, which needs 16 GB for two lists of 256M keys, the array, and what they are loaded from. This needs 8. \
         The paper's orders are over binary search and over CSSL2.",
        WALKS,
        GUESSES,
        FAIR,
    ],
    body: Body::Timed {
        x_label: "width of a range, percent of n",
        rows: |scale| figure_5(scale, HALF_AS_MANY),
    },
};

fn figure_4(scale: Scale) -> Result<Vec<Row>> {
    let contestants: Vec<Who> = PAPER_S.into_iter().chain(BY_ENDS).collect();
    let mut all = Vec::new();
    let mut of_dense = Default::default();
    for spread in Spread::BOTH {
        let lead = if spread == Spread::Dense { 16.8 } else { 10.4 };
        let claim = |who, width| {
            ([CSSL5_UNGUESSED, CSSL5_NINE].contains(&who) && width == WIDTHS[2])
                .then_some(Published::About(lead))
        };
        let keys = spread.keys(KEYS.at(scale));
        let mut ranged = by_width((scale, spread.name()), &contestants, &keys, claim)?;
        all.append(&mut ranged.rows);
        all.extend(ranged.orders());
        all.extend(ranged.lead());
        match spread {
            Spread::Dense => of_dense = ranged.times,
            Spread::Sparse => all.extend(ranged.beside_dense(&of_dense)),
        }
    }
    Ok(all)
}

fn figure_5(scale: Scale, many: Scaled<usize>) -> Result<Vec<Row>> {
    // "CSSL outperforms BS and ART significantly."
    const OURS: [Who; 3] = [CSSL5_UNGUESSED, CSSL2_UNGUESSED, CSSL5_NINE];
    let ahead = Published::MoreThan(1.0);
    let claim = |who, _| OURS.contains(&who).then_some(ahead);
    let mut all = Vec::new();
    for contestants in
        [&[CSSL5_UNGUESSED, CSSL2_UNGUESSED, WALK][..], &[CSSL5_NINE, CSSL5, CSSL5_DESCENTS, ENDS, WALK]]
    {
        for spread in Spread::BOTH {
            let keys = spread.keys(many.at(scale));
            let ranged = by_width((scale, spread.name()), contestants, &keys, claim)?;
            all.extend(ranged.over(CSSL5_UNGUESSED, CSSL2_UNGUESSED, Some(ahead)));
            // The baseline of all ratios is reported once.
            let again = |row: &Row| row.series == "all" || row.series == WALK.name();
            let first = contestants[0] == CSSL5_UNGUESSED;
            all.extend(ranged.rows.into_iter().filter(|row| first || !again(row)));
        }
    }
    let contestants = [OURS[0], OURS[1], OURS[2], WALK, Who::AdaptiveRadixTree];
    for (spread, panel) in Spread::BOTH.into_iter().zip(["dense, 64M keys", "sparse, 64M keys"]) {
        let keys = spread.keys(FEWER_KEYS.at(scale));
        let ranged = by_width((scale, panel), &contestants, &keys, claim)?;
        all.extend(ranged.over(CSSL5_UNGUESSED, CSSL2_UNGUESSED, Some(ahead)));
        let over_art = OURS.into_iter().flat_map(|who| ranged.over(who, Who::AdaptiveRadixTree, Some(ahead)));
        all.extend(over_art);
        all.extend(ranged.rows);
    }
    if many == MANY_KEYS {
        all.extend(memory_of_all(scale, many.at(scale))?);
    }
    Ok(all)
}

/// Returns the memory that B+ and CSB+ would take for that many keys: they "ran out of memory" (§5.1).
fn memory_of_all(scale: Scale, count: usize) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(Scaled::new(1_000_000, 10_000).at(scale));
        let at = Point { panel: spread.name(), x: WIDTHS[0], scale };
        for (who, contestant) in field(&[BPT, Who::Csb], &keys)? {
            let Some(bytes) = contestant.bytes() else { continue };
            let all_keys = bytes as f64 / keys.len() as f64 * count as f64 / 1e9;
            let row = Row::new(who.name(), at.x, "GB for all keys", all_keys);
            all.push(native(row.beside(Some(Published::MoreThan(PAPER_S_MEMORY))), at));
        }
    }
    Ok(all)
}

/// Contestants that were raced with ranges of each width.
struct Ranged {
    field: Field,
    rows: Vec<Row>,
    /// By width.
    times: [Vec<f64>; WIDTHS.len()],
    points: [Point; WIDTHS.len()],
}

impl Ranged {
    /// Returns the ratio of one to another for each width.
    fn over(&self, who: Who, other: Who, said: Option<Published>) -> Vec<Row> {
        let of_width = self.times.iter().zip(self.points);
        of_width.filter_map(|(times, at)| over(&self.field, times, at, who, other, said)).collect()
    }

    /// Returns the paper's orders: "both CSSL configurations outperform all contestants for both key
    /// distributions and all evaluated range sizes", "CSSL5 is faster than CSSL2", "BS is the second best
    /// competitor followed by CSB+, ART and B+" (§5.1, and so in §5.4).
    fn orders(&self) -> Vec<Row> {
        let mut all = self.over(CSSL5_UNGUESSED, CSSL2_UNGUESSED, Some(Published::MoreThan(1.0)));
        for (times, at) in self.times.iter().zip(self.points) {
            all.extend(over_all(&self.field, times, at, &CLAIMED, &ORDER));
            all.extend(in_order(&self.field, times, at, &ORDER));
        }
        all
    }

    /// Returns by how much CSSL's lead over binary search is greater for the widest ranges than for any
    /// others: "the speedup factor is the highest for large ranges" (§5.1).
    fn lead(&self) -> Vec<Row> {
        let row = |who: &Who| {
            let lead = |times: &Vec<f64>| {
                Some(time_of(&self.field, times, WALK)? / time_of(&self.field, times, *who)?)
            };
            let [others @ .., widest] = &self.times;
            let greatest = others.iter().filter_map(lead).max_by(f64::total_cmp)?;
            let (at, unit) =
                (self.points[WIDTHS.len() - 1], "lead over binary search, times that of narrower ranges");
            let row = Row::new(who.name(), at.x, unit, lead(widest)? / greatest);
            Some(native(row.beside(Some(Published::MoreThan(1.0))), at))
        };
        CLAIMED.iter().filter_map(row).collect()
    }

    /// Returns what the widest ranges take in `bpt`, beside those among dense keys: 1,095 to 1,070 million
    /// cycles in the paper's Figure 6, though a dense range has 130 times as many keys.
    fn beside_dense(&self, dense: &[Vec<f64>; WIDTHS.len()]) -> Option<Row> {
        let widest = WIDTHS.len() - 1;
        let time = |times: &[Vec<f64>; WIDTHS.len()]| time_of(&self.field, &times[widest], BPT);
        let (at, unit) = (self.points[widest], "time of a range, times that among dense keys");
        let row = Row::new(BPT.name(), at.x, unit, time(&self.times)? / time(dense)?);
        Some(native(row.beside(Some(Published::About(1.02))), at))
    }

    /// Returns the throughput of ranges a tenth as wide as others, over those: "all competitors, except B+,
    /// show better performance for smaller range sizes" (§5.4).
    fn of_narrower(&self, claimed: bool) -> Vec<Row> {
        let mut all = Vec::new();
        for (place, pair) in self.times.windows(2).enumerate() {
            let at = self.points[place];
            all.extend(ORDER.iter().filter_map(|who| {
                let ratio = time_of(&self.field, &pair[1], *who)? / time_of(&self.field, &pair[0], *who)?;
                let said = if *who == BPT { Published::About(1.0) } else { Published::MoreThan(1.0) };
                let row = Row::new(who.name(), at.x, "times ranges ten times as wide", ratio);
                Some(native(row.beside(claimed.then_some(said)), at))
            }));
        }
        all
    }
}

fn by_width(
    (scale, panel): (Scale, &'static str),
    contestants: &[Who],
    keys: &[u32],
    claim: impl Fn(Who, f64) -> Option<Published>,
) -> Result<Ranged> {
    ranged((scale, panel), contestants, (keys, keys.len() as f64), claim)
}

/// Races contestants with ranges whose widths are percents of `whole`.
fn ranged(
    (scale, panel): (Scale, &'static str),
    contestants: &[Who],
    (keys, whole): (&[u32], f64),
    claim: impl Fn(Who, f64) -> Option<Published>,
) -> Result<Ranged> {
    let field = field(contestants, keys)?;
    let points = WIDTHS.map(|x| Point { panel, x, scale });
    let mut all = vec![on_huge_pages(points[0])];
    let mut by_width: [Vec<f64>; WIDTHS.len()] = Default::default();
    for (at, of_width) in points.into_iter().zip(&mut by_width) {
        let ranges = ranges(keys, (whole * at.x / 100.0) as u32, QUERIES);
        let times = race(&field, Queries::Ranges(&ranges), scale)?;
        all.extend(rows(&field, &times, at, WALK, |who| claim(who, at.x)));
        all.extend(BY_ENDS.into_iter().filter_map(|who| over(&field, &times, at, who, ENDS, None)));
        *of_width = times;
    }
    Ok(Ranged { field, rows: all, times: by_width, points })
}

/// Puts loaded structures on huge pages, and reports the share.
pub(super) fn on_huge_pages(at: Point) -> Row {
    let share = if at.scale == Scale::Small { huge_pages::share() } else { huge_pages::for_all() };
    native(Row::new("all", at.x, "share on huge pages", share), at)
}

pub(super) const FIG_9: Experiment = Experiment {
    name: "fig-9",
    title: "As many lookups as ranges of 500K, 16M keys, dense and sparse",
    remarks: &[
        "The paper's mix has a million queries; here as many as fit the time, half of them lookups, in one \
         stream and in random order, so that ranges evict what lookups had cached. What is \
         second in the paper is binary search, then CSB+, ART and B+. It says that CSSL is a magnitude faster than \
         ART: ten times.",
        CITED,
        GUESSES,
        FAIR,
        on_model::FORMS,
    ],
    body: Body::Driven {
        x_label: "keys",
        rows: |on, scale| on_model::either(on, scale, on_model::figure_9, figure_9),
    },
};

fn figure_9(scale: Scale) -> Result<Vec<Row>> {
    const WIDTH: Scaled<u32> = Scaled::new(500_000, 1_000);
    let mut all = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(KEYS.at(scale));
        let field = field(&PAPER_S, &keys)?;
        let wanted = present(&keys, LOOKUPS);
        let ranges = ranges(&keys, WIDTH.at(scale), QUERIES);
        let queries = mixed(&wanted, &ranges);
        let at = Point { panel: spread.name(), x: keys.len() as f64, scale };
        all.push(on_huge_pages(at));
        let times = race(&field, Queries::Mixed(&queries), scale)?;
        all.extend(rows(&field, &times, at, WALK, |_| None));
        all.extend(over_all(&field, &times, at, &CLAIMED, &ORDER));
        all.extend(in_order(&field, &times, at, &ORDER));
        let magnitude = Some(Published::AtLeast(10.0));
        let over_art = |who: &Who| over(&field, &times, at, *who, Who::AdaptiveRadixTree, magnitude);
        all.extend(CLAIMED.iter().filter_map(over_art));
    }
    Ok(all)
}

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Ranges of 0.1, 1 and 10 % of the interval among genomic positions, synthetic ones and chromosome 22's",
    remarks: &[
        "The paper has the 13,571,394 positions of chromosomes 1 and 2. Panel drawn is synthetic: as many positions, \
         their gaps drawn from those of chromosome 22. Panel chromosome 22: the real positions of 10,376 variants of \
         the 1000 Genomes Project. The paper gives ratios for 10 %: CSSL5 is 16.7 times as fast as binary search, \
         121.6 times as CSB+, 696 times as ART.",
        WALKS,
        CITED,
        GUESSES,
        FAIR,
    ],
    body: Body::Timed { x_label: "width of a range, percent of the interval", rows: figure_10 },
};

fn figure_10(scale: Scale) -> Result<Vec<Row>> {
    let contestants: Vec<Who> = PAPER_S.into_iter().chain(BY_ENDS).collect();
    let mut all = Vec::new();
    for (panel, keys) in [("chromosome 22", chromosome_22()), ("drawn", genome(POSITIONS.at(scale)))] {
        let as_many = panel == "drawn";
        let said = |number: f64, width| (as_many && width == WIDTHS[2]).then_some(Published::About(number));
        let interval = f64::from(keys[keys.len() - 1] - keys[0]);
        let ranged = ranged((scale, panel), &contestants, (&keys, interval), |who, width| {
            said(16.7, width).filter(|_| [CSSL5_UNGUESSED, CSSL5_NINE].contains(&who))
        })?;
        for (times, at) in ranged.times.iter().zip(ranged.points) {
            for (rival, number) in [(Who::Csb, 121.6), (Who::AdaptiveRadixTree, 696.0)] {
                all.extend(over(&ranged.field, times, at, CSSL5_UNGUESSED, rival, said(number, at.x)));
            }
        }
        if as_many {
            all.extend(ranged.orders());
        }
        all.extend(ranged.of_narrower(as_many));
        all.extend(ranged.rows);
    }
    Ok(all)
}

pub(super) const SIMD: Experiment = Experiment {
    name: "simd",
    title: "What SIMD is worth along lane 1: ranges of 10 % among 16M keys by each kernel (§5.1)",
    remarks: &["The paper says: a factor between 2 and 3, by AVX."],
    body: Body::Timed { x_label: "width of a range, percent of n", rows: simd },
};

fn simd(scale: Scale) -> Result<Vec<Row>> {
    let kernels = [Kernel::Scalar, Kernel::Avx2, Kernel::Avx512, Kernel::Neon];
    let kernels: Vec<Kernel> = kernels.into_iter().filter(|kernel| kernel.is_available()).collect();
    let mut all = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(KEYS.at(scale));
        for member in [Member::Cssl5, Member::Cssl2] {
            let who = |kernel: Kernel| Who::Cssl(member, Ask::Along, Some(kernel));
            let contestants: Vec<Who> = kernels.iter().copied().map(who).collect();
            let field = field(&contestants, &keys)?;
            let ranges = ranges(&keys, keys.len() as u32 / 10, QUERIES);
            let times = race(&field, Queries::Ranges(&ranges), scale)?;
            let at = Point { panel: spread.name(), x: 10.0, scale };
            let said = |one: Who| (one == who(Kernel::Avx2)).then_some(Published::Within(2.0, 3.0));
            all.extend(rows(&field, &times, at, who(Kernel::Scalar), said));
        }
    }
    Ok(all)
}
