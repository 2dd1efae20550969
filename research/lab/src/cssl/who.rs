//! The contestants by name: CSSL in its forms, and its rivals.
//!
//! The answer to a range is the number of its keys. Rivals of the paper walk it: they find its first key
//! and read every further one up to the last, through their linked leaves or the array. Others find both
//! ends by search alone.

use super::bpt::{Bpt, Walk};
use super::contestant::{Contestant, Query, chain};
use super::eytzinger::Eytzinger;
use crate::error::{LabError, Result};
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::{Branching, NoTrace, Trace};
use latchless_core::search::Kernel;
use latchless_papers::cssl::{CsslMap, Member, Options, Pinned};
use latchless_papers::pb_tree::node::{Form, Grouped, Plain, Shaped};
use latchless_papers::pb_tree::{self, PbTree};
use std::cmp::Ordering;
use std::hint::black_box;
use std::ops::Bound::Included;
use std::sync::Arc;

/// How a CSSL is queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// The paper's way: along lane 1.
    Along,
    /// By two interleaved descents.
    Descents,
    /// The same, many together.
    Batched,
    /// The paper's way, by lanes alone: no table guesses where in lane 1 a key is.
    Unguessed,
    /// The same with the paper's nine lanes (§5), whatever number would fit a first-level cache best.
    NineLanes,
    /// The same lanes, in lookups compared key by key with a branch at each (Algorithm 1): a processor that
    /// predicts these loads lines of the next lane before it knows which one it needs.
    Branching,
}

/// The paper's number of fast lanes (§5).
pub(super) const PAPER_S_LANES: usize = 9;

/// A contestant, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Cssl(Member, Ask, Option<Kernel>),
    BinarySearch,
    /// The same with a branch at each key, and an end at the right one.
    BinarySearchBranching,
    BinarySearchBothEnds,
    EytzingerBothEnds,
    /// The B+-Tree that the paper cites, by where its walk over a range ends.
    Bpt(Walk),
    /// The B+-Tree of the pB+-Tree's family, whose nodes are searched by vectors.
    BPlus,
    /// The same, by a binary search that branches.
    BPlusBranching,
    Csb,
    CsbBranching,
    /// By a binary search without branches.
    CsbScalar,
    BTreeMap,
    AdaptiveRadixTree,
    /// The same, with a search from the root for each key of a range.
    AdaptiveRadixTreeBySearches,
}

