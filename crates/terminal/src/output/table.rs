//! A table for people that is printed while its rows arrive.
//!
//! The first rows are held back and determine the widths of the columns; every other row is printed at
//! once, so a long answer takes no more memory than a short one. On a terminal no line is longer than the
//! terminal is wide. Elsewhere nothing is cut: a later cell that is wider than its column pushes the rest
//! of the line to the right.

use super::fit::Fit;
use super::visible::visible;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of rows that determine the widths of columns, unless their text gets long before.
const SAMPLE_ROWS: usize = 1000;
/// How much text is held back at most, not counting the row that goes beyond it.
const SAMPLE_BYTES: usize = 1 << 20;

/// A column's name and side.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether its cells are aligned to the right, as numbers are.
    pub right: bool,
}

/// The treatment of a cell that doesn't fit the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLong {
    /// Its end gives way to an ellipsis.
    Cut,
    /// It continues in the next line.
    Wrap,
}

/// A table on its way to `out`.
pub struct Table<W: Write> {
    out: W,
    columns: Vec<Column>,
    room: Option<usize>,
    too_long: TooLong,
    keep: usize,
    sample: Vec<Vec<String>>,
    sample_bytes: usize,
    fit: Option<Fit>,
}

impl<W: Write> Table<W> {
    /// A table without rows, in lines of `room` cells if that is limited.
    pub fn new(out: W, columns: Vec<Column>, room: Option<usize>, too_long: TooLong) -> Self {
        Self { out, columns, room, too_long, keep: 0, sample: Vec::new(), sample_bytes: 0, fit: None }
    }

    /// The column of this number is shown even if not all of them are.
    #[must_use]
    pub fn keep(mut self, column: usize) -> Self {
        self.keep = column;
        self
    }

    /// One more row; it has a cell for every column.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let cells: Vec<String> = cells.map(|cell| visible(cell).into_owned()).collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        if let Some(fit) = &self.fit {
            return print_row(&mut self.out, fit, (self.room, self.too_long), &self.columns, &cells);
        }
        self.sample_bytes += cells.iter().map(String::len).sum::<usize>();
        self.sample.push(cells);
        if self.sample.len() >= SAMPLE_ROWS || self.sample_bytes >= SAMPLE_BYTES {
            self.begin()?;
        }
        Ok(())
    }

    /// Prints the rest, and returns the number of columns that had no room.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<usize> {
        self.begin()?;
        let Some(fit) = self.fit else { return Ok(0) };
        rule(&mut self.out, &fit, ["└", "─", "┘"])?;
        self.out.flush()?;
        Ok(fit.hidden)
    }

    /// Prints the header and the sample, if that hasn't been done.
    fn begin(&mut self) -> io::Result<()> {
        if self.fit.is_some() {
            return Ok(());
        }
        let names: Vec<String> =
            self.columns.iter().map(|column| visible(&column.name).into_owned()).collect();
        let mut natural: Vec<usize> = names.iter().map(|name| width(name)).collect();
        for row in &self.sample {
            for (natural, cell) in natural.iter_mut().zip(row) {
                *natural = width(cell).max(*natural);
            }
        }
        let fit = Fit::new(&natural, self.room, self.keep);
        let limits = (self.room, self.too_long);
        rule(&mut self.out, &fit, ["┌", "─", "┐"])?;
        print_row(&mut self.out, &fit, limits, &self.columns, &names)?;
        rule(&mut self.out, &fit, ["╞", "═", "╡"])?;
        for row in std::mem::take(&mut self.sample) {
            print_row(&mut self.out, &fit, limits, &self.columns, &row)?;
        }
        self.fit = Some(fit);
        Ok(())
    }
}

/// A horizontal border.
fn rule(out: &mut impl Write, fit: &Fit, [left, middle, right]: [&str; 3]) -> io::Result<()> {
    writeln!(out, "{left}{}{right}", middle.repeat(fit.line().saturating_sub(2)))
}

/// A row, on as many lines as its cells need.
fn print_row(
    out: &mut impl Write,
    fit: &Fit,
    (room, too_long): (Option<usize>, TooLong),
    columns: &[Column],
    cells: &[String],
) -> io::Result<()> {
    // A cell wider than those of the sample takes the terminal's remaining width.
    let mut left = room.map_or(usize::MAX, |room| room.saturating_sub(fit.line()));
    let mut placed: Vec<(Vec<String>, usize, bool)> = Vec::with_capacity(fit.shown.len() + 1);
    for &(column, fitted) in &fit.shown {
        let more = width(&cells[column]).saturating_sub(fitted).min(left);
        left -= more;
        let lines = match too_long {
            TooLong::Cut => vec![cut(&cells[column], fitted + more)],
            TooLong::Wrap => wrapped(&cells[column], fitted + more),
        };
        placed.push((lines, fitted, columns[column].right));
    }
    if fit.hidden > 0 {
        placed.push((vec!["…".to_owned()], 1, false));
    }
    let height = placed.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(1);
    for line in 0..height {
        for (at, (lines, fitted, right)) in placed.iter().enumerate() {
            let cell = lines.get(line).map_or("", String::as_str);
            let blank = " ".repeat(fitted.saturating_sub(width(cell)));
            let before = if at == 0 { "│ " } else { "   " };
            let (left, right) = if *right { (&*blank, "") } else { ("", &*blank) };
            write!(out, "{before}{left}{cell}{right}")?;
        }
        writeln!(out, " │")?;
    }
    Ok(())
}

