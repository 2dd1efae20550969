//! Figure 11: memory, and the formula of §3.

use super::data::Spread;
use super::figures::BPT;
use super::race::{Point, native};
use super::who::{PAPER_S_LANES, Who, entries};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use latchless_measure::counting::weigh;
use latchless_papers::cssl::{
    CsslMap, Member, Options, authors_space_bytes, lane_space_bytes, space_bytes, space_ratio,
};

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
const UNIT: &str = "bytes a key";
const RIVALS: [Who; 6] =
    [Who::BinarySearch, BPT, Who::BPlus, Who::Csb, Who::BTreeMap, Who::AdaptiveRadixTree];

pub(super) const FIG_11: Experiment = Experiment {
    name: "fig-11",
    title: "Memory of 16M 32-bit keys, and §3's formula",
    remarks: &[
        "The formula counts the data list's keys and references and the fast lanes. Ours has values beside the \
         keys and a proxy lane of keys and references, which the formula leaves out; \"times its own formula\" \
         counts them. References are four bytes.",
        "The paper's order for dense keys is ART, binary search, CSSL, and then the trees; for sparse ones binary \
         search, CSSL5, ART, and then the trees. `bpt` is the B+-Tree that the paper cites. Its bytes are those of \
         glibc's allocator, by which a block takes the bytes that were requested and eight more, in steps of sixteen, \
         32 at least: 160 a key, of which 92 were requested (\"requested bytes a key\"). The resident memory of 1M \
         keys agrees (160.1). `csb` and `b-plus` are loaded full. The binary search has no values. \
         ART is weighed on the heap by its requests for memory.",
        "The paper says that CSSL2 takes 1.8 times the memory of CSSL5. That is the ratio of the layout of its authors' \
         program (flippingbits/cssl, `skiplist.h`): a `ProxyNode` has room for `MAX_SKIP` = 5 keys and pointers \
         whatever p is, so it takes 72 bytes, and a `DataNode` 16. Rows \"in the authors' layout\" are these \
         sizes times the proxies, nodes and lanes of ours with nine lanes. Ours, whose proxies are as long as p says, \
         come near the formula, which gives 1.23.",
    ],
    body: Body::Timed { x_label: "keys", rows: figure_11 },
};

fn figure_11(scale: Scale) -> Result<Vec<Row>> {
    let count = KEYS.at(scale);
    let mut rows = Vec::new();
    for spread in Spread::BOTH {
        let keys = spread.keys(count);
        let at = Point { panel: spread.name(), x: count as f64, scale };
        let mut sizes = lists(&keys, at, &mut rows)?;
        rows.extend(in_the_authors_layout(&keys, at)?);
        for who in RIVALS {
            let (loaded, weighed) = weigh(|| who.load(&keys));
            let Some(loaded) = loaded? else { continue };
            // Contestants that count themselves report their size; heap allocations of the others are
            // weighed.
            let Some(bytes) = loaded.bytes().or(weighed) else { continue };
            rows.push(native(Row::new(who.name(), at.x, UNIT, bytes as f64 / at.x), at));
            if let Some(requested) = loaded.requested_bytes() {
                let row = Row::new(who.name(), at.x, "requested bytes a key", requested as f64 / at.x);
                rows.push(native(row, at));
            }
            sizes.push((who.name(), bytes as f64));
        }
        rows.extend(order(&sizes, spread, at));
    }
    rows.extend(formula(count));
    Ok(rows)
}

/// Returns the bytes of each form of CSSL, by name.
fn lists(keys: &[u32], at: Point, rows: &mut Vec<Row>) -> Result<Vec<(&'static str, f64)>> {
    let count = keys.len();
    let mut sizes = Vec::new();
    let mut parts = Vec::new();
    for member in [Member::Cssl5, Member::Cssl2, Member::Cssl] {
        let options = member.options(&Options::default());
        let mut map = CsslMap::with_options(&options)?;
        map.bulk_load(&entries(keys))?;
        let (bytes, space) = (map.memory_bytes() as f64, map.space());
        let row =
            |unit: &str, ours: f64, said| native(Row::new(member.name(), at.x, unit, ours).beside(said), at);
        rows.push(row(UNIT, bytes / count as f64, None));
        let own = Some(Published::About(1.0));
        let expected = space_bytes(count, options.skip, space.lanes, 4);
        rows.push(row("times its own formula", bytes / expected, own));
        // The formula doesn't include the value, one of a node's three words.
        let counted = (space.list_bytes * 2 / 3 + space.lane_bytes) as f64;
        let formula = lane_space_bytes(count, options.skip, space.lanes, 4, 4);
        rows.push(row("keys, links and fast lanes, times §3's formula", counted / formula, own));
        sizes.push((member.name(), bytes));
        parts.push([bytes, counted, space.lane_bytes as f64]);
    }
    let units = ["times cssl5", "keys, links and fast lanes, times cssl5", "fast lanes, times cssl5"];
    for (which, unit) in units.into_iter().enumerate() {
        let ratio = Row::new("cssl2", at.x, unit, parts[1][which] / parts[0][which]);
        rows.push(native(ratio.beside((which == 0).then_some(Published::About(1.8))), at));
    }
    Ok(sizes)
}

