//! The intervals of one of the two files: the columns that they are in, and how a row's is read.

use super::args::Sides;
use super::ends::{Scale, named, region};
use super::probe::{End, Probe, probe};
use crate::rows::dialect::Names;
use crate::rows::error::QueryError;
use crate::rows::key::Complaint;
use crate::rows::keys::Keys;
use crate::rows::kind::{Kind, Part};
use crate::rows::table::{Table, Walk};

/// Where a row's interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// From the point in one column to that in another.
    Ends(usize, usize),
    /// A point.
    Point(usize),
    /// A text that names its group, too.
    Region(usize),
    /// The bases of a VCF file: from POS over REF, or up to END in INFO.
    Bases { pos: usize, reference: usize, info: usize },
}

/// The points of a row's interval, and its group.
pub type Placed = ([u64; 2], Probe);

/// The intervals of a file.
#[derive(Debug, Clone)]
pub struct Spans {
    shape: Shape,
    groups: Vec<usize>,
    is_closed: bool,
    /// Whether groups are names that the file's format defines, as those of chromosomes.
    has_names: bool,
}

impl Spans {
    /// The intervals of a file that the arguments or its format say. `side`: 0 for LEFT, 1 for RIGHT.
    ///
    /// # Errors
    /// Those of [`Table::column`]; [`QueryError::NoInterval`].
    pub fn new(
        table: &Table,
        overlap: &Sides,
        by: &Sides,
        side: usize,
        is_closed: bool,
    ) -> Result<Self, QueryError> {
        let format = table.dialect().names;
        let known = match format {
            Names::Bed => Some(Shape::Ends(1, 2)),
            Names::Gff => Some(Shape::Ends(3, 4)),
            Names::Vcf => Some(Shape::Bases { pos: 1, reference: 3, info: 7 }),
            Names::FirstLine | Names::Numbers => None,
        };
        let is_closed = is_closed || matches!(format, Names::Gff | Names::Vcf);
        // Columns that are named once are those of the other file, if this one's are known.
        let names = |sides: &Sides| match known {
            Some(_) if !sides.is_split => Vec::new(),
            _ => sides.names[side].clone(),
        };
        let column = |option, name: &String| table.column(option, name);
        let columns: Vec<usize> =
            names(overlap).iter().map(|name| column("--overlap", name)).collect::<Result<_, _>>()?;
        let groups: Vec<usize> =
            names(by).iter().map(|name| column("--by", name)).collect::<Result<_, _>>()?;
        let (shape, is_known) = match (&columns[..], known) {
            (&[from, to], _) => (Shape::Ends(from, to), false),
            // That of a region if the other file has a group where this one has none.
            (&[point], _) => (Shape::Point(point), false),
            ([], Some(known)) => (known, true),
            _ => return Err(QueryError::NoInterval { found: columns.len() }),
        };
        let groups = if groups.is_empty() && is_known { vec![0] } else { groups };
        Ok(Self { shape, groups, is_closed, has_names: is_known })
    }

    /// Finds out which points are regions, which name their groups themselves.
    ///
    /// # Errors
    /// [`QueryError::UnequalColumns`].
    pub fn name_groups(sides: &mut [Self; 2]) -> Result<(), QueryError> {
        let counts = [sides[0].groups.len(), sides[1].groups.len()];
        for (side, other) in [(0, 1), (1, 0)] {
            if let Shape::Point(column) = sides[side].shape
                && counts[side] == 0
                && (counts[other] == 1 || matches!(sides[other].shape, Shape::Region(_)))
            {
                sides[side] = Self {
                    shape: Shape::Region(column),
                    groups: vec![column],
                    is_closed: true,
                    has_names: true,
                };
            }
        }
        let [left, right] = [sides[0].groups.len(), sides[1].groups.len()];
        if left != right {
            return Err(QueryError::UnequalColumns { option: "--by", left, right });
        }
        Ok(())
    }

