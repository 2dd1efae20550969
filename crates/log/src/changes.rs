//! The changes of a durable index, whichever its kind is: a change holds the stripes of its keys, is logged,
//! done in the index, and acknowledged. What the index refuses is taken back in the log. Changes that depend
//! on a key's value read it while they hold its stripe, so no other change of the key comes between; their
//! reads are acknowledged like changes, even if nothing changes.

use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::logged::{KeyOf, LentOf, Logged, Part};
use crate::stripes::Set;
use latchless::index::Incomplete;
use std::iter::once;
use std::ops::Range;

/// The decision about a key.
pub enum Becomes<V> {
    /// It stays as it is, or stays away.
    Same,
    /// It has this value.
    Value(V),
    /// It isn't there any more.
    Gone,
}

impl<I: Logged<C>, C> Durable<I, C> {
    /// The record that sets a key.
    fn put_of<P: KeyOf<I, C>>(&self, key: P, value: I::Lent<'_>) -> Part {
        P::puts(&self.columns, once((key, value)))
    }

    /// The record that removes a key.
    fn removal_of<P: KeyOf<I, C>>(&self, key: P) -> Part {
        P::removals(&self.columns, once(key))
    }

    /// Logs that keys that the index refused have the values that they have now.
    #[cold]
    fn take_back<P: KeyOf<I, C>>(&self, keys: impl Iterator<Item = P>) -> Result<()> {
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for key in keys {
            match key.get(&self.index) {
                Some(value) => there.push((key, value)),
                None => gone.push(key),
            }
        }
        let (mut there, mut gone) = (&there[..], &gone[..]);
        while !there.is_empty() {
            let entries = there.iter().map(|(key, value)| (*key, I::lend(value)));
            let part = P::puts(&self.columns, entries);
            self.journal.take_back(part.draft)?;
            there = &there[part.entries..];
        }
        while !gone.is_empty() {
            let part = P::removals(&self.columns, gone.iter().copied());
            self.journal.take_back(part.draft)?;
            gone = &gone[part.entries..];
        }
        Ok(())
    }

    /// Sets a key in the index, after it was logged. Compiled once for all callers, as is its counterpart:
    /// next to a record's write a call costs nothing.
    #[inline(never)]
    fn put_logged<P: KeyOf<I, C>>(&self, key: P, value: I::Lent<'_>) -> Result<Option<I::Value>> {
        let put = key.put(&self.index, value);
        if put.is_err() {
            self.take_back(once(key))?;
        }
        Ok(put?)
    }

    /// Removes a key from the index, after that was logged.
    #[inline(never)]
    fn remove_logged<P: KeyOf<I, C>>(&self, key: P) -> Option<I::Value> {
        key.remove(&self.index)
    }

    /// Sets a key to a value, and returns the one it had.
    pub(crate) fn put<P: KeyOf<I, C>>(&self, key: P, value: I::Lent<'_>) -> Result<Option<I::Value>> {
        key.check()?;
        I::check_value(value, &self.journal)?;
        let Part { set, draft, .. } = self.put_of(key, value);
        self.journal.change(set, draft, || self.put_logged(key, value))
    }

    /// Sets keys to values, in order, and returns how many are new. `put` sets those of a part of the
    /// entries in the index.
    pub(crate) fn put_many<'v, P: KeyOf<I, C>>(
        &self,
        entries: impl ExactSizeIterator<Item = (P, LentOf<'v, I, C>)> + Clone,
        put: impl Fn(Range<usize>) -> Result<usize, Incomplete>,
    ) -> Result<usize> {
        let check = |(key, value): (P, _)| {
            key.check()?;
            I::check_value(value, &self.journal)
        };
        entries.clone().try_for_each(check).map_err(|error| match error {
            Error::Index { cause, .. } => Error::Index { cause, refused: (0..entries.len()).collect() },
            other => other,
        })?;
        if entries.len() == 0 {
            return self.journal.nothing(0);
        }
        let (mut new, mut from) = (0, 0);
        while from < entries.len() {
            let rest = entries.clone().skip(from);
            let part = P::puts(&self.columns, rest.clone());
            let now = from..from + part.entries;
            new += self.journal.change(part.set, part.draft, || {
                put(now.clone()).or_else(|Incomplete { error: cause, mut refused }| {
                    let mut left = refused.iter().peekable();
                    let theirs = rest.enumerate().filter(|(at, _)| left.next_if_eq(&at).is_some());
                    self.take_back(theirs.map(|(_, (key, _))| key))?;
                    refused.iter_mut().for_each(|at| *at += from);
                    Err(Error::Index { cause, refused })
                })
            })?;
            from = now.end;
        }
        Ok(new)
    }

