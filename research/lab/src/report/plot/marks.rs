//! Signs on charts: our points, and what texts state.

use super::chart::Mark;
use std::fmt::Write as _;

/// A path of a marker around a point, by the number of its colour: so curves differ without colours,
/// too.
pub fn marker(colour: usize, x: f64, y: f64) -> String {
    match colour {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5-5 5-5-5z", y - 5.0),
        4 => format!("M{x:.1} {:.1}l4.5-8h-9z", y + 5.0),
        5 => format!("M{:.1} {:.1}h3v3h3v3h-3v3h-3v-3h-3v-3h3z", x - 1.5, y - 4.5),
        6 => format!(
            "M{:.1} {:.1}l2.1-2.1 2.5 2.5 2.5-2.5 2.1 2.1-2.5 2.5 2.5 2.5-2.1 2.1-2.5-2.5-2.5 2.5-2.1-2.1 2.5-2.5z",
            x - 4.6,
            y - 2.5
        ),
        _ => format!("M{:.1} {:.1}h9l-9 8h9z", x - 4.5, y - 4.0),
    }
}

/// What is stated, at a place of which the axis along numbers is given: `along(number)` is the place of a
/// number, `at` the one across. Vertical where numbers go up.
pub struct Stated<'a> {
    /// The place of a number.
    pub along: &'a dyn Fn(f64) -> f64,
    /// The place across.
    pub at: f64,
    /// Whether numbers go up, or to the right.
    pub vertical: bool,
}

impl Stated<'_> {
    fn point(&self, along: f64, across: f64) -> String {
        let (x, y) = if self.vertical { (across, along) } else { (along, across) };
        format!("{x:.1} {y:.1}")
    }

    /// Draws a number as an open diamond, a band as a bar with caps, a bound as an edge with ticks to the
    /// side that agrees.
    pub fn draw(&self, page: &mut String, colour: usize, mark: &Mark) {
        if mark.low.to_bits() == mark.high.to_bits() {
            let (along, at) = ((self.along)(mark.low), self.at);
            let (a, b) = (self.point(along - 6.0, at), self.point(along, at + 6.0));
            let (c, d) = (self.point(along + 6.0, at), self.point(along, at - 6.0));
            let _ = write!(page, "<path class=\"stated k{colour}\" d=\"M{a}L{b}L{c}L{d}z\"/>");
            return;
        }
        let mut path = String::new();
        for end in [mark.low, mark.high].into_iter().filter(|end| end.is_finite()) {
            let along = (self.along)(end);
            let _ =
                write!(path, "M{}L{}", self.point(along, self.at - 7.0), self.point(along, self.at + 7.0));
        }
        if mark.low.is_finite() && mark.high.is_finite() {
            let (low, high) = ((self.along)(mark.low), (self.along)(mark.high));
            let _ = write!(
                page,
                "<path class=\"band k{colour}\" d=\"M{}L{}\"/>",
                self.point(low, self.at),
                self.point(high, self.at)
            );
        } else {
            // Numbers go up where places go down.
            let upwards = if self.vertical { -1.0 } else { 1.0 };
            let (along, towards) = match mark.low.is_finite() {
                true => ((self.along)(mark.low), upwards),
                false => ((self.along)(mark.high), -upwards),
            };
            for tick in [-6.0, 0.0, 6.0] {
                let from = self.point(along, self.at + tick);
                let _ = write!(path, "M{from}L{}", self.point(along + 5.0 * towards, self.at + tick));
            }
        }
        let _ = write!(page, "<path class=\"stated k{colour}\" d=\"{path}\"/>");
    }
}
