//! Nodes of byte strings with arbitrary words: everything that a reader may find while a node is being
//! changed, and worse.

use crate::drawn::Stretched;
use arbitrary::Arbitrary;
use latchless::byte_tree::torn::TornNode;

/// A node, the damage to it, and the keys that are looked up.
#[derive(Debug, Arbitrary)]
pub struct Torn {
    keys: Vec<Stretched>,
    level: u8,
    /// Words from the node's first on.
    words: Vec<u64>,
    tears: Vec<Tear>,
    looked_for: Vec<Stretched>,
}

/// A word that is damaged in some way.
#[derive(Debug, Arbitrary)]
struct Tear {
    way: u8,
    at: u8,
    by: u64,
}

impl Torn {
    /// Reads the node as it is after each damage.
    ///
    /// # Panics
    /// If a reader leaves the node, finds an absent key, or doesn't terminate.
    pub fn run(&self) {
        let keys: Vec<_> = self.keys.iter().map(|key| key.bytes(1000)).collect();
        let node = TornNode::new(keys.iter().map(|key| &key[..]), usize::from(self.level % 3));
        self.words.iter().enumerate().for_each(|(at, &word)| node.set(at, word));
        let looked_for = self.looked_for.iter().map(|key| key.bytes(65_000));
        let looked_for: Vec<_> = keys.into_iter().take(2).chain(looked_for.take(2)).collect();
        for tear in &self.tears {
            node.tear(tear.way, tear.at, tear.by);
            looked_for.iter().for_each(|key| node.read(key));
        }
        looked_for.iter().for_each(|key| node.read(key));
    }
}
