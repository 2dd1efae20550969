//! Conversion of values between an index and its tree, which stores words, or a kept copy of values of more
//! than one word. The type of the values selects the form at compile time.

use super::bytes_index::{ByteStrings, Lent, kind};
use crate::byte_tree::{
    Aim, Border, Bounds, ByteTree, GROUP, Kept, KeyRoom, LeafCopy, Newest, OnSide, OneWord,
};
use crate::tree::{Edit, Edited};
use core::ops::{Bound, ControlFlow};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::{BytesValue, Form, Kind, Raw};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;

/// How values of a type are stored.
type FormOf<V> = <V as BytesValue>::Form;
/// A value made of words or bytes.
type Held<'v, V> = <FormOf<V> as Form<V>>::Held<'v>;

/// Gets the versions of a group of keys. Called through a pointer, as in lookups.
type Done<'f, Value, Take> = &'f mut dyn FnMut(Option<(u64, Value)>, &Take);

/// Whether values are words, as the tree has them.
#[inline(always)]
const fn is_word<V: BytesValue>() -> bool {
    matches!(kind::<V>(), Kind::Word)
}

#[inline(always)]
pub(super) fn lend<V: BytesValue>(value: &V) -> Lent<'_, V> {
    <FormOf<V> as Form<V>>::lend(value)
}

#[inline(always)]
pub(super) fn own<V: BytesValue>(lent: Lent<'_, V>) -> V {
    <FormOf<V> as Form<V>>::own(lent)
}

#[inline(always)]
pub(super) fn hold<V: BytesValue>(lent: Lent<'_, V>) -> Held<'_, V> {
    <FormOf<V> as Form<V>>::hold(lent)
}

#[inline(always)]
pub(super) fn raw<'h, V: BytesValue>(held: &'h Held<'_, V>) -> Raw<'h> {
    <FormOf<V> as Form<V>>::raw(held)
}

/// The value that was kept, or that is this word.
#[inline(always)]
pub(super) fn lent<V: BytesValue>(word: u64, kept: &Kept) -> Lent<'_, V> {
    <FormOf<V> as Form<V>>::lent(if is_word::<V>() { Raw::Word(word) } else { kept.raw() })
}

#[inline(always)]
fn own_word<V: BytesValue>(word: u64) -> V {
    own::<V>(<FormOf<V> as Form<V>>::lent(Raw::Word(word)))
}

#[inline(always)]
fn own_kept<V: BytesValue>(kept: &Kept) -> V {
    own::<V>(<FormOf<V> as Form<V>>::lent(kept.raw()))
}

/// A value's word. Of a value that has one.
#[inline(always)]
fn word<V: BytesValue>(held: Held<'_, V>) -> u64 {
    match raw::<V>(&held) {
        Raw::Word(word) => word,
        Raw::Words(_) | Raw::Bytes(_) => unreachable!("a value has the kind of its form"),
    }
}

/// Whether a value is stored as another one is.
fn is_alike<V: BytesValue>(one: Raw<'_>, other: &V) -> bool {
    let other = hold::<V>(lend(other));
    match (one, raw::<V>(&other)) {
        (Raw::Word(one), Raw::Word(other)) => one == other,
        (Raw::Words(one), Raw::Words(other)) => one == other,
        (Raw::Bytes(one), Raw::Bytes(other)) => one == other,
        _ => false,
    }
}

/// An entry of a leaf that was copied, if it still has a value. The key is lent by the copy.
#[inline(always)]
pub(super) fn entry<'l, V: BytesValue>(
    tree: &ByteTree,
    leaf: &'l mut LeafCopy,
    at: usize,
) -> Option<(&'l [u8], V)> {
    if is_word::<V>() {
        let (key, word) = leaf.entry(at);
        return Some((key, own_word(word)));
    }
    let mut kept = Kept::of(kind::<V>());
    tree.take_copied(leaf, at, &mut kept).then(|| (leaf.entry(at).0, own_kept(&kept)))
}

