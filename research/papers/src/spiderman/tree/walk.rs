//! Descents step by step: phase 1 of Spiderman (§3.1.2), with its prefetch options (§3.3).
//!
//! A step ends where the next one needs memory that was just prefetched: a page's header, the next keys of
//! a search, the child's reference, a leaf's value. The options determine which of these get a separate
//! step; the others are waited for within a step.

use super::OlcTree;
use super::hold::Seen;
use super::resume::Landed;
use crate::common::walk::{Aim, Step, Walk};
use crate::spiderman::page::{Form, Probes};
use crate::spiderman::prefetch::Prefetch;
use latchless_core::latch::Version;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read_later};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;

/// Keys that are left of a search when all of them are prefetched at once: those of some two lines.
const LAST_KEYS: usize = 15;

/// Levels at the top that option 2 leaves alone.
const LEVELS_CACHED: usize = 2;

/// The walks of a tree. See the file's head.
#[derive(Debug)]
pub struct PageWalk<'a, T> {
    tree: &'a OlcTree<T>,
    prefetch: Prefetch,
    checked: bool,
    in_turns: bool,
}

/// The next action of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Read the header of a page that it has arrived at.
    Arrive,
    /// Read the middle key.
    Middle,
    /// Read the rest of the keys.
    Rest,
    /// Read two keys.
    Probe,
    /// Read all remaining keys, and the child.
    Last,
    /// Read the child.
    Child,
    /// Nothing: another thread interfered.
    Lost,
}

/// The position of a walk.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    page: NodeRef,
    /// The page above and its version; once the page's own header was read, the page itself.
    seen: Option<Seen>,
    probes: Probes,
    size: u16,
    level: u8,
    /// Levels that were passed.
    depth: u8,
    next: Next,
    aim: Aim,
}

impl<'a, T: Form> PageWalk<'a, T> {
    /// Creates walks with these prefetch options. `checked`: whether they read versions, so that a request
    /// can be served where they land; the paper's don't.
    pub fn new(tree: &'a OlcTree<T>, prefetch: Prefetch, checked: bool) -> Self {
        Self { tree, prefetch, checked, in_turns: true }
    }

    /// Says whether a step is always taken after one of another walk, so that what it reads doesn't depend
    /// on what that one read. It is reported to the tracing hook.
    pub fn in_turns(self, in_turns: bool) -> Self {
        Self { in_turns, ..self }
    }

    #[inline(always)]
    fn ask(&self, at: *const u8) {
        T::prefetch(at, 1);
        if !T::LISTENING {
            prefetch_read_later(at);
        }
    }

    /// Prefetches every line from one address up to another.
    #[inline(always)]
    fn ask_all(&self, from: *const u8, to: *const u8) {
        let mut line = from.addr() & !(LINE_BYTES - 1);
        while line < to.addr() {
            self.ask(core::ptr::without_provenance(line));
            line += LINE_BYTES;
        }
    }

    /// Returns whether nothing of a page at this depth is prefetched.
    #[inline(always)]
    fn spares(&self, depth: u8) -> bool {
        self.prefetch.has(Prefetch::BELOW_TWO) && usize::from(depth) < LEVELS_CACHED
    }

    /// Arrives at a page: reads its header, and checks that it was the right one.
    #[inline(always)]
    fn arrive(&self, place: &mut Place) -> bool {
        T::work(Work::Visit);
        let page = self.tree.page(place.page);
        if self.checked {
            let Ok(seen) = self.tree.see(place.page) else { return false };
            if place.seen.is_some_and(|above| !self.tree.is_still(above)) {
                return false;
            }
            place.seen = Some(seen);
        }
        let meta = page.meta();
        place.size = page.size() as u16;
        if meta.level() != usize::from(place.level) || meta.is_dead() {
            return false;
        }
        let keys = if place.level == 0 { place.size } else { place.size.saturating_sub(1) };
        place.probes = Probes::through(usize::from(keys));
        true
    }

    /// Begins the search in a page, as far as it needs nothing that isn't there.
    #[inline(always)]
    fn begin_search(&self, place: &mut Place, key: u64) -> Step<Landed> {
        let page = self.tree.page(place.page);
        if place.probes.is_over() || self.spares(place.depth) {
            return self.search_rest(place, key);
        }
        if self.prefetch.has(Prefetch::PROBES) {
            self.ask_for_probes(place);
        } else if self.prefetch.has(Prefetch::MIDDLE) {
            self.ask(page.key_address(place.probes.middle()));
            place.next = Next::Middle;
        } else {
            return self.search_rest(place, key);
        }
        Step::On
    }

    /// Prefetches the keys that the next step of a search reads: two keys, of which the second is one of
    /// two; or all remaining ones, and the children that they may lead to.
    #[inline(always)]
    fn ask_for_probes(&self, place: &mut Place) {
        let (page, probes) = (self.tree.page(place.page), place.probes);
        if probes.left() > LAST_KEYS {
            self.ask(page.key_address(probes.middle()));
            probes.halves().iter().for_each(|half| self.ask(page.key_address(half.middle())));
            place.next = Next::Probe;
            return;
        }
        let (from, until) = (probes.place(), probes.place() + probes.left());
        self.ask_all(page.key_address(from), page.key_address(until));
        let with_child = place.level > 0 && self.prefetch.has(Prefetch::CHILD);
        if with_child {
            self.ask_all(page.second_address(from), page.second_address(until + 1));
        }
        place.next = if with_child { Next::Last } else { Next::Rest };
    }

