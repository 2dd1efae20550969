//! The contestants: PI with its options, the typical skip list, maps with latches.

use super::traffic::{Keys, NODES};
use crate::error::{LabError, Result};
use crate::on::On;
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::{NoTrace, Trace};
use latchless_core::search::Kernel;
use latchless_papers::olfit;
use latchless_papers::pi::batch::tune::QuerySetSize;
use latchless_papers::pi::mem::topology::Topology;
use latchless_papers::pi::{EntryKeys, Options, Pi, Prefetch, Query, SkipList};

/// An index that serves batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contestant {
    /// PI.
    Pi(Form),
    /// A typical skip list for each thread, which has a range of keys to itself.
    SkipList {
        /// Whether its queries are sorted first, as PI's are.
        sorted: bool,
    },
    /// `Index`: threads share it, each with a part of the batch that it serves by its own batches.
    Flagship,
    /// OLFIT's B+-Tree: threads share it, one query after the other.
    BLink,
    /// The same with keys and values of 64 bits, as in Masstree. Only for point queries.
    BLinkWide,
    /// A published map.
    Rival(&'static str),
}

/// The active optimizations of PI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// One index per node, or one for all.
    pub numa: bool,
    /// Queries that go down together.
    pub group: usize,
    /// What they prefetch.
    pub prefetch: Prefetch,
    /// Whether the assignment of threads follows the load.
    pub self_adjusted: bool,
    /// Whether nodes and entries are on huge pages.
    pub huge_pages: bool,
    /// Keys of an entry.
    pub entry_keys: EntryKeys,
    /// Whether entries are searched without vectors.
    pub scalar: bool,
    /// Segments under a part of the index layer, if it is in parts.
    pub part_segments: Option<usize>,
    /// Whether the index layer is rebuilt.
    pub rebuilt: bool,
    /// Room in segments, in percent; `None`: PI's default.
    pub room_percent: Option<usize>,
}

impl Form {
    /// The paper's: four keys an entry, which alone is prefetched (§4.3.4, §5.1).
    pub const PAPER: Self = Self {
        numa: true,
        group: 32,
        prefetch: Prefetch::Entries,
        self_adjusted: true,
        huge_pages: true,
        entry_keys: EntryKeys::Four,
        scalar: false,
        part_segments: None,
        rebuilt: true,
        room_percent: None,
    };

    /// That of [`Options::default`]: eight keys an entry, and the list is prefetched as well.
    pub const DEFAULTS: Self =
        Self { prefetch: Prefetch::EntriesAndList, entry_keys: EntryKeys::Eight, ..Self::PAPER };
}

impl Contestant {
    /// PI as in the paper.
    pub const PI: Self = Self::Pi(Form::PAPER);
    /// PI with this library's defaults.
    pub const DEFAULTS: Self = Self::Pi(Form::DEFAULTS);

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi(form) if form == Form::PAPER => "pi",
            Self::Pi(form) if form == Form::DEFAULTS => "pi, defaults",
            Self::Pi(Form { part_segments: Some(_), .. }) => "pi, layer in parts",
            Self::Pi(Form { rebuilt: false, room_percent: Some(_), .. }) => {
                "pi, never rebuilt, room for twice as many"
            }
            Self::Pi(Form { rebuilt: false, .. }) => "pi, never rebuilt",
            Self::Pi(Form { self_adjusted: false, .. }) => "pi, same threads a node",
            Self::Pi(Form { huge_pages: false, prefetch: Prefetch::Entries, .. }) => "pi, small pages",
            Self::Pi(Form { prefetch: Prefetch::EntriesAndList, entry_keys, .. }) => match entry_keys {
                EntryKeys::Four => "pi, M = 4",
                EntryKeys::Eight => "pi, M = 8",
                EntryKeys::Sixteen => "pi, M = 16",
            },
            Self::Pi(_) => "pi, in part",
            Self::SkipList { .. } => "skip-list",
            Self::Flagship => "index",
            // Natively with the prefetch of whole nodes, which Masstree has as well.
            Self::BLink => "b-ol",
            Self::BLinkWide => "b-ol, 64 bits",
            Self::Rival(name) => name,
        }
    }

    /// Masstree's place: natively Masstree, if the build has it; on the model, and else, OLFIT's B+-Tree with
    /// keys and values of 64 bits, which Masstree's have as well.
    pub fn masstree(on: On) -> Self {
        let published = Self::rivals().into_iter().find(|one| one.name() == "masstree");
        published.filter(|_| on == On::Native).unwrap_or(Self::BLinkWide)
    }

    /// The published maps that this build has, of those that the paper's kind of work suits.
    pub fn rivals() -> Vec<Self> {
        let wanted = ["masstree", "crossbeam-skiplist", "artmap"];
        let compiled = latchless_rivals::entries().iter().filter(|entry| entry.compiled);
        compiled.filter(|entry| wanted.contains(&entry.name)).map(|entry| Self::Rival(entry.name)).collect()
    }

    pub(super) fn is_placed(self) -> bool {
        matches!(self, Self::Pi(Form { numa: true, .. }))
    }
}

