//! A copy of all intervals, for many questions.

use super::answers::{Answer, Answers};
use super::source::{Entry, Key, Source, TAIL, Tree};
use super::span::{Position, Span};
use crate::index::reserve;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{ControlFlow, Range, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;

/// Questions that are put in order together.
const PIECE: usize = 1 << 20;

/// The lanes of a group in a copy.
struct Group {
    /// The bytes of its key.
    key: Box<[u8]>,
    /// A bit for each lane that it has.
    used: u64,
    /// Which lanes of the copy they are.
    lanes: Range<usize>,
}

/// The intervals of an [`IntervalIndex`](super::IntervalIndex) at one time, for batches of questions:
/// [`IntervalIndex::view`](super::IntervalIndex::view) returns it.
///
/// It is a copy in order, with 24 bytes for an interval, and has none of the index's later changes. A batch
/// on the index that is large makes such a copy each time; a view is for many batches.
///
/// ```
/// let sessions = latchless::intervals::IntervalIndex::<u32, u64>::new()?;
/// sessions.insert(&7, 1000..2000, 1)?;
/// let view = sessions.view()?;
/// sessions.insert(&7, 1500..1600, 2)?;
/// assert_eq!(view.count_many(&[(7, 1500..=1500), (8, 1500..=1500)])?, [1, 0]);
/// assert_eq!(view.len(), 1);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct IntervalView<G: BytesKey, P: Position> {
    entries: Vec<Entry>,
    lanes: Vec<Range<usize>>,
    groups: Vec<Group>,
    of: PhantomData<fn() -> (G, P)>,
}

impl<G: BytesKey, P: Position> IntervalView<G, P> {
    /// Copies the intervals of a tree, which are in the order of their groups and lanes.
    pub(super) fn of(tree: &Tree<G>) -> Result<Self> {
        let mut view = Self { entries: Vec::new(), lanes: Vec::new(), groups: Vec::new(), of: PhantomData };
        reserve(&mut view.entries, tree.len())?;
        let mut done = Ok(());
        let _ = tree.scan::<Key<G>>(.., |key, ()| {
            done = view.push(key);
            if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        done.map(|()| view)
    }

    fn push(&mut self, key: &[u8]) -> Result<()> {
        let (group, tail) = key.split_at(key.len() - TAIL);
        let (bit, place) = (1 << tail[0], self.entries.len());
        if self.groups.last().is_none_or(|last| *last.key != *group) {
            reserve(&mut self.groups, 1)?;
            let lanes = self.lanes.len()..self.lanes.len();
            self.groups.push(Group { key: group.into(), used: 0, lanes });
        }
        let group = self.groups.last_mut().expect("it has just been pushed");
        if group.used & bit == 0 {
            reserve(&mut self.lanes, 1)?;
            self.lanes.push(place..place);
            group.used |= bit;
            group.lanes.end += 1;
        }
        reserve(&mut self.entries, 1)?;
        self.entries.push(Entry::of_key(key));
        self.lanes.last_mut().expect("a group has a lane").end = place + 1;
        Ok(())
    }

    /// The place of a group.
    fn find<Q: BytesKey<G> + ?Sized>(&self, group: &Q) -> Option<usize> {
        (group, 0u8, 0u64, 0u64, 0u64).with_bytes(|key| {
            let group = &key[..key.len() - TAIL];
            self.groups.binary_search_by(|other| (*other.key).cmp(group)).ok()
        })
    }

    /// The number of intervals.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no interval.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes that the view takes, without those of the groups' keys.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.entries[..]) + size_of_val(&self.lanes[..]) + size_of_val(&self.groups[..])
    }
}

impl<G: BytesKey, P: Position> Answers<G, P> for IntervalView<G, P> {
    fn each<Q: BytesKey<G>, R: RangeBounds<P>>(
        &self,
        asked: &[(Q, R)],
        answer: &mut Answer<'_, G, Q>,
    ) -> Result<()> {
        let mut order = Vec::new();
        reserve(&mut order, asked.len().min(PIECE))?;
        let mut near: Vec<Cell<usize>> = Vec::new();
        reserve(&mut near, self.lanes.len())?;
        near.resize(self.lanes.len(), Cell::new(0));
        for (start, piece) in (0..).step_by(PIECE).zip(asked.chunks(PIECE)) {
            order.clear();
            for (at, (group, range)) in piece.iter().enumerate() {
                if let Some(span) = Span::of(range)
                    && let Some(group) = self.find(group)
                {
                    order.push((group as u32, span.first, at as u32));
                }
            }
            // In order, each lane is gone through once.
            order.sort_unstable();
            for &(group, _, at) in &order {
                let (Group { used, lanes, .. }, at) = (&self.groups[group as usize], at as usize);
                let source = Source::Copied {
                    entries: &self.entries,
                    used: *used,
                    lanes: &self.lanes[lanes.clone()],
                    near: &near[lanes.clone()],
                };
                let span = Span::of(&piece[at].1).expect("an empty one has no place in the order");
                answer(start + at, span, &source)?;
            }
        }
        Ok(())
    }
}

impl<G: BytesKey, P: Position> fmt::Debug for IntervalView<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalView").field("len", &self.len()).finish_non_exhaustive()
    }
}
