//! Checks of the skip list: invariants, space, and a drawing.

use super::skip_list::SkipList;
use crate::cssl::list::node_bytes;
use core::fmt;
use latchless_core::base::error::Broken;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use std::collections::HashSet;

/// The memory of each part of the list, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Space {
    /// Fast lanes.
    pub lane_bytes: usize,
    /// The proxy lane.
    pub proxy_bytes: usize,
    /// The number of proxies.
    pub proxies: usize,
    /// The tables that guess where in lane 1 a key is.
    pub guess_bytes: usize,
    /// Nodes of the data list: key, value and link of every entry.
    pub list_bytes: usize,
    /// The number of fast lanes, in the part that has most.
    pub lanes: usize,
    /// The number of parts with separate lanes.
    pub parts: usize,
}

impl<B: Bits> SkipList<B> {
    pub(super) fn space(&self) -> Space {
        let inside = self.enter();
        let parts = inside.published();
        let mut space = Space { list_bytes: self.len() * node_bytes::<B>(), ..Space::default() };
        for part in parts.iter() {
            space.lane_bytes += part.lanes.lane_bytes();
            space.proxies += part.lanes.proxies();
            space.proxy_bytes += part.lanes.proxy_bytes();
            space.guess_bytes += part.lanes.guess_bytes();
            space.lanes = space.lanes.max(part.lanes.lanes());
        }
        space.parts = parts.len();
        space
    }

    pub(super) fn check_invariants(&self) -> Result<(), Broken> {
        let inside = self.enter();
        let parts = inside.published();
        let list = self.list();
        let mut placed = HashSet::new();
        for number in 0..parts.len() {
            let part = parts.part(number);
            let (first, last) = parts.keys_of(number);
            if first > last || (number > 0 && part.lanes.is_empty()) {
                return Err(Broken::new(format!("part {number} has no keys")));
            }
            if let Some(flaw) = part.lanes.flaw() {
                return Err(Broken::new(format!("part {number}: {flaw}")));
            }
            for at in 0..part.lanes.len() {
                let node = NodeRef::from_word(part.lanes.reference(at));
                let (key, lane) = (list.key(node), part.lanes.key(at));
                if !(first..=last).contains(&key) {
                    return Err(Broken::new(format!("{key:?} stands in part {number}")));
                }
                if key > lane || (list.is_alive(node) && key != lane) {
                    return Err(Broken::new(format!("position {at} says {lane:?} of {key:?}")));
                }
                if !placed.insert(node) {
                    return Err(Broken::new(format!("{key:?} stands twice in the lanes")));
                }
            }
        }
        let (mut before, mut count, mut broken) = (None, 0, None);
        let all = list.visit(self.head, B::MIN, B::MAX, |node, key, _| {
            if before.is_some_and(|before| before >= key) {
                broken = Some(format!("{key:?} stands behind {before:?}"));
            }
            if list.is_placed(node) && !placed.contains(&node) {
                broken = Some(format!("no lane leads to {key:?}, which is placed"));
            }
            (before, count) = (Some(key), count + 1);
            true
        });
        match (all, broken) {
            (_, Some(broken)) => Err(Broken::new(broken)),
            (Err(_), _) => Err(Broken::new("the head is dead")),
            _ if count != self.len() => Err(Broken::new(format!("{count} entries of {}", self.len()))),
            _ => Ok(()),
        }
    }

    pub(super) fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let inside = self.enter();
        let parts = inside.published();
        writeln!(out, "{} keys in {} parts", self.len(), parts.len())?;
        for number in 0..parts.len() {
            let (part, (first, last)) = (parts.part(number), parts.keys_of(number));
            let (inserted, removed) = part.changes();
            writeln!(
                out,
                "part {number} from {first:?} to {last:?}: {} placed, {} lanes, {inserted} in and {removed} out since",
                part.lanes.len(),
                part.lanes.lanes()
            )?;
            let mut line = String::new();
            self.visit(parts, first, last, |node, key, _| {
                let mark = if self.list().is_placed(node) { "" } else { "+" };
                line.push_str(&format!(" {mark}{key:?}"));
                true
            });
            writeln!(out, "  list:{line}")?;
        }
        Ok(())
    }
}