/// A contestant with its keys.
pub(super) enum Loaded<T: Trace> {
    /// One index for all threads.
    Pi(Box<Pi<u32, u32, T>>),
    /// One for each thread.
    Lists(Lists<T>),
    /// One with updates through `&self`.
    Shared(Box<dyn OrderedIndex<u32, u32>>),
    /// The same with wide keys and values.
    Wide(Box<dyn OrderedIndex<u64, u64>>),
    /// One of those with its own batches.
    Batched(Box<dyn OrderedIndex<u32, u32>>),
}

/// A skip list for each thread.
pub(super) struct Lists<T: Trace> {
    pub(super) lists: Vec<SkipList<u32, u32, T>>,
    /// The first key of each.
    pub(super) borders: Vec<u32>,
    /// Whether queries are sorted first.
    pub(super) sorted: bool,
}

/// Returns the options of PI.
pub(super) fn options_of(form: Form, threads: usize, seats_a_node: usize, batch: QuerySetSize) -> Options {
    // Fewer threads than nodes: keys are divided among as many nodes (§6.3).
    let nodes = if form.numa { NODES.min(threads) } else { 1 };
    let usual = Options::default();
    Options {
        kernel: form.scalar.then_some(Kernel::Scalar),
        threads,
        topology: Some(Topology::synthetic(nodes, seats_a_node * NODES / nodes)),
        pin: false,
        self_adjusted: form.self_adjusted,
        batch,
        group: form.group,
        prefetch: form.prefetch,
        huge_pages: form.huge_pages,
        entry_keys: form.entry_keys,
        part_segments: form.part_segments,
        room_percent: form.room_percent.unwrap_or(usual.room_percent),
        rebuild_percent: if form.rebuilt { usual.rebuild_percent } else { usize::MAX },
        ..usual
    }
}

pub(super) fn lists<T: Trace>(keys: Keys, threads: usize, sorted: bool) -> latchless::Result<Loaded<T>> {
    let mut lists = Vec::with_capacity(threads);
    let mut borders = Vec::with_capacity(threads);
    let entries = keys.entries();
    for part in 0..threads {
        let own = keys.count() * part / threads..keys.count() * (part + 1) / threads;
        borders.push(if part == 0 { 0 } else { keys.key(own.start) });
        let mut list = SkipList::with_options(&Options::default());
        OrderedIndex::bulk_load(&mut list, &entries[own], FillFactor::FULL)?;
        lists.push(list);
    }
    Ok(Loaded::Lists(Lists { lists, borders, sorted }))
}

/// A contestant for this machine, with its keys.
///
/// # Errors
/// When it refuses.
pub(super) fn load_native(
    contestant: Contestant,
    keys: Keys,
    threads: usize,
    batch: QuerySetSize,
) -> Result<Loaded<NoTrace>> {
    Ok(match contestant {
        Contestant::Pi(form) => {
            // This machine has one node, unless the ablation requests more.
            let options = Options { topology: None, pin: true, ..options_of(form, threads, threads, batch) };
            let mut index = Pi::with_options(&options)?;
            index.bulk_load(&keys.entries())?;
            Loaded::Pi(Box::new(index))
        }
        Contestant::SkipList { sorted } => lists(keys, threads, sorted)?,
        Contestant::Flagship => {
            let mut index = Box::new(latchless::Index::<u32, u32>::new()?);
            OrderedIndex::bulk_load(&mut *index, &keys.entries(), FillFactor::default())?;
            Loaded::Batched(index)
        }
        Contestant::BLink => {
            let mut index = olfit::build(olfit::Member::BPlusOlPrefetched, &olfit::Options::default())?;
            index.bulk_load(&keys.entries(), FillFactor::new(0.7)?)?;
            Loaded::Shared(index)
        }
        Contestant::BLinkWide => {
            let mut index = olfit::build(olfit::Member::BPlusOlPrefetched, &olfit::Options::default())?;
            index.bulk_load(&wide(keys), FillFactor::new(0.7)?)?;
            Loaded::Wide(index)
        }
        Contestant::Rival(name) => {
            let missing = || LabError::Wrong { index: name, what: "this build was made without it".into() };
            let mut index = latchless_rivals::build(name).map_err(|_| missing())?;
            index.bulk_load(&keys.entries(), FillFactor::FULL)?;
            Loaded::Shared(index)
        }
    })
}

