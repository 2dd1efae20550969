//! Copies of leaves: how ranges are read.
//!
//! A copy is validated as a whole, so its entries are all of one moment. Long keys are copied next to it.

use super::change::Shared;
use super::key_room::KeyRoom;
use super::long::LongStrings;
use super::node::{Image, Node, Probe, SUFFIX_ROOM, Target, Words};
use super::shape::{LONG, RECORD_MAX, SHAPE, SLOTS_MAX, Shape, WORDS, entry_words};
use super::store::Store;
use super::take::CopiedWords;
use super::text::words_of;
use crate::blink::{Levels, Side};
use crate::tree::Share;
use core::cell::Cell;
use core::ops::{Bound, ControlFlow, Range};
use latchless_core::base::index::Direction;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::refusal::boxed;
use latchless_core::search::Scalar;

/// The bounds of a range.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'k> {
    pub low: Bound<&'k [u8]>,
    pub high: Bound<&'k [u8]>,
}

impl Bounds<'_> {
    /// Everything.
    pub const ALL: Bounds<'static> = Bounds { low: Bound::Unbounded, high: Bound::Unbounded };
}

/// Words of a key that are copied at once, however many it has.
const AT_ONCE: usize = 8;
/// Room for a key after its prefix; excess copied bytes are ignored.
const TAIL: usize = SUFFIX_ROOM + 8 * AT_ONCE;
/// Room for the suffix of a record.
const RECORD_ROOM: usize = RECORD_MAX.next_multiple_of(8);
/// A node's words, followed by padding for the widest copy step.
type Padded = [u64; WORDS + AT_ONCE];
/// Bytes of strings that a spare copy keeps room for.
const SPARE_BYTES: usize = 4096;

thread_local! {
    /// A copy that this thread's next range uses: to make one costs as much as reading a leaf.
    static SPARE: Cell<Option<Box<LeafCopy>>> = const { Cell::new(None) };
}

/// How much of a leaf is copied.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extent {
    All,
    /// Of records, those from the start of the range on, which is likely to be at this share of the leaf.
    FromStart(Option<Share>),
}

impl Extent {
    /// The likely start, if not all is copied.
    fn part(self) -> Option<Option<Share>> {
        if let Self::FromStart(share) = self { Some(share) } else { None }
    }
}

/// The entries of a leaf at one moment.
#[derive(Debug)]
pub struct LeafCopy {
    image: Padded,
    /// The lengths and places of its entries, unless they are records.
    lengths: [u8; SLOTS_MAX],
    places: [u8; SLOTS_MAX],
    /// The fences: the first one's start is the prefix.
    low: KeyRoom,
    high: KeyRoom,
    has_high: bool,
    /// Long keys one after the other, and where each of them begins.
    long: Vec<u8>,
    long_starts: Vec<usize>,
    /// Buffer for the most recently requested key.
    key: KeyRoom,
    /// Entries of the range that are in the leaf.
    within: Range<usize>,
    /// Whether the range goes on after the leaf, and before it.
    goes_on: bool,
    goes_on_before: bool,
    link: NodeRef,
    /// The leaf whose lines were prefetched last.
    pub(super) asked: NodeRef,
    /// The leaf that this is a copy of, and its version, if it was read without its latch.
    source: (NodeRef, Option<Version>),
}

impl Default for LeafCopy {
    fn default() -> Self {
        Self {
            image: [0; WORDS + AT_ONCE],
            lengths: [0; SLOTS_MAX],
            places: [0; SLOTS_MAX],
            low: KeyRoom::default(),
            high: KeyRoom::default(),
            has_high: false,
            long: Vec::new(),
            long_starts: Vec::new(),
            key: KeyRoom::default(),
            within: 0..0,
            goes_on: false,
            goes_on_before: false,
            link: NodeRef::NIL,
            asked: NodeRef::NIL,
            source: (NodeRef::NIL, None),
        }
    }
}

