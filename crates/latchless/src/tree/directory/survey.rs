//! Surveys: they rebuild the directory and the leaf predictions for the current tree.
//!
//! A survey visits every lowest inner node, so it takes time in proportion to the tree. It runs in pieces of
//! some ten microseconds. While a survey is under way, each insert that splits a leaf runs a piece; a tree
//! splits leaves much more often than its surveys have pieces. The old tables are in use until the new ones
//! are complete.
//!
//! # Thread safety
//! The state between two pieces is guarded by a lock, which a piece takes only if it is free.
//! Nothing else is held between two pieces: the tree may change in any way. The walk over the inner nodes
//! continues at a key, not at a node. A node in the list may be split, merged or reused meanwhile. It
//! remains one of the lowest inner nodes, so an entry of the new tables misleads at worst, as any entry may.
//! A child of a fork continues the survey of its parent; if a piece was running at the fork, the child keeps
//! its tables.

use super::cells::{Cell, DEPTH_MAX, Entry, Keys, Table};
use super::{BORDERS_MAX, Directory, NODES_MIN, Routing};
use crate::node::{Children, Inner};
use crate::tree::guesses::{Guesses, Sample};
use crate::tree::store::Store;
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;

/// Inner nodes whose fences a piece reads. Harsher where schedules are explored.
const NODES_PER_PIECE: usize = if cfg!(latchless_shuttle) { 2 } else { 64 };
/// Slots that a piece fills, more or less.
const SLOTS_PER_PIECE: usize = if cfg!(latchless_shuttle) { 8 } else { 256 };
/// Leaves that a piece enters: those of a few inner nodes.
const NAMED_PER_PIECE: usize = if cfg!(latchless_shuttle) { 4 } else { 300 };
/// Pieces per split. Trees of tiny nodes have many more inner nodes for their leaves.
const PIECES_PER_SPLIT: usize = if cfg!(all(latchless_small_nodes, not(latchless_shuttle))) { 16 } else { 1 };

/// The results so far of a survey, and its next step.
#[derive(Debug, Default)]
pub(in crate::tree) struct Survey {
    stage: Stage,
    /// The key at which the walk over the inner nodes continues.
    next: u64,
    /// The lowest inner nodes, each with its first key.
    nodes: Vec<(u64, NodeRef)>,
    /// The number of their children.
    leaves: usize,
    /// The directory's table that is being filled.
    form: usize,
    /// The cells that are being filled, each of them in a slot of the one before it.
    cells: Vec<Unfilled>,
    sample: Sample,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Lists the lowest inner nodes.
    #[default]
    Nodes,
    /// Frees the memory of unused predictions, so that there is a table for new ones.
    Room,
    /// Fills the directory's cells.
    Cells,
    /// Fills the slots of predictions.
    Leaves,
    /// Tries the predictions on a sample.
    Sample,
    /// Frees the memory of the old predictions.
    Free,
    Done,
}

/// A cell with slots that are still to be filled.
#[derive(Debug)]
struct Unfilled {
    at: usize,
    cell: Cell,
    /// The range of the cell.
    keys: Keys,
    /// The next slot.
    slot: usize,
    /// The node in which that slot begins, and the end of the nodes in its range.
    own: usize,
    end: usize,
}

impl Unfilled {
    fn new(at: usize, cell: Cell, keys: Keys, nodes: Range<usize>) -> Self {
        Self { at, cell, keys, slot: 0, own: nodes.start, end: nodes.end }
    }

    /// Returns the next slot's place, its keys, and the nodes that have some of them.
    fn next_slot(&mut self, nodes: &[(u64, NodeRef)]) -> Option<(usize, Keys, Range<usize>)> {
        if self.slot > self.cell.last {
            return None;
        }
        let (slot, keys) = (self.slot, self.cell.keys(self.slot, self.keys));
        self.slot += 1;
        self.own = first_behind(nodes, self.own + 1..self.end, keys.first) - 1;
        let end = first_behind(nodes, self.own + 1..self.end, keys.last);
        Some((self.cell.first + slot, keys, self.own..end))
    }
}

/// Returns the first of these nodes that begins after a key; usually it is near.
fn first_behind(nodes: &[(u64, NodeRef)], among: Range<usize>, key: u64) -> usize {
    let nodes = &nodes[among.clone()];
    let near = nodes.iter().take(4).position(|node| node.0 > key);
    among.start + near.unwrap_or_else(|| nodes.partition_point(|node| node.0 <= key))
}

/// Runs surveys of a tree.
#[derive(Clone, Copy)]
pub(in crate::tree) struct Surveyor<'a, B> {
    pub(in crate::tree) store: &'a Store<B>,
    pub(in crate::tree) directory: &'a Directory,
    pub(in crate::tree) guesses: &'a Guesses,
}

impl<'a, B: Bits> Surveyor<'a, B> {
    /// Runs a piece of the survey that is under way, or of a new one if it is due.
    pub(in crate::tree) fn go_on(self, survey: &mut Option<Box<Survey>>) {
        if survey.is_none() {
            // Another thread may have finished the one that was due.
            if !self.directory.is_due() {
                return;
            }
            self.directory.survey_begins();
        }
        let going_on = survey.get_or_insert_default();
        for _ in 0..PIECES_PER_SPLIT {
            self.do_piece(going_on);
        }
        if going_on.stage == Stage::Done {
            *survey = None;
        }
    }

    /// Runs a whole survey at once, for a tree that was built at once, in place of the one under way.
    pub(in crate::tree) fn run_at_once(self, survey: &mut Option<Box<Survey>>) {
        *survey = None;
        self.directory.survey_begins();
        let mut all = Survey::default();
        while all.stage != Stage::Done {
            self.guesses.hurry();
            self.do_piece(&mut all);
        }
    }

