//! `indexset`: a two-level B-tree with positions, its single-threaded map.

use crate::peer::{Ask, Peer, methods_are_std};
use indexset::BTreeMap;
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Result};

/// `indexset::BTreeMap`.
pub struct IndexSet<B: Bits>(BTreeMap<B, B>);

impl<B: Bits> Default for IndexSet<B> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<B: Bits> Peer<B> for IndexSet<B> {
    const NAME: &'static str = "indexset";

    methods_are_std!();

    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        self.0 = entries.collect();
        Ok(())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        // Its own upper bound includes the entry after an absent one, so each key is checked.
        let mut range = self.0.range(ask.low..=ask.high);
        match ask.direction {
            Direction::Forward => {
                let _ = range.all(|(&key, &value)| key <= ask.high && each(key, value));
            }
            Direction::Reverse => {
                for (&key, &value) in range.rev() {
                    if key < ask.low || (key <= ask.high && !each(key, value)) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// By positions, without walking the range.
    fn count(&self, low: B, high: B) -> Result<usize> {
        let end = self.0.rank(&high) + usize::from(self.0.contains_key(&high));
        Ok(end - self.0.rank(&low))
    }
}
