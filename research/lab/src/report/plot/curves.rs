//! Curves along an axis, with their names at their ends.

use super::axis::{Scale, ticks};
use super::bars::bars;
use super::chart::{COLOURS, Curve, Mark, Plot};
use super::labels::spread;
use super::marks::{Stated, marker};
use super::number::{brief, short};
use super::size::{LETTER, WIDTH};
use crate::report::html::escape;
use std::fmt::Write as _;

const HEIGHT: f64 = 274.0;
const LINE: f64 = 15.0;
/// The letters of a name for which there is room beside a chart.
const LONG: usize = 15;
/// How far the first and the last point are from the edges.
const INSET: f64 = 12.0;

/// The plot's edges.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Draws a chart. One with a single x is drawn as bars.
pub fn curves(page: &mut String, plot: &Plot) {
    let xs = plot.xs();
    if xs.len() < 2 {
        return bars(page, plot);
    }
    let (least, most) = plot.ends();
    let y_ticks = ticks((least, most), plot.log_y);
    let written: Vec<String> = y_ticks.iter().map(|tick| short(*tick)).collect();
    let digits = written.iter().map(|text| text.chars().count()).max().unwrap_or(1);
    let letters = plot.curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(1);
    // Names that are too long for the side are below.
    let below = letters > LONG;
    let height = HEIGHT + if below { LINE * plot.curves.len() as f64 + 6.0 } else { 0.0 };
    let side = if below { 8.0 } else { LETTER * letters as f64 + 29.0 };
    let frame = Frame {
        left: (LETTER * digits as f64 + 11.0).max(24.0),
        right: WIDTH - side.max(8.0),
        top: 26.0,
        bottom: HEIGHT - 38.0,
    };
    let y_ends = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
    let y_scale = Scale::new(y_ends, (frame.bottom, frame.top), plot.log_y);
    let x_scale =
        Scale::new((xs[0], xs[xs.len() - 1]), (frame.left + INSET, frame.right - INSET), plot.log_x);
    let said: Vec<&str> = plot.curves.iter().map(|curve| curve.name.as_str()).collect();
    let label = format!("{} by {}: {}", plot.y_label, plot.x_label, said.join(", "));
    let _ = write!(
        page,
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\
         <text class=\"axis\" x=\"2\" y=\"14\">{}</text>",
        escape(&label),
        escape(&plot.y_label)
    );
    for (tick, text) in y_ticks.iter().zip(&written) {
        let y = y_scale.place(*tick);
        let _ = write!(
            page,
            "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{text}</text>",
            frame.left,
            frame.right,
            frame.left - 5.0,
            y + 4.5
        );
    }
    x_axis(page, plot, (&frame, &x_scale), &xs);
    stated(page, plot, &x_scale, &y_scale);
    plot.curves.iter().for_each(|curve| line(page, curve, (&x_scale, &y_scale)));
    if below {
        key(page, plot)
    } else {
        names(page, plot, &frame, (&x_scale, &y_scale))
    }
    page.push_str("</svg>\n");
}

/// As many labels as there is room for: every one, every second one and so on, the last among them.
fn x_axis(page: &mut String, plot: &Plot, (frame, scale): (&Frame, &Scale), xs: &[f64]) {
    let half = |x: f64| LETTER * short(x).chars().count() as f64 / 2.0;
    let chosen = |step: usize| xs.iter().rev().step_by(step).rev().copied().collect::<Vec<f64>>();
    let fits = |chosen: &[f64]| {
        chosen
            .windows(2)
            .all(|pair| scale.place(pair[0]) + half(pair[0]) + 5.0 <= scale.place(pair[1]) - half(pair[1]))
    };
    let labelled = (1..=xs.len()).map(chosen).find(|chosen| fits(chosen)).unwrap_or_default();
    for &x in xs {
        let _ = write!(page, "<path class=\"grid\" d=\"M{:.1} {:.1}v4\"/>", scale.place(x), frame.bottom);
    }
    for x in labelled {
        let _ = write!(
            page,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            scale.place(x),
            frame.bottom + 16.0,
            short(x)
        );
    }
    let _ = write!(
        page,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        frame.left.midpoint(frame.right).max(LETTER / 2.0 * plot.x_label.chars().count() as f64),
        frame.bottom + 34.0,
        escape(&plot.x_label)
    );
}

