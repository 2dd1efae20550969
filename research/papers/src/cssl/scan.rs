//! Pages of scans, copied out of the list, so that nothing is pinned between pages.

use super::skip_list::SkipList;
use crate::common::pages::{Page, PageEnd, Pages};
use latchless_core::base::key::Bits;
use latchless_core::base::span::{next, previous};
use latchless_core::mem::touch::NoTrace;

/// The most entries of a page.
const PAGE: usize = 128;

impl<B: Bits> Pages for SkipList<B> {
    type Lane = B;
    type Trace = NoTrace;

    fn empty_page(&self, expected: usize) -> Page<B> {
        Page::of(expected.clamp(1, PAGE))
    }

    fn page_up(&self, low: B, high: B, page: &mut Page<B>) -> PageEnd<B> {
        let inside = self.enter();
        page.truncate(0);
        self.visit(inside.published(), low, high, |_, key, value| {
            page.push(key, value);
            page.keys().len() < page.room
        });
        match page.keys().last() {
            Some(&key) if page.keys().len() == page.room && key < high => {
                next(key).map_or(PageEnd::All, PageEnd::UpTo)
            }
            _ => PageEnd::All,
        }
    }

    /// The list has no links to the left. So this starts as many positions of the lanes further left as
    /// the page has room for, and walks up to the end.
    fn page_down(&self, low: B, high: B, page: &mut Page<B>) -> PageEnd<B> {
        let inside = self.enter();
        let (parts, list) = (inside.published(), self.list());
        let [mut spot] = self.locate(parts, [high]);
        loop {
            for _ in 1..page.room {
                match parts.node(spot) {
                    Some(node) if list.key(node) > low => spot = parts.left_of(spot),
                    _ => break,
                }
            }
            let mut begun = low;
            self.at_living_anchor(parts, spot, |anchor| {
                page.truncate(0);
                begun = if anchor == self.head { low } else { low.max(list.key(anchor)) };
                list.visit(anchor, low, high, |_, key, value| {
                    page.push(key, value);
                    true
                })
            });
            if !page.keys().is_empty() || begun == low {
                break;
            }
            // Everything from there on has been removed meanwhile: further left.
            spot = self.before(parts, self.locate(parts, [begun])[0], begun);
        }
        page.keep_last();
        match page.keys().first() {
            Some(&key) if key > low => previous(key).map_or(PageEnd::All, PageEnd::UpTo),
            _ => PageEnd::All,
        }
    }
}