    /// Reads the middle key, and prefetches the half of the keys that it leads to.
    #[inline(always)]
    fn halve(&self, place: &mut Place, key: u64) {
        let page = self.tree.page(place.page);
        place.probes = page.probe(place.probes, key);
        let (from, keys) = (place.probes.place(), place.probes.left());
        self.ask_all(page.key_address(from), page.key_address(from + keys));
        place.next = Next::Rest;
    }

    /// Ends a search.
    #[inline(always)]
    fn search_rest(&self, place: &mut Place, key: u64) -> Step<Landed> {
        self.search(place, key);
        self.found(place, key)
    }

    #[inline(always)]
    fn search(&self, place: &mut Place, key: u64) {
        let page = self.tree.page(place.page);
        while !place.probes.is_over() {
            place.probes = page.probe(place.probes, key);
        }
    }

    /// Reads two keys, and prefetches the next ones.
    #[inline(always)]
    fn probe(&self, place: &mut Place, key: u64) -> Step<Landed> {
        let page = self.tree.page(place.page);
        place.probes = page.probe(page.probe(place.probes, key), key);
        self.ask_for_probes(place);
        Step::On
    }

    /// A search has ended.
    #[inline(always)]
    fn found(&self, place: &mut Place, key: u64) -> Step<Landed> {
        if place.level == 0 {
            return self.land(place);
        }
        if self.prefetch.has(Prefetch::CHILD) && !self.spares(place.depth) {
            self.ask(self.tree.page(place.page).second_address(place.probes.place()));
            place.next = Next::Child;
            return Step::On;
        }
        self.go_down(place, key)
    }

    /// Reads the child and prefetches according to the options.
    #[inline(always)]
    fn go_down(&self, place: &mut Place, key: u64) -> Step<Landed> {
        place.page = self.tree.page(place.page).child(place.probes.place());
        place.level -= 1;
        place.depth += 1;
        place.next = Next::Arrive;
        if self.spares(place.depth) {
            // It is in a cache: there is nothing to wait for.
            return self.step(place, key);
        }
        let page = self.tree.page(place.page);
        if self.prefetch.has(Prefetch::HEADER) {
            self.ask(page.header_address());
        }
        if self.prefetch.has(Prefetch::WHOLE) {
            self.ask_all(page.header_address(), page.end_address());
        }
        if self.prefetch.has(Prefetch::AT_ONCE) {
            // One turn, whether or not what it reads has arrived.
            while matches!(place.next, Next::Arrive | Next::Middle) {
                if let landed @ Step::Landed(_) = self.step(place, key) {
                    return landed;
                }
            }
        }
        Step::On
    }

    /// Arrives at the leaf: prefetches what the request will need there.
    #[inline(always)]
    fn land(&self, place: &mut Place) -> Step<Landed> {
        let (page, from, size) = (self.tree.page(place.page), place.probes.place(), usize::from(place.size));
        let run = self.prefetch.has(Prefetch::RUN);
        let until = match place.aim {
            Aim::Look => {
                if self.prefetch.has(Prefetch::PAYLOAD) && from < size {
                    self.ask(page.second_address(from));
                }
                from
            }
            Aim::Change if run => size + 1,
            Aim::Run(entries) if run => from.saturating_add(entries).min(size),
            _ => from,
        };
        if until > from {
            self.ask_all(page.key_address(from), page.key_address(until));
            self.ask_all(page.second_address(from), page.second_address(until));
            if until == size && matches!(place.aim, Aim::Run(_)) && !page.meta().link().is_nil() {
                self.ask(self.tree.page(page.meta().link()).header_address());
            }
        }
        Step::Landed(place.seen.map(|leaf| Landed::new(leaf, from)))
    }
}

impl<T: Form> Walk for PageWalk<'_, T> {
    type Key = u64;
    type Place = Place;
    type Anchor = Landed;

    #[inline(always)]
    fn enter(&self, _: u64, aim: Aim) -> Place {
        T::work(Work::Walk);
        let (root, levels) = self.tree.root();
        let mut place = Place {
            page: root,
            seen: None,
            probes: Probes::default(),
            size: 0,
            level: (levels - 1) as u8,
            depth: 0,
            next: Next::Arrive,
            aim,
        };
        if self.checked {
            place.next = Next::Lost;
            if let Ok((seen, levels)) = self.tree.see_root() {
                place.page = seen.page;
                (place.seen, place.level, place.next) = (Some(seen), (levels - 1) as u8, Next::Arrive);
            }
        }
        place
    }

    #[inline(always)]
    fn step(&self, place: &mut Place, key: u64) -> Step<Landed> {
        if self.in_turns {
            T::work(Work::Walk);
        }
        match place.next {
            Next::Probe => self.probe(place, key),
            Next::Arrive => {
                if self.arrive(place) {
                    self.begin_search(place, key)
                } else {
                    Step::Landed(None)
                }
            }
            Next::Last => {
                self.search(place, key);
                self.go_down(place, key)
            }
            Next::Child => self.go_down(place, key),
            Next::Middle => {
                self.halve(place, key);
                Step::On
            }
            Next::Rest => self.search_rest(place, key),
            Next::Lost => Step::Landed(None),
        }
    }
}

/// The size of a version within a place determines the size of places; many of them should fit into a
/// cache.
const _: () = assert!(size_of::<Place>() <= 56 && size_of::<Version>() == 8);