fn line(page: &mut String, curve: &Curve, (x_scale, y_scale): (&Scale, &Scale)) {
    let mut path = String::new();
    let mut markers = String::new();
    for (nth, point) in curve.points.iter().enumerate() {
        let (x, y) = (x_scale.place(point.x), y_scale.place(point.y));
        let _ = write!(path, "{}{x:.1} {y:.1}", if nth == 0 { 'M' } else { 'L' });
        markers.push_str(&marker(curve.colour, x, y));
    }
    let title = curve.points.iter().map(|point| format!("{}: {}", short(point.x), brief(point.y)));
    let title = format!("{}; {}", curve.name, title.collect::<Vec<_>>().join(", "));
    let _ = write!(
        page,
        "<g class=\"k{0}\"><title>{1}</title><path class=\"curve\" d=\"{path}\"/><path class=\"dots\" \
         d=\"{markers}\"/></g>",
        curve.colour,
        escape(&title)
    );
}

/// What is stated. The same about several curves is said once, in no curve's colour; several things about
/// one point are beside each other.
fn stated(page: &mut String, plot: &Plot, x_scale: &Scale, y_scale: &Scale) {
    let mut drawn: Vec<(usize, Mark)> = Vec::new();
    for curve in &plot.curves {
        for mark in &curve.marks {
            match drawn.iter_mut().find(|(_, other)| other == mark) {
                Some((colour, _)) => *colour = COLOURS,
                None => drawn.push((curve.colour, *mark)),
            }
        }
    }
    let along = |number: f64| y_scale.place(number);
    let mut places: Vec<(usize, u64, usize)> = Vec::new();
    for (colour, mark) in &drawn {
        let nth = places.iter().filter(|(other, x, _)| (*other, *x) == (*colour, mark.x.to_bits())).count();
        places.push((*colour, mark.x.to_bits(), nth));
        let at = x_scale.place(mark.x) + 6.0 * nth as f64;
        Stated { along: &along, at, vertical: true }.draw(page, *colour, mark);
    }
}

/// The curves' names beside their last points, each with its marker.
fn names(page: &mut String, plot: &Plot, frame: &Frame, (x_scale, y_scale): (&Scale, &Scale)) {
    let ends: Vec<(f64, f64)> = plot
        .curves
        .iter()
        .filter_map(|curve| curve.points.last())
        .map(|point| (x_scale.place(point.x), y_scale.place(point.y)))
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    let places = spread(&wanted, LINE, (frame.top - 4.0, frame.bottom + 4.0));
    for ((curve, (x, y)), place) in plot.curves.iter().zip(&ends).zip(&places) {
        let (from, to) = (x + 6.0, frame.right + 4.0);
        let _ = write!(
            page,
            "<path class=\"lead k{0}\" d=\"M{from:.1} {y:.1}L{to:.1} {place:.1}\"/><path class=\"dots k{0}\" \
             d=\"{1}\"/><text class=\"name\" x=\"{2:.1}\" y=\"{3:.1}\">{4}</text>",
            curve.colour,
            marker(curve.colour, to + 6.0, *place),
            to + 14.0,
            place + 4.5,
            escape(&curve.name)
        );
    }
}

/// The curves' names below the chart, each with its marker.
fn key(page: &mut String, plot: &Plot) {
    for (nth, curve) in plot.curves.iter().enumerate() {
        let y = HEIGHT + 4.0 + LINE * nth as f64;
        let _ = write!(
            page,
            "<path class=\"dots k{0}\" d=\"{1}\"/><text class=\"name\" x=\"18\" y=\"{2:.1}\">{3}</text>",
            curve.colour,
            marker(curve.colour, 8.0, y),
            y + 4.5,
            escape(&curve.name)
        );
    }
}
