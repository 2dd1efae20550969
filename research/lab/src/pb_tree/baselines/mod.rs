//! The earlier trees: those that Rao and Ross compared (CSS-Tree, T-Tree), which the pB+-Tree paper cites
//! as the record (§1.1, §5); and its authors' next ones, fractal pB+-Trees for disk pages. All in the form
//! that searches need. None is an index of this project.
//!
//! They are loaded once, and measured by the same model as the others. They search as their authors
//! describe: the first two with nothing prefetched.

mod cache_first;
mod css_tree;
mod disk_pages;
mod frames;
mod lines;
mod page_tree;
mod prefix_tree;
mod t_tree;

use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Published, Scale};
use crate::model::{Branches, Change, Depends, Listener, Machine, Parameters};
use crate::on::On;
use crate::pb_tree::subjects::{B_PLUS, CSB, P8};
use crate::row::Row;
use crate::runner::{Keys, median};
use crate::subject::Subject;
use cache_first::CacheFirst;
use css_tree::CssTree;
use latchless::FillFactor;
use latchless_core::mem::touch::{NoTrace, Traced, listen};
use page_tree::{OneArray, PageTree, TwoLevels};
use prefix_tree::PrefixTree;
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
    body: Body::Driven { x_label: "keys in the index", rows: baselines },
};

pub(super) const FRACTAL: Experiment = Experiment {
    name: "fractal",
    title: "What the authors did next: searches in disk pages of 16 KB, beside p8",
    remarks: &[
        "Chen, Gibbons, Mowry and Valentin, Fractal Prefetching B+-Trees (SIGMOD 2002): \"disk-first\" has a small \
         pB+-Tree in every page, \"cache-first\" is a pB+-Tree whose nodes are put into pages so that parents are \
         beside children. Both are compared with \"disk\", whose pages are sorted arrays. Their abstract has a \
         factor of 1.1 to 1.8 for searches, which stands beside the warm points, \"without significant degradation \
         of I/O performance\": \"pages/search\" counts the pages that a search reads.",
        "Pages have 16 KB. The disk-first page has a root of three lines above leaves of eight, the cache-first \
         node eleven lines. All are loaded full. p8 has no pages: it is what its searches cost where there is no \
         disk.",
    ],
    body: Body::Driven { x_label: "keys in the index", rows: fractal },
};

pub(super) const BUFFERS: Experiment = Experiment {
    name: "buffers",
    title: "Fractal trees behind a buffer manager: each page is looked up in a hash table and pinned",
    remarks: &[
        "`fractal` has no buffer manager between pages, whose time would be the same for all trees and so make \
         their differences smaller. Here one is: a call, a line of a hash table and a line of pins a page. \
         \"branches guessed\": on a processor that guesses every other branch of a search rightly, and so has lines of \
         a sorted page side by side.",
    ],
    body: Body::Driven { x_label: "keys in the index", rows: buffers },
};

pub(super) const PREFIXES: Experiment = Experiment {
    name: "prefixes",
    title: "§5, key compression: searches in a p8 that stores what a node's keys begin with once, beside p8",
    remarks: &[
        "The paper names key compression as what wider nodes go together with, and measures none. A node of \
         \"p8-prefix\" whose keys lie within 2^16 of its first one has sixteen bits a key, and 84 entries instead \
         of 63. Keys are spread evenly over 32 bits, so leaves are compressed from between five and six million \
         keys on, and inner nodes never are.",
    ],
    body: Body::Driven { x_label: "keys in the index", rows: prefixes },
};

/// A number about a tree, and its unit.
type More = Option<(f64, &'static str)>;

/// Trees that are raced, the baseline first, and the published numbers of each.
struct Field {
    series: &'static [&'static str],
    published: fn(&str, &str) -> Option<Published>,
    sizes: &'static [usize],
    /// Further numbers of a tree.
    more: fn(&str, &Keys, &[u32]) -> More,
    /// The series on the model, and whether the caches are emptied before each search.
    modelled: &'static [(&'static str, bool)],
    /// The difference from the paper's machine.
    change: Change,
}

/// On the paper's machine.
const USUAL: &[(&str, bool)] = &[("warm", false), ("cold", true)];

/// Searches, after a load.
type Search = Box<dyn Fn(u32) -> Option<u32>>;

