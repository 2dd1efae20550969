//! Building an index layer: bottom-up, in O(n), by disjoint parts whose levels are joined level by level
//! (§3.1, §4.1).
//!
//! Two passes over the tall nodes. The first counts, for each part, its keys of each level, which
//! determines the place of each part's entries of each level, so that the second can fill them in, each
//! part independently. A part's entries of a level begin with a fresh entry, so no entry is shared.

use super::source::Source;
use super::{Entry, LEVELS_MAX, Routed};
use crate::pi::crew::{Run, ScopedTask};
use crate::pi::mem::paged_array::PagedArray;
use crate::pi::mem::placement::Placement;
use crate::pi::mem::slabs::SlabAllocator;
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;

/// The heights of nodes: a node of height h is in the storage layer and in h − 1 levels above. A quarter
/// of the nodes of a level is in the next one (P = 0.25, §5.1).
///
/// A height is drawn by scrambling the key with a seed, so it is the same whichever thread inserts the
/// key, and whenever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heights {
    seed: u64,
}

impl Heights {
    /// Heights by this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The height of a key, from 1 to [`LEVELS_MAX`] + 1.
    #[inline(always)]
    pub fn of<B: Bits>(self, key: B) -> usize {
        if key == B::MAX {
            return 1;
        }
        // The finalizer of splitmix64.
        let mut bits = key.to_u64().wrapping_add(self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        // Two zeros in four of sixteen cases: a quarter rises.
        1 + (bits.trailing_zeros() as usize / 2).min(LEVELS_MAX)
    }
}

/// The parameters of a build.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoutedOptions {
    /// The data node of keys that are smaller than all others.
    pub head: u32,
    /// The placement of the entries.
    pub paper: Placement,
}

/// The counts of the first pass in a part. Level 1 is the lowest; index 0 of the arrays is unused.
#[derive(Clone)]
struct Counted<B> {
    /// Keys of each level.
    keys: [usize; LEVELS_MAX + 1],
    /// The first key of each level.
    first: [Option<B>; LEVELS_MAX + 1],
    /// For the last key of each level, its position in the level below; in level 1 its data node.
    last_below: [u32; LEVELS_MAX + 1],
}

impl<B: Bits> Counted<B> {
    fn of(source: &impl Source<B>, part: usize) -> Self {
        let mut counted = Self {
            keys: [0; LEVELS_MAX + 1],
            first: [None; LEVELS_MAX + 1],
            last_below: [0; LEVELS_MAX + 1],
        };
        source.each(part, |key, height, anchor| {
            let mut below = anchor;
            for level in 1..height.min(LEVELS_MAX + 1) {
                counted.first[level].get_or_insert(key);
                counted.last_below[level] = below;
                below = counted.keys[level] as u32;
                counted.keys[level] += 1;
            }
        });
        counted
    }
}

/// The places of everything.
struct Plan<B> {
    counted: Vec<Counted<B>>,
    /// Levels that are built.
    levels: usize,
    /// The place of each part's entries of each level, by part, then by level.
    places: Vec<[Range<u32>; LEVELS_MAX + 1]>,
    /// The start of each level.
    starts: [u32; LEVELS_MAX + 1],
    entries: usize,
    head: u32,
}

impl<B: Bits> Plan<B> {
    fn new(counted: Vec<Counted<B>>, m: usize, head: u32) -> Self {
        let keys_of = |level: usize| counted.iter().map(|part| part.keys[level]).sum::<usize>();
        // A level that fits an entry is the topmost: those above would be passed at the same price.
        let levels = match keys_of(1) {
            0 => 0,
            _ => (1..LEVELS_MAX).find(|&level| keys_of(level) <= m).unwrap_or(LEVELS_MAX),
        };
        let mut places = vec![[const { 0..0 }; LEVELS_MAX + 1]; counted.len()];
        let (mut starts, mut at) = ([0; LEVELS_MAX + 1], 0u32);
        for level in (1..=levels).rev() {
            starts[level] = at;
            for (places, part) in places.iter_mut().zip(&counted) {
                let entries = part.keys[level].div_ceil(m) as u32;
                places[level] = at..at + entries;
                at += entries;
            }
            // The entry that a level ends with.
            at += 1;
        }
        Self { counted, levels, places, starts, entries: at as usize, head }
    }

    fn level(&self, level: usize) -> Range<u32> {
        let end = if level == 1 { self.entries as u32 } else { self.starts[level - 1] };
        self.starts[level]..end
    }

    /// Returns the reference below the last key of a level before the part.
    fn carried(&self, part: usize, level: usize, m: usize) -> u32 {
        let earlier = (0..part).rev().find(|&part| self.counted[part].keys[level] > 0);
        match (earlier, level) {
            (Some(part), 1) => self.counted[part].last_below[1],
            (Some(part), _) => {
                self.places[part][level - 1].start + self.counted[part].last_below[level] / m as u32
            }
            (None, 1) => self.head,
            (None, _) => self.starts[level - 1],
        }
    }

