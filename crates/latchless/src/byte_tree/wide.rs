//! Operations on values of more than a word: of several words, or byte strings.
//!
//! A new value is prepared before a latch is taken: its words, or the outside blocks that store it. A
//! replaced value outside is read when no node names it any more, and no latch is held.

use super::change::Shared;
use super::edit::{LeafEdit, edit_from};
use super::finder::{Aim, Start, aim_of};
use super::group::{Way, starts_together};
use super::long::check_length;
use super::take::{Kept, Packed, Take};
use super::text::Hashed;
use super::tree::ByteTree;
use crate::blink::{Change, Edit, Edited, Step};
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::bytes_value::Raw;
use latchless_core::base::error::Result;

/// An edit of an entry whose value has more than one word.
struct WideEdit<'a> {
    edit: Edit<Raw<'a>>,
    packed: Packed,
    /// The previous value.
    kept: &'a mut Kept,
}

impl LeafEdit for WideEdit<'_> {
    type Before = ();
    const IS_WORD: bool = false;

    #[inline(always)]
    fn aim(&self) -> Aim {
        aim_of(&self.edit)
    }

    fn step(&mut self, leaf: Shared<'_>, found: Option<usize>) -> (Option<()>, Step<u64>) {
        let before = found.map(|at| self.kept.take_latched(leaf, leaf.shape(), at));
        let is = |expected| self.kept.is(expected, leaf.long);
        // The same questions as of words: whether the value is the one that is expected.
        let edit = match self.edit {
            Edit::Look => Edit::Look,
            Edit::Put(_) => Edit::Put(1),
            Edit::Add(_) => Edit::Add(1),
            Edit::Replace(_) => Edit::Replace(1),
            Edit::Remove => Edit::Remove,
            Edit::Swap { expected, .. } => {
                Edit::Swap { expected: u64::from(before.is_none() || is(expected)), value: 1 }
            }
            Edit::RemoveIf(expected) => Edit::RemoveIf(u64::from(before.is_none() || is(expected))),
        };
        let step = match Change::step(edit, before.map(|()| 1)) {
            Step::Set(_) => Step::Set(self.packed.first()),
            other => other,
        };
        (before, step)
    }

    fn more(&self) -> &[u64] {
        self.packed.more()
    }
}

impl ByteTree {
    /// Looks up a value of more than one word. Returns whether there is one.
    #[inline]
    pub fn get_wide(&self, key: &[u8], kept: &mut Kept) -> bool {
        self.get_by(key, kept).is_some()
    }

    /// Edits an entry whose value has more than one word. The previous value is kept, unless nothing was
    /// applied: then it may still be outside.
    ///
    /// # Errors
    /// Those of [`ByteTree::edit`]; and when the value is too long.
    pub fn edit_wide(&self, key: &[u8], edit: Edit<Raw<'_>>, kept: &mut Kept) -> Result<Edited<()>> {
        check_length(key)?;
        self.store.dispatch().run(EditWide { tree: self, key, edit, kept })
    }

    /// Applies edits to the entries of at most [`GROUP`](super::GROUP) keys, in order. `done` gets each
    /// previous value.
    ///
    /// # Errors
    /// The first error; the edits before it are done.
    pub fn edit_group_wide<'a>(
        &self,
        keys: &[&[u8]],
        aim: Aim,
        edits: &mut dyn Iterator<Item = Edit<Raw<'a>>>,
        kept: &mut Kept,
        done: &mut dyn FnMut(Edited<()>, &Kept),
    ) -> Result<()> {
        let refused = keys.iter().position(|key| check_length(key).is_err()).unwrap_or(keys.len());
        self.store.dispatch().run(EditGroupWide {
            tree: self,
            keys: &keys[..refused],
            aim,
            edits,
            kept,
            done,
        })?;
        keys.get(refused).map_or(Ok(()), |key| check_length(key))
    }
}

#[inline(always)]
fn edit_wide_from<S: Search>(
    tree: &ByteTree,
    start: Start,
    own: Hashed<'_>,
    edit: Edit<Raw<'_>>,
    kept: &mut Kept,
) -> Result<Edited<()>> {
    let value = match edit {
        Edit::Put(value) | Edit::Add(value) | Edit::Replace(value) | Edit::Swap { value, .. } => value,
        Edit::Look | Edit::Remove | Edit::RemoveIf(_) => Raw::Word(0),
    };
    let mut wide = WideEdit { edit, packed: Packed::of(tree.store.long(), value)?, kept };
    let edited = edit_from::<S, _>(tree, start, own, &mut wide);
    let WideEdit { mut packed, kept, .. } = wide;
    if edited.as_ref().is_ok_and(|edited| edited.applied) {
        // No node names the previous string outside any more.
        if edited.as_ref().is_ok_and(|edited| edited.before.is_some()) {
            kept.take_the_rest(tree.store.long());
        }
    } else if let Some(string) = packed.take_stored() {
        tree.store.long().free(string);
    }
    edited
}

struct EditWide<'a> {
    tree: &'a ByteTree,
    key: &'a [u8],
    edit: Edit<Raw<'a>>,
    kept: &'a mut Kept,
}

impl Operation for EditWide<'_> {
    type Output = Result<Edited<()>>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<Edited<()>> {
        let Self { tree, key, edit, kept } = self;
        let hash = tree.store.hash(key);
        let start = tree.finder.start::<S>(&tree.store, key, hash, aim_of(&edit));
        edit_wide_from::<S>(tree, start, Hashed { key, hash }, edit, kept)
    }
}

struct EditGroupWide<'a, 'e> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    aim: Aim,
    edits: &'a mut dyn Iterator<Item = Edit<Raw<'e>>>,
    kept: &'a mut Kept,
    done: &'a mut dyn FnMut(Edited<()>, &Kept),
}

impl Operation for EditGroupWide<'_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<()> {
        let Self { tree, keys, aim, edits, kept, done } = self;
        let ways = starts_together::<S>(tree, keys, aim);
        for ((key, Way { hash, at }), edit) in keys.iter().zip(ways).zip(edits) {
            let edited = edit_wide_from::<S>(tree, at, Hashed { key, hash }, edit, kept)?;
            done(edited, kept);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blink::BlinkOptions;
    use latchless_core::base::bytes_value::Kind;

    #[test]
    fn values_of_several_words_are_replaced_where_they_lie() {
        let kind = Kind::Words(3);
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let (tree, mut kept) = (ByteTree::new(options, kind).unwrap(), Kept::of(kind));
        for round in 0..3u64 {
            for key in 0..60u64 {
                let value = [key, round, key ^ round];
                let edit = Edit::Put(Raw::Words(&value));
                let edited = tree.edit_wide(&key.to_be_bytes(), edit, &mut kept).unwrap();
                assert_eq!(edited.before.is_some(), round > 0);
                assert!(tree.get_wide(&key.to_be_bytes(), &mut kept));
                assert!(matches!(kept.raw(), Raw::Words(words) if words == value));
            }
        }
        tree.check_invariants().unwrap();
    }
}
