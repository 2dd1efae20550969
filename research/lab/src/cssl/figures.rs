//! Figures 4, 5, 7, 9 and 10: ranges, lookups, both, and the genome.

use super::bpt::Walk;
use super::contestant::{Ask, Who};
use super::data::{Spread, chromosome_22, genome, mixed, present, ranges};
use super::race::{Field, Point, Queries, field, native, race, ratios, rows};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::Row;
use latchless_core::search::Kernel;
use latchless_measure::huge_pages;
use latchless_papers::cssl::Member;

const CSSL2: Who = Who::Cssl(Member::Cssl2, Ask::Along, None);
const CSSL5: Who = Who::Cssl(Member::Cssl5, Ask::Along, None);
const CSSL5_DESCENTS: Who = Who::Cssl(Member::Cssl5, Ask::Descents, None);
const CSSL5_BATCHED: Who = Who::Cssl(Member::Cssl5, Ask::Batched, None);
/// The paper's own forms.
const CSSL5_UNGUESSED: Who = Who::Cssl(Member::Cssl5, Ask::Unguessed, None);
const CSSL2_UNGUESSED: Who = Who::Cssl(Member::Cssl2, Ask::Unguessed, None);
const CSSL5_NINE: Who = Who::Cssl(Member::Cssl5, Ask::NineLanes, None);
const CSSL2_NINE: Who = Who::Cssl(Member::Cssl2, Ask::NineLanes, None);
const PARTS: Who = Who::Cssl(Member::Cssl, Ask::Descents, None);
const PARTS_BATCHED: Who = Who::Cssl(Member::Cssl, Ask::Batched, None);
const WALK: Who = Who::BinarySearch;
const ENDS: Who = Who::BinarySearchBothEnds;

/// The paper's B+-Tree, and the same whose walk stops at the end of a range.
const BPT: Who = Who::Bpt(Walk::ToTheLastLeaf);
const BPT_STOPPING: Who = Who::Bpt(Walk::ToItsEnd);