impl LeafCopy {
    /// A copy of no leaf yet: the thread's spare one, if it has one.
    pub fn take_spare() -> Box<LeafCopy> {
        // Nested ranges, and ranges while the thread ends, allocate their own.
        SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Gives a copy to the thread, which keeps it for its next range.
    pub fn give_spare(leaf: Box<LeafCopy>) {
        let keys = [&leaf.low, &leaf.high, &leaf.key].map(KeyRoom::allocated);
        if keys.into_iter().sum::<usize>() + leaf.long.capacity() <= SPARE_BYTES {
            // Refused: the thread ends.
            let _ = SPARE.try_with(|spare| spare.set(Some(leaf)));
        }
    }

    /// Lends a copy of no leaf yet. Without memory for one, it is on the stack.
    pub fn lend<R>(serve: impl FnOnce(&mut LeafCopy) -> R) -> R {
        let (mut spare, mut own) = (SPARE.try_with(Cell::take).ok().flatten(), None);
        let leaf = match &mut spare {
            Some(leaf) => leaf,
            None => own.insert(LeafCopy::default()),
        };
        let outcome = serve(leaf);
        if let Some(leaf) = spare.or_else(|| boxed(own?).ok()) {
            Self::give_spare(leaf);
        }
        outcome
    }

    /// Copies the leaf that covers a key, or the place right before it, and finds its part of a range, in
    /// this direction `after` the key if there is one. `start`: a leaf that is likely to be the one.
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        store: &Store,
        start: NodeRef,
        target: Target<'_>,
        bounds: Bounds<'_>,
        after: Option<Direction>,
        extent: Extent,
    ) {
        let (_, node, version) = store.read_leaf_inlined(start, target, |(_, leaf)| {
            self.copy(store, leaf, bounds, extent);
            // A leaf that has taken in its neighbour has keys that were seen already.
            if let Some(direction) = after {
                let own = self.first_from(leaf.long, target.key, false);
                match direction {
                    Direction::Forward => self.within.start = self.within.start.max(own),
                    Direction::Reverse => self.within.end = self.within.end.min(own),
                }
            }
            self.within.end = self.within.end.max(self.within.start);
        });
        self.source = (node, version);
        self.write_out();
        let shape = self.shape();
        let low = self.low.bytes();
        let prefix = shape.prefix().min(low.len());
        self.key.resize(prefix + TAIL)[..prefix].copy_from_slice(&low[..prefix]);
    }

    /// Writes out the lengths and places of the leaf's entries, if it isn't one of records.
    #[inline(always)]
    fn write_out(&mut self) {
        let shape = self.shape();
        if shape.is_of_records() {
            return;
        }
        for (array, to) in [(shape.lengths(), &mut self.lengths), (shape.places(), &mut self.places)] {
            let (to, _) = to.as_chunks_mut::<8>();
            let words = &self.image[array..array + shape.slots() / 8];
            to.iter_mut().zip(words).for_each(|(to, from)| *to = from.to_le_bytes());
        }
    }

    /// The leaf's words.
    fn words(&self) -> &Image {
        words_of_node(&self.image)
    }

    /// How many entries come before a key, or before what follows it.
    fn first_from(&self, long: &LongStrings, key: &[u8], is_after: bool) -> usize {
        // A leaf that a range goes over begins after the range does, usually.
        if key <= self.low.bytes() && !is_after {
            0
        } else {
            first_from(Node { words: self.words(), long }, key, is_after)
        }
    }

    /// Copies a leaf that may be changing: the result is then garbage, but harmless.
    #[inline(always)]
    pub(super) fn copy(&mut self, store: &Store, leaf: Shared<'_>, bounds: Bounds<'_>, extent: Extent) {
        // The range's ends are searched for in the leaf if only a part of it is copied: before that part,
        // the image has words of the previous leaf.
        let part = extent.part().filter(|_| leaf.shape().is_of_records());
        let first = match (bounds.low, part) {
            (Bound::Included(key), Some(share)) => first_near(leaf, key, false, share),
            (Bound::Excluded(key), Some(share)) => first_near(leaf, key, true, share),
            _ => 0,
        };
        let image = self.image.first_chunk_mut().expect("more words than a node has");
        store.copy_node_from(leaf, first, image);
        let copy = Node { words: words_of_node(&self.image), long: leaf.long };
        let (shape, len) = (copy.shape(), copy.shape().len());
        self.long.clear();
        self.long_starts.clear();
        let has_low = self.low.read_low(copy);
        self.has_high = self.high.read_high(copy);
        self.link = copy.link();
        // Long strings belong to the same moment: they are copied before the leaf is validated.
        if copy.may_have_long(shape) {
            for at in (0..len).filter(|&at| copy.length(shape, at) == LONG) {
                self.long_starts.push(self.long.len());
                leaf.long.append(copy.long_key(shape, at), &mut self.long);
            }
        }
        let from = match bounds.low {
            _ if part.is_some() => first,
            Bound::Unbounded => 0,
            Bound::Included(key) => self.first_from(leaf.long, key, false),
            Bound::Excluded(key) => self.first_from(leaf.long, key, true),
        };
        let to = match bounds.high {
            Bound::Unbounded => len,
            Bound::Included(key) if part.is_some() => first_from(leaf, key, true),
            Bound::Excluded(key) if part.is_some() => first_from(leaf, key, false),
            Bound::Included(key) => self.first_from(leaf.long, key, true),
            Bound::Excluded(key) => self.first_from(leaf.long, key, false),
        };
        let reaches = |key: &[u8]| copy.side(key) == Side::Right;
        self.goes_on = self.has_high
            && match bounds.high {
                Bound::Unbounded => true,
                Bound::Included(key) => reaches(key),
                Bound::Excluded(key) => reaches(key) && self.high.bytes() != key,
            };
        let starts_before = |key: &[u8]| key < self.low.bytes();
        self.goes_on_before = has_low
            && match bounds.low {
                Bound::Unbounded => true,
                Bound::Included(key) | Bound::Excluded(key) => starts_before(key),
            };
        self.within = from..to.max(from);
    }

