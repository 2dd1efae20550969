//! §3.2, Figure 2: how often inserts update nodes, by level.

use super::analysis::update_probability;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::row::Row;
use crate::runner::key_of;
use latchless_papers::olfit::{BPlus, LockCoupling, OlfitMap, Options, Quiet};

/// Lock coupling's nodes have the fan-out that the paper draws the figure for: 15, leaves and inner nodes
/// alike (Table 1). How nodes split is the same under every scheme.
type Tree = OlfitMap<u32, u32, Quiet<u32, BPlus<LockCoupling>>>;

/// Keys that are there, and keys that are then inserted.
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