/// How many of a terminal's cells a text takes that [`visible`] has seen.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// How many bytes of the text fit into this many cells.
fn prefix(text: &str, room: usize) -> usize {
    let mut taken = 0;
    let too_far = |&(_, character): &(usize, char)| {
        taken += character.width().unwrap_or(0);
        taken > room
    };
    text.char_indices().find(too_far).map_or(text.len(), |(at, _)| at)
}

/// The text, its end replaced by an ellipsis if it is too long.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    format!("{}…", &text[..prefix(text, room.saturating_sub(1))])
}

/// The text in lines of at most `room` cells, broken at blanks where it has any.
fn wrapped(mut text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while width(text) > room {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let fits = prefix(text, room).max(first);
        let blank = if text[fits..].starts_with(' ') { Some(fits) } else { text[..fits].rfind(' ') };
        let end = blank.filter(|&at| at > 0).unwrap_or(fits);
        lines.push(text[..end].trim_end().to_owned());
        text = text[end..].trim_start();
    }
    lines.push(text.to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(names: &[&str], rows: &[Vec<String>], room: Option<usize>, too_long: TooLong) -> String {
        let columns = names.iter().enumerate();
        let columns = columns.map(|(at, name)| Column { name: (*name).to_owned(), right: at == 0 }).collect();
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, columns, room, too_long);
        for row in rows {
            table.row(row.iter().map(String::as_str)).unwrap();
        }
        table.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn cells(row: &[&str]) -> Vec<String> {
        row.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [cells(&["7", "東京"]), cells(&["1000", "x"])];
        let expected = "\
┌─────────────┐
│    k   name │
╞═════════════╡
│    7   東京 │
│ 1000   x    │
└─────────────┘
";
        assert_eq!(table(&["k", "name"], &rows, None, TooLong::Cut), expected);
    }

    #[test]
    fn cells_that_a_terminal_has_no_room_for_are_cut_or_wrapped() {
        let rows = [cells(&["7", "one two three four"])];
        let cut = table(&["k", "name"], &rows, Some(20), TooLong::Cut);
        assert!(cut.contains("│ 7   one two thr… │"), "{cut}");
        let wrapped = table(&["k", "name"], &rows, Some(20), TooLong::Wrap);
        assert!(wrapped.contains("│ 7   one two      │\n│     three four   │"), "{wrapped}");
    }

    #[test]
    fn a_cell_that_is_wider_than_the_sample_is_whole_where_there_is_room() {
        let mut rows = vec![cells(&["1", "abc"]); SAMPLE_ROWS];
        rows.push(cells(&["2", "a longer one"]));
        for room in [None, Some(40)] {
            let printed = table(&["k", "v"], &rows, room, TooLong::Cut);
            assert!(printed.contains("\n│ 2   a longer one │\n"), "{printed}");
        }
        assert!(table(&["k", "v"], &rows, Some(14), TooLong::Cut).contains("\n│ 2   a lon… │\n"));
    }

    #[test]
    fn a_table_holds_back_a_sample_and_no_more() {
        struct Counted(usize);
        impl Write for Counted {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let columns = vec![Column { name: "k".to_owned(), right: false }];
        let mut table = Table::new(Counted(0), columns, None, TooLong::Cut);
        for row in 0..10 * SAMPLE_ROWS {
            table.row(std::iter::once("cell")).unwrap();
            assert!(table.sample.len() < SAMPLE_ROWS);
            assert_eq!(table.out.0 > 0, row + 1 >= SAMPLE_ROWS);
        }
        // One field of many megabytes doesn't make every other one as wide.
        let huge = "x".repeat(8 << 20);
        let printed =
            super::tests::table(&["k", "v"], &[cells(&["1", &huge]), cells(&["2", "y"])], None, TooLong::Cut);
        assert!(printed.contains(&huge) && printed.len() < huge.len() + 10_000);
    }

    proptest! {
        #[test]
        fn no_line_is_longer_than_the_room(
            rows in prop::collection::vec(prop::collection::vec("[ -~äß東\u{1b}\n]{0,30}", 3), 0..8),
            room in 20usize..60,
            wrap: bool,
        ) {
            let too_long = if wrap { TooLong::Wrap } else { TooLong::Cut };
            let printed = table(&["a", "b", "c"], &rows, Some(room), too_long);
            for line in printed.lines() {
                prop_assert!(width(line) <= room, "{} > {room}: {line}", width(line));
            }
            let is_escape = printed.contains('\x1b');
            prop_assert!(!is_escape);
        }
    }
}