/// Copies an entry's value to `kept` if it has more than one word. Returns whether the entry still exists.
#[inline(always)]
pub(super) fn keep<V: BytesValue>(
    tree: &ByteTree,
    leaf: &mut LeafCopy,
    (kept, at): (&mut Kept, usize),
) -> bool {
    is_word::<V>() || tree.take_copied(leaf, at, kept)
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// Shows `see` the value of a key, if it is there.
    #[inline(always)]
    pub(super) fn look_up<R>(&self, key: &[u8], see: impl FnOnce(Lent<'_, V>) -> R) -> Option<R> {
        if is_word::<V>() {
            return self.tree.get(key).map(|word| see(<FormOf<V> as Form<V>>::lent(Raw::Word(word))));
        }
        let mut kept = Kept::of(kind::<V>());
        self.tree.get_wide(key, &mut kept).then(|| see(lent::<V>(0, &kept)))
    }

    /// Applies `edit` to the entry of `key`.
    #[inline(always)]
    pub(super) fn edit_bytes(&self, key: &[u8], edit: Edit<Lent<'_, V>>) -> Result<Edited<V>> {
        if is_word::<V>() {
            let edited = self.tree.edit(key, edit.map(|lent| word::<V>(hold::<V>(lent))))?;
            return Ok(Edited { before: edited.before.map(own_word), applied: edited.applied });
        }
        self.edit_wide(key, edit.map(|lent| hold::<V>(lent)))
    }

    fn edit_wide(&self, key: &[u8], edit: Edit<Held<'_, V>>) -> Result<Edited<V>> {
        loop {
            let mut kept = Kept::of(kind::<V>());
            let raw_edit = edit.as_ref().map(|held| raw::<V>(held));
            let Edited { before, applied } = self.tree.edit_wide(key, raw_edit, &mut kept)?;
            if before.is_none() || !kept.is_outside() {
                return Ok(Edited { before: before.map(|()| own_kept(&kept)), applied });
            }
            // Nothing was changed, and the value is outside: it is looked up. That is an answer if the edit
            // wouldn't have been applied then, either.
            let Some(now) = self.look_up(key, |lent| own::<V>(lent)) else { continue };
            match &edit {
                Edit::Swap { expected, .. } | Edit::RemoveIf(expected)
                    if is_alike(raw::<V>(expected), &now) => {}
                _ => return Ok(Edited { before: Some(now), applied }),
            }
        }
    }

    /// Removes a key. Returns whether it was there.
    pub(super) fn remove_bytes(&self, key: &[u8]) -> bool {
        let outcome = if is_word::<V>() {
            self.tree.edit(key, Edit::Remove).map(|edited| edited.applied)
        } else {
            self.tree.edit_wide(key, Edit::Remove, &mut Kept::of(kind::<V>())).map(|edited| edited.applied)
        };
        outcome.is_ok_and(|applied| applied)
    }

    /// Looks up at most [`GROUP`] keys, and shows each value, in the order of the keys.
    #[inline]
    pub(super) fn see_group(&self, keys: &[&[u8]], mut see: impl FnMut(Option<Lent<'_, V>>)) {
        if is_word::<V>() {
            let mut words = [None; GROUP];
            self.tree.get_group(keys, &mut words[..keys.len()]);
            let lent = |word| <FormOf<V> as Form<V>>::lent(Raw::Word(word));
            words[..keys.len()].iter().for_each(|word| see(word.map(lent)));
            return;
        }
        // Called through a pointer: otherwise the search would be compiled once more for each caller.
        let done: &mut dyn FnMut(Option<()>, &Kept) = &mut |found, kept| {
            see(found.map(|()| lent::<V>(0, kept)));
        };
        self.tree.get_group_by(keys, &mut Kept::of(kind::<V>()), done);
    }

    /// Inserts at most [`GROUP`] values, in order, and calls `done` for each with the value that it
    /// replaces.
    ///
    /// # Errors
    /// The first error; those before it are in.
    #[inline]
    pub(super) fn put_group<'v>(
        &self,
        keys: &[&[u8]],
        values: impl Iterator<Item = Lent<'v, V>>,
        mut done: impl FnMut(Option<V>),
    ) -> Result<()> {
        if is_word::<V>() {
            let mut edits = values.map(|lent| Edit::Put(word::<V>(hold::<V>(lent))));
            return self
                .tree
                .edit_group(keys, Aim::Add, &mut edits, &mut |edited| done(edited.before.map(own_word)));
        }
        let held: Vec<_> = values.map(|lent| hold::<V>(lent)).collect();
        let mut edits = held.iter().map(|held| Edit::Put(raw::<V>(held)));
        self.edit_group_wide(keys, Aim::Add, &mut edits, &mut done)
    }

    /// Removes at most [`GROUP`] keys, in order, and calls `done` for each with the removed value.
    ///
    /// # Errors
    /// The first key that is too long; those before it are removed.
    #[inline]
    pub(super) fn remove_group(&self, keys: &[&[u8]], mut done: impl FnMut(Option<V>)) -> Result<()> {
        if is_word::<V>() {
            let mut edits = core::iter::repeat(Edit::Remove);
            return self
                .tree
                .edit_group(keys, Aim::Find, &mut edits, &mut |edited| done(edited.before.map(own_word)));
        }
        self.edit_group_wide(keys, Aim::Find, &mut core::iter::repeat(Edit::Remove), &mut done)
    }

    /// Edits that are applied to whatever is there.
    fn edit_group_wide<'a>(
        &self,
        keys: &[&[u8]],
        aim: Aim,
        edits: &mut dyn Iterator<Item = Edit<Raw<'a>>>,
        done: &mut dyn FnMut(Option<V>),
    ) -> Result<()> {
        let done = &mut |edited: Edited<()>, kept: &Kept| done(edited.before.map(|()| own_kept(kept)));
        self.tree.edit_group_wide(keys, aim, edits, &mut Kept::of(kind::<V>()), done)
    }

    /// Shows the entries of a range, in this direction.
    #[inline(always)]
    pub(super) fn visit(
        &self,
        bounds: Bounds<'_>,
        direction: Direction,
        mut see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if is_word::<V>() {
            let see = &mut |key: &[u8], word: u64, _: &OneWord| {
                see(key, <FormOf<V> as Form<V>>::lent(Raw::Word(word)))
            };
            return LeafCopy::lend(|leaf| match direction {
                Direction::Forward => self.tree.visit(bounds, leaf, &mut OneWord, see),
                Direction::Reverse => self.tree.visit_back(bounds, leaf, &mut OneWord, see),
            });
        }
        let mut kept = Kept::of(kind::<V>());
        let see = &mut |key: &[u8], _: u64, kept: &Kept| see(key, lent::<V>(0, kept));
        LeafCopy::lend(|leaf| match direction {
            Direction::Forward => self.tree.visit(bounds, leaf, &mut kept, see),
            Direction::Reverse => self.tree.visit_back(bounds, leaf, &mut kept, see),
        })
    }

    /// Shows `see` the nearest entry to a border, if there is one.
    #[inline]
    pub(super) fn look_near<R>(
        &self,
        border: Border<'_>,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R> {
        let mut key = KeyRoom::default();
        if is_word::<V>() {
            let word = self.tree.nearest(border, &mut key, &mut OneWord)?;
            return Some(see(key.bytes(), <FormOf<V> as Form<V>>::lent(Raw::Word(word))));
        }
        let mut kept = Kept::of(kind::<V>());
        self.tree.nearest(border, &mut key, &mut kept)?;
        Some(see(key.bytes(), lent::<V>(0, &kept)))
    }

    /// Shows `see` the nearest entries before and after a bound, of one moment.
    pub(super) fn look_beside<R>(
        &self,
        from: Bound<&[u8]>,
        see: impl FnOnce([Option<(&[u8], Lent<'_, V>)>; 2]) -> R,
    ) -> R {
        if is_word::<V>() {
            let [mut before, mut after] = [(); 2].map(|()| OnSide::new(OneWord));
            self.tree.beside(from, [&mut before, &mut after]);
            return see([&before, &after]
                .map(|side| Some((side.key.bytes(), <FormOf<V> as Form<V>>::lent(Raw::Word(side.value?))))));
        }
        let [mut before, mut after] = [(); 2].map(|()| OnSide::new(Kept::of(kind::<V>())));
        self.tree.beside(from, [&mut before, &mut after]);
        see([&before, &after].map(|side| side.value.map(|()| (side.key.bytes(), lent::<V>(0, &side.take)))))
    }

    /// Shows `see`, for each of at most [`GROUP`] keys in order, the nearest entry to the border that the key
    /// is made.
    pub(super) fn look_near_group(
        &self,
        keys: &[&[u8]],
        border: &dyn Fn(&'_ [u8]) -> Border<'_>,
        mut see: impl FnMut(Option<(&[u8], Lent<'_, V>)>),
    ) {
        if is_word::<V>() {
            let lent = |word| <FormOf<V> as Form<V>>::lent(Raw::Word(word));
            return self.tree.nearest_group(keys, border, &mut OneWord, &mut |found, _| {
                see(found.map(|(key, word)| (key, lent(word))));
            });
        }
        self.tree.nearest_group(keys, border, &mut Kept::of(kind::<V>()), &mut |found, kept| {
            see(found.map(|(key, ())| (key, lent::<V>(0, kept))));
        });
    }

    /// Shows `see` the newest version of a key up to its number, if there is one.
    #[inline]
    pub(super) fn look_newest<R>(
        &self,
        newest: Newest,
        key: &[u8],
        see: impl FnOnce(u64, Lent<'_, V>) -> R,
    ) -> Option<R> {
        if is_word::<V>() {
            let (number, word) = self.tree.newest(newest, key, &mut OneWord)?;
            return Some(see(number, <FormOf<V> as Form<V>>::lent(Raw::Word(word))));
        }
        let mut kept = Kept::of(kind::<V>());
        let (number, ()) = self.tree.newest(newest, key, &mut kept)?;
        Some(see(number, lent::<V>(0, &kept)))
    }

    /// Shows `see`, for each of at most [`GROUP`] keys in order, its newest version up to its number.
    pub(super) fn look_newest_group(
        &self,
        newest: &[Newest],
        keys: &[&[u8]],
        mut see: impl FnMut(Option<(u64, Lent<'_, V>)>),
    ) {
        if is_word::<V>() {
            let lent = |word| <FormOf<V> as Form<V>>::lent(Raw::Word(word));
            let done: Done<'_, u64, OneWord> =
                &mut |found, _| see(found.map(|(number, word)| (number, lent(word))));
            return self.tree.newest_group(newest, keys, &mut OneWord, done);
        }
        let done: Done<'_, (), Kept> =
            &mut |found, kept| see(found.map(|(number, ())| (number, lent::<V>(0, kept))));
        self.tree.newest_group(newest, keys, &mut Kept::of(kind::<V>()), done);
    }

    /// Shows `see` the entry before which there are `position` others, if there is one.
    pub(super) fn look_nth<R>(
        &self,
        position: usize,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R> {
        let mut key = KeyRoom::default();
        if is_word::<V>() {
            let word = self.tree.nth(position, &mut key, &mut OneWord)?;
            return Some(see(key.bytes(), <FormOf<V> as Form<V>>::lent(Raw::Word(word))));
        }
        let mut kept = Kept::of(kind::<V>());
        self.tree.nth(position, &mut key, &mut kept)?;
        Some(see(key.bytes(), lent::<V>(0, &kept)))
    }

    /// Removes the first or the last entry, and shows it to `see`, if there was one.
    pub(super) fn pop_shown<R>(
        &self,
        end: Direction,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R> {
        let mut key = KeyRoom::default();
        if is_word::<V>() {
            let word = self.tree.pop(end, &mut key, &mut OneWord)?;
            return Some(see(key.bytes(), <FormOf<V> as Form<V>>::lent(Raw::Word(word))));
        }
        let mut kept = Kept::of(kind::<V>());
        self.tree.pop(end, &mut key, &mut kept)?;
        Some(see(key.bytes(), lent::<V>(0, &kept)))
    }
}