/// Returns the bytes of lists with nine lanes if their parts had the sizes of those of the authors' program.
fn in_the_authors_layout(keys: &[u32], at: Point) -> Result<Vec<Row>> {
    let bytes_of = |member: Member| -> Result<f64> {
        let options = Options { lanes: Some(PAPER_S_LANES), guess: false, ..Options::default() };
        let mut map = CsslMap::with_options(&member.options(&options))?;
        map.bulk_load(&entries(keys))?;
        let space = map.space();
        Ok(authors_space_bytes(keys.len(), space.proxies, space.lane_bytes) as f64)
    };
    let [five, two] = [bytes_of(Member::Cssl5)?, bytes_of(Member::Cssl2)?];
    let row = |series: &str, unit: &str, ours: f64| Row::new(series, at.x, unit, ours);
    const NAMES: [&str; 2] = ["cssl5, in the authors' layout", "cssl2, in the authors' layout"];
    let ratio = row(NAMES[1], "times cssl5, in the authors' layout", two / five);
    let rows = [
        row(NAMES[0], UNIT, five / at.x),
        row(NAMES[1], UNIT, two / at.x),
        ratio.beside(Some(Published::About(1.8))),
    ];
    Ok(rows.map(|row| native(row, at)).to_vec())
}

/// Returns the text's order (§5.5): "for a dense key distribution, ART requires the least space followed by
/// BS and CSSL", "for a sparse key distribution, BS achieves the best result followed by CSSL5 and ART";
/// both times B+ and CSB+ are the worst.
fn order(sizes: &[(&'static str, f64)], spread: Spread, at: Point) -> Vec<Row> {
    let (search, art) = (Who::BinarySearch.name(), Who::AdaptiveRadixTree.name());
    let cssl5 = Member::Cssl5.name();
    let least_first = match spread {
        Spread::Dense => [art, search, cssl5],
        Spread::Sparse => [search, cssl5, art],
    };
    let bytes = |name: &str| sizes.iter().find(|(one, _)| *one == name).map(|(_, bytes)| *bytes);
    let more = |name: &'static str, unit: String, ratio: f64| {
        native(Row::new(name, at.x, unit, ratio).beside(Some(Published::MoreThan(1.0))), at)
    };
    let mut rows = Vec::new();
    for pair in least_first.windows(2) {
        if let (Some(less), Some(greater)) = (bytes(pair[0]), bytes(pair[1])) {
            rows.push(more(pair[1], format!("times {}", pair[0]), greater / less));
        }
    }
    let others = least_first.into_iter().chain([Member::Cssl2.name()]);
    let greatest = others.filter_map(bytes).fold(0.0, f64::max);
    for tree in [BPT.name(), Who::Csb.name()] {
        let ratio = bytes(tree).map(|bytes| bytes / greatest);
        rows.extend(ratio.map(|ratio| more(tree, "times the greatest but for trees".to_string(), ratio)));
    }
    rows
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
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_layout_has_the_published_ratio_and_ours_has_another() {
        let rows = figure_11(Scale::Small).unwrap();
        for panel in ["dense", "sparse"] {
            let ours = |series: &str, unit: &str| {
                let is = |row: &&Row| row.panel == panel && row.series == series && row.unit == unit;
                rows.iter().find(is).unwrap().ours
            };
            let authors = ours("cssl2, in the authors' layout", "times cssl5, in the authors' layout");
            assert!((authors - 1.8).abs() < 0.05, "{authors}");
            assert!((ours("cssl2", "times cssl5") - 1.15).abs() < 0.05);
            assert!((ours("bpt", UNIT) - 160.0).abs() < 0.5);
            assert!((ours("bpt", "requested bytes a key") - 92.0).abs() < 0.5);
            assert!(ours("bpt", "times the greatest but for trees") > 1.0);
        }
    }
}