fn make(series: &str, on: On, keys: &Keys) -> Result<Search> {
    let modelled = on == On::Model;
    let index_of = |subject: Subject| -> Result<Search> {
        let mut index = if modelled { subject.make_modelled()? } else { subject.make_native()? };
        index.bulk_load(keys.entries(), FillFactor::FULL)?;
        Ok(Box::new(move |key| index.get(key)))
    };
    Ok(match (series, modelled) {
        ("t-tree", true) => searched(TTree::<Traced>::new(keys.entries()), TTree::get),
        ("t-tree", false) => searched(TTree::<NoTrace>::new(keys.entries()), TTree::get),
        ("css", true) => searched(CssTree::<Traced>::new(keys.entries()), CssTree::get),
        ("css", false) => searched(CssTree::<NoTrace>::new(keys.entries()), CssTree::get),
        ("disk", true) => searched(PageTree::<Traced, OneArray>::new(keys.entries()), PageTree::get),
        ("disk", false) => searched(PageTree::<NoTrace, OneArray>::new(keys.entries()), PageTree::get),
        ("disk-first", true) => searched(PageTree::<Traced, TwoLevels>::new(keys.entries()), PageTree::get),
        ("disk-first", false) => searched(PageTree::<NoTrace, TwoLevels>::new(keys.entries()), PageTree::get),
        ("disk, buffered", _) => {
            searched(PageTree::<Traced, OneArray>::new(keys.entries()).buffered(), PageTree::get)
        }
        ("disk-first, buffered", _) => {
            searched(PageTree::<Traced, TwoLevels>::new(keys.entries()).buffered(), PageTree::get)
        }
        ("cache-first", true) => searched(CacheFirst::<Traced>::new(keys.entries()), CacheFirst::get),
        ("cache-first", false) => searched(CacheFirst::<NoTrace>::new(keys.entries()), CacheFirst::get),
        ("p8-prefix", true) => searched(PrefixTree::<Traced>::new(keys.entries()), PrefixTree::get),
        ("p8-prefix", false) => searched(PrefixTree::<NoTrace>::new(keys.entries()), PrefixTree::get),
        ("csb", _) => index_of(CSB)?,
        ("p8", _) => index_of(P8)?,
        _ => index_of(B_PLUS)?,
    })
}

fn searched<Tree: 'static>(tree: Tree, get: fn(&Tree, u32) -> Option<u32>) -> Search {
    Box::new(move |key| get(&tree, key))
}

/// Pages that a search reads on average, in trees of pages.
fn mean_pages(series: &str, keys: &Keys, wanted: &[u32]) -> More {
    let entries = keys.entries();
    let pages_of: Box<dyn Fn(u32) -> usize> = match series {
        "disk" => {
            let tree = PageTree::<NoTrace, OneArray>::new(entries);
            Box::new(move |key| tree.pages_of(key))
        }
        "disk-first" => {
            let tree = PageTree::<NoTrace, TwoLevels>::new(entries);
            Box::new(move |key| tree.pages_of(key))
        }
        "cache-first" => {
            let tree = CacheFirst::<NoTrace>::new(entries);
            Box::new(move |key| tree.pages_of(key))
        }
        _ => return None,
    };
    let pages = wanted.iter().map(|&key| pages_of(key)).sum::<usize>();
    Some((pages as f64 / wanted.len().max(1) as f64, "pages/search"))
}

fn baselines(on: On, scale: Scale) -> Result<Vec<Row>> {
    const FIELD: Field = Field {
        series: &["b-plus", "t-tree", "css", "csb", "p8"],
        published: |_, series| match series {
            "t-tree" => Some(Published::LessThan(1.0)),
            "css" => Some(Published::MoreThan(1.0)),
            _ => None,
        },
        sizes: &[10_000, 100_000, 1_000_000, 10_000_000],
        more: |_, _, _| None,
        modelled: USUAL,
        change: Change::Nothing,
    };
    searches(on, scale, &FIELD)
}

