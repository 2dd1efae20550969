//! Figure 7: lookups, one after the other, and lookups of which each waits for the last.

use super::data::{Spread, present};
use super::figures::{
    BPT, CSSL2, CSSL2_BRANCHING, CSSL2_NINE, CSSL2_UNGUESSED, CSSL5, CSSL5_BATCHED, CSSL5_BRANCHING,
    CSSL5_NINE, CSSL5_UNGUESSED, FAIR, GUESSES, PARTS, PARTS_BATCHED, on_huge_pages,
};
use super::on_model;
use super::race::{Field, Point, Queries, field, native, over, race, ratios, rows, time_of};
use super::who::Who;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::Row;

/// The paper's six: its CSSL by Algorithm 1 and, by its Figure 8, its binary search have a branch at each
/// key; of CSB+ there are two forms.
const PAPER_S: [Who; 7] = [
    CSSL5_BRANCHING,
    CSSL2_BRANCHING,
    Who::BinarySearchBranching,
    Who::CsbBranching,
    Who::CsbScalar,
    Who::AdaptiveRadixTree,
    BPT,
];
/// CSSL whose lanes are compared by vectors, searches of later years, other B+-Trees, and ours with a table
/// of guesses.
const FURTHER: [Who; 15] = [
    CSSL5_UNGUESSED,
    CSSL2_UNGUESSED,
    CSSL5_NINE,
    CSSL2_NINE,
    Who::BinarySearch,
    Who::Csb,
    Who::BPlusBranching,
    Who::BPlus,
    Who::BTreeMap,
    Who::EytzingerBothEnds,
    CSSL5,
    CSSL2,
    CSSL5_BATCHED,
    PARTS,
    PARTS_BATCHED,
];

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const LOOKUPS: usize = 1 << 16;

pub(super) const FIG_7: Experiment = Experiment {
    name: "fig-7",
    title: "Lookups among 16M keys, dense and sparse: independent ones, and ones that wait for each other",
    remarks: &[
        "The paper's order is ART, CSSL, closely followed by binary search and CSB+, and B+.",
        "Panels \"dense\" and \"sparse\": each key is known, so a processor begins the next lookup while it waits for \
         the last. Panels \"chained\": each key comes from the last answer, so what is left is the time that a \
         structure needs for one lookup. The batched ones overlap 16 lookups in both.",
        "What the paper says is set beside the forms of its time. `bpt` is the B+-Tree that it cites. By the \
         paper's Figure 8 its CSSL, binary search and B+-Tree mispredict some 12 branches a lookup, so \"cssl5, \
         branching\", nine lanes by Algorithm 1, and \"binary search, branching\" have a branch at each key. Its CSB+-Tree mispredicts one to three, so there are two forms: \"csb, scalar\" \
         has a binary search within nodes that computes its next step, \"csb, branching\" one that branches; a claim \
         holds if it holds for both. `csb` and `b-plus` compare a node's keys by vectors.",
        GUESSES,
        FAIR,
        on_model::FORMS,
    ],
    body: Body::Driven {
        x_label: "keys",
        rows: |on, scale| on_model::either(on, scale, on_model::figure_7, figure_7),
    },
};

fn figure_7(scale: Scale) -> Result<Vec<Row>> {
    let contestants: Vec<Who> = PAPER_S.into_iter().chain(FURTHER).collect();
    let mut all = Vec::new();
    let mut of_dense: [Vec<f64>; 2] = Default::default();
    for spread in Spread::BOTH {
        let keys = spread.keys(KEYS.at(scale));
        let field = field(&contestants, &keys)?;
        let wanted = present(&keys, LOOKUPS);
        let panels = [Queries::Lookups(&wanted), Queries::Chained(&wanted)];
        for ((queries, dense), chained) in panels.into_iter().zip(&mut of_dense).zip([false, true]) {
            let panel = match (spread, chained) {
                (Spread::Dense, false) => "dense",
                (Spread::Sparse, false) => "sparse",
                (Spread::Dense, true) => "dense, chained",
                (Spread::Sparse, true) => "sparse, chained",
            };
            let at = Point { panel, x: keys.len() as f64, scale };
            if !chained {
                all.push(on_huge_pages(at));
            }
            let times = race(&field, queries, scale)?;
            all.extend(rows(&field, &times, at, CSSL5_BRANCHING, |who| over_cssl5(who, spread, chained)));
            // "B+ shows the worst performance."
            all.extend(ratios(&field, &times, at, BPT, |who| {
                (PAPER_S.contains(&who) && who != BPT).then_some(Published::MoreThan(1.0))
            }));
            all.extend(FURTHER.iter().filter_map(|&who| over(&field, &times, at, who, Who::BPlus, None)));
            match spread {
                Spread::Dense => *dense = times,
                Spread::Sparse => all.extend(of_both(&field, dense, &times, at)),
            }
        }
    }
    Ok(all)
}

/// Returns what the text says of a contestant over CSSL5. Its ratios of ART are from lookups that don't wait
/// for each other; its orders are about both.
fn over_cssl5(who: Who, spread: Spread, chained: bool) -> Option<Published> {
    match (who, spread, chained) {
        (Who::AdaptiveRadixTree, _, true) => Some(Published::MoreThan(1.0)),
        (Who::AdaptiveRadixTree, Spread::Dense, false) => Some(Published::About(4.4)),
        (Who::AdaptiveRadixTree, Spread::Sparse, false) => Some(Published::About(2.4)),
        (Who::BinarySearchBranching | Who::CsbBranching | Who::CsbScalar | BPT, ..) => {
            Some(Published::LessThan(1.0))
        }
        // "An identical performance."
        (CSSL2_BRANCHING, ..) => Some(Published::About(1.0)),
        _ => None,
    }
}

/// Returns the ratio of each one's lookups among sparse keys to those among dense keys: "ART is the only
/// competitor that can boost performance on dense keys; the remaining show identical results".
fn of_both(field: &Field, dense: &[f64], sparse: &[f64], at: Point) -> Vec<Row> {
    let ratio = |who: &Who| {
        let ratio = time_of(field, dense, *who)? / time_of(field, sparse, *who)?;
        let said = match who {
            Who::AdaptiveRadixTree => Published::LessThan(1.0),
            _ => Published::About(1.0),
        };
        let row = Row::new(who.name(), at.x, "times its lookups among dense keys", ratio);
        Some(native(row.beside(Some(said)), at))
    };
    PAPER_S.iter().filter_map(ratio).collect()
}
