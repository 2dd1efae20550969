//! Scans. Entries of a leaf are copied under its version; the leaf on the right follows it if the version
//! still holds once that one's has been read. Nothing is held between two pages.

use super::hold::{Restart, Seen};
use super::resume::Landed;
use super::{OlcTree, READ_TRIES};
use crate::common::pages::{Page as Entries, PageEnd, Pages, TOGETHER_MAX};
use crate::spiderman::page::{Form, Page};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;
use latchless_core::sync::Backoff;

/// The entries that are still to be copied.
struct Rest {
    /// The next key. No key from here on has been copied, all before have.
    low: u64,
    high: u64,
}

/// The result of copying from a leaf.
enum Copied {
    /// The buffer is full, or the range has ended.
    Enough(PageEnd<u64>),
    /// All of the leaf was copied; this one is to its right.
    GoesOn(NodeRef),
}

impl<T: Form> Pages for OlcTree<T> {
    type Lane = u64;
    type Trace = T;

    fn empty_page(&self, expected: usize) -> Entries<u64> {
        Entries::of(expected.clamp(1, TOGETHER_MAX))
    }

    fn page_up(&self, low: u64, high: u64, page: &mut Entries<u64>) -> PageEnd<u64> {
        page.truncate(0);
        self.scan_from(None, low, high, page)
    }

    fn page_down(&self, low: u64, high: u64, page: &mut Entries<u64>) -> PageEnd<u64> {
        T::work(Work::Operation);
        let room = page.room;
        let begin = self.look_at_leaf(high, |leaf, begin| {
            page.truncate(0);
            let size = leaf.size();
            let end = leaf.lower(size, high);
            let end = end + usize::from(end < size && leaf.key(end) == high);
            let first = leaf.lower(size, low).max(end.saturating_sub(room));
            for place in first.min(end)..end {
                page.push(leaf.key(place), leaf.value(place));
            }
            T::work(Work::Copy(page.keys.len()));
            begin
        });
        // The entries without room are in this leaf, all others before it.
        let next = match (page.keys.first(), begin) {
            (Some(&first), _) if page.keys.len() == room => first.checked_sub(1),
            (_, begin) => begin,
        };
        next.filter(|&next| next >= low).map_or(PageEnd::All, PageEnd::UpTo)
    }
}

impl<T: Form> OlcTree<T> {
    /// Appends the first entries of `low..=high` to a page until it is full, from a leaf on that a walk led
    /// to.
    pub fn scan_from(
        &self,
        landed: Option<Landed>,
        low: u64,
        high: u64,
        page: &mut Entries<u64>,
    ) -> PageEnd<u64> {
        T::work(Work::Operation);
        let mut rest = Rest { low, high };
        let mut start = landed.and_then(|landed| self.still(landed));
        let (mut backoff, mut tries) = (Backoff::default(), 0);
        while tries < READ_TRIES {
            let leaf = start.take().map_or_else(|| self.reach(rest.low).map(|reached| reached.leaf), Ok);
            let before = rest.low;
            match leaf.and_then(|leaf| self.copy_on(leaf, &mut rest, page)) {
                Ok(found) => return found,
                Err(Restart) => {
                    tries = if rest.low > before { 1 } else { tries + 1 };
                    self.step_back(&mut backoff);
                }
            }
        }
        self.copy_latched(rest, page)
    }

    /// Copies from a leaf and those after it.
    fn copy_on(
        &self,
        mut leaf: Seen,
        rest: &mut Rest,
        page: &mut Entries<u64>,
    ) -> Result<PageEnd<u64>, Restart> {
        loop {
            let len = page.keys.len();
            let copied = copy(self.page(leaf.page), rest, page);
            if !self.is_still(leaf) {
                page.truncate(len);
                return Err(Restart);
            }
            match copied {
                Copied::Enough(found) => return Ok(found),
                Copied::GoesOn(right) => {
                    rest.low = behind(page, len, rest.low);
                    let right = self.see(right)?;
                    self.check(leaf)?;
                    leaf = right;
                }
            }
        }
    }

    /// Copies with latches, taking each leaf's before the one to its left is released.
    #[cold]
    fn copy_latched(&self, mut rest: Rest, page: &mut Entries<u64>) -> PageEnd<u64> {
        let (mut leaf, held, _) = self.latch_leaf(rest.low);
        let mut held = Some(held);
        loop {
            let len = page.keys.len();
            match copy(self.page(leaf), &rest, page) {
                Copied::Enough(found) => return found,
                Copied::GoesOn(right) => {
                    rest.low = behind(page, len, rest.low);
                    leaf = right;
                    drop(held.replace(self.latch(right)));
                }
            }
        }
    }
}

/// Returns the key at which a scan continues after it has appended all entries of a leaf to the first
/// `len` entries of a page. Its last key isn't the last of all: the range continues.
fn behind(page: &Entries<u64>, len: usize, low: u64) -> u64 {
    page.keys[len..].last().map_or(low, |&last| last.saturating_add(1))
}

/// Appends a leaf's entries of a range to a page.
#[inline(always)]
fn copy<T: Form>(leaf: Page<'_, T>, rest: &Rest, page: &mut Entries<u64>) -> Copied {
    let meta = leaf.meta();
    let size = leaf.size();
    let first = leaf.lower(size, rest.low);
    let room = page.room - page.keys.len();
    let mut copied = 0;
    for place in first..size {
        let key = leaf.key(place);
        if key > rest.high {
            T::work(Work::Copy(copied));
            return Copied::Enough(PageEnd::All);
        }
        if copied == room {
            T::work(Work::Copy(copied));
            return Copied::Enough(PageEnd::UpTo(key));
        }
        page.push(key, leaf.value(place));
        copied += 1;
    }
    T::work(Work::Copy(copied));
    let link = meta.link();
    let ended = link.is_nil() || page.keys.last().is_some_and(|&last| last >= rest.high);
    if ended { Copied::Enough(PageEnd::All) } else { Copied::GoesOn(link) }
}