impl Who {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cssl(Member::Cssl2, Ask::Along, None) => "cssl2",
            Self::Cssl(Member::Cssl5, Ask::Along, None) => "cssl5",
            Self::Cssl(Member::Cssl5, Ask::Along, Some(Kernel::Scalar)) => "cssl5, scalar",
            Self::Cssl(Member::Cssl5, Ask::Along, Some(Kernel::Avx2)) => "cssl5, AVX2",
            Self::Cssl(Member::Cssl5, Ask::Along, Some(Kernel::Avx512)) => "cssl5, AVX-512",
            Self::Cssl(Member::Cssl2, Ask::Along, Some(Kernel::Scalar)) => "cssl2, scalar",
            Self::Cssl(Member::Cssl2, Ask::Along, Some(Kernel::Avx2)) => "cssl2, AVX2",
            Self::Cssl(Member::Cssl2, Ask::Along, Some(Kernel::Avx512)) => "cssl2, AVX-512",
            Self::Cssl(Member::Cssl5, Ask::Descents, _) => "cssl5, two descents",
            Self::Cssl(Member::Cssl5, Ask::Batched, _) => "cssl5, batched",
            Self::Cssl(Member::Cssl, Ask::Descents, _) => "cssl in parts, two descents",
            Self::Cssl(Member::Cssl, Ask::Batched, _) => "cssl in parts, batched",
            Self::Cssl(Member::Cssl5, Ask::Unguessed, _) => "cssl5, without a guess",
            Self::Cssl(Member::Cssl2, Ask::Unguessed, _) => "cssl2, without a guess",
            Self::Cssl(Member::Cssl5, Ask::NineLanes, _) => "cssl5, nine lanes",
            Self::Cssl(Member::Cssl2, Ask::NineLanes, _) => "cssl2, nine lanes",
            Self::Cssl(Member::Cssl5, Ask::Branching, _) => "cssl5, branching",
            Self::Cssl(Member::Cssl2, Ask::Branching, _) => "cssl2, branching",
            Self::Cssl(..) => "cssl, another way",
            Self::BinarySearch => "binary search",
            Self::BinarySearchBranching => "binary search, branching",
            Self::BinarySearchBothEnds => "binary search, both ends",
            Self::EytzingerBothEnds => "Eytzinger, both ends",
            Self::Bpt(Walk::ToTheLastLeaf) => "bpt",
            Self::Bpt(Walk::ToItsEnd) => "bpt, stopping",
            Self::BPlus => "b-plus",
            Self::BPlusBranching => "b-plus, branching",
            Self::Csb => "csb",
            Self::CsbBranching => "csb, branching",
            Self::CsbScalar => "csb, scalar",
            Self::BTreeMap => "btreemap",
            Self::AdaptiveRadixTree => "ART (blart)",
            Self::AdaptiveRadixTreeBySearches => "ART (blart), a search for each key",
        }
    }

    /// Loaded with ascending keys; nothing if this build is without it.
    ///
    /// # Errors
    /// When memory is refused.
    pub(super) fn load(self, keys: &[u32]) -> Result<Option<Box<dyn Contestant>>> {
        self.load_beside(keys, &mut Loaded::default())
    }

    /// Loads a contestant; structures that take part in several ways are loaded once. See [`Who::load`].
    ///
    /// # Errors
    /// When memory is refused.
    pub(super) fn load_beside(
        self,
        keys: &[u32],
        loaded: &mut Loaded,
    ) -> Result<Option<Box<dyn Contestant>>> {
        Ok(Some(match self {
            Self::Cssl(member, ask, kernel) => {
                let guess = !matches!(ask, Ask::Unguessed | Ask::NineLanes | Ask::Branching);
                let lanes = matches!(ask, Ask::NineLanes | Ask::Branching).then_some(PAPER_S_LANES);
                let options = Options { kernel, guess, lanes, ..Options::default() };
                Box::new(Lists { map: loaded.list(member.options(&options), keys)?, ask })
            }
            Self::BinarySearch => loaded.sorted(keys, true, false),
            Self::BinarySearchBranching => loaded.sorted(keys, true, true),
            Self::BinarySearchBothEnds => loaded.sorted(keys, false, false),
            Self::EytzingerBothEnds => Box::new(Eytzinger::new(keys)),
            Self::Bpt(walk) => Box::new(Cited { tree: loaded.bpt(keys), walk }),
            Self::BPlus => tree(pb_tree::Member::BPlus, None, keys)?,
            Self::BPlusBranching => branching::<Plain<1>>(keys)?,
            Self::Csb => tree(pb_tree::Member::Csb, None, keys)?,
            Self::CsbBranching => branching::<Grouped<1>>(keys)?,
            Self::CsbScalar => tree(pb_tree::Member::Csb, Some(Kernel::Scalar), keys)?,
            Self::BTreeMap => return published("btreemap", keys),
            Self::AdaptiveRadixTree => return published("blart", keys),
            Self::AdaptiveRadixTreeBySearches => {
                let index = compiled("blart")?;
                return index
                    .map(|index| loaded_with(index, keys).map(|index| Box::new(Searched(Walked(index))) as _))
                    .transpose();
            }
        }))
    }
}

/// Structures that contestants share, of one set of keys.
#[derive(Default)]
pub(super) struct Loaded {
    lists: Vec<(Options, Arc<CsslMap<u32, u32>>)>,
    array: Option<Arc<[u32]>>,
    bpt: Option<Arc<Bpt<NoTrace>>>,
}

impl Loaded {
    fn list(&mut self, options: Options, keys: &[u32]) -> Result<Arc<CsslMap<u32, u32>>> {
        if let Some((_, list)) = self.lists.iter().find(|(of, _)| *of == options) {
            return Ok(Arc::clone(list));
        }
        let mut map = CsslMap::with_options(&options)?;
        map.bulk_load(&entries(keys))?;
        let list = Arc::new(map);
        self.lists.push((options, Arc::clone(&list)));
        Ok(list)
    }

