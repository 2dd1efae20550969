//! Joins by keys: equal ones, or the nearest.

use super::args::{Args, Nearest, Sides};
use super::distance::Point;
use super::matcher::Matcher;
use super::probe::{End, Probe, probe};
use super::right;
use crate::rows::column::Column;
use crate::rows::error::QueryError;
use crate::rows::key;
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Part};
use crate::rows::postings::{Groups, Postings};
use crate::rows::progress::Progress;
use crate::rows::runs::{self, Runs};
use crate::rows::source::{self, Text};
use crate::rows::table::{Fetch, Table, Walk};
use latchless::Direction;

/// The rows of LEFT that were taken, as keys for one lookup each.
struct Batch {
    end: End,
    keys: Keys,
    /// The row of each key, and how many of its bytes are those of all parts but the last.
    probes: Vec<(usize, usize)>,
    /// For each row the run of its partners.
    runs: Vec<Option<u32>>,
}

/// A join by keys.
pub struct Keyed<'t> {
    /// LEFT's columns, for each part of RIGHT's keys.
    left: Vec<usize>,
    column: Column,
    index: Box<dyn Runs>,
    postings: Postings,
    fetch: Fetch<'t>,
    nearest: Option<Nearest>,
    tolerance: Option<Point>,
    batches: Vec<Batch>,
    /// The last part of each row's key, where distances are measured.
    points: Vec<Option<Point>>,
    skip_bad: bool,
    taken: usize,
    without_key: usize,
    bytes: Vec<u8>,
}

impl<'t> Keyed<'t> {
    /// Reads RIGHT's keys and builds the index.
    ///
    /// # Errors
    /// Those of columns, of keys, of the arguments, and of the index.
    pub fn new(
        args: &Args,
        left: &Table,
        right: &'t Table,
        text: &Text,
        progress: &Progress,
    ) -> Result<Self, QueryError> {
        let (on, by) = (Sides::new(args.on.as_deref()), Sides::new(args.by.as_deref()));
        if args.by.is_some() && args.nearest.is_none() {
            return Err(QueryError::OnlyWith { option: "--by", with: "--nearest or --overlap" });
        }
        let columns = |side: usize, table: &Table| -> Result<Vec<usize>, QueryError> {
            let by = by.names[side].iter().map(|name| table.column("--by", name));
            by.chain(on.names[side].iter().map(|name| table.column("--on", name))).collect()
        };
        for (option, Sides { names: [left, right], .. }) in [("--by", &by), ("--on", &on)] {
            if left.len() != right.len() || (option == "--on" && left.is_empty()) {
                return Err(QueryError::UnequalColumns { option, left: left.len(), right: right.len() });
            }
        }
        if args.nearest.is_some() && on.names[0].len() > 1 {
            return Err(QueryError::NearestOfSeveral);
        }
        let left = columns(0, left).map_err(|error| error.in_file(source::name(&args.left)))?;
        let in_right = |error: QueryError| error.in_file(source::name(&args.right));
        let plans = right::plans(args, text, &columns(1, right).map_err(in_right)?)?;
        let column = right::read(args, right, plans, progress).map_err(in_right)?;
        let last = *column.parts.last().unwrap_or_else(|| unreachable!("--on has a column"));
        let tolerance = match args.nearest {
            // Without rows, keys have no type.
            Some(nearest) if !column.starts.is_empty() => {
                check_order(args, nearest, last.kind, &right.called(last.column))?
            }
            _ => None,
        };
        progress.phase("building", 0);
        let (index, postings) = runs::build(&column.keys, args.options.for_index())?;
        let ends: &[End] = match args.nearest {
            None => &[End::Equal],
            Some(Nearest::Backward) => &[End::AtMost],
            Some(Nearest::Forward) => &[End::AtLeast],
            Some(Nearest::Either) => &[End::AtMost, End::AtLeast],
        };
        let batch = |&end| Batch { end, keys: Keys::of(&column.parts), probes: Vec::new(), runs: Vec::new() };
        Ok(Self {
            left,
            batches: ends.iter().map(batch).collect(),
            column,
            index,
            postings,
            fetch: right.fetch(),
            nearest: args.nearest,
            tolerance,
            points: Vec::new(),
            skip_bad: args.skip_bad,
            taken: 0,
            without_key: 0,
            bytes: Vec::new(),
        })
    }

    /// Whether distances are measured.
    fn measures(&self) -> bool {
        self.tolerance.is_some() || self.nearest == Some(Nearest::Either)
    }

    /// The row of RIGHT that stands for a run of equal keys, and its key's point.
    fn nearest_of(&mut self, run: u32, end: End) -> Result<(u32, Option<Point>), QueryError> {
        let rows = self.postings.rows(run);
        let row = if end == End::AtMost { rows[rows.len() - 1] } else { rows[0] };
        if !self.measures() {
            return Ok((row, None));
        }
        let last = self.column.parts[self.column.parts.len() - 1];
        let fields = self.fetch.row(self.column.starts[row as usize])?;
        Ok((row, Point::of(last.kind, fields.field(last.column))))
    }