    fn shape(&self) -> Shape {
        Shape(self.image[SHAPE])
    }

    /// Removes the range's bounds.
    pub fn unbind(&mut self) {
        self.goes_on = self.has_high;
        self.goes_on_before = !self.low.bytes().is_empty();
    }

    /// How many entries the leaf has.
    pub fn entry_count(&self) -> usize {
        self.shape().len()
    }

    /// Which entries of the leaf belong to the range.
    pub fn within(&self) -> Range<usize> {
        self.within.clone()
    }

    /// Whether the range goes on at the high fence.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Whether the range has something before the low fence.
    pub fn goes_on_before(&self) -> bool {
        self.goes_on_before
    }

    /// The low fence.
    pub fn low(&self) -> &[u8] {
        self.low.bytes()
    }

    /// The high fence.
    pub fn high(&self) -> &[u8] {
        self.high.bytes()
    }

    /// The leaf that was copied.
    pub(super) fn node(&self) -> NodeRef {
        self.source.0
    }

    /// The leaf that was the right neighbour.
    pub fn link(&self) -> NodeRef {
        self.link
    }

    /// The length of an entry's suffix, and the word where its value is.
    #[inline(always)]
    fn length_and_place(&self, shape: Shape, at: usize) -> (u8, usize) {
        if shape.is_of_records() {
            return (shape.record_length(), shape.record(at) % WORDS);
        }
        (self.lengths[at % SLOTS_MAX], usize::from(self.places[at % SLOTS_MAX]))
    }

    /// An entry: its key, rebuilt at each call, and its value.
    #[inline(always)]
    pub fn entry(&mut self, at: usize) -> (&[u8], u64) {
        let shape = self.shape();
        let (length, place) = self.length_and_place(shape, at);
        let value = self.image[place];
        if length == LONG {
            return (long_key(&self.lengths, &self.long, &self.long_starts, at), value);
        }
        let head = self.image[(shape.heads() + at) % WORDS];
        (make_key(&self.image, Suffix { head, length, place }, self.key.bytes_mut(), shape.prefix()), value)
    }