    fn sorted(&mut self, keys: &[u32], walks: bool, branches: bool) -> Box<dyn Contestant> {
        let keys = Arc::clone(self.array.get_or_insert_with(|| keys.into()));
        Box::new(Sorted { keys, walks, branches })
    }

    fn bpt(&mut self, keys: &[u32]) -> Arc<Bpt<NoTrace>> {
        Arc::clone(self.bpt.get_or_insert_with(|| Arc::new(Bpt::new(&entries(keys)))))
    }
}

/// Keys with their ranks as values.
pub(super) fn entries(keys: &[u32]) -> Vec<(u32, u32)> {
    keys.iter().zip(0..).map(|(&key, rank)| (key, rank)).collect()
}

fn tree(member: pb_tree::Member, kernel: Option<Kernel>, keys: &[u32]) -> Result<Box<dyn Contestant>> {
    walked(pb_tree::build(member, &pb_tree::Options { kernel, ..Default::default() })?, keys)
}

/// A tree of the pB+-Tree's family whose nodes are searched with branches.
fn branching<F: Form>(keys: &[u32]) -> Result<Box<dyn Contestant>> {
    walked(Box::new(PbTree::<u32, u32, Shaped<u32, F, Branching>>::new()?), keys)
}

fn published(name: &'static str, keys: &[u32]) -> Result<Option<Box<dyn Contestant>>> {
    compiled(name)?.map(|index| walked(index, keys)).transpose()
}

/// A published index, empty; nothing if this build is without it.
fn compiled(name: &'static str) -> Result<Option<Box<dyn OrderedIndex<u32, u32>>>> {
    match latchless_rivals::build(name) {
        Ok(index) => Ok(Some(index)),
        Err(latchless_rivals::Missing::NotCompiled) => Ok(None),
        Err(latchless_rivals::Missing::Unknown) => {
            Err(LabError::Wrong { index: name, what: "no such rival".to_string() })
        }
    }
}

fn walked(index: Box<dyn OrderedIndex<u32, u32>>, keys: &[u32]) -> Result<Box<dyn Contestant>> {
    Ok(Box::new(Walked(loaded_with(index, keys)?)))
}

fn loaded_with(
    mut index: Box<dyn OrderedIndex<u32, u32>>,
    keys: &[u32],
) -> Result<Box<dyn OrderedIndex<u32, u32>>> {
    index.bulk_load(&entries(keys), FillFactor::FULL)?;
    Ok(index)
}

struct Lists {
    map: Arc<CsslMap<u32, u32>>,
    ask: Ask,
}

impl Lists {
    fn range(&self, pinned: &Pinned<'_, u32, u32>, (low, high): (u32, u32)) -> u64 {
        let run = match self.ask {
            Ask::Along | Ask::Unguessed | Ask::NineLanes | Ask::Branching => {
                pinned.range_along_lane(low..=high)
            }
            Ask::Descents | Ask::Batched => pinned.range(low..=high),
        };
        run.map_or(0, |run| run.count()) as u64
    }

    fn lookups_one_by_one<T: Trace>(&self, keys: &[u32]) -> u64 {
        let pinned = self.map.pin_as::<T>();
        keys.iter().map(|&key| u64::from(pinned.get(key).is_some())).sum()
    }

    fn lookups_in_a_chain<T: Trace>(&self, keys: &[u32]) -> u64 {
        let pinned = self.map.pin_as::<T>();
        chain(keys, |key| pinned.get(key))
    }
}

impl Contestant for Lists {
    fn lookups(&self, keys: &[u32]) -> u64 {
        match self.ask {
            Ask::Batched => {
                let mut answers = vec![None; keys.len()];
                let answered = self.map.pin().get_many(keys, &mut answers);
                debug_assert!(answered.is_ok(), "as many answers as keys");
                answers.iter().flatten().count() as u64
            }
            Ask::Branching => self.lookups_one_by_one::<Branching>(keys),
            _ => self.lookups_one_by_one::<NoTrace>(keys),
        }
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        match self.ask {
            Ask::Branching => self.lookups_in_a_chain::<Branching>(keys),
            _ => self.lookups_in_a_chain::<NoTrace>(keys),
        }
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let pinned = self.map.pin();
        if self.ask == Ask::Batched {
            let mut found = 0;
            pinned.range_many(ranges, |_, run| found += run.count());
            return found as u64;
        }
        ranges.iter().map(|&range| self.range(&pinned, range)).sum()
    }

