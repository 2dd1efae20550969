//! Splitting full nodes, and making room in nodes that waste some.
//!
//! A split latches its node, then the parent. A parent without room is split first, completely: then the
//! tree is consistent again, and the child's split restarts with the parent that has room. So no more than
//! three levels are latched at a time, and a finished split above stays if memory is missing for the one
//! below.

use super::aside::{Aside, Lack};
use super::change::{Entry, Shared};
use super::cut::cut;
use super::fences::{Fence, Fences};
use super::finder::Finder;
use super::image::Builder;
use super::long::{Blocks, LongStrings};
use super::node::{Image, Node, Private};
use super::part::Part;
use super::records::records_for;
use super::shape::{
    FENCE_MAX, Form, LONG, SLOTS_MAX, SUFFIX_MAX, Shape, Size, WORDS, entry_words, slots_for,
};
use super::store::{Held, HeldLatch};
use super::strings::Strings;
use super::text::head;
use super::tree::ByteTree;
use crate::blink::Levels;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// A node's fences as they are, with their strings.
pub(super) fn fences_of<'a>(node: Private<'_>, low: &'a [u8], high: Option<&'a [u8]>) -> Fences<'a> {
    let shape = node.shape();
    let low = Fence { bytes: low, long: shape.has(Shape::LOW_LONG).then(|| node.long_low()) };
    let long_high = shape.has(Shape::HIGH_LONG).then(|| node.long_high());
    Fences { low, high: high.map(|bytes| Fence { bytes, long: long_high }) }
}

/// A node with the entries of these parts, if they fit: of records where positions separate the leaves.
/// Elsewhere keys are found by their hashes, and tags lead to them sooner than heads.
pub(super) fn build<'i>(
    finder: &Finder,
    image: &'i mut Image,
    fences: &Fences<'_>,
    link: NodeRef,
    parts: &[Part<'_>],
) -> Option<Builder<'i>> {
    let is_told = || finder.distinguishes(fences.low.bytes, fences.high.map(|high| high.bytes));
    let prefers_records = parts.first().is_some_and(|part| part.seed.is_some()) && is_told();
    Builder::of_parts(image, fences, link, parts, prefers_records)
}

/// Rewrites a latched node of a level if that gives room for an entry whose suffix has this length and
/// whose value has this many words after its first, and some more. Returns whether it did.
pub(super) fn make_room(
    tree: &ByteTree,
    level: usize,
    node: Shared<'_>,
    held: &mut HeldLatch<'_>,
    size: Size,
    strings: &mut Strings,
) -> bool {
    if wider_form(node, level == 0, size).is_none() {
        return false;
    }
    let mut image = [0; WORDS];
    tree.store.copy_node(node, &mut image);
    let old = Node { words: &image, long: tree.store.long() };
    let Strings { low, high, .. } = strings;
    low.clear();
    high.clear();
    old.low_to(low);
    let has_high = old.high_to(high);
    let fences = fences_of(old, low, has_high.then_some(&high[..]));
    let part = Part { node: old, low, entries: 0..old.shape().len(), seed: tree.store.seed_of(level) };
    let may_be_records = level == 0 && tree.finder.distinguishes(low, has_high.then_some(&high[..]));
    let Some(form) = wider_form(node, may_be_records, size) else { return false };
    let mut image = [0; WORDS];
    let builder = Builder::of_form(&mut image, &fences, old.link(), form, &[part]);
    held.changing();
    node.write(builder.image());
    true
}

/// Splits a latched node. `key`: the key that found no room.
///
/// # Errors
/// The memory that must be reserved first. Nothing of this node has changed then.
pub(super) fn split<'a>(
    tree: &'a ByteTree,
    level: usize,
    node: Held<'a>,
    key: &[u8],
    aside: &mut Aside<'_>,
) -> Result<(), Lack> {
    if !aside.nodes.has(level) {
        return Err(Lack { levels: level + 1, blocks: 0 });
    }
    let mut image = [0; WORDS];
    tree.store.copy_node(node.0.1, &mut image);
    let mut strings = aside.take_strings(level);
    let outcome = split_copied(tree, level, node, &image, key, &mut strings, aside);
    aside.bring_strings(level, strings);
    outcome
}