    /// Where the interval is.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether groups are names.
    pub fn has_names(&self) -> bool {
        self.has_names
    }

    /// The columns of the groups that have columns of their own.
    pub fn group_columns(&self) -> &[usize] {
        if matches!(self.shape, Shape::Region(_)) { &[] } else { &self.groups }
    }

    /// The columns of ends whose types have to be found.
    pub fn end_columns(&self) -> Vec<usize> {
        match self.shape {
            Shape::Ends(from, to) => vec![from, to],
            Shape::Point(point) => vec![point],
            Shape::Region(_) | Shape::Bases { .. } => Vec::new(),
        }
    }

    /// A row's points, and its group, whose key is added to others; nothing if an end is empty. `parts`: how
    /// the group's cells are read, if there are groups. `bytes` is room.
    ///
    /// # Errors
    /// The column of a cell that can't be read, and why.
    pub fn placed(
        &self,
        row: &Walk,
        scale: Scale,
        parts: &[Part],
        keys: &mut Keys,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Placed>, (usize, Complaint)> {
        let Some(points) = self.points(row, scale)? else { return Ok(None) };
        if parts.is_empty() {
            return Ok(Some((points, Probe::Key { prefix: 0 })));
        }
        let group = probe(parts, |place| self.group(row, place), End::Equal, keys, bytes);
        group.map(|group| Some((points, group))).map_err(|(place, why)| (self.groups[place], why))
    }

    /// The cell of a part of a row's group.
    fn group<'r>(&self, row: &'r Walk, place: usize) -> &'r [u8] {
        match self.shape {
            Shape::Region(column) => named(row.field(column)).0.as_bytes(),
            _ => row.bytes(self.groups[place]),
        }
    }

    /// A row's points; nothing if an end is empty.
    ///
    /// # Errors
    /// The column of a cell that can't be read, and why.
    fn points(&self, row: &Walk, scale: Scale) -> Result<Option<[u64; 2]>, (usize, Complaint)> {
        let is_empty = |column: usize| row.field(column).trim_ascii().is_empty();
        match self.shape {
            Shape::Ends(from, to) | Shape::Bases { pos: from, reference: to, .. }
                if is_empty(from) || is_empty(to) =>
            {
                Ok(None)
            }
            Shape::Point(column) | Shape::Region(column) if is_empty(column) => Ok(None),
            Shape::Ends(from, to) => {
                let points = scale.points(row.field(from), row.field(to), self.is_closed);
                points.map(Some).map_err(|(place, complaint)| ([from, to][place], complaint))
            }
            Shape::Point(column) => {
                let points = scale.point(row.field(column), self.is_closed);
                points.map(Some).map_err(|complaint| (column, complaint))
            }
            Shape::Region(column) => {
                let region = region(row.field(column));
                region.map(|(_, points)| Some(points)).map_err(|complaint| (column, complaint))
            }
            Shape::Bases { pos, reference, info } => {
                let (from, bases) = (row.field(pos).trim_ascii(), row.field(reference).len());
                let end = row.field(info).split(';').find_map(|entry| entry.strip_prefix("END="));
                let over = || from.parse::<i64>().ok()?.checked_add(bases as i64 - 1);
                let to = end.map(str::to_owned).or_else(|| Some(over()?.to_string()));
                let points = scale.points(from, to.as_deref().unwrap_or(from), true);
                points.map(Some).map_err(|(place, complaint)| ([pos, info][place], complaint))
            }
        }
    }

    /// Its columns with their kinds, given those of the groups and of ends.
    pub fn kinds(&self, groups: &[Kind], ends: Option<Kind>) -> Vec<(usize, Kind)> {
        let groups = self.group_columns().iter().copied().zip(groups.iter().copied());
        let columns = match self.shape {
            Shape::Bases { pos, .. } => vec![pos],
            _ => self.end_columns(),
        };
        groups.chain(columns.into_iter().filter_map(|column| Some((column, ends?)))).collect()
    }
}
