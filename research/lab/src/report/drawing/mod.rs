//! Drawings of the five structures, as code: cells, arrows and words on a sheet as wide as a small
//! telephone.

mod cssl;
mod olfit;
mod pb_tree;
mod pi;
mod spiderman;

use super::html::escape;
use std::fmt::Write as _;

/// The width of a drawing.
const WIDTH: f64 = 340.0;

/// The drawing of a paper's structure.
pub fn of(paper: &str) -> String {
    match paper {
        "pb-tree" => pb_tree::drawing(),
        "olfit" => olfit::drawing(),
        "cssl" => cssl::drawing(),
        "pi" => pi::drawing(),
        _ => spiderman::drawing(),
    }
}

/// A sheet that is drawn on.
struct Sheet {
    body: String,
}

impl Sheet {
    /// Opens a sheet of that height, described for those who don't see it.
    fn new(height: f64, description: &str) -> Self {
        let description = escape(description);
        let body = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{description}\">"
        );
        Self { body }
    }

    /// Draws a cell, with a word in its middle.
    fn cell(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), word: &str) {
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
        );
        if !word.is_empty() {
            self.word("c", (x + width / 2.0, y + height / 2.0 + 4.5), word);
        }
    }

    /// Writes a word: class `c` around the place, `e` before it, others from it on.
    fn word(&mut self, class: &str, (x, y): (f64, f64), word: &str) {
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
    fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(self.body, "<path class=\"{class}\" d=\"M{}\"/>", path.join("L"));
    }

    /// Draws an arrow along points.
    fn arrow(&mut self, class: &str, points: &[(f64, f64)]) {
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

    fn close(mut self) -> String {
        self.body.push_str("</svg>");
        self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_has_a_drawing_of_its_own_that_is_described_and_fits_the_sheet() {
        let drawings: Vec<String> = ["pb-tree", "olfit", "cssl", "pi", "spiderman"].map(of).into();
        for (nth, drawing) in drawings.iter().enumerate() {
            assert!(drawing.contains("aria-label=\"") && !drawings[..nth].contains(drawing));
            let rights = drawing.split("<rect ").skip(1).map(|rect| {
                let number = |name: &str| -> f64 {
                    let rest = rect.split(&format!(" {name}=\"")).nth(1).unwrap();
                    rest.split('"').next().unwrap().parse().unwrap()
                };
                number("x") + number("width")
            });
            for right in rights {
                assert!(right <= WIDTH, "{right}");
            }
        }
    }
}
