//! Figure 7 analysed: lookups that a processor overlaps, and dependent ones.

use super::contestant::{Ask, Who};
use super::data::{Spread, present};
use super::race::{Point, Queries, field, race, rows};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::row::Row;
use latchless_measure::huge_pages;
use latchless_papers::cssl::Member;

const UNGUESSED: Who = Who::Cssl(Member::Cssl5, Ask::Unguessed, None);
const CONTESTANTS: [Who; 7] = [
    UNGUESSED,
    Who::Cssl(Member::Cssl5, Ask::Along, None),
    Who::BinarySearch,
    Who::Csb,
    Who::BPlus,
    Who::BTreeMap,
    Who::AdaptiveRadixTree,
];
const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const LOOKUPS: usize = 1 << 16;

pub(super) const CHAINED: Experiment = Experiment {
    name: "chained",
    title: "Lookups among 16M keys: each for a key that is known, and each for one that the last answer tells",
    remarks: &[
        "Lookups that have no branch to mispredict overlap: a processor begins the next one while it waits. \
         \"chained\" keeps it from that, since each key comes from the last answer. What is left of the order of \
         \"independent\" is that of the structures.",
    ],
    body: Body::Timed { x_label: "keys", rows: chained },
};

fn chained(scale: Scale) -> Result<Vec<Row>> {
    let keys = Spread::Sparse.keys(KEYS.at(scale));
    let field = field(&CONTESTANTS, &keys)?;
    if scale == Scale::Paper {
        huge_pages::for_all();
    }
    let wanted = present(&keys, LOOKUPS);
    let mut all = Vec::new();
    let panels = [("independent", Queries::Lookups(&wanted)), ("chained", Queries::Chained(&wanted))];
    for (panel, queries) in panels {
        let times = race(&field, queries, scale)?;
        let at = Point { panel, x: keys.len() as f64, scale };
        all.extend(rows(&field, &times, at, UNGUESSED, |_| None));
    }
    Ok(all)
}
