//! Lookups step by step: what `group.rs` does with many requests on one level, done with one
//! request that may be anywhere, for an executor that isn't here.
//!
//! Each step reads what the step before asked for, and asks for what the next one reads.

use super::*;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read_later;
use latchless_core::search::Scalar;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Look into the table that guesses leaves.
    Guess,
    /// Read an inner node's first line.
    Inner,
    /// Read the block that it named.
    Block,
    /// Read a leaf's first line.
    Leaf,
}

/// Where a lookup has come to.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    at: At<'a>,
    version: Option<Version>,
    block: u8,
    level: u8,
    next: Next,
}

/// The steps of a tree's lookups, with instructions that are known.
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
    /// Where the lookup of a key begins.
    #[inline(always)]
    pub fn enter(self, key: B) -> Place<'a> {
        let slots = self.tree.guesses.slots();
        if let Some(slots) = slots {
            slots.ask(key.to_u64());
            let at = self.tree.at(self.tree.root().0);
            return Place { at, version: None, block: 0, level: 0, next: Next::Guess };
        }
        self.begin(key)
    }

    /// Goes a step; says whether the lookup has arrived where [`TreeSteps::answer`] finds its answer.
    #[inline(always)]
    pub fn step(self, place: &mut Place<'a>, key: B) -> bool {
        match place.next {
            Next::Guess => {
                let slots = self.tree.guesses.slots();
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

    /// What is under a key whose lookup has arrived. Wherever it is, the answer was true at one moment of
    /// this call.
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
        self.tree.get_again::<Scalar, Shared>(place.at, key)
    }

    #[inline(always)]
    fn begin(self, key: B) -> Place<'a> {
        let start = self.tree.start(key);
        let at = self.tree.at(start.node());
        let mut place = Place { at, version: None, block: 0, level: 0, next: Next::Leaf };
        self.go_to(&mut place, start.node(), start.level() as u8);
        place
    }

    /// To a node, whose first line is asked for.
    #[inline(always)]
    fn go_to(self, place: &mut Place<'a>, node: NodeRef, level: u8) {
        place.at = self.tree.at(node);
        prefetch_read_later(place.at.line_address(0));
        (place.level, place.next) = (level, if level == 0 { Next::Leaf } else { Next::Inner });
    }
}

/// What is done with the steps of a tree.
pub trait TreeDriver<B> {
    /// What comes of it.
    type Output;

    /// Does it. Mark it `#[inline(always)]`: the steps are made of instructions that this processor is
    /// known to have, and so is what they are inlined into.
    fn drive<S: Search>(self, steps: TreeSteps<'_, B, S>) -> Self::Output;
}

impl<B: Bits> BlinkTree<B> {
    /// Hands out the steps of lookups.
    pub fn drive<D: TreeDriver<B>>(&self, driver: D) -> D::Output {
        self.dispatch.run(Drive { tree: self, driver })
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
