//! Scans. A leaf follows another one if no node between them has changed since it was read; if one has,
//! the scan descends from the root again, to the key after the last. Nothing is held between two pages.

use super::Trie;
use super::hold::Restart;
use crate::common::pages::{Page, PageEnd, Pages, TOGETHER_MAX};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{next, previous};
use latchless_core::mem::touch::{Trace, Work};

/// The range that is still to be copied, both ends included, and the direction.
struct Rest<B> {
    left: Option<(B, B)>,
    forward: bool,
}

impl<B: Bits> Rest<B> {
    /// A key has been copied.
    fn pass(&mut self, key: B) {
        let Some((low, high)) = self.left else { return };
        self.left = match self.forward {
            true => next(key).filter(|&from| from <= high).map(|from| (from, high)),
            false => previous(key).filter(|&until| until >= low).map(|until| (low, until)),
        };
    }
}

impl<B: Bits, T: Trace> Pages for Trie<B, T> {
    type Lane = B;
    type Trace = T;

    fn empty_page(&self, expected: usize) -> Page<B> {
        Page::of(expected.clamp(1, TOGETHER_MAX))
    }

    fn page_up(&self, low: B, high: B, page: &mut Page<B>) -> PageEnd<B> {
        let left = self.copy_all(Rest { left: Some((low, high)), forward: true }, page);
        left.map_or(PageEnd::All, |(low, _)| PageEnd::UpTo(low))
    }

    fn page_down(&self, low: B, high: B, page: &mut Page<B>) -> PageEnd<B> {
        let left = self.copy_all(Rest { left: Some((low, high)), forward: false }, page);
        page.keys.reverse();
        page.values.reverse();
        left.map_or(PageEnd::All, |(_, high)| PageEnd::UpTo(high))
    }
}

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Fills a page with the first entries of a range in its direction, and returns the rest of the range.
    fn copy_all(&self, mut rest: Rest<B>, page: &mut Page<B>) -> Option<(B, B)> {
        T::work(Work::Operation);
        page.truncate(0);
        self.until_done(|| self.copy_on(&mut rest, page));
        rest.left
    }

    /// Copies until the page is full or the range has ended.
    fn copy_on(&self, rest: &mut Rest<B>, page: &mut Page<B>) -> Result<(), Restart> {
        let Some((low, high)) = rest.left else { return Ok(()) };
        let (mut way, mut at) = self.seek(if rest.forward { low } else { high }, rest.forward)?;
        loop {
            let Some(leaf) = at.filter(|leaf| (low..=high).contains(&leaf.key)) else {
                rest.left = None;
                return Ok(());
            };
            page.push(leaf.key, leaf.value);
            rest.pass(leaf.key);
            if rest.left.is_none() || page.keys().len() == page.room {
                return Ok(());
            }
            at = self.advance(&mut way, rest.forward)?;
        }
    }
}