    /// Shows these entries until `see` breaks off: the key, and the first word of the value.
    #[inline(always)]
    pub(super) fn show<B>(
        &mut self,
        entries: impl Iterator<Item = usize>,
        see: &mut impl FnMut(&[u8], u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if self.shape().is_of_records() {
            return self.show_records(entries, see);
        }
        // Loop invariants stay in registers.
        let Self { image, lengths, places, key, long, long_starts, .. } = self;
        let (image, key, shape) = (&*image, key.bytes_mut(), Shape(image[SHAPE]));
        let (heads, prefix) = (shape.heads(), shape.prefix());
        for at in entries {
            let (length, place) = (lengths[at % SLOTS_MAX], usize::from(places[at % SLOTS_MAX]));
            let value = image[place];
            if length == LONG {
                see(long_key(lengths, long, long_starts, at), value)?;
            } else {
                let head = image[(heads + at) % WORDS];
                see(make_key(image, Suffix { head, length, place }, key, prefix), value)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Shows the entries of a leaf of records.
    #[inline(always)]
    fn show_records<B>(
        &mut self,
        entries: impl Iterator<Item = usize>,
        see: &mut impl FnMut(&[u8], u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Self { image, key, .. } = self;
        let (image, key, shape) = (&*image, key.bytes_mut(), Shape(image[SHAPE]));
        let (heads, first, words) = (shape.heads(), shape.record(0), entry_words(shape.record_length()));
        let (prefix, end) = (shape.prefix(), shape.prefix() + usize::from(shape.record_length()));
        for at in entries {
            let place = (first + at * words) % WORDS;
            let tail: &mut [u8; RECORD_ROOM] = key[prefix..].first_chunk_mut().expect("room for a suffix");
            let (to, _) = tail.as_chunks_mut::<8>();
            to[0] = image[(heads + at) % WORDS].to_be_bytes();
            if words > 1 {
                let from: &[u64; AT_ONCE] =
                    image[place + 1..].first_chunk().expect("words behind those of the node");
                (1..RECORD_ROOM / 8).for_each(|at| to[at] = from[at - 1].to_le_bytes());
            }
            see(&key[..end], image[place])?;
        }
        ControlFlow::Continue(())
    }

    /// The words of an entry's value.
    #[inline(always)]
    pub(super) fn value_words(&self, at: usize) -> CopiedWords<'_> {
        let (image, shape) = (self.words(), self.shape());
        let (length, place) = self.length_and_place(shape, at);
        let (first, start) = (image[place], place + entry_words(length));
        CopiedWords { first, more: image.get(start..start + shape.values().more(first)).unwrap_or(&[]) }
    }

    /// Whether the leaf is still as it was copied.
    pub(super) fn is_up_to_date(&self, store: &Store) -> bool {
        let (node, version) = self.source;
        version.is_some_and(|version| store.at(node).1.latch().validate(version))
    }
}

/// The words of a node, without the padding.
#[inline(always)]
fn words_of_node(image: &Padded) -> &Image {
    image.first_chunk().expect("more words than a node has")
}

/// A suffix that isn't long: its first bytes, its length, and the word before its other bytes.
struct Suffix {
    head: u64,
    length: u8,
    place: usize,
}

/// Makes the key of an entry that isn't long of `key`, which begins with the prefix.
#[inline(always)]
fn make_key<'k>(image: &Padded, suffix: Suffix, key: &'k mut [u8], prefix: usize) -> &'k [u8] {
    let Suffix { head, length, place } = suffix;
    let (length, end) = (usize::from(length), prefix + usize::from(length));
    let tail: &mut [u8; TAIL] = key[prefix..].first_chunk_mut().expect("room for a suffix");
    let (to, _) = tail.as_chunks_mut::<8>();
    to[0] = head.to_be_bytes();
    // As many words for every key: how many it has can't be foretold.
    let from: &[u64; AT_ONCE] = image[place + 1..].first_chunk().expect("words behind those of the node");
    *to[1..].first_chunk_mut().expect("room for as many") = from.map(u64::to_le_bytes);
    if length > 8 + 8 * AT_ONCE {
        copy_more(&mut to[1 + AT_ONCE..words_of(length)], &image[place + 1 + AT_ONCE..]);
    }
    &key[..end]
}

/// Copies the rare parts of a node, which would only slow down the common case.
#[inline(never)]
fn copy_more(to: &mut [[u8; 8]], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_le_bytes());
}

#[cold]
#[inline(never)]
fn long_key<'k>(lengths: &[u8; SLOTS_MAX], long: &'k [u8], starts: &[usize], at: usize) -> &'k [u8] {
    let number = lengths[..at].iter().filter(|&&length| length == LONG).count();
    let end = starts.get(number + 1).copied().unwrap_or(long.len());
    &long[starts[number]..end]
}

/// The first entry from `key` on, which is likely to be at this share of a leaf of records.
fn first_near(leaf: Shared<'_>, key: &[u8], after: bool, share: Option<Share>) -> usize {
    let (shape, own) = (leaf.shape(), Probe::of(key, leaf.shape()));
    if let Some(share) = share.filter(|_| leaf.has_prefix(shape, key))
        && let Some(rank) = leaf.rank_near::<Scalar>(shape, own.head, share.of(shape.len()))
        && leaf.side(key) == Side::Here
    {
        let (rank, is_there) = leaf.rank_from(shape, rank, own);
        return rank + usize::from(after && is_there);
    }
    first_from(leaf, key, after)
}

/// The first entry of a leaf that isn't before a key, or, `after` it, that is after it.
pub(super) fn first_from<W: Words>(leaf: Node<'_, W>, key: &[u8], after: bool) -> usize {
    let shape = leaf.shape();
    match leaf.side(key) {
        Side::Left => 0,
        Side::Right => shape.len(),
        Side::Here => {
            let (rank, is_there) = leaf.rank::<Scalar>(shape, key);
            rank + usize::from(after && is_there)
        }
    }
}
