//! Nodes and blocks reserved before latches are taken, so that nothing is allocated under a latch.

use super::long::Blocks;
use super::shape::LINES;
use super::store::Store;
use super::strings::Strings;
use crate::blink::Spares;
use latchless_core::base::error::Result;
use latchless_core::mem::refusal::reserve;

/// The memory that a change lacked: this many nodes and blocks must be reserved before it is retried.
#[derive(Debug, Clone, Copy)]
pub struct Lack {
    pub levels: usize,
    pub blocks: usize,
}

/// A node and strings for each of the lowest levels, and blocks of long strings. Unused ones go back.
#[derive(Debug)]
pub struct Aside<'a> {
    store: &'a Store,
    pub nodes: Spares<'a, LINES>,
    strings: Vec<Strings>,
    pub blocks: Blocks<'a>,
}

impl<'a> Aside<'a> {
    /// Nothing yet.
    pub fn none(store: &'a Store) -> Self {
        let (nodes, blocks) = (Spares::none(store.nodes()), store.long().put_aside());
        Self { store, nodes, strings: Vec::new(), blocks }
    }

    /// Reserves the missing memory.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn reserve(&mut self, lack: Lack) -> Result<()> {
        let longest = self.store.longest().get();
        let more = lack.levels.saturating_sub(self.strings.len());
        reserve(&mut self.strings, more)?;
        self.strings.extend((0..more).map(|_| Strings::default()));
        self.strings[..lack.levels].iter_mut().try_for_each(|strings| strings.reserve(longest))?;
        self.nodes.reserve(lack.levels)?;
        self.blocks.reserve(lack.blocks)
    }

    /// The strings of a level, to be brought back.
    pub fn take_strings(&mut self, level: usize) -> Strings {
        core::mem::take(&mut self.strings[level])
    }

    /// Brings strings back.
    pub fn bring_strings(&mut self, level: usize, strings: Strings) {
        self.strings[level] = strings;
    }
}
