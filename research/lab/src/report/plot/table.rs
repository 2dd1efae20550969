//! A figure that is a table in the paper: our numbers, and what is stated below each.

use super::number::{brief, short};
use crate::claims::judge::distinct;
use crate::claims::kept::Record;
use crate::report::html::escape;
use crate::report::text::{ChartText, Text};
use std::fmt::Write as _;

/// A column: a unit at an x.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column<'a> {
    unit: &'a str,
    x: f64,
}

/// Writes the table of a chart's rows: a line for each series, a column for each unit and x. Returns the
/// number of columns.
pub fn table(page: &mut String, chart: &ChartText, text: &Text, rows: &[&Record], x_label: &str) -> usize {
    let is_shown = |row: &&&Record| {
        row.panel == chart.panel && (chart.unit.is_empty() || chart.unit.contains(&row.unit))
    };
    let rows: Vec<&Record> = rows.iter().filter(is_shown).copied().collect();
    let mut columns: Vec<Column<'_>> = Vec::new();
    for row in &rows {
        let column = Column { unit: &row.unit, x: row.x };
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let units = distinct(columns.iter().map(|column| column.unit));
    let several_xs = columns.iter().any(|column| column.x.to_bits() != columns[0].x.to_bits());
    let series = match chart.series.is_empty() {
        true => distinct(rows.iter().map(|row| row.series.as_str())),
        false => chart.series.iter().map(String::as_str).collect(),
    };
    page.push_str("<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th></th>");
    for column in &columns {
        let parts = match (units.len() > 1, several_xs) {
            (true, true) => format!("{}, {} {x_label}", column.unit, short(column.x)),
            (true, false) => column.unit.to_string(),
            (false, _) => short(column.x),
        };
        let _ = write!(page, "<th scope=\"col\">{}</th>", escape(&parts));
    }
    page.push_str("</tr></thead><tbody>\n");
    for name in series {
        let cells: Vec<Option<&&Record>> = columns
            .iter()
            .map(|column| {
                let here = |row: &&&Record| {
                    row.series == name && row.unit == column.unit && row.x.to_bits() == column.x.to_bits()
                };
                rows.iter().find(here)
            })
            .collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escape(text.said(name)));
        for cell in cells {
            let said = cell.map(|row| said(row)).unwrap_or_default();
            let _ = write!(page, "<td>{said}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    columns.len()
}

fn said(row: &Record) -> String {
    let ours = brief(row.ours);
    match row.published {
        None => ours,
        Some(stated) => format!("{ours}<small>◇ {}</small>", escape(&stated.written(brief))),
    }
}