fn fractal(on: On, scale: Scale) -> Result<Vec<Row>> {
    const FIELD: Field = Field {
        series: &["disk", "disk-first", "cache-first", "p8"],
        published: |panel, series| match (panel, series) {
            ("warm", "disk-first" | "cache-first") => Some(Published::Within(1.1, 1.8)),
            _ => None,
        },
        sizes: &[100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
        more: mean_pages,
        modelled: USUAL,
        change: Change::Nothing,
    };
    searches(on, scale, &FIELD)
}

fn buffers(on: On, scale: Scale) -> Result<Vec<Row>> {
    const FIELD: Field = Field {
        series: &["disk, buffered", "disk-first, buffered", "disk", "disk-first"],
        published: |_, _| None,
        sizes: &[100_000, 1_000_000, 10_000_000],
        more: |_, _, _| None,
        modelled: USUAL,
        change: Change::Nothing,
    };
    const GUESSED: Field = Field {
        modelled: &[("warm, branches guessed", false)],
        change: Change::Reordered(Branches::HalfGuessed, Depends::OnLastLine, 64),
        ..FIELD
    };
    if on != On::Model {
        return Ok(Vec::new());
    }
    Ok([searches(on, scale, &FIELD)?, searches(on, scale, &GUESSED)?].concat())
}

fn prefixes(on: On, scale: Scale) -> Result<Vec<Row>> {
    const FIELD: Field = Field {
        series: &["p8", "p8-prefix"],
        published: |_, _| None,
        sizes: &[1_000_000, 3_000_000, 6_000_000, 10_000_000, 30_000_000],
        more: |series, keys, _| {
            let bytes = || PrefixTree::<NoTrace>::new(keys.entries()).size().1 as f64;
            (series == "p8-prefix").then(|| (bytes() / keys.entries().len() as f64, "bytes/key"))
        },
        modelled: USUAL,
        change: Change::Nothing,
    };
    searches(on, scale, &FIELD)
}

fn searches(on: On, scale: Scale, field: &Field) -> Result<Vec<Row>> {
    let (sizes, count): (&[usize], usize) = match scale {
        Scale::Paper => (field.sizes, 100_000),
        Scale::Small => (&[10_000, 100_000], 1_000),
    };
    let series = field.series;
    let unit = &format!("speedup over {}", series[0]);
    let panels: &[(&'static str, bool)] = if on == On::Model { field.modelled } else { &USUAL[..1] };
    let mut rows = Vec::new();
    for &size in sizes {
        let keys = Keys::new(size);
        let wanted = keys.present(count);
        let trees = series.iter().map(|series| make(series, on, &keys)).collect::<Result<Vec<_>>>()?;
        for &(panel, cold) in panels {
            let costs = match on {
                On::Model => series
                    .iter()
                    .zip(&trees)
                    .map(|(series, tree)| modelled((series, tree), &wanted, &keys, (field.change, cold)))
                    .collect::<Result<Vec<_>>>()?,
                _ => natively(series, &trees, &wanted, &keys)?,
            };
            for (&series, &cost) in series.iter().zip(&costs) {
                let published = (field.published)(panel, series);
                let row = Row::new(series, size as f64, unit, costs[0] / cost).beside(published);
                let unit = if on == On::Model { "cycles/search" } else { "ns/search" };
                rows.push(Row { panel, on, cost: Some(cost), cost_unit: unit.to_string(), ..row });
            }
        }
        for &series in series {
            if let Some((number, unit)) = (field.more)(series, &keys, &wanted) {
                rows.push(Row { panel: "form", on, ..Row::new(series, size as f64, unit, number) });
            }
        }
    }
    Ok(rows)
}

/// Cycles of a search on the paper's machine.
fn modelled(
    (series, search): (&'static str, &Search),
    wanted: &[u32],
    keys: &Keys,
    (change, cold): (Change, bool),
) -> Result<f64> {
    let machine = Listener::new(Machine::new(Parameters::PB_TREE.changed(change))?);
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

/// Returns nanoseconds of a search in each tree: the trees take turns, round by round; the median round of
/// each counts.
fn natively(series: &[&'static str], trees: &[Search], wanted: &[u32], keys: &Keys) -> Result<Vec<f64>> {
    const ROUNDS: usize = 7;
    let mut times = vec![Vec::new(); trees.len()];
    for _ in 0..ROUNDS {
        for ((series, search), times) in series.iter().zip(trees).zip(&mut times) {
            let start = Instant::now();
            let right = wanted.iter().filter(|&&key| is_right(search(key), key, keys)).count();
            times.push(start.elapsed().as_nanos() as f64 / wanted.len() as f64);
            all_right(series, right, wanted.len())?;
        }
    }
    Ok(times.iter_mut().map(|times| median(times)).collect())
}

fn is_right(found: Option<u32>, key: u32, keys: &Keys) -> bool {
    found.is_some_and(|rank| keys.spaced().at(rank) == key)
}

fn all_right(index: &'static str, right: usize, of: usize) -> Result<()> {
    if right == of {
        return Ok(());
    }
    Err(LabError::Wrong { index, what: format!("{} of {of} searches", of - right) })
}

#[cfg(test)]
mod tests {
    /// Searches for every key, and for absent ones between them, in trees of many sizes.
    pub(super) fn finds_every_key_and_no_other(
        tree: impl Fn(&[(u32, u32)]) -> Box<dyn Fn(u32) -> Option<u32>>,
    ) {
        for len in (0..70).chain([87, 88, 1_953, 1_954, 2_001, 2_047, 2_048, 6_090, 6_091, 200_000]) {
            let entries: Vec<(u32, u32)> = (0..len).map(|key| (10 * key + 5, key)).collect();
            let get = tree(&entries);
            for key in (0..len).step_by(if len > 100 { 7 } else { 1 }) {
                assert_eq!(get(10 * key + 5), Some(key), "{key} of {len}");
                assert_eq!((get(10 * key + 4), get(10 * key + 6)), (None, None), "beside {key} of {len}");
            }
            assert_eq!((get(0), get(u32::MAX)), (None, None), "{len}");
        }
        assert_eq!(tree(&[(u32::MAX, 3)])(u32::MAX), Some(3));
    }
}
