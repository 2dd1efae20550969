//! How a list is laid out in segments.

use super::anchor::PLACES_MAX;
use crate::error::{Error, Result};
use crate::pi::mem::placement::Placement;
use crate::pi::routed::Heights;

/// The maximum room beyond its nodes that a segment is laid out with, in percent of them.
pub const ROOM_PERCENT_MAX: usize = 10_000;

/// How a list is laid out.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Nodes from which on a segment ends before the next tall one, 1 to [`PLACES_MAX`] − 1: small segments
    /// make the table of them longer, large ones the copy of a shared one.
    pub(super) nodes: usize,
    /// Room that a segment has beyond its nodes when it is laid out, in percent of them, 0 to
    /// [`ROOM_PERCENT_MAX`]. Without any, the first insert has to copy it.
    pub(super) room_percent: usize,
    /// The heights, which determine the tall nodes.
    pub(super) heights: Heights,
    /// The placement of segments that are laid out together.
    pub(super) paper: Placement,
}

impl Form {
    /// Creates the form with segments of that many nodes and that much room, if a list can be laid out in
    /// it; on ordinary pages, at the system's choice.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn new(nodes: usize, room_percent: usize, heights: Heights) -> Result<Self> {
        Error::check_setting("segment_nodes", nodes, 1..=PLACES_MAX - 1)?;
        Error::check_setting("room_percent", room_percent, 0..=ROOM_PERCENT_MAX)?;
        Ok(Self { nodes, room_percent, heights, paper: Placement::default() })
    }

    /// Returns the same form with this placement.
    pub fn on(self, paper: Placement) -> Self {
        Self { paper, ..self }
    }
}