/// The paper's six, its CSSL with nine lanes, BTreeMap, and ours with a table of guesses.
const PAPER_S: [Who; 12] = [
    CSSL5_UNGUESSED,
    CSSL2_UNGUESSED,
    CSSL5_NINE,
    CSSL2_NINE,
    WALK,
    Who::Csb,
    Who::AdaptiveRadixTree,
    BPT,
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

const SAID_IN_WORDS: &str = "The figures are images; the text gives the highest ratio of CSSL5 to binary search, of \
    10 % ranges. A sparse range is as wide as a dense one and so holds fewer keys.";
const WALKS: &str = "Rivals without \"both ends\" walk: they find a range's first key and look at each one up to \
    its last, as the paper's evidently do (binary search alone would take the same time for all sizes). Who \
    finds both ends by search alone is listed as well.";

const GUESSES: &str = "The paper's CSSL is the one \"without a guess\", and what the paper says is set beside it \
    and beside the one that also has the paper's nine lanes, however many would be best. The others guess by a small \
    table where in lane 1 a key is.";
const FAIR: &str = "Once all are loaded the system is asked to put all of the process's memory on huge pages, so the \
    rivals' memory as well as ours; \"share on huge pages\" says how much was. One thread; contestants take turns, \
    and of five rounds the median counts.";

pub(super) const FIG_4: Experiment = Experiment {
    name: "fig-4",
    title: "Ranges of 0.1, 1 and 10 % among 16M keys, dense and sparse",
    remarks: &[SAID_IN_WORDS, WALKS, GUESSES, FAIR],
    body: Body::Timed { x_label: "width of a range, percent of n", rows: figure_4 },
};

pub(super) const FIG_5: Experiment = Experiment {
    name: "fig-5",
    title: "Ranges of 0.1, 1 and 10 % among 256M keys, dense and sparse",
    remarks: &[
        "The paper's B+-Tree and CSB+-Tree ran out of memory here. Its ART took part. The crate that takes its place \
         allocates each of 256M leaves by itself, which doesn't fit this machine beside the lists. So it takes part \
         among 64M keys, in panels of their own.",
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
    let contestants: Vec<Who> = PAPER_S.into_iter().chain([BPT_STOPPING]).chain(BY_ENDS).collect();
    let claim = |spread, who| match (spread, who) {
        (Spread::Dense, CSSL5_UNGUESSED | CSSL5_NINE) => Some(Published::About(16.8)),
        (Spread::Sparse, CSSL5_UNGUESSED | CSSL5_NINE) => Some(Published::About(10.4)),
        // "Followed by CSB+, ART and B+."
        (_, Who::Csb | Who::AdaptiveRadixTree | Who::BPlus) => Some(Published::LessThan(1.0)),
        _ => None,
    };
    by_width((scale, Spread::name), KEYS.at(scale), &contestants, claim)
}

fn figure_5(scale: Scale, many: Scaled<usize>) -> Result<Vec<Row>> {
    let ours = |_: Spread, who| {
        [CSSL5_UNGUESSED, CSSL5_NINE, CSSL2_UNGUESSED].contains(&who).then_some(Published::MoreThan(1.0))
    };
    let turns = |contestants: &[Who]| by_width((scale, Spread::name), many.at(scale), contestants, ours);
    let mut all = turns(&[CSSL5_UNGUESSED, CSSL2_UNGUESSED, WALK])?;
    let others = turns(&[CSSL5_NINE, CSSL5, CSSL5_DESCENTS, ENDS, WALK])?;
    // The baseline of all ratios is reported once.
    let told = |row: &Row| row.series == "all" || row.series == WALK.name();
    all.extend(others.into_iter().filter(|row| !told(row)));
    // "CSSL outperforms BS and ART."
    let contestants = [CSSL5_UNGUESSED, CSSL5_NINE, CSSL2_UNGUESSED, WALK, Who::AdaptiveRadixTree];
    let with_art = |spread: Spread| match spread {
        Spread::Dense => "dense, 64M keys",
        Spread::Sparse => "sparse, 64M keys",
    };
    all.extend(by_width((scale, with_art), FEWER_KEYS.at(scale), &contestants, |spread, who| match who {
        Who::AdaptiveRadixTree => Some(Published::LessThan(1.0)),
        _ => ours(spread, who),
    })?);
    Ok(all)
}

fn by_width(
    (scale, panel): (Scale, fn(Spread) -> &'static str),
    count: usize,
    contestants: &[Who],
    claim: impl Fn(Spread, Who) -> Option<Published>,
) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(count);
        let field = field(contestants, &keys)?;
        all.push(on_huge_pages(Point { panel: panel(spread), x: WIDTHS[0], scale }));
        for width in WIDTHS {
            let ranges = ranges(&keys, (count as f64 * width / 100.0) as u32, QUERIES);
            let times = race(&field, Queries::Ranges(&ranges), scale)?;
            let at = Point { panel: panel(spread), x: width, scale };
            // The text's statement is about the widest ranges.
            let said = |who| claim(spread, who).filter(|_| width == WIDTHS[2]);
            all.extend(rows(&field, &times, at, WALK, said));
            all.extend(beyond(&field, &times, at));
        }
    }
    Ok(all)
}

/// Puts loaded structures on huge pages, and reports the share.
fn on_huge_pages(at: Point) -> Row {
    let share = if at.scale == Scale::Small { huge_pages::share() } else { huge_pages::for_all() };
    native(Row::new("all", at.x, "share on huge pages", share), at)
}

/// Returns the ratios to binary search for both ends of the contestants that search for both ends, and of
/// CSSL5 to CSSL2.
fn beyond(field: &Field, times: &[f64], at: Point) -> Vec<Row> {
    let time = |wanted: Who| field.iter().position(|(who, _)| *who == wanted).map(|place| times[place]);
    let pair = |who: Who, reference: Who, published: Option<Published>| {
        let ratio = time(reference)? / time(who)?;
        let row = Row::new(who.name(), at.x, format!("times {}", reference.name()), ratio);
        Some(native(row.beside(published), at))
    };
    let widest = at.x == WIDTHS[2];
    let over_cssl2 = pair(CSSL5_UNGUESSED, CSSL2_UNGUESSED, widest.then_some(Published::MoreThan(1.0)));
    over_cssl2.into_iter().chain(BY_ENDS.into_iter().filter_map(|who| pair(who, ENDS, None))).collect()
}

pub(super) const FIG_7: Experiment = Experiment {
    name: "fig-7",
    title: "Lookups among 16M keys, dense and sparse",
    remarks: &[
        "The paper's order is ART, CSSL, binary search and CSB+ close behind it, B+. Ours is another one: \
                without a guess CSSL5 is last but one, because this processor overlaps the lookups of the others \
                (experiment `chained`). Lookups go one by one, but for those called batched, which overlap 16.",
        GUESSES,
        FAIR,
    ],
    body: Body::Timed { x_label: "keys", rows: figure_7 },
};

fn figure_7(scale: Scale) -> Result<Vec<Row>> {
    let ours = [CSSL5_BATCHED, PARTS, PARTS_BATCHED];
    let contestants: Vec<Who> = PAPER_S.into_iter().chain(ours).chain([Who::EytzingerBothEnds]).collect();
    let mut all = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(KEYS.at(scale));
        let field = field(&contestants, &keys)?;
        let wanted = present(&keys, LOOKUPS);
        let at = Point { panel: spread.name(), x: keys.len() as f64, scale };
        all.push(on_huge_pages(at));
        let times = race(&field, Queries::Lookups(&wanted), scale)?;
        let said = |who| match (who, spread) {
            (Who::AdaptiveRadixTree, Spread::Dense) => Some(Published::About(4.4)),
            (Who::AdaptiveRadixTree, Spread::Sparse) => Some(Published::About(2.4)),
            (WALK | Who::Csb | Who::BPlus, _) => Some(Published::LessThan(1.0)),
            // "An identical performance."
            (CSSL2_UNGUESSED | CSSL2_NINE, _) => Some(Published::About(1.0)),
            _ => None,
        };
        all.extend(rows(&field, &times, at, CSSL5_UNGUESSED, said));
        let slowest = |who| [WALK, Who::Csb].contains(&who).then_some(Published::MoreThan(1.0));
        all.extend(ratios(&field, &times, at, Who::BPlus, slowest));
    }
    Ok(all)
}

