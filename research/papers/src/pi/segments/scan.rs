//! Scans over a list that is quiescent, upwards and downwards.

use super::Segments;
use super::anchor::Anchor;
use super::segment::{END, seek};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work};

impl<B: Bits> Segments<B> {
    /// Shows the entries from `low` to `high`, both included, in ascending order, as long as `visit` wants
    /// more. The anchor is `low`'s.
    pub fn visit_up<T: Trace>(
        &self,
        anchor: Anchor,
        (low, high): (B, B),
        mut visit: impl FnMut(B, B) -> bool,
    ) {
        let mut from = anchor.place();
        for (nth, segment) in self.segments.iter().enumerate().skip(anchor.segment()) {
            if let Some(ahead) = self.segments.get(nth + 1) {
                ahead.ask_for_node::<T>(0);
            }
            let nodes = segment.nodes();
            let mut at = from;
            while at != END {
                let node = &nodes[at as usize];
                T::read(core::ptr::from_ref(node).cast(), size_of_val(node));
                if node.key > high {
                    return;
                }
                if node.key >= low && !node.is_flagged() {
                    T::work(Work::Copy(1));
                    if !visit(node.key, node.value()) {
                        return;
                    }
                }
                at = node.next();
            }
            from = 0;
        }
    }

    /// Shows the entries from `low` to `high`, both included, in descending order, as long as `visit` wants
    /// more. The anchor is `high`'s. Links lead upwards alone, so each segment is gone through first.
    pub fn visit_down<T: Trace>(
        &self,
        anchor: Anchor,
        (low, high): (B, B),
        mut visit: impl FnMut(B, B) -> bool,
    ) {
        let mut passed = Vec::new();
        for segment in self.segments[..=anchor.segment()].iter().rev() {
            let nodes = segment.nodes();
            let mut at = if nodes[0].key < low { seek::<B, T>(nodes, 0, low) } else { 0 };
            passed.clear();
            while at != END && nodes[at as usize].key <= high {
                passed.push(at);
                at = nodes[at as usize].next();
            }
            for &at in passed.iter().rev() {
                let node = &nodes[at as usize];
                T::read(core::ptr::from_ref(node).cast(), size_of_val(node));
                if node.key < low {
                    return;
                }
                if !node.is_flagged() {
                    T::work(Work::Copy(1));
                    if !visit(node.key, node.value()) {
                        return;
                    }
                }
            }
            if nodes[0].key <= low {
                return;
            }
        }
    }
}
