//! What drawings are made of: cells, words, lines and arrows on a sheet.

use crate::report::html::escape;
use std::fmt::Write as _;

/// The width of a drawing.
pub const WIDTH: f64 = 340.0;

/// A sheet that is drawn on.
pub struct Sheet {
    body: String,
}

impl Sheet {
    /// Opens a sheet of that height, described for those who don't see it.
    pub fn new(height: f64, description: &str) -> Self {
        let description = escape(description);
        let body = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{description}\">"
        );
        Self { body }
    }

    /// Draws a cell, with a word in its middle.
    pub fn cell(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), word: &str) {
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
        );
        if !word.is_empty() {
            self.word("c", (x + width / 2.0, y + height / 2.0 + 4.5), word);
        }
    }

    /// Writes a word: class `c` around the place, `e` before it, others from it on.
    pub fn word(&mut self, class: &str, (x, y): (f64, f64), word: &str) {
        let anchor = match class.split(' ').next() {
            Some("c") => " text-anchor=\"middle\"",
            Some("e") => " text-anchor=\"end\"",
            _ => "",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>",
            escape(word)
        );
    }

    /// Draws a line along points.
    pub fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(self.body, "<path class=\"{class}\" d=\"M{}\"/>", path.join("L"));
    }

    /// Draws an arrow along points.
    pub fn arrow(&mut self, class: &str, points: &[(f64, f64)]) {
        self.line(class, points);
        let [.., (from_x, from_y), (x, y)] = points else { return };
        let (dx, dy) = (x - from_x, y - from_y);
        let length = dx.hypot(dy).max(1e-9);
        let (dx, dy) = (6.0 * dx / length, 6.0 * dy / length);
        let (left, right) =
            ((x - dx - dy * 0.55, y - dy + dx * 0.55), (x - dx + dy * 0.55, y - dy - dx * 0.55));
        let _ = write!(
            self.body,
            "<path class=\"{class} tip\" d=\"M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/>",
            left.0, left.1, right.0, right.1
        );
    }

    /// Closes the sheet, and returns it.
    pub fn close(mut self) -> String {
        self.body.push_str("</svg>");
        self.body
    }
}
