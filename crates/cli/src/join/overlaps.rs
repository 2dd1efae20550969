//! Joins by intervals that share a point.

use super::args::{Args, Side, Sides};
use super::ends::Scale;
use super::matcher::Matcher;
use super::probe::Probe;
use super::right;
use super::spans::{Shape, Spans};
use crate::rows::error::QueryError;
use crate::rows::guess::Plan;
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Part};
use crate::rows::progress::Progress;
use crate::rows::runs::{self, Runs};
use crate::rows::source::{self, Text};
use crate::rows::table::{Table, Walk};
use latchless::FillFactor;
use latchless::intervals::{IntervalIndex, IntervalView, Overlaps as Found};
use std::ops::RangeInclusive;

/// A group, and points of it.
type Interval = (u32, RangeInclusive<u64>);

/// An interval without a point, which overlaps nothing.
const NOWHERE: Interval = (0, RangeInclusive::new(1, 0));

/// A join by intervals.
pub struct Overlaps {
    left: Spans,
    right: Spans,
    scale: Scale,
    /// How the groups' cells are read, and the number of each group.
    parts: Vec<Part>,
    groups: Box<dyn Runs>,
    intervals: IntervalView<u32, u64>,
    starts: Vec<u64>,
    keys: Keys,
    /// The rows of LEFT that were taken, and for each key its row.
    taken: Vec<Interval>,
    keyed: Vec<usize>,
    found: Found,
    skip_bad: bool,
    without_key: [usize; 2],
    bytes: Vec<u8>,
}

impl Overlaps {
    /// Reads RIGHT's intervals and builds the index.
    ///
    /// # Errors
    /// Those of columns, of cells, of the arguments, and of the index.
    pub fn new(
        args: &Args,
        left: &Table,
        right: &Table,
        text: &Text,
        progress: &Progress,
    ) -> Result<Self, QueryError> {
        let (overlap, by) = (Sides::new(args.overlap.as_deref()), Sides::new(args.by.as_deref()));
        let closed = Side::of(args.closed);
        let [in_left, in_right] =
            [&args.left, &args.right].map(|file| move |error: QueryError| error.in_file(source::name(file)));
        let mut sides = [
            Spans::new(left, &overlap, &by, 0, closed[0]).map_err(in_left)?,
            Spans::new(right, &overlap, &by, 1, closed[1]).map_err(in_right)?,
        ];
        Spans::name_groups(&mut sides)?;
        let [left, spans] = sides;
        let read = Read::new(args, right, text, &spans, &left, progress).map_err(in_right)?;
        progress.phase("building", 0);
        let options = args.options.for_index();
        let (groups, postings) = runs::build(&read.keys, options.clone())?;
        let mut group_of = vec![0; read.points.len()];
        for group in 0..groups.keys() as u32 {
            postings.rows(group).iter().for_each(|&row| group_of[row as usize] = group);
        }
        let all = read.points.iter().zip(group_of).zip(0..);
        let all = all.filter(|&((&[first, last], _), _)| first <= last);
        let mut index = IntervalIndex::with_options(options)?;
        let intervals = all.map(|((&[first, last], group), row)| (group, first..=last, row));
        index.bulk_load(intervals, FillFactor::FULL)?;
        Ok(Self {
            intervals: index.view()?,
            left,
            right: spans,
            scale: read.scale,
            keys: Keys::of(&read.parts),
            parts: read.parts,
            groups,
            starts: read.starts,
            taken: Vec::new(),
            keyed: Vec::new(),
            found: Found::default(),
            skip_bad: args.skip_bad,
            without_key: [0, read.skipped],
            bytes: Vec::new(),
        })
    }
}

impl Matcher for Overlaps {
    fn take(&mut self, row: &Walk) -> Result<(), QueryError> {
        let interval = match self.left.placed(row, self.scale, &self.parts, &mut self.keys, &mut self.bytes) {
            Ok(Some(([first, last], Probe::Key { .. }))) => {
                if !self.parts.is_empty() {
                    self.keyed.push(self.taken.len());
                }
                // Its group is looked up with those of other rows.
                (0, first..=last)
            }
            Ok(Some((_, Probe::Unmatched))) => NOWHERE,
            Err((column, complaint)) if !(self.skip_bad && complaint.is_no_value()) => {
                return Err(row.refused(column, complaint));
            }
            _ => {
                self.without_key[0] += 1;
                NOWHERE
            }
        };
        self.taken.push(interval);
        Ok(())
    }