    fn mixed(&self, queries: &[Query]) -> u64 {
        let pinned = self.map.pin();
        let found = |query: &Query| match *query {
            Query::Lookup(key) => u64::from(pinned.get(key).is_some()),
            Query::Range(range) => self.range(&pinned, range),
        };
        queries.iter().map(found).sum()
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.map.memory_bytes())
    }
}

/// A sorted array.
struct Sorted {
    keys: Arc<[u32]>,
    walks: bool,
    branches: bool,
}

impl Sorted {
    #[inline(always)]
    fn rank(&self, key: u32) -> Option<u32> {
        let rank = if self.branches { self.branching(key) } else { self.keys.binary_search(&key).ok() };
        rank.map(|rank| rank as u32)
    }

    /// The black box keeps the compiler from computing the next step without a branch.
    #[inline(always)]
    fn branching(&self, key: u32) -> Option<usize> {
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.keys[middle].cmp(&key) {
                Ordering::Less => low = black_box(middle + 1),
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl Contestant for Sorted {
    fn lookups(&self, keys: &[u32]) -> u64 {
        keys.iter().map(|&key| u64::from(self.rank(key).is_some())).sum()
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        chain(keys, |key| self.rank(key))
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut found = 0;
        for &(low, high) in ranges {
            let start = self.keys.partition_point(|&key| key < low);
            let mut end = start;
            if self.walks {
                while end < self.keys.len() && self.keys[end] <= high {
                    end += 1;
                }
            } else {
                end = self.keys.partition_point(|&key| key <= high);
            }
            found += end - start;
        }
        found as u64
    }

    fn bytes(&self) -> Option<usize> {
        Some(size_of_val(&self.keys[..]))
    }
}

/// The cited B+-Tree.
struct Cited {
    tree: Arc<Bpt<NoTrace>>,
    walk: Walk,
}

impl Contestant for Cited {
    fn lookups(&self, keys: &[u32]) -> u64 {
        keys.iter().map(|&key| u64::from(self.tree.get(key).is_some())).sum()
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        chain(keys, |key| self.tree.get(key))
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut found = 0;
        for &(low, high) in ranges {
            self.tree.range(low, high, self.walk, |_, _| found += 1);
        }
        found
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.tree.bytes().0)
    }

    fn requested_bytes(&self) -> Option<usize> {
        Some(self.tree.bytes().1)
    }
}

/// An index whose ranges are walked.
struct Walked(Box<dyn OrderedIndex<u32, u32>>);

impl Contestant for Walked {
    fn lookups(&self, keys: &[u32]) -> u64 {
        keys.iter().map(|&key| u64::from(self.0.get(key).is_some())).sum()
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        chain(keys, |key| self.0.get(key))
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut found = 0;
        for &(low, high) in ranges {
            let span = (Included(low), Included(high));
            let walked = self.0.for_each_chunk(span, usize::MAX, &mut |keys, _| found += keys.len() as u64);
            debug_assert!(walked.is_ok(), "the range is in order");
        }
        found
    }

    fn bytes(&self) -> Option<usize> {
        self.0.memory_bytes()
    }
}

/// An index whose ranges are a search for each key: for the first one from the range's start on, then for the
/// first one after that, and so on.
struct Searched(Walked);

impl Contestant for Searched {
    fn lookups(&self, keys: &[u32]) -> u64 {
        self.0.lookups(keys)
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        self.0.chained(keys)
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut found = 0;
        for &(low, high) in ranges {
            let mut from = Some(low);
            while let Some(low) = from {
                let mut first = None;
                let searched = self.0.0.for_each_chunk((Included(low), Included(high)), 1, &mut |keys, _| {
                    first = keys.first().copied()
                });
                debug_assert!(searched.is_ok(), "the range is in order");
                found += u64::from(first.is_some());
                from = first.and_then(|first| first.checked_add(1)).filter(|&low| low <= high);
            }
        }
        found
    }

    fn bytes(&self) -> Option<usize> {
        self.0.bytes()
    }
}