    /// Removes a key, and returns the value it had. One that is too long isn't there.
    pub(crate) fn take<P: KeyOf<I, C>>(&self, key: P) -> Result<Option<I::Value>> {
        if key.check().is_err() {
            return self.journal.nothing(None);
        }
        let Part { set, draft, .. } = self.removal_of(key);
        self.journal.change(set, draft, || Ok(self.remove_logged(key)))
    }

    /// Removes keys, and returns how many were there. Those that are too long aren't there.
    pub(crate) fn take_many<P: KeyOf<I, C>>(&self, keys: impl Iterator<Item = P>) -> Result<usize> {
        let keys: Vec<P> = keys.filter(|key| key.check().is_ok()).collect();
        if keys.is_empty() {
            return self.journal.nothing(0);
        }
        let (mut removed, mut rest) = (0, &keys[..]);
        while !rest.is_empty() {
            let part = P::removals(&self.columns, rest.iter().copied());
            let (now, later) = rest.split_at(part.entries);
            let remove = || Ok(P::remove_many(&self.index, now)?);
            removed += self.journal.change(part.set, part.draft, remove)?;
            rest = later;
        }
        Ok(removed)
    }

    /// Removes the first entry, and gives it back: of the smallest key, and of its rows the smallest. Other
    /// changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn pop_first(&self) -> Result<Option<I::Entry>> {
        self.pop(I::first)
    }

    /// Removes the last entry, and gives it back: of the largest key, and of its rows the largest. Other
    /// changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn pop_last(&self) -> Result<Option<I::Entry>> {
        self.pop(I::last)
    }

    fn pop(&self, end: impl FnOnce(&I) -> Option<I::Entry>) -> Result<Option<I::Entry>> {
        self.journal.check_process()?;
        let held = self.journal.hold(Set::ALL);
        let Some(entry) = end(&self.index) else {
            drop(held);
            return self.journal.unchanged(None);
        };
        let key = I::key(&entry);
        let draft = self.removal_of(key).draft.seal();
        self.journal.change_held(held, draft, || Ok(self.remove_logged(key)))?;
        Ok(Some(entry))
    }

    /// Applies the decision of `decide` about a key's value, and returns that value. One that is equal bit by
    /// bit changes nothing.
    #[inline(never)]
    pub(crate) fn change_by<P: KeyOf<I, C>>(
        &self,
        key: P,
        decide: impl FnOnce(Option<&I::Value>) -> Becomes<I::Value>,
    ) -> Result<Option<I::Value>> {
        self.journal.check_process()?;
        key.check()?;
        let held = self.journal.hold(key.stripe(&self.columns));
        let before = key.get(&self.index);
        let is_before = |value| before.as_ref().is_some_and(|before| self.is_alike(before, I::lend(value)));
        let becomes = match decide(before.as_ref()) {
            Becomes::Value(value) if is_before(&value) => Becomes::Same,
            becomes => becomes,
        };
        match becomes {
            Becomes::Same => {
                drop(held);
                self.journal.unchanged(before)
            }
            Becomes::Value(value) => {
                let value = I::lend(&value);
                I::check_value(value, &self.journal)?;
                let draft = self.put_of(key, value).draft.seal();
                self.journal.change_held(held, draft, || self.put_logged(key, value))
            }
            Becomes::Gone => {
                let draft = self.removal_of(key).draft.seal();
                self.journal.change_held(held, draft, || Ok(self.remove_logged(key)))
            }
        }
    }

    /// Whether values have the same bytes in a record.
    fn is_alike(&self, one: &I::Value, other: I::Lent<'_>) -> bool {
        I::is_alike(&self.columns, I::lend(one), other)
    }

    pub(crate) fn change_if<P: KeyOf<I, C>>(
        &self,
        key: P,
        expected: I::Lent<'_>,
        becomes: impl FnOnce() -> Becomes<I::Value>,
    ) -> Result<bool> {
        let mut was = false;
        self.change_by(key, |before| {
            was = before.is_some_and(|before| self.is_alike(before, expected));
            if was { becomes() } else { Becomes::Same }
        })?;
        Ok(was)
    }
}