/// Serves one query of an index that threads share.
///
/// # Errors
/// When it refuses, or isn't made for many threads.
pub(super) fn serve_shared(index: &dyn OrderedIndex<u32, u32>, query: Query<u32, u32>) -> Result<usize> {
    Ok(match query {
        Query::Search(key) => usize::from(index.get(key).is_some()),
        Query::Insert(key, value) => {
            let shared = index.as_concurrent().ok_or(LabError::NotConcurrent { index: "a contestant" })?;
            1 + usize::from(shared.insert_shared(key, value)?.is_some())
        }
        Query::Delete(key) => {
            index.as_concurrent().map_or(0, |shared| shared.remove_shared(key).map_or(0, |_| 1))
        }
        Query::Range { low, limit, .. } | Query::From { low, limit } => {
            let high = if let Query::Range { high, .. } = query { high } else { u32::MAX };
            let span = (core::ops::Bound::Included(low), core::ops::Bound::Included(high));
            let mut found = Vec::new();
            index.for_each_chunk(span, limit, &mut |keys, values| {
                found.extend(keys.iter().zip(values).map(|(&key, &value)| (key, value)))
            })?;
            found.len()
        }
    })
}

/// Keys and ranks as wide ones.
pub(super) fn wide(keys: Keys) -> Vec<(u64, u64)> {
    keys.entries().into_iter().map(|(key, value)| (u64::from(key), u64::from(value))).collect()
}

/// Serves one point query of an index with wide keys that threads share.
///
/// # Errors
/// If the index refuses, isn't concurrent, or the query isn't a point query.
pub(super) fn serve_wide(index: &dyn OrderedIndex<u64, u64>, query: Query<u32, u32>) -> Result<usize> {
    Ok(match query {
        Query::Search(key) => usize::from(index.get(u64::from(key)).is_some()),
        Query::Insert(key, value) => {
            let shared = index.as_concurrent().ok_or(LabError::NotConcurrent { index: "a contestant" })?;
            1 + usize::from(shared.insert_shared(u64::from(key), u64::from(value))?.is_some())
        }
        _ => {
            return Err(LabError::Wrong {
                index: "b-ol, 64 bits",
                what: "it serves only point queries".into(),
            });
        }
    })
}

/// Serves a part of a batch of an index that threads share and that has its own batches: they are used if
/// all queries are of one kind.
///
/// # Errors
/// When it refuses, or isn't made for many threads.
pub(super) fn serve_together(index: &dyn OrderedIndex<u32, u32>, part: &[Query<u32, u32>]) -> Result<usize> {
    if let Some(keys) = all_searches(part) {
        let mut answers = vec![None; keys.len()];
        index.get_many(&keys, &mut answers)?;
        return Ok(answers.iter().flatten().count());
    }
    if let Some(entries) = all_inserts(part) {
        let shared = index.as_concurrent().ok_or(LabError::NotConcurrent { index: "a contestant" })?;
        let mut replaced = vec![None; entries.len()];
        shared.insert_many_shared(&entries, &mut replaced)?;
        return Ok(replaced.len());
    }
    part.iter().map(|&query| serve_shared(index, query)).sum()
}

/// The keys of queries that are all searches.
pub(super) fn all_searches(queries: &[Query<u32, u32>]) -> Option<Vec<u32>> {
    let searched = |query: &Query<u32, u32>| if let Query::Search(key) = query { Some(*key) } else { None };
    queries.iter().map(searched).collect()
}

/// The entries of queries that are all inserts.
pub(super) fn all_inserts(queries: &[Query<u32, u32>]) -> Option<Vec<(u32, u32)>> {
    let inserted = |query: &Query<u32, u32>| {
        if let Query::Insert(key, value) = query { Some((*key, *value)) } else { None }
    };
    queries.iter().map(inserted).collect()
}

/// Serves one query of a list that belongs to one thread.
///
/// # Errors
/// When it refuses.
pub(super) fn serve_alone<T: Trace>(
    list: &mut SkipList<u32, u32, T>,
    query: Query<u32, u32>,
) -> Result<usize> {
    match query {
        Query::Insert(key, value) => Ok(1 + usize::from(list.insert(key, value)?.is_some())),
        query => serve_shared(list, query),
    }
}

impl<T: Trace> Lists<T> {
    /// Returns each list's queries, sorted if required.
    pub(super) fn parts(&self, queries: &[Query<u32, u32>]) -> Vec<Vec<Query<u32, u32>>> {
        let mut parts = vec![Vec::new(); self.borders.len()];
        for &query in queries {
            parts[self.borders.partition_point(|&border| border <= key_of(query)).max(1) - 1].push(query);
        }
        if self.sorted {
            parts.iter_mut().for_each(|part| part.sort_by_key(|&query| key_of(query)));
        }
        parts
    }
}

fn key_of(query: Query<u32, u32>) -> u32 {
    let (Query::Search(key)
    | Query::Insert(key, _)
    | Query::Delete(key)
    | Query::Range { low: key, .. }
    | Query::From { low: key, .. }) = query;
    key
}
