//! Figure 11: memory, and the formula of §3.

use super::contestant::{PAPER_S_LANES, Who};
use super::data::Spread;
use super::race::{Point, native};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::{On, Row};
use latchless_measure::counting::weigh;
use latchless_papers::cssl::{
    CsslMap, Member, Options, lane_space_bytes, space_bytes, space_ratio, space_ratio_with_fixed_proxies,
};

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const UNIT: &str = "bytes a key";

pub(super) const FIG_11: Experiment = Experiment {
    name: "fig-11",
    title: "Memory of 16M 32-bit keys, and §3's formula",
    remarks: &[
        "The formula counts the data list's keys and references and the fast lanes. Ours has values beside the \
         keys and a proxy lane of keys and references, which the formula leaves out; \"times its own formula\" \
         counts them. References are four bytes.",
        "The paper's order for dense keys is ART, binary search, CSSL, and then the trees; for sparse ones binary \
         search, CSSL5, ART, and then the trees. Here the trees take the least but for binary search: they are loaded \
         full and have a value of four bytes beside each key, and no link, while each node of CSSL's list has one, \
         and its proxies hold each key once more. The binary search has no values. ART is weighed on the heap, as it \
         asks for memory.",
        "The paper says that CSSL2 takes 1.8 times the memory of CSSL5. Its formula gives 1.23 with four-byte keys \
         and eight-byte references. About 1.8 comes out if each proxy has room for five keys and references \
         whatever p is; that is a guess. Ours, whose proxies are as long as p says, come near the formula.",
    ],
    body: Body::Timed { x_label: "keys", rows: figure_11 },
};

fn figure_11(scale: Scale) -> Result<Vec<Row>> {
    let count = KEYS.at(scale);
    let mut rows = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(count);
        let at = Point { panel: spread.name(), x: count as f64, scale };
        let per_key = |bytes: f64| bytes / count as f64;
        let mut lists = Vec::new();
        for member in [Member::Cssl5, Member::Cssl2, Member::Cssl] {
            let options = member.options(&Options::default());
            let mut map = CsslMap::with_options(&options)?;
            map.bulk_load(&super::contestant::entries(&keys))?;
            let (bytes, lanes) = (map.memory_bytes() as f64, map.space().lanes);
            // Only the formula for the contents is claimed, so small runs are compared as well.
            let expected = space_bytes(count, options.skip, lanes, 4);
            let own = Row::new(member.name(), at.x, "times its own formula", bytes / expected);
            rows.push(native(Row::new(member.name(), at.x, UNIT, per_key(bytes)), at));
            rows.push(native(own.beside(Some(Published::About(1.0))), at));
            // The formula doesn't include the value, one of a node's three words.
            let counted = (map.space().list_bytes * 2 / 3 + map.space().lane_bytes) as f64;
            let formula = lane_space_bytes(count, options.skip, lanes, 4, 4);
            let own = Row::new(
                member.name(),
                at.x,
                "keys, links and fast lanes, times §3's formula",
                counted / formula,
            );
            rows.push(native(own.beside(Some(Published::About(1.0))), at));
            lists.push([bytes, counted, map.space().lane_bytes as f64]);
        }
        let units = ["times cssl5", "keys, links and fast lanes, times cssl5", "fast lanes, times cssl5"];
        for (which, unit) in units.into_iter().enumerate() {
            let ratio = Row::new("cssl2", at.x, unit, lists[1][which] / lists[0][which]);
            let said = (which < 2).then_some(Published::About(1.8));
            rows.push(native(ratio.beside(said), at));
        }
        for who in [Who::BinarySearch, Who::BPlus, Who::Csb, Who::BTreeMap, Who::AdaptiveRadixTree] {
            let (loaded, weighed) = weigh(|| who.load(&keys));
            let Some(loaded) = loaded? else { continue };
            // Contestants that count themselves report their size; heap allocations of the others are
            // weighed.
            let Some(bytes) = loaded.bytes().or(weighed) else { continue };
            rows.push(native(Row::new(who.name(), at.x, UNIT, per_key(bytes as f64)), at));
            let times = Row::new(who.name(), at.x, "times cssl5", bytes as f64 / lists[0][0]);
            rows.push(native(times.beside(order(who, spread)), at));
        }
    }
    rows.extend(formula(count));
    Ok(rows)
}

/// Returns the text's statement on a rival's memory, relative to CSSL5's (§5.5).
fn order(who: Who, spread: Spread) -> Option<Published> {
    match (who, spread) {
        (Who::BPlus | Who::Csb, _) => Some(Published::MoreThan(1.0)),
        (Who::BinarySearch, _) | (Who::AdaptiveRadixTree, Spread::Dense) => Some(Published::LessThan(1.0)),
        (Who::AdaptiveRadixTree, Spread::Sparse) => Some(Published::MoreThan(1.0)),
        _ => None,
    }
}

/// Returns the numbers of the paper's formula.
fn formula(count: usize) -> Vec<Row> {
    let row = |series: &str, unit: &str, ours: f64| Row {
        panel: "formula",
        on: On::Anywhere,
        ..Row::new(series, count as f64, unit, ours)
    };
    let bytes = |skip| lane_space_bytes(count, skip, PAPER_S_LANES, 4, 8) / count as f64;
    vec![
        row("cssl5", UNIT, bytes(5)),
        row("cssl2", UNIT, bytes(2)),
        row("cssl2", "times cssl5", space_ratio(count, PAPER_S_LANES)),
        row("cssl2, fixed proxies", "times cssl5", space_ratio_with_fixed_proxies(count, PAPER_S_LANES)),
    ]
}
