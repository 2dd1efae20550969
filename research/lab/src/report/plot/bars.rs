//! Bars from left to right: a block for each x, a bar for each series, with its number.

use super::axis::Scale;
use super::chart::{Curve, Plot};
use super::marks::{Stated, marker};
use super::number::{brief, short};
use super::size::{LETTER, WIDTH};
use crate::report::html::escape;
use std::fmt::Write as _;

const LINE: f64 = 23.0;
const TITLE: f64 = 24.0;
/// The height of a name above its bar, and the letters for which there is room beside it.
const NAME: f64 = 14.0;
const LONG: usize = 17;

/// Draws the chart. Each block has a scale of its own, since throughput on sixteen threads says nothing of
/// one.
pub fn bars(page: &mut String, plot: &Plot) {
    let xs = plot.xs();
    let letters = plot.curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(1);
    // Names that are too long for the side are above their bars.
    let above_bars = letters > LONG;
    let left = if above_bars { 16.0 } else { (LETTER * letters as f64 + 22.0).max(60.0) };
    let each = if above_bars { LINE + NAME } else { LINE };
    let lines = |x: f64| plot.curves.iter().filter(|curve| at(curve, x).is_some()).count() as f64;
    let titled = xs.len() > 1;
    let above = if plot.y_label.is_empty() { 4.0 } else { 24.0 };
    let title = if titled { TITLE } else { 0.0 };
    let height = above + xs.iter().map(|x| lines(*x) * each + title + 4.0).sum::<f64>() + 2.0;
    let said: Vec<&str> = plot.curves.iter().map(|curve| curve.name.as_str()).collect();
    let _ = write!(
        page,
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{}\">",
        escape(&format!("{}: {}", plot.y_label, said.join(", ")))
    );
    if !plot.y_label.is_empty() {
        let _ = write!(page, "<text class=\"axis\" x=\"2\" y=\"14\">{}</text>", escape(&plot.y_label));
    }
    let mut top = above;
    for x in xs {
        if titled {
            let one = if x.to_bits() == 1f64.to_bits() { plot.x_label.strip_suffix('s') } else { None };
            let title = format!("{} {}", short(x), one.unwrap_or(&plot.x_label));
            let _ = write!(
                page,
                "<text class=\"block\" x=\"2\" y=\"{:.1}\">{}</text>",
                top + 15.0,
                escape(&title)
            );
            top += TITLE;
        }
        block(page, plot, x, (left, top, each));
        top += lines(x) * each + 4.0;
    }
    page.push_str("</svg>\n");
}

/// Returns a curve's number at an x.
fn at(curve: &Curve, x: f64) -> Option<f64> {
    curve.points.iter().find(|point| point.x.to_bits() == x.to_bits()).map(|point| point.y)
}

fn block(page: &mut String, plot: &Plot, x: f64, (left, mut top, each): (f64, f64, f64)) {
    let of_x = || plot.curves.iter().filter_map(|curve| Some((curve, at(curve, x)?)));
    let stated =
        plot.curves.iter().flat_map(|curve| &curve.marks).filter(|mark| mark.x.to_bits() == x.to_bits());
    let ends = stated.flat_map(|mark| [mark.low, mark.high]);
    let most =
        of_x().map(|(_, y)| y).chain(ends).filter(|end| end.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let least = of_x().map(|(_, y)| y).fold(most, f64::min);
    // Numbers of several magnitudes differ visibly along a logarithmic axis only.
    let logarithmic = plot.log_y && least > 0.0 && most > 30.0 * least;
    let from = if logarithmic { least / 3.0 } else { 0.0 };
    let scale = Scale::new((from, most), (left, WIDTH - 58.0), logarithmic);
    for (curve, y) in of_x() {
        let middle = top + each - LINE / 2.0;
        let named = top + LINE / 2.0 + if each > LINE { -3.0 } else { 0.0 };
        let end = scale.place(y);
        let _ = write!(
            page,
            "<g class=\"k{0}\"><title>{1}: {2}</title><path class=\"dots\" d=\"{3}\"/><text class=\"name\" x=\"16\" \
             y=\"{4:.1}\">{1}</text><rect class=\"bar\" x=\"{left:.1}\" y=\"{5:.1}\" width=\"{6:.1}\" height=\"13\" \
             rx=\"2\"/></g>",
            curve.colour,
            escape(&curve.name),
            brief(y),
            marker(curve.colour, 7.0, named),
            named + 4.5,
            middle - 6.5,
            (end - left).max(1.5),
        );
        let along = |number: f64| scale.place(number);
        let mut furthest = f64::NEG_INFINITY;
        for mark in curve.marks.iter().filter(|mark| mark.x.to_bits() == x.to_bits()) {
            Stated { along: &along, at: middle, vertical: false }.draw(page, curve.colour, mark);
            for bound in [mark.low, mark.high].into_iter().filter(|bound| bound.is_finite()) {
                furthest = furthest.max(along(bound));
            }
        }
        // The number is beside the bar, and beside a sign that is near its end.
        let beside = if furthest + 8.0 > end && furthest > left { furthest.max(end) + 4.0 } else { end };
        let _ = write!(
            page,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            beside + 6.0,
            middle + 4.5,
            brief(y)
        );
        top += each;
    }
}