    fn routing(self) -> Routing<'a, B> {
        Routing { store: self.store, directory: self.directory }
    }

    fn do_piece(self, survey: &mut Survey) {
        survey.stage = match survey.stage {
            Stage::Nodes => self.list_nodes(survey),
            Stage::Room => self.make_room(survey),
            Stage::Cells => self.fill_cells(survey),
            Stage::Leaves => self.name_leaves(survey),
            Stage::Sample => self.try_guesses(survey),
            Stage::Free => self.free_guesses(survey),
            Stage::Done => Stage::Done,
        };
    }

    fn list_nodes(self, survey: &mut Survey) -> Stage {
        let Survey { nodes, leaves, .. } = survey;
        if nodes.try_reserve(NODES_PER_PIECE).is_err() {
            return self.survey_ends(survey);
        }
        let next = self.store.visit_lowest(survey.next, NODES_PER_PIECE, |node, inner| {
            let low = inner.low().to_u64();
            // Nodes that are being changed may be out of order.
            if nodes.last().is_none_or(|last| low > last.0) {
                nodes.push((low, node));
                *leaves += inner.children();
            }
        });
        match next {
            Some(next) => {
                survey.next = next;
                Stage::Nodes
            }
            None if nodes.len() <= 2 || (nodes.len() as u64) < NODES_MIN => self.survey_ends(survey),
            None => Stage::Room,
        }
    }

    /// Allocates the memory of the new tables.
    fn make_room(self, survey: &mut Survey) -> Stage {
        if self.guesses.free_piece(|bytes| self.store.arena().discharge(bytes)) {
            return Stage::Room;
        }
        let nodes = &survey.nodes[..];
        // Without memory for a new table the old one stays.
        let charge = |bytes| self.store.arena().charge(bytes);
        let Some((table, form)) = self.directory.other_table(nodes.len(), charge) else {
            return self.survey_ends(survey);
        };
        let Some((at, root)) = table.allocate(&nodes[1..]) else { return self.survey_ends(survey) };
        survey.form = form;
        survey.cells.push(Unfilled::new(at, root, Keys::ALL, 0..nodes.len()));
        // The ranges of the first and the last node are left out, so that a few far keys don't count.
        self.guesses.lay_out(survey.leaves, &nodes[1..], charge);
        Stage::Cells
    }

    fn fill_cells(self, survey: &mut Survey) -> Stage {
        let Survey { nodes, cells, form, .. } = survey;
        let Some(table) = self.directory.table_of(*form) else { return self.survey_ends(survey) };
        let mut filled = 0;
        while filled < SLOTS_PER_PIECE {
            let depth = cells.len();
            let Some(cell) = cells.last_mut() else {
                self.directory.form.publish(*form as u64);
                survey.next = 0;
                return Stage::Leaves;
            };
            let Some((slot, keys, inside)) = cell.next_slot(nodes) else {
                cell.cell.write(&table.headers.as_chunks().0[cell.at]);
                cells.pop();
                continue;
            };
            let entry = self.entry_or_cell(table, nodes, cells, keys, inside.clone(), depth);
            table.entries[slot].publish(entry.0);
            filled += if inside.len() > BORDERS_MAX { 1 } else { 1 + 8 * (inside.len() - 1) };
        }
        Stage::Cells
    }

    /// Returns the entry of a slot with these keys and nodes. If there are too many nodes for one piece, it
    /// is a cell, which is filled next.
    fn entry_or_cell(
        self,
        table: &Table,
        nodes: &[(u64, NodeRef)],
        cells: &mut Vec<Unfilled>,
        keys: Keys,
        inside: Range<usize>,
        depth: usize,
    ) -> Entry {
        if inside.len() <= BORDERS_MAX {
            return self.routing().entry_for(table, &nodes[inside], keys, depth - 1);
        }
        if depth < DEPTH_MAX
            && let Some((at, cell)) = table.allocate(&nodes[inside.start + 1..inside.end])
        {
            cells.push(Unfilled::new(at, cell, keys, inside));
            return Entry::of_cell(at);
        }
        self.directory.is_crowded();
        self.routing().covering(keys)
    }

    fn name_leaves(self, survey: &mut Survey) -> Stage {
        if self.guesses.is_unready() {
            return Stage::Leaves;
        }
        let Some(slots) = self.guesses.growing() else { return self.survey_ends(survey) };
        let mut children = Children::default();
        let most = (NAMED_PER_PIECE / Inner::<B>::CAPACITY).max(1);
        let next = self.store.visit_lowest(survey.next, most, |_, inner| {
            inner.copy_out(&mut children);
            slots.name_all(&children, inner.high().to_u64());
        });
        survey.next = next.unwrap_or(0);
        if next.is_some() { Stage::Leaves } else { Stage::Sample }
    }

    fn try_guesses(self, survey: &mut Survey) -> Stage {
        let Some(slots) = self.guesses.growing() else { return self.survey_ends(survey) };
        if !survey.sample.try_some(self.store, slots, &survey.nodes) {
            return Stage::Sample;
        }
        self.guesses.settle(survey.sample, survey.leaves);
        Stage::Free
    }

    fn free_guesses(self, survey: &mut Survey) -> Stage {
        if self.guesses.free_piece(|bytes| self.store.arena().discharge(bytes)) {
            return Stage::Free;
        }
        self.survey_ends(survey)
    }

    /// Sets when the next survey is due.
    fn survey_ends(self, survey: &Survey) -> Stage {
        self.directory.is_made_for(survey.nodes.len());
        Stage::Done
    }
}
