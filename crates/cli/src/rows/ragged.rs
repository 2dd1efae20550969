//! Rows with fewer or more fields than there are columns, where these are taken.

use super::report::grouped;

/// How many rows there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ragged {
    /// Rows with fewer fields.
    pub short: usize,
    /// Rows with more fields.
    pub long: usize,
    /// The line of the first of these.
    pub first_long: Option<u64>,
}

impl Ragged {
    /// Counts a row that has other fields than it should have.
    pub fn count(&mut self, line: u64, found: usize, expected: usize) {
        if found < expected {
            self.short += 1;
        } else {
            self.long += 1;
            self.first_long.get_or_insert(line);
        }
    }

    /// Counts the rows that follow these, too.
    pub fn add(&mut self, later: Self) {
        self.short += later.short;
        self.long += later.long;
        self.first_long = self.first_long.or(later.first_long);
    }

    /// The same with other numbers of the lines.
    #[must_use]
    pub fn in_lines(self, number: impl Fn(u64) -> u64) -> Self {
        Self { first_long: self.first_long.map(number), ..self }
    }

    /// The sentences about them, one a line. `place`: what messages call a line.
    pub fn text(&self, place: impl Fn(u64) -> String) -> String {
        let rows = |rows| match rows {
            1 => "1 row has".to_owned(),
            rows => format!("{} rows have", grouped(rows)),
        };
        let mut text = String::new();
        if self.short > 0 {
            text.push_str(&format!("{} fewer fields than there are columns\n", rows(self.short)));
        }
        if let Some(first) = self.first_long {
            let (rows, first) = (rows(self.long), place(first));
            text.push_str(&format!(
                "{rows} more fields than there are columns, first on {first}: they were left out\n"
            ));
        }
        text
    }
}
