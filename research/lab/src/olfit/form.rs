//! The trees' form: how often inserts update nodes, by level (§3.2, Figure 2); §6's sizes; Table 1.

use super::analysis::update_probability;
use super::subjects;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::Row;
use crate::runner::key_of;
use latchless_papers::olfit::{
    BPlus, CsbPlus, Family, LockCoupling, Olfit, OlfitMap, OneLatch, Options, Quiet, VersionedNodes,
    VersionedTree,
};

/// Lock coupling's nodes have the fan-out that the paper draws the figure for: 15, leaves and inner nodes
/// alike (Table 1). How nodes split is the same under every scheme.
type Tree = OlfitMap<u32, u32, Quiet<u32, BPlus<LockCoupling>>>;

/// The number of loaded keys, and of keys that are inserted afterwards.
const KEYS: Scaled<(u32, u32)> = Scaled::new((10_000_000, 1_000_000), (100_000, 10_000));

pub(super) const FIG_2: Experiment = Experiment {
    name: "fig-2",
    title: "Eq. 2: how likely an insert updates a node, by level, the root's being 1",
    remarks: &[
        "An insert updates a node above the leaves when it splits one below it. Near the root that is rare: \
         at level 1 less than one of a million inserts. So what agrees with the equation is a tenth more or \
         less, or three standard deviations of so rare an event where that is more.",
    ],
    body: Body::Computed { x_label: "level", rows: figure_2 },
};

fn figure_2(scale: Scale) -> Result<Vec<Row>> {
    const UNIT: &str = "probability of update, percent";
    let (before, new) = KEYS.at(scale);
    let tree = Tree::with_options(&Options::default())?;
    let insert = |entries: core::ops::RangeInclusive<u32>| -> Result<()> {
        for entry in entries {
            tree.insert(key_of(entry), entry)?;
        }
        Ok(())
    };
    insert(1..=before)?;
    let splits_before = tree.splits_by_level();
    insert(before + 1..=before + new)?;
    let splits = tree.splits_by_level();
    let (_, fanout) = tree.fanouts();
    let height = tree.stats().levels;
    let splits_of = |above_leaves: usize| {
        let of = |splits: &[u64]| splits.get(above_leaves).copied().unwrap_or(0);
        of(&splits) - of(&splits_before)
    };
    let mut rows = Vec::new();
    for level in 1..=height {
        let expected = 100.0 * update_probability(fanout, height, level);
        let measured = match height - level {
            0 => 100.0,
            above_leaves => 100.0 * splits_of(above_leaves - 1) as f64 / f64::from(new),
        };
        rows.push(Row::new("Eq. (2)", level as f64, UNIT, expected));
        let count = f64::from(new) * expected / 100.0;
        let spread = (expected / 10.0).max(100.0 * 3.0 * count.sqrt() / f64::from(new));
        let published = Published::Within((expected - spread).max(0.0), expected + spread);
        rows.push(Row::new("measured", level as f64, UNIT, measured).beside(Some(published)));
    }
    Ok(rows)
}

/// A tree of one scheme, of 4-byte keys and values.
type Of<F> = OlfitMap<u32, u32, Quiet<u32, F>>;

/// Calls `$measure::<family>` for each of the paper's ten trees, with the tree's and the scheme's name.
macro_rules! each_tree {
    ($measure:ident($($rest:expr),*)) => {
        [
            $measure::<BPlus<Olfit>>("B+-Tree", "OL", $($rest),*)?,
            $measure::<BPlus<LockCoupling>>("B+-Tree", "LC", $($rest),*)?,
            $measure::<BPlus<OneLatch>>("B+-Tree", "TL", $($rest),*)?,
            $measure::<BPlus<VersionedNodes>>("B+-Tree", "VN", $($rest),*)?,
            $measure::<BPlus<VersionedTree>>("B+-Tree", "VT", $($rest),*)?,
            $measure::<CsbPlus<Olfit>>("CSB+-Tree", "OL", $($rest),*)?,
            $measure::<CsbPlus<LockCoupling>>("CSB+-Tree", "LC", $($rest),*)?,
            $measure::<CsbPlus<OneLatch>>("CSB+-Tree", "TL", $($rest),*)?,
            $measure::<CsbPlus<VersionedNodes>>("CSB+-Tree", "VN", $($rest),*)?,
            $measure::<CsbPlus<VersionedTree>>("CSB+-Tree", "VT", $($rest),*)?,
        ]
    };
}

