//! Lookups in single steps, for an external executor. `group.rs` runs the same steps for many requests on
//! one level; here each request may be anywhere.
//!
//! Each step reads what the step before prefetched, and prefetches what the next one reads.

use super::blink::BlinkTree;
use super::get::get_again;
use super::store::At;
use crate::blink::{Levels, Shared};
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read_later;
use latchless_core::mem::node_ref::NodeRef;

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Look up the predicted leaf.
    Guess,
    /// Read an inner node's first line.
    Inner,
    /// Read the block that it named.
    Block,
    /// Read a leaf's first line.
    Leaf,
}

/// The position of a lookup.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    at: At<'a>,
    version: Option<Version>,
    block: u8,
    level: u8,
    next: Next,
}

/// The steps of a tree's lookups, compiled for a kernel.
pub struct TreeSteps<'a, B, S> {
    tree: &'a BlinkTree<B>,
    kernel: PhantomData<fn() -> S>,
}

impl<B, S> Clone for TreeSteps<'_, B, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, S> Copy for TreeSteps<'_, B, S> {}

impl<'a, B: Bits, S: Search> TreeSteps<'a, B, S> {
    /// Starts the lookup of a key.
    #[inline(always)]
    pub fn enter(self, key: B) -> Place<'a> {
        let slots = self.tree.finder().guesses().slots();
        if let Some(slots) = slots {
            slots.ask(key.to_u64());
            let at = self.tree.store().at(self.tree.store().root().get().0);
            return Place { at, version: None, block: 0, level: 0, next: Next::Guess };
        }
        self.begin(key)
    }

    /// Runs a step; returns whether the lookup has arrived where [`TreeSteps::answer`] finds its answer.
    #[inline(always)]
    pub fn step(self, place: &mut Place<'a>, key: B) -> bool {
        match place.next {
            Next::Guess => {
                let slots = self.tree.finder().guesses().slots();
                match slots.and_then(|slots| slots.guess(key.to_u64())) {
                    Some((leaf, _)) => self.go_to(place, leaf, 0),
                    None => *place = self.begin(key),
                }
            }
            Next::Inner => {
                let block = place.at.inner::<B>().ask_for_named::<S>(key);
                (place.block, place.next) = (block as u8, Next::Block);
            }
            Next::Block => {
                let child = place.at.inner::<B>().child_in::<S>(usize::from(place.block), key);
                self.go_to(place, child, place.level - 1);
            }
            Next::Leaf => {
                place.version = place.at.latch().stable_version();
                place.block = place.at.leaf::<B>().ask_for_named::<S>(key) as u8;
                return true;
            }
        }
        false
    }

    /// Returns the value of a key whose lookup has arrived. Wherever it is, the answer was true at one
    /// moment of this call.
    #[inline(always)]
    pub fn answer(self, place: Place<'a>, key: B) -> Option<B> {
        if let Some(version) = place.version {
            let leaf = place.at.leaf::<B>();
            let inside = leaf.covers(key);
            let found = leaf.get_in::<S>(usize::from(place.block), key);
            if inside && place.at.latch().validate(version) {
                return found;
            }
        }
        get_again::<_, Shared>(self.tree, place.at, key)
    }

    #[inline(always)]
    fn begin(self, key: B) -> Place<'a> {
        let start = self.tree.finder().routing().start(key);
        let at = self.tree.store().at(start.node());
        let mut place = Place { at, version: None, block: 0, level: 0, next: Next::Leaf };
        self.go_to(&mut place, start.node(), start.level() as u8);
        place
    }

    /// Moves to a node, and prefetches its first line.
    #[inline(always)]
    fn go_to(self, place: &mut Place<'a>, node: NodeRef, level: u8) {
        place.at = self.tree.store().at(node);
        prefetch_read_later(place.at.line_address(0));
        (place.level, place.next) = (level, if level == 0 { Next::Leaf } else { Next::Inner });
    }
}

/// A user of a tree's steps.
pub trait TreeDriver<B> {
    /// The result.
    type Output;

    /// Runs the steps. It must be `#[inline(always)]`: the steps use instructions that this processor is
    /// known to have, and so must all code that they are inlined into.
    fn drive<S: Search>(self, steps: TreeSteps<'_, B, S>) -> Self::Output;
}

impl<B: Bits> BlinkTree<B> {
    /// Calls `driver` with the steps of lookups.
    pub fn drive<D: TreeDriver<B>>(&self, driver: D) -> D::Output {
        self.store().run(Drive { tree: self, driver })
    }
}

struct Drive<'a, B, D> {
    tree: &'a BlinkTree<B>,
    driver: D,
}

impl<B: Bits, D: TreeDriver<B>> Operation for Drive<'_, B, D> {
    type Output = D::Output;

    #[inline(always)]
    fn run<S: Search>(self) -> D::Output {
        self.driver.drive(TreeSteps::<B, S> { tree: self.tree, kernel: PhantomData })
    }
}