    fn look(&mut self) -> Result<(), QueryError> {
        if !self.parts.is_empty() {
            for (&row, group) in self.keyed.iter().zip(self.groups.equal(&self.keys)?) {
                match group {
                    Some(group) => self.taken[row].0 = group,
                    None => self.taken[row] = NOWHERE,
                }
            }
        }
        self.found = self.intervals.overlaps_many(&self.taken)?;
        Ok(())
    }

    fn partners(&mut self, taken: usize, into: &mut Vec<u32>) -> Result<(), QueryError> {
        into.extend(self.found.of(taken).iter().map(|&row| row as u32));
        Ok(())
    }

    fn clear(&mut self) {
        self.taken.clear();
        self.keyed.clear();
        self.keys.clear();
    }

    fn kinds(&self) -> [Vec<(usize, Kind)>; 2] {
        let ends = match self.scale {
            Scale::Integers => Kind::named("i64", true),
            Scale::Floats(rule) => Some(Kind::Number(rule)),
            Scale::Times(form) => Some(Kind::Form(form)),
        };
        let groups: Vec<Kind> = self.parts.iter().map(|part| part.kind).collect();
        [&self.left, &self.right].map(|spans| spans.kinds(&groups, ends))
    }

    fn starts(&self) -> &[u64] {
        &self.starts
    }

    fn without_key(&self) -> [usize; 2] {
        self.without_key
    }

    fn index_bytes(&self) -> usize {
        self.intervals.memory_bytes() + self.groups.memory_bytes()
    }
}

/// RIGHT's rows.
struct Read {
    scale: Scale,
    parts: Vec<Part>,
    /// The groups' keys; none if there are no groups.
    keys: Keys,
    points: Vec<[u64; 2]>,
    starts: Vec<u64>,
    skipped: usize,
}

impl Read {
    fn new(
        args: &Args,
        table: &Table,
        text: &Text,
        spans: &Spans,
        left: &Spans,
        progress: &Progress,
    ) -> Result<Self, QueryError> {
        let mut columns = spans.group_columns().to_vec();
        let groups = columns.len();
        columns.extend(spans.end_columns());
        let mut plans = right::plans(args, text, &columns)?;
        if args.key_types.key_type.is_empty() && (left.has_names() || spans.has_names()) {
            // Names of chromosomes: 22 is one, and X.
            let texts = plans[..groups].iter_mut();
            texts.for_each(|(_, plan)| *plan = Plan::known(Kind::Text { guessed: false }));
        }
        let (mut parts, scale) = if plans.is_empty() {
            (Vec::new(), Scale::Integers)
        } else {
            let column = right::read(args, table, plans, progress)?;
            // Without rows, cells of any type have no partner.
            let (parts, is_empty) = (column.parts, column.starts.is_empty());
            let unfit = |kind| {
                let names: Vec<String> =
                    parts[groups..].iter().map(|part| table.called(part.column)).collect();
                QueryError::NotEnds { columns: names.join(","), kind }
            };
            let scale = match Scale::of(parts[groups..].iter().map(|part| part.kind)) {
                Err(_) if is_empty => Scale::Integers,
                scale => scale.map_err(unfit)?,
            };
            // The ends of a region are integers.
            if matches!(left.shape(), Shape::Region(_)) && scale != Scale::Integers {
                return Err(unfit(parts[groups].kind));
            }
            (parts[..groups].to_vec(), scale)
        };
        if matches!(spans.shape(), Shape::Region(_)) {
            parts = vec![Part::new(0, Kind::Text { guessed: false })];
        }
        let mut read =
            Self { scale, keys: Keys::of(&parts), parts, points: Vec::new(), starts: Vec::new(), skipped: 0 };
        read.rows(args, table, spans)?;
        Ok(read)
    }

    fn rows(&mut self, args: &Args, table: &Table, spans: &Spans) -> Result<(), QueryError> {
        let (mut walk, mut bytes) = (table.walk()?, Vec::new());
        while walk.advance()? {
            let points = match spans.placed(&walk, self.scale, &self.parts, &mut self.keys, &mut bytes) {
                Ok(Some((points, Probe::Key { .. }))) => points,
                Err((column, complaint)) if !(args.skip_bad && complaint.is_no_value()) => {
                    return Err(walk.refused(column, complaint));
                }
                _ => {
                    self.skipped += 1;
                    continue;
                }
            };
            self.points.push(points);
            self.starts.push(walk.start());
            if u32::try_from(self.points.len()).is_err() {
                return Err(QueryError::TooManyRows { limit: u32::MAX });
            }
        }
        Ok(())
    }
}
