//! Parts of the time, stacked, as in Figures 1 and 14 of the pB+-Tree paper.

use super::axis::Scale;
use super::chart::{COLOURS, Mark, Plot};
use super::marks::Stated;
use super::number::brief;
use super::size::WIDTH;
use crate::report::html::escape;
use std::fmt::Write as _;

const HEIGHT: f64 = 272.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = WIDTH - 92.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 30.0;

/// One part of the stacks: its name and a chart of its numbers.
pub type Part<'a> = (&'a str, Plot);

/// Draws bars of the parts, from the bottom up, in percent; all parts have the same series.
pub fn stacks(page: &mut String, y_label: &str, parts: &[Part<'_>]) {
    let Some((_, first)) = parts.first() else { return };
    let names: Vec<&str> = first.curves.iter().map(|curve| curve.name.as_str()).collect();
    let scale = Scale::new((0.0, 100.0), (BOTTOM, TOP), false);
    let _ = write!(
        page,
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}: {}\"><text class=\"axis\" \
         x=\"2\" y=\"14\">{0}</text>",
        escape(y_label),
        escape(&names.join(", "))
    );
    for tick in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let y = scale.place(tick);
        let _ = write!(
            page,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{tick}</text>",
            LEFT - 5.0,
            y + 4.5
        );
    }
    let slot = (RIGHT - LEFT) / names.len().max(1) as f64;
    let mut levels = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let middle = LEFT + slot * (position as f64 + 0.5);
        levels = stack(page, name, (middle, (slot * 0.56).min(58.0)), &scale, parts);
        let _ = write!(
            page,
            "<text class=\"name\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 18.0,
            escape(name)
        );
    }
    let wanted: Vec<f64> = levels.iter().map(|level| scale.place(*level)).collect();
    let places = super::labels::spread(&wanted, 16.0, (TOP, BOTTOM));
    for (nth, ((name, _), place)) in parts.iter().zip(places).enumerate() {
        let _ = write!(
            page,
            "<rect class=\"bar p{nth}\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/><text class=\"name\" \
             x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            RIGHT + 4.0,
            place - 5.0,
            RIGHT + 18.0,
            place + 4.5,
            escape(name)
        );
    }
    page.push_str("</svg>\n");
}

/// Draws one bar, and returns the middles of its parts.
fn stack(
    page: &mut String,
    name: &str,
    (middle, width): (f64, f64),
    scale: &Scale,
    parts: &[Part<'_>],
) -> Vec<f64> {
    let mut base = 0.0;
    let mut levels = Vec::new();
    for (nth, (part, plot)) in parts.iter().enumerate() {
        let curve = plot.curves.iter().find(|curve| curve.name == name);
        let size = curve.and_then(|curve| curve.points.first()).map_or(0.0, |point| point.y);
        let (low, high) = (scale.place(base), scale.place(base + size));
        let _ = write!(
            page,
            "<rect class=\"bar p{nth}\" x=\"{:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{:.1}\"><title>{}: \
             {part} {}</title></rect>",
            middle - width / 2.0,
            (low - high).max(0.0),
            escape(name),
            brief(size)
        );
        if low - high > 16.0 {
            let _ = write!(
                page,
                "<text class=\"inside p{nth}\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                low.midpoint(high) + 4.5,
                brief(size)
            );
        }
        for mark in curve.iter().flat_map(|curve| &curve.marks) {
            let lifted = Mark { low: base + mark.low, high: base + mark.high, ..*mark };
            let along = |number: f64| scale.place(number);
            let at = middle + width / 2.0 + 8.0;
            Stated { along: &along, at, vertical: true }.draw(page, COLOURS, &lifted);
        }
        levels.push(base + size / 2.0);
        base += size;
    }
    levels
}