pub(super) const FIG_9: Experiment = Experiment {
    name: "fig-9",
    title: "As many lookups as ranges of 500K, 16M keys, dense and sparse",
    remarks: &[
        "The paper asks a million queries; here as many as fit the time, half of them lookups, in one \
                stream and in random order, so that ranges evict what lookups had cached. What is \
                second in the paper is binary search, then CSB+, ART and B+.",
        GUESSES,
        FAIR,
    ],
    body: Body::Timed { x_label: "keys", rows: figure_9 },
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
        let said = |who| match who {
            CSSL5_UNGUESSED | CSSL2_UNGUESSED | CSSL5_NINE | CSSL2_NINE => Some(Published::MoreThan(1.0)),
            Who::Csb | Who::AdaptiveRadixTree | Who::BPlus => Some(Published::LessThan(1.0)),
            _ => None,
        };
        all.extend(rows(&field, &times, at, WALK, said));
    }
    Ok(all)
}

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Ranges of 0.1, 1 and 10 % of the interval among genomic positions",
    remarks: &[
        "Panel chromosome 22: the real positions of 10,376 variants of the 1000 Genomes Project. Panel drawn: \
         as many positions as the paper has of chromosomes 1 and 2 (13,571,394), their gaps drawn from those of \
         chromosome 22. The paper gives ratios for 10 %: CSSL5 is 16.7 times as fast as binary search, 121.6 \
         times as CSB+, 696 times as ART.",
        WALKS,
        GUESSES,
        FAIR,
    ],
    body: Body::Timed { x_label: "width of a range, percent of the interval", rows: figure_10 },
};

fn figure_10(scale: Scale) -> Result<Vec<Row>> {
    let contestants: Vec<Who> = PAPER_S.into_iter().chain([BPT_STOPPING]).chain(BY_ENDS).collect();
    let mut all = Vec::new();
    for (panel, keys) in [("chromosome 22", chromosome_22()), ("drawn", genome(POSITIONS.at(scale)))] {
        let field = field(&contestants, &keys)?;
        all.push(on_huge_pages(Point { panel, x: WIDTHS[0], scale }));
        let interval = f64::from(keys[keys.len() - 1] - keys[0]);
        for width in WIDTHS {
            let ranges = ranges(&keys, (interval * width / 100.0) as u32, QUERIES);
            let times = race(&field, Queries::Ranges(&ranges), scale)?;
            let at = Point { panel, x: width, scale };
            let widest_drawn = width == WIDTHS[2] && panel == "drawn";
            let said = |number: f64| widest_drawn.then_some(Published::About(number));
            let over = |who: Who, number: f64| all_over(&field, &times, at, who, said(number));
            all.extend(rows(&field, &times, at, WALK, |who| {
                if [CSSL5_UNGUESSED, CSSL5_NINE].contains(&who) { said(16.7) } else { None }
            }));
            all.extend(over(Who::Csb, 121.6));
            all.extend(over(Who::AdaptiveRadixTree, 696.0));
            all.extend(beyond(&field, &times, at));
        }
    }
    Ok(all)
}

/// Returns the ratio of the paper's CSSL5 to a rival.
fn all_over(field: &Field, times: &[f64], at: Point, rival: Who, said: Option<Published>) -> Option<Row> {
    let time = |wanted: Who| field.iter().position(|(who, _)| *who == wanted).map(|place| times[place]);
    let ratio = time(rival)? / time(CSSL5_UNGUESSED)?;
    Some(native(
        Row::new(CSSL5_UNGUESSED.name(), at.x, format!("times {}", rival.name()), ratio).beside(said),
        at,
    ))
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