pub(super) const TABLE_1: Experiment = Experiment {
    name: "table-1",
    title: "Entries of a leaf and children of an inner node of 128 bytes, by scheme",
    remarks: &[],
    body: Body::Computed { x_label: "bytes of a node", rows: table_1 },
};

/// Table 1 as printed: leaf and inner node, a pair a column, the columns of the B+-Tree first.
const PRINTED: [[usize; 2]; 10] =
    [[14, 14], [15, 15], [15, 16], [15, 15], [15, 16], [14, 28], [15, 29], [15, 30], [15, 29], [15, 30]];

fn table_1(_: Scale) -> Result<Vec<Row>> {
    let trees = each_tree!(fanouts());
    let rows = trees.into_iter().zip(PRINTED).flat_map(|((panel, series, (leaf, inner)), printed)| {
        [("entries of a leaf", leaf, printed[0]), ("children of an inner node", inner, printed[1])].map(
            |(unit, ours, printed)| {
                let row = Row::new(series, subjects::NODE_BYTES as f64, unit, ours as f64);
                Row { panel, ..row.beside(Some(Published::Exactly(printed as f64))) }
            },
        )
    });
    Ok(rows.collect())
}

type Named<T> = (&'static str, &'static str, T);

fn fanouts<F: Family>(tree: &'static str, scheme: &'static str) -> Result<Named<(usize, usize)>> {
    Ok((tree, scheme, Of::<F>::new()?.fanouts()))
}

pub(super) const SIZES: Experiment = Experiment {
    name: "sizes",
    title: "§6: height, size and fill of the trees that 10M inserts build",
    remarks: &[
        "A megabyte is 2^20 bytes, of the nodes that are part of the tree. A CSB+-Tree's groups are allocated \
         whole, so they count whole.",
    ],
    body: Body::Computed { x_label: "keys", rows: sizes },
};

fn sizes(scale: Scale) -> Result<Vec<Row>> {
    let keys = subjects::KEYS.at(scale) as u32;
    let mut rows = Vec::new();
    for (panel, series, [levels, megabytes, fill]) in each_tree!(grown(keys)) {
        let (height, size) = if panel == "B+-Tree" { (7.0, 140.0) } else { (6.0, 190.0) };
        let published = |published| (scale == Scale::Paper).then_some(published);
        for (unit, ours, published) in [
            ("levels", levels, published(Published::Exactly(height))),
            ("MB", megabytes, published(Published::About(size))),
            ("share of a leaf that is filled", fill, Some(Published::About(0.7))),
        ] {
            let row = Row::new(series, f64::from(keys), unit, ours).beside(published);
            rows.push(Row { panel, ..row });
        }
    }
    Ok(rows)
}

/// Returns levels, megabytes and fill of a tree of that many random inserts.
fn grown<F: Family>(tree: &'static str, scheme: &'static str, keys: u32) -> Result<Named<[f64; 3]>> {
    let mut map = Of::<F>::with_options(&Options { duplicates: true, ..Options::default() })?;
    for entry in 1..=keys {
        map.insert_alone(key_of(entry), entry)?;
    }
    let stats = map.stats();
    let megabytes = map.live_bytes() as f64 / f64::from(1 << 20);
    Ok((tree, scheme, [stats.levels as f64, megabytes, stats.leaf_fill]))
}
