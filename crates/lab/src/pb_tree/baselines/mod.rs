//! The trees that were there before: what Rao and Ross compared (CSS-Tree, T-Tree), which the pB+-Tree paper
//! cites as the record (§1.1, §5), in the form that searches need. Neither is an index of this project.
//!
//! Both are loaded once, and looked at by the same model as the others. They search as their authors say,
//! with nothing prefetched.

mod css_tree;
mod lines;
mod t_tree;

use super::{B_PLUS, CSB, P8};
use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Published, Scale};
use crate::model::{Listener, Machine, Parameters};
use crate::row::{On, Row};
use crate::runner::{Keys, median};
use crate::subject::Subject;
use css_tree::CssTree;
use latchless::FillFactor;
use latchless_core::mem::touch::{NoTrace, Traced, listen};
use std::time::Instant;
use t_tree::TTree;

pub(super) const BASELINES: Experiment = Experiment {
    name: "baselines",
    title: "§1.1, §5: searches in a T-Tree and a CSS-Tree beside the paper's trees",
    remarks: &[
        "Of T-Trees the paper says that B+-Trees outperform them on modern processors, citing Rao and Ross; of \
         CSS-Trees that they have fewer levels and misses than B+-Trees, because a node's children are found by \
         arithmetic. It measures neither.",
        "The T-Tree's nodes are one line: two children, a count, six keys and six tuple identifiers. Its searches \
         compare with one key a node (the improved search). The CSS-Tree is a full one over a sorted array \
         of pairs, eight a line; its nodes have sixteen keys.",
    ],
    body: Body::Driven { x_label: "keys in the index", rows: searches },
};

/// Searches, after a load.
type Search = Box<dyn Fn(u32) -> Option<u32>>;

/// The trees by name, the one that others are compared with first.
const SERIES: [&str; 5] = ["b-plus", "t-tree", "css", "csb", "p8"];

fn make(series: &str, on: On, keys: &Keys) -> Result<Search> {
    let modelled = on == On::Model;
    let index_of = |subject: Subject| -> Result<Search> {
        let mut index = if modelled { subject.make_modelled()? } else { subject.make_native()? };
        index.bulk_load(keys.entries(), FillFactor::FULL)?;
        Ok(Box::new(move |key| index.get(key)))
    };
    match series {
        "t-tree" if modelled => {
            let tree = TTree::<Traced>::new(keys.entries());
            Ok(Box::new(move |key| tree.get(key)))
        }
        "t-tree" => {
            let tree = TTree::<NoTrace>::new(keys.entries());
            Ok(Box::new(move |key| tree.get(key)))
        }
        "css" if modelled => {
            let tree = CssTree::<Traced>::new(keys.entries());
            Ok(Box::new(move |key| tree.get(key)))
        }
        "css" => {
            let tree = CssTree::<NoTrace>::new(keys.entries());
            Ok(Box::new(move |key| tree.get(key)))
        }
        "csb" => index_of(CSB),
        "p8" => index_of(P8),
        _ => index_of(B_PLUS),
    }
}

fn searches(on: On, scale: Scale) -> Result<Vec<Row>> {
    let (sizes, count): (&[usize], usize) = match scale {
        Scale::Paper => (&[10_000, 100_000, 1_000_000, 10_000_000], 100_000),
        Scale::Small => (&[10_000, 100_000], 1_000),
    };
    let panels: &[(&'static str, bool)] =
        if on == On::Model { &[("warm", false), ("cold", true)] } else { &[("warm", false)] };
    let mut rows = Vec::new();
    for &size in sizes {
        let keys = Keys::new(size);
        let wanted = keys.present(count);
        let trees = SERIES.iter().map(|series| make(series, on, &keys)).collect::<Result<Vec<_>>>()?;
        for &(panel, cold) in panels {
            let costs = match on {
                On::Model => SERIES
                    .into_iter()
                    .zip(&trees)
                    .map(|(series, tree)| modelled(series, tree, &wanted, &keys, cold))
                    .collect::<Result<Vec<_>>>()?,
                _ => natively(&trees, &wanted, &keys)?,
            };
            for (series, &cost) in SERIES.into_iter().zip(&costs) {
                let published = match series {
                    "t-tree" => Some(Published::LessThan(1.0)),
                    "css" => Some(Published::MoreThan(1.0)),
                    _ => None,
                };
                let row =
                    Row::new(series, size as f64, "speedup over b-plus", costs[0] / cost).beside(published);
                let unit = if on == On::Model { "cycles/search" } else { "ns/search" };
                rows.push(Row { panel, on, cost: Some(cost), cost_unit: unit.to_string(), ..row });
            }
        }
    }
    Ok(rows)
}

/// Cycles of a search on the paper's machine.
fn modelled(series: &'static str, search: &Search, wanted: &[u32], keys: &Keys, cold: bool) -> Result<f64> {
    let machine = Listener::new(Machine::new(Parameters::PB_TREE)?);
    machine.with(Machine::start);
    let right = listen(Box::new(machine.clone()), || {
        let mut right = 0;
        for &key in wanted {
            if cold {
                machine.with(Machine::clear_caches);
            }
            right += usize::from(is_right(search(key), key, keys));
        }
        right
    });
    all_right(series, right, wanted.len())?;
    Ok(machine.with(|machine| machine.cycles(machine.counters().slots())) / wanted.len() as f64)
}

/// Nanoseconds of a search in each tree: the trees in turn, round by round, and of each the median round.
fn natively(trees: &[Search], wanted: &[u32], keys: &Keys) -> Result<Vec<f64>> {
    const ROUNDS: usize = 7;
    let mut times = vec![Vec::new(); trees.len()];
    for _ in 0..ROUNDS {
        for ((series, search), times) in SERIES.into_iter().zip(trees).zip(&mut times) {
            let start = Instant::now();
            let right = wanted.iter().filter(|&&key| is_right(search(key), key, keys)).count();
            times.push(start.elapsed().as_nanos() as f64 / wanted.len() as f64);
            all_right(series, right, wanted.len())?;
        }
    }
    Ok(times.iter_mut().map(|times| median(times)).collect())
}

fn is_right(found: Option<u32>, key: u32, keys: &Keys) -> bool {
    found.is_some_and(|rank| keys.entries()[rank as usize].0 == key)
}

fn all_right(index: &'static str, right: usize, of: usize) -> Result<()> {
    if right == of {
        return Ok(());
    }
    Err(LabError::Wrong { index, what: format!("{} of {of} searches", of - right) })
}
