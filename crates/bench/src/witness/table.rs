//! The table of counts: as it is kept in a file, and compared with it.
//!
//! The file is a head of lines `# name: value`, then a line of columns and a line for each row, separated by
//! tabs.

use super::counter::{Counted, EVENTS};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Rows;
use serde_json::json;
use std::fmt::Write;

/// A row may cost this much more of each event, in shares. The addresses of code and data vary between builds
/// that differ elsewhere: by 0.4 % of the instructions (of an allocator), by 12 % of the branch misses, which
/// depend on the addresses of branches, and by 0.8 % of the last-level misses.
const MORE: [f64; 3] = [0.01, 0.15, 0.02];
/// … or this much, in events per operation.
const RARE: f64 = 0.02;

/// Counts, with what a reader needs to repeat them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    pub head: Vec<(String, String)>,
    /// A kind of index and one of its operations.
    pub rows: Vec<(String, Counted)>,
}

impl Table {
    /// Returns the value of this name in the head.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the rows, for people or for programs.
    pub fn shown(&self) -> Rows {
        let mut rows = Rows::new(["index", "operation", "times"].into_iter().chain(EVENTS));
        for (kind, counted) in &self.rows {
            let events = counted.events.map(|number| json!(rounded(number)));
            let names = [json!(kind), json!(counted.operation), json!(counted.times)];
            rows.push(names.into_iter().chain(events).collect());
        }
        rows
    }

    /// Returns the text of the file.
    pub fn write(&self) -> String {
        let mut text: String = self.head.iter().map(|(name, value)| format!("# {name}: {value}\n")).collect();
        _ = writeln!(text, "index\toperation\ttimes\t{}", EVENTS.join("\t"));
        for (kind, Counted { operation, times, events: [instructions, branches, misses] }) in &self.rows {
            _ = writeln!(text, "{kind}\t{operation}\t{times}\t{instructions:.3}\t{branches:.3}\t{misses:.3}");
        }
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A line that is neither a head's nor a row's.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let mut table = Self::default();
        for (number, line) in text.lines().enumerate() {
            if let Some((name, value)) = line.strip_prefix("# ").and_then(|line| line.split_once(": ")) {
                table.head.push((name.to_owned(), value.to_owned()));
            } else if !line.starts_with("index\toperation\t") {
                let row = row(line).ok_or_else(|| Failure::usage(format!("line {}: no row", number + 1)))?;
                table.rows.push(row);
            }
        }
        Ok(table)
    }

    /// Returns what each row costs more than in `base`, and what it costs less; a row of these kinds that
    /// has gone counts as more.
    pub fn against(&self, base: &Self, kinds: &[&str]) -> (Vec<String>, Vec<String>) {
        let (mut more, mut less) = (Vec::new(), Vec::new());
        for (kind, before) in base.rows.iter().filter(|(kind, _)| kinds.contains(&kind.as_str())) {
            let name = format!("{kind} {}", before.operation);
            let same =
                |(own, counted): &&(String, Counted)| own == kind && counted.operation == before.operation;
            let Some((_, after)) = self.rows.iter().find(same) else {
                more.push(format!("{name}: not counted any more"));
                continue;
            };
            for (event, what) in EVENTS.into_iter().enumerate() {
                let (before, after) = (before.events[event], after.events[event]);
                let share = (after - before) / before * 100.0;
                let line = format!("{name}: {before:.3} {what}, now {after:.3} ({share:+.1} %)");
                match (after - before, (before * MORE[event]).max(RARE)) {
                    (change, limit) if change > limit => more.push(line),
                    (change, limit) if change < -limit => less.push(line),
                    _ => {}
                }
            }
        }
        (more, less)
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn row(line: &str) -> Option<(String, Counted)> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [kind, operation, times, events @ ..] = &cells[..] else { return None };
    let events: Vec<f64> = events.iter().filter_map(|cell| cell.parse().ok()).collect();
    let counted = Counted {
        operation: (*operation).to_owned(),
        times: times.parse().ok()?,
        events: events.try_into().ok()?,
    };
    Some(((*kind).to_owned(), counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str, [f64; 3])]) -> Table {
        let row = |&(kind, operation, events): &(&str, &str, _)| {
            (kind.to_owned(), Counted { operation: operation.to_owned(), times: 10, events })
        };
        Table { head: vec![("records".into(), "80".into())], rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn a_table_is_read_back() {
        let written =
            table(&[("index", "get", [150.125, 1.5, 0.25]), ("bytes", "range-48", [1.0, 0.0, 2.0])]);
        assert_eq!(Table::read(&written.write()).unwrap(), written);
        assert_eq!(written.value("records"), Some("80"));
        assert!(Table::read("index\tget\t10\t1.0\t2.0\n").is_err(), "a number is missing");
    }

    #[test]
    fn a_row_that_costs_more_is_named() {
        let base = table(&[("index", "get", [150.0, 1.5, 4.0]), ("bytes", "get", [300.0, 0.0, 0.0])]);
        let against = |rows: &[(&str, &str, [f64; 3])]| table(rows).against(&base, &["index", "bytes"]);
        let within = against(&[("index", "get", [151.4, 1.72, 4.07]), ("bytes", "get", [297.1, 0.01, 0.01])]);
        assert_eq!(within, (vec![], vec![]));
        let (more, less) =
            against(&[("index", "get", [151.6, 1.73, 3.9]), ("bytes", "get", [300.0, 0.03, 0.0])]);
        assert_eq!(more.len(), 3, "{more:?}");
        assert_eq!(more[0], "index get: 150.000 instructions, now 151.600 (+1.1 %)");
        assert!(more[2].starts_with("bytes get: 0.000 branch misses"), "{more:?}");
        assert!(less.len() == 1 && less[0].contains("last-level misses"), "{less:?}");
        let (gone, _) = against(&[("index", "get", [150.0, 1.5, 4.0])]);
        assert_eq!(gone, ["bytes get: not counted any more"]);
        assert_eq!(table(&[]).against(&base, &[]), (vec![], vec![]));
    }
}