fn split_copied<'a>(
    tree: &'a ByteTree,
    level: usize,
    (at, mut held): Held<'a>,
    image: &Image,
    key: &[u8],
    strings: &mut Strings,
    aside: &mut Aside<'_>,
) -> Result<(), Lack> {
    let old = Node { words: image, long: tree.store.long() };
    let Strings { low, high, separator, other } = strings;
    [&mut *low, &mut *high].into_iter().for_each(Vec::clear);
    old.low_to(low);
    let has_high = old.high_to(high);
    let fences = fences_of(old, low, has_high.then_some(&high[..]));
    let whole = Part { node: old, low, entries: 0..old.shape().len(), seed: tree.store.seed_of(level) };
    let cut = cut(&whole, level, &fences, key, separator, other);
    if level == 0 {
        tree.finder.learn_shape(&tree.store, old);
    }
    let parent = latch_parent(tree, level, at.0, separator, aside)?;
    let missing = Lack { levels: level + 1 + usize::from(parent.is_none()), blocks: 0 };
    if parent.is_none() && !aside.nodes.has(level + 1) {
        return Err(missing);
    }
    // A string for each fence, and one for the parent.
    let is_fence_long = separator.len() > FENCE_MAX;
    let prefix = parent.as_ref().map_or(0, |(at, _)| at.1.shape().prefix());
    let is_entry_long = separator.len() - prefix > SUFFIX_MAX;
    let strings = 2 * usize::from(is_fence_long) + usize::from(is_entry_long);
    let blocks = strings * LongStrings::blocks_for(separator.len());
    if aside.blocks.len() < blocks {
        return Err(Lack { blocks, ..missing });
    }
    let right = aside.nodes.take(level);
    let own = Fence { bytes: separator, long: None };
    let [left_end, right_start] = [(); 2].map(|()| own.stored(&mut aside.blocks));
    let left = Fences { high: Some(left_end), ..fences };
    let [mut left_image, mut right_image] = [[0; WORDS]; 2];
    let left = build(&tree.finder, &mut left_image, &left, right, &[whole.of(0..cut)])
        .expect("a part of a node fits");
    let right_fences = Fences { low: right_start, ..fences };
    let len = old.shape().len();
    let above = build(&tree.finder, &mut right_image, &right_fences, old.link(), &[whole.of(cut..len)]);
    let above = above.expect("a part of a node fits");
    // Latecomers from its earlier life may be looking at its fences under its latch.
    let (right_at, mut right_held) = tree.store.latch(tree.store.at(right));
    held.changing();
    right_held.changing();
    right_at.1.write(above.image());
    at.1.write(left.image());
    let value = u64::from(right.to_word());
    let entry = parent_entry(separator, prefix, value, &mut aside.blocks);
    match parent {
        Some((parent, mut parent_held)) => {
            parent_held.changing();
            let rank = parent.1.rank::<Scalar>(parent.1.shape(), separator).0;
            let has_gone_in = parent.1.insert::<Scalar>(rank, entry);
            debug_assert!(has_gone_in, "the parent had room");
        }
        None => grow(tree, level + 1, at.0, entry, aside.nodes.take(level + 1)),
    }
    if level == 0 {
        tree.finder.name_both([at.0, right], [&*low, &*separator], has_high.then_some(&high[..]));
        tree.finder.note_split(separator);
    }
    tree.store.counts().count_splits(1);
    Ok(())
}

/// Latches the parent of a latched node, with room for another child from `separator` on. None: the
/// node is the root.
fn latch_parent<'a>(
    tree: &'a ByteTree,
    level: usize,
    node: NodeRef,
    separator: &[u8],
    aside: &mut Aside<'_>,
) -> Result<Option<Held<'a>>, Lack> {
    loop {
        if tree.store.root().get() == (node, level + 1) {
            return Ok(None);
        }
        // `None`: the former root above was just replaced by this node.
        let Some((at, mut held)) = tree.store.latch_covering(level + 1, separator) else { continue };
        let shape = at.1.shape();
        let suffix = separator.len() - shape.prefix();
        let length = if suffix > SUFFIX_MAX { LONG } else { suffix as u8 };
        if shape.has_room(length, 0) {
            return Ok(Some((at, held)));
        }
        if !aside.nodes.has(level + 1) {
            return Err(Lack { levels: level + 2, blocks: 0 });
        }
        let mut strings = aside.take_strings(level + 1);
        let is_wider = make_room(tree, level + 1, at.1, &mut held, Size { length, more: 0 }, &mut strings);
        aside.bring_strings(level + 1, strings);
        if is_wider {
            return Ok(Some((at, held)));
        }
        split(tree, level + 1, (at, held), separator, aside)?;
    }
}

/// Puts a new root above the old one, which is being split.
fn grow(tree: &ByteTree, level: usize, old: NodeRef, entry: Entry<'_>, root: NodeRef) {
    let fences = Fences { low: Fence::FIRST, high: None };
    let mut image = [0; WORDS];
    let mut builder = Builder::new(&mut image, &fences, NodeRef::NIL, Form::Slots(SLOTS_MAX / 2));
    builder.push(Entry::short(&[], 0, u64::from(old.to_word())));
    builder.push(entry);
    let (at, mut held) = tree.store.latch(tree.store.at(root));
    held.changing();
    at.1.write(builder.image());
    tree.store.root().set(root, level + 1);
}

/// The form in which a node has room for an entry of this size and some more: otherwise it would be
/// rewritten again and again.
fn wider_form(node: Shared<'_>, may_be_records: bool, size: Size) -> Option<Form> {
    let (Size { length, more }, len) = (size, node.shape().len());
    let (fences, wanted) = (node.fence_words(), len + 1 + len / 8);
    // Records have no room because there are as many as there can be, or for a key of another length, or with
    // the head of another one.
    let are_records = may_be_records
        && !node.shape().is_of_records()
        && node.length_of_all(0..len) == Some(length)
        && !node.has_ties(0..len);
    let records = if are_records { records_for(wanted, length.into(), fences) } else { None };
    let words = node.words_of_entries() + (wanted - len) * (entry_words(length) + more);
    records.or_else(|| slots_for(wanted, words, fences).map(Form::Slots))
}

/// The entry of a child that begins at `separator`, in a parent with this prefix.
fn parent_entry<'k>(separator: &'k [u8], prefix: usize, child: u64, blocks: &mut Blocks<'_>) -> Entry<'k> {
    if separator.len() - prefix > SUFFIX_MAX {
        return Entry::long(head(separator, prefix), blocks.store(separator), 0, child);
    }
    Entry::short(&separator[prefix..], 0, child)
}

impl<'a> Fence<'a> {
    /// The same fence; if it is long, stored once more, in reserved blocks.
    pub(super) fn stored(self, blocks: &mut Blocks<'_>) -> Self {
        let long = (self.bytes.len() > FENCE_MAX).then(|| blocks.store(self.bytes));
        Self { long, ..self }
    }
}