    /// The first key of a level after the part.
    fn next_key(&self, part: usize, level: usize) -> B {
        let behind = self.counted[part + 1..].iter().find_map(|counted| counted.first[level]);
        behind.unwrap_or(B::MAX)
    }
}

impl<B: Bits, const M: usize> Routed<B, M> {
    /// Builds the index layer over these nodes. `run` executes as many pieces of work as there are parts,
    /// in parallel or one after the other. O(n).
    ///
    /// # Errors
    /// When memory is refused.
    pub fn build(source: &impl Source<B>, options: RoutedOptions, run: Run<'_>) -> Result<Self> {
        let parts = source.parts();
        let memory = |len, empty| PagedArray::filled_in_parts(len, empty, options.paper, (parts, run));
        Self::build_in(source, options.head, run, memory)
    }

    /// The index layer over nodes of one part, in memory that this allocator cuts. Keys that are smaller than
    /// all others lead to the data node `head`.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn build_cut(source: &impl Source<B>, head: u32, allocator: &mut SlabAllocator) -> Result<Self> {
        let run = |jobs: Vec<ScopedTask<'_>>| jobs.into_iter().for_each(|job| job());
        Self::build_in(source, head, &run, |len, empty| PagedArray::cut(allocator, len, empty))
    }

    fn build_in(
        source: &impl Source<B>,
        head: u32,
        run: Run<'_>,
        memory: impl FnOnce(usize, Entry<B, M>) -> Result<PagedArray<Entry<B, M>>>,
    ) -> Result<Self> {
        let parts = source.parts();
        let mut counted: Vec<Option<Counted<B>>> = vec![None; parts];
        let count =
            |(part, slot): (usize, &'_ mut Option<Counted<B>>)| *slot = Some(Counted::of(source, part));
        run(counted.iter_mut().enumerate().map(|it| Box::new(move || count(it)) as ScopedTask<'_>).collect());
        let plan = Plan::new(counted.into_iter().flatten().collect(), M, head);

        let empty = Entry { keys: [B::MAX; M], routes: [0; M] };
        let mut entries = memory(plan.entries, empty)?;
        for level in 1..=plan.levels {
            entries[plan.level(level).end as usize - 1].routes[0] = plan.carried(parts, level, M);
        }
        let fill = |part: usize, own: PartLevels<'_, B, M>| fill_part(source, &plan, part, own);
        let owned = share_out(&mut entries, &plan);
        let jobs = owned
            .into_iter()
            .enumerate()
            .map(|(part, own)| Box::new(move || fill(part, own)) as ScopedTask<'_>);
        run(jobs.collect());
        let keys = plan.counted.iter().map(|part| part.keys[1]).sum();
        let levels = (1..=plan.levels).rev().map(|level| plan.level(level)).collect();
        Ok(Self { entries, levels, head, keys })
    }
}

/// A part's entries of each level.
type PartLevels<'a, B, const M: usize> = [&'a mut [Entry<B, M>]; LEVELS_MAX + 1];

/// Cuts the entries into what each part fills in.
fn share_out<'a, B: Bits, const M: usize>(
    entries: &'a mut [Entry<B, M>],
    plan: &Plan<B>,
) -> Vec<PartLevels<'a, B, M>> {
    let mut shared: Vec<PartLevels<'a, B, M>> = plan.counted.iter().map(|_| Default::default()).collect();
    let mut rest = entries;
    for level in (1..=plan.levels).rev() {
        for (own, places) in shared.iter_mut().zip(&plan.places) {
            (own[level], rest) = rest.split_at_mut(places[level].len());
        }
        (_, rest) = rest.split_at_mut(1);
    }
    shared
}

/// The second pass over a part.
fn fill_part<B: Bits, const M: usize>(
    source: &impl Source<B>,
    plan: &Plan<B>,
    part: usize,
    mut own: PartLevels<'_, B, M>,
) {
    for (level, entries) in own.iter_mut().enumerate().take(plan.levels + 1).skip(1) {
        if let Some(first) = entries.first_mut() {
            first.routes[0] = plan.carried(part, level, M);
        }
    }
    let mut filled = [0usize; LEVELS_MAX + 1];
    let starts: [u32; LEVELS_MAX + 1] = core::array::from_fn(|level| plan.places[part][level].start);
    source.each(part, |key, height, anchor| {
        let mut below = anchor;
        for level in 1..height.min(plan.levels + 1) {
            let (entries, at) = (&mut *own[level], filled[level]);
            entries[at / M].keys[at % M] = key;
            // A thread that passes this key and not the next one continues at `below`.
            if let Some(entry) = entries.get_mut((at + 1) / M) {
                entry.routes[(at + 1) % M] = below;
            }
            below = starts[level] + (at / M) as u32;
            filled[level] = at + 1;
        }
    });
    for (level, entries) in own.iter_mut().enumerate().take(plan.levels + 1).skip(1) {
        let unused = filled[level].next_multiple_of(M) - filled[level];
        if let Some(last) = entries.last_mut() {
            last.keys[M - unused..].fill(plan.next_key(part, level));
        }
    }
}
