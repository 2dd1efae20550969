//! Lines: our numbers along the axis, the paper's as bands and diamonds.

use super::svg::{Frame, Scale, escape, rounded, short, ticks};
use super::{bars, style};
use crate::experiment::{Axis, BatchedPanel, Panel, ParallelPanel, Published};
use crate::row::{On, Row};
use std::fmt::Write as _;

/// The context of a chart besides its rows.
struct Chart<'a> {
    caption: String,
    x_label: &'a str,
    logarithmic: bool,
    from_zero: bool,
}

/// The chart of a parallel panel.
pub fn parallel_panel(page: &mut String, panel: &ParallelPanel, on: On, rows: &[&Row]) {
    let chart = Chart {
        caption: caption(panel.name, on, rows),
        x_label: panel.axis.label(),
        logarithmic: false,
        from_zero: true,
    };
    draw(page, &chart, rows);
}

/// The chart of a batched panel.
pub fn batched_panel(page: &mut String, panel: &BatchedPanel, on: On, rows: &[&Row]) {
    let caption = caption(panel.name, on, rows);
    draw(page, &Chart { caption, x_label: "threads", logarithmic: false, from_zero: true }, rows);
}

fn caption(panel: &str, on: On, rows: &[&Row]) -> String {
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let place = if on == On::Anywhere { "" } else { on.name() };
    let parts: Vec<&str> = [panel, place, unit].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// The chart of a panel.
pub fn panel(page: &mut String, panel: &Panel, on: On, rows: &[&Row]) {
    draw(
        page,
        &Chart {
            caption: caption(panel.name, on, rows),
            x_label: panel.axis.label(),
            logarithmic: !matches!(panel.axis, Axis::FillPercent(_)),
            from_zero: panel.is_counted(),
        },
        rows,
    );
}

/// The chart of rows of one panel, place and unit.
pub fn group(page: &mut String, x_label: &str, rows: &[&Row]) {
    let Some(first) = rows.first() else { return };
    let ends = |number: fn(&Row) -> f64| {
        let numbers = || rows.iter().map(|row| number(row)).filter(|number| number.is_finite());
        (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((nearest, farthest), (least, most)) = (ends(|row| row.x), ends(|row| row.ours));
    let chart = Chart {
        caption: caption(first.panel, first.on, rows),
        x_label,
        // Sizes that grow by factors lie apart evenly.
        logarithmic: nearest > 0.0 && farthest > 20.0 * nearest,
        from_zero: least < 0.0 || 2.0 * least < most,
    };
    draw(page, &chart, rows);
}

fn draw(page: &mut String, chart: &Chart<'_>, rows: &[&Row]) {
    if rows.is_empty() {
        return;
    }
    let series = distinct(rows.iter().map(|row| row.series.as_str()));
    let mut xs: Vec<f64> = rows.iter().map(|row| row.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if let [x] = xs[..] {
        let caption = format!("{} · {} {}", chart.caption, chart.x_label, short(x));
        return bars::amounts(page, &caption, rows);
    }
    let frame = Frame::NORMAL.with_legend(series.len());
    let (x_scale, y_scale, y_ticks) = scales(&frame, chart, rows, &xs);
    frame.open(page, &chart.caption);
    frame.y_axis(page, &y_scale, &y_ticks);
    let every = xs.len().div_ceil(8);
    for x in xs.iter().step_by(every) {
        frame.x_tick(page, x_scale.place(*x), &short(*x));
    }
    frame.x_label(page, chart.x_label);
    for (position, name) in series.iter().enumerate() {
        let mut rows: Vec<&Row> = rows.iter().filter(|row| row.series == *name).copied().collect();
        rows.sort_by(|one, other| one.x.total_cmp(&other.x));
        let colour = style::colour(name, position);
        published(page, &frame, (&x_scale, &y_scale), colour, &rows);
        curve(page, (&x_scale, &y_scale), &style::class(name, position), &rows);
        frame.legend(page, position, &style::class(name, position), name);
    }
    Frame::close(page);
}

fn scales(frame: &Frame, chart: &Chart<'_>, rows: &[&Row], xs: &[f64]) -> (Scale, Scale, Vec<f64>) {
    let stated = rows.iter().filter_map(|row| row.published).flat_map(|published| {
        let (low, high) = published.bounds();
        [low, high]
    });
    let ys: Vec<f64> = rows.iter().map(|row| row.ours).chain(stated).filter(|y| y.is_finite()).collect();
    let least = ys.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ys.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let y_ticks = ticks(if chart.from_zero { 0.0 } else { least }, most);
    let y_ends = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
    let y_scale = Scale::new(y_ends, (frame.bottom, frame.top), false);
    let inset = 14.0;
    let x_ends = (xs[0], xs[xs.len() - 1]);
    let x_scale = Scale::new(x_ends, (frame.left + inset, frame.right - inset), chart.logarithmic);
    (x_scale, y_scale, y_ticks)
}

fn curve(page: &mut String, (x_scale, y_scale): (&Scale, &Scale), class: &str, rows: &[&Row]) {
    let mut path = String::new();
    for (position, row) in rows.iter().enumerate() {
        let command = if position == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.1} {:.1}", x_scale.place(row.x), y_scale.place(row.ours));
    }
    let _ = write!(page, "<path class=\"curve {class}\" d=\"{path}\"/>");
    for row in rows {
        let _ = write!(
            page,
            "<circle class=\"dot {class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.6\"><title>{}</title></circle>",
            x_scale.place(row.x),
            y_scale.place(row.ours),
            escape(&hint(row))
        );
    }
}

pub fn hint(row: &Row) -> String {
    let cost = row.cost.map(|cost| format!(", {cost:.0} {}", row.cost_unit)).unwrap_or_default();
    let published = row.published.map(|published| format!(", paper {published}")).unwrap_or_default();
    format!("{} at {}: {}{published}{cost}", row.series, short(row.x), rounded(row.ours))
}

/// Bands where the paper gives a range, diamonds where it gives a number.
fn published(
    page: &mut String,
    frame: &Frame,
    (x_scale, y_scale): (&Scale, &Scale),
    colour: usize,
    rows: &[&Row],
) {
    const HALF_WIDTH: f64 = 12.0;
    for run in rows.chunk_by(|left, right| left.published == right.published) {
        let (Some(published), Some(first), Some(last)) = (run[0].published, run.first(), run.last()) else {
            continue;
        };
        if let Published::Exactly(number) | Published::About(number) = published {
            for row in run {
                let (x, y) = (x_scale.place(row.x), y_scale.place(number));
                let _ = write!(
                    page,
                    "<path class=\"mark s{colour}\" d=\"M{x:.1} {:.1}l6 6-6 6-6-6z\"/>",
                    y - 6.0
                );
            }
            continue;
        }
        let (low, high) = published.bounds();
        let top = if high.is_finite() { y_scale.place(high) } else { frame.top };
        let bottom = if low.is_finite() { y_scale.place(low) } else { frame.bottom };
        let (left, right) = (x_scale.place(first.x) - HALF_WIDTH, x_scale.place(last.x) + HALF_WIDTH);
        let _ = write!(
            page,
            "<rect class=\"band s{colour}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            right - left,
            (bottom - top).max(2.0)
        );
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