    /// The nearest of the rows that the batches found for a row of LEFT.
    fn nearest(&mut self, taken: usize) -> Result<Option<u32>, QueryError> {
        let mut found: Option<(u32, Option<Point>)> = None;
        for batch in 0..self.batches.len() {
            let Batch { end, ref runs, .. } = self.batches[batch];
            let Some(run) = runs[taken] else { continue };
            let other = self.nearest_of(run, end)?;
            let own = self.points.get(taken).and_then(Option::as_ref);
            let is_near = match (own, &other.1, &self.tolerance) {
                (Some(own), Some(there), Some(tolerance)) => own.is_within(there, tolerance),
                _ => true,
            };
            // The first batch has what is before, the second what is after.
            let is_nearer = match (own, &other.1, found.as_ref().map(|(_, before)| before)) {
                (Some(own), Some(after), Some(Some(before))) => own.is_nearer(after, before),
                _ => true,
            };
            if is_near && is_nearer {
                found = Some(other);
            }
        }
        Ok(found.map(|(row, _)| row))
    }
}

impl Matcher for Keyed<'_> {
    fn take(&mut self, row: &Walk) -> Result<(), QueryError> {
        let (parts, left) = (&self.column.parts, &self.left);
        let cell = |place: usize| row.bytes(left[place]);
        let (last, mut is_missing) = (parts.len() - 1, false);
        // NaN is near nothing.
        let is_nan = self.nearest.is_some() && is_nan(parts[last].kind, row.field(left[last]));
        for batch in &mut self.batches {
            match probe(parts, cell, batch.end, &mut batch.keys, &mut self.bytes) {
                Ok(Probe::Key { .. }) if is_nan => batch.keys.pop(),
                Ok(Probe::Key { prefix }) => batch.probes.push((self.taken, prefix)),
                Ok(Probe::Unmatched) => {}
                Ok(Probe::Empty) => is_missing = true,
                Err((_, complaint)) if self.skip_bad && complaint.is_no_value() => is_missing = true,
                Err((place, complaint)) => return Err(row.refused(left[place], complaint)),
            }
        }
        if self.measures() {
            self.points.push(Point::of(parts[last].kind, row.field(left[last])));
        }
        self.without_key += usize::from(is_missing);
        self.taken += 1;
        Ok(())
    }

    fn look(&mut self) -> Result<(), QueryError> {
        let last = self.column.parts[self.column.parts.len() - 1];
        for batch in &mut self.batches {
            batch.runs.resize(self.taken, None);
            let found = match batch.end {
                End::Equal => self.index.equal(&batch.keys)?,
                End::AtMost => self.index.near(&batch.keys, Direction::Reverse)?,
                End::AtLeast => self.index.near(&batch.keys, Direction::Forward)?,
            };
            for (key, (&(taken, prefix), run)) in batch.probes.iter().zip(found).enumerate() {
                let Some(run) = run else { continue };
                let there = self.postings.rows(run)[0] as usize;
                let is_partner = batch.end == End::Equal
                    || (batch.keys.begins(key, &self.column.keys, there, prefix)
                        && !self.column.keys.is_nan(there, last.kind, prefix));
                batch.runs[taken] = Some(run).filter(|_| is_partner);
            }
        }
        Ok(())
    }

    fn partners(&mut self, taken: usize, into: &mut Vec<u32>) -> Result<(), QueryError> {
        if self.nearest.is_some() {
            into.extend(self.nearest(taken)?);
        } else if let Some(run) = self.batches[0].runs[taken] {
            into.extend_from_slice(self.postings.rows(run));
        }
        Ok(())
    }

    fn clear(&mut self) {
        for batch in &mut self.batches {
            batch.keys.clear();
            batch.probes.clear();
            batch.runs.clear();
        }
        self.points.clear();
        self.taken = 0;
    }

    fn kinds(&self) -> [Vec<(usize, Kind)>; 2] {
        let parts = || self.column.parts.iter();
        let left = self.left.iter().copied().zip(parts().map(|part| part.kind)).collect();
        [left, parts().map(|&Part { column, kind, .. }| (column, kind)).collect()]
    }

    fn starts(&self) -> &[u64] {
        &self.column.starts
    }

    fn without_key(&self) -> [usize; 2] {
        [self.without_key, self.column.skipped]
    }

    fn index_bytes(&self) -> usize {
        self.index.memory_bytes() + self.postings.memory_bytes()
    }
}

/// Checks that keys of this kind have a nearest one, and reads the tolerance.
fn check_order(args: &Args, nearest: Nearest, kind: Kind, column: &str) -> Result<Option<Point>, QueryError> {
    if kind == (Kind::Text { guessed: true }) {
        return Err(QueryError::NearestOfTexts { column: column.to_owned() });
    }
    if !Point::is_on_a_line(kind) && (nearest == Nearest::Either || args.tolerance.is_some()) {
        return Err(QueryError::NoDistance { column: column.to_owned(), kind });
    }
    let Some(given) = &args.tolerance else { return Ok(None) };
    let bad = || QueryError::Tolerance { given: given.clone(), kind };
    Point::distance(kind, given).ok_or_else(bad).map(Some)
}

/// Whether a cell of a column of numbers is NaN.
fn is_nan(kind: Kind, cell: &str) -> bool {
    !kind.is_text() && cell.trim_ascii_end().ends_with(['n', 'N']) && key::is_nan(cell)
}
