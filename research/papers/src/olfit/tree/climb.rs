//! The first two parts of an update: reaching the leaf, and climbing to the lowest node that has room. OL
//! latches on its way up (§3.3: "latches are requested upward"); LC, TL and VT have their latches by then,
//! and VN latches the nodes afterwards, because the sizes of its nodes never change.

use super::OlfitTree;
use super::path::{Path, PathRecorder};
use super::spares::Need;
use crate::olfit::node::{At, Kind, NodeLatch, Scheme, Way};
use latchless_core::base::error::Result;
use latchless_core::sync::Backoff;

/// Why an update starts again. All latches are released by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// More than the leaf must change, which needs another descent, or room for more latches.
    Careful,
    /// Units must be reserved first.
    Needs(Need),
    /// Others were in the way; at this address is the latch that they hold, if it is known.
    Disturbed(usize),
}

impl Again {
    pub(super) const DISTURBED: Self = Self::Disturbed(0);
}

impl<K: Kind> OlfitTree<K> {
    /// Goes to the leaf that `key` belongs to (of several, the first), latched as the scheme requires at
    /// this point.
    #[inline(always)]
    pub(super) fn reach<'a>(&'a self, key: K::Bits, path: &mut Path<'a, K>) -> Result<(), Again> {
        self.descend(0, key, path);
        if K::Scheme::NODE_LATCH == NodeLatch::Optimistic {
            self.latch_on_level(0, key, path)
        } else {
            Ok(())
        }
    }

    /// Latches the node of a level that `key` belongs to, which is the one on the path or is to its right.
    #[inline(always)]
    fn latch_on_level<'a>(&'a self, level: usize, key: K::Bits, path: &mut Path<'a, K>) -> Result<(), Again> {
        loop {
            let at = path.at(level);
            let guard = self.latch(at.node::<K>());
            match self.node(at).way(at, key) {
                Way::Here => {
                    path.keep(guard);
                    return Ok(());
                }
                Way::Right(high, to) => {
                    drop(guard);
                    self.restarts.add(1);
                    path.right(high);
                    path.set(level, to.or_else(|| self.next_group(at.unit)).ok_or(Again::DISTURBED)?);
                }
                Way::Lost => return Err(Again::DISTURBED),
            }
        }
    }

    /// From a full leaf upwards: the lowest level at which the path's node has room, or the number of
    /// levels if none has.
    pub(super) fn climb<'a>(&'a self, key: K::Bits, path: &mut Path<'a, K>) -> Result<usize, Again> {
        let mut level = 1;
        loop {
            if K::Scheme::NODE_LATCH == NodeLatch::Optimistic {
                if !self.latch_parent(level, key, path)? {
                    return Ok(level);
                }
            } else if level == path.levels {
                return Ok(level);
            }
            if !self.node(path.at(level)).is_full_inner() {
                return Ok(level);
            }
            level += 1;
        }
    }

    /// Latches the parent of the path's node below, which is latched; `false`: that is the root, and
    /// remains the root while it is latched.
    pub(super) fn latch_parent<'a>(
        &'a self,
        level: usize,
        key: K::Bits,
        path: &mut Path<'a, K>,
    ) -> Result<bool, Again> {
        let child = path.at(level - 1);
        let mut backoff = Backoff::default();
        loop {
            if level >= path.levels {
                let (root, levels) = self.root();
                if levels == level && At::first(root) == child {
                    path.levels = level;
                    return Ok(false);
                }
                // The tree has grown since, or the nodes that the path went through have left it.
                let mut above = Path::new(path.coupling(), 0);
                if self.descend(level, key, &mut above) {
                    path.adopt(&above, level);
                } else {
                    backoff.wait_at(self.arena.origin());
                    continue;
                }
            }
            match self.latch_on_level(level, key, path) {
                Ok(()) => break,
                // The path is out of date here and above.
                Err(_) => path.levels = level,
            }
        }
        let parent = self.node(path.at(level));
        let place = parent.child_place(key);
        path.set_place(level, place);
        if parent.child(place) == child { Ok(true) } else { Err(Again::DISTURBED) }
    }
}
