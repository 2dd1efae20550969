//! Bars: stacked ones for the parts of the time, as in the paper's Figure 14; and one for each number of a
//! chart without an axis.

use super::svg::{Frame, LEGEND_LINE, Scale, brief, escape, rounded, ticks};
use super::{lines, style};
use crate::experiment::{Panel, Part, Published, Yardstick};
use crate::row::Row;
use std::fmt::Write as _;

/// Parts from the bottom up, their colours and names.
const PARTS: [(Part, &str, &str); 3] = [
    (Part::Busy, "s3", "busy"),
    (Part::OtherStall, "s2", "other stall"),
    (Part::DataStall, "s1", "data stall"),
];

/// One bar for each series of a panel, whose rows are shares of the baseline's time.
pub fn breakdown(page: &mut String, panel: &Panel, rows: &[&Row]) {
    if rows.is_empty() {
        return;
    }
    let frame = Frame::NORMAL;
    let y_ticks = ticks(0.0, 1.0);
    let y_scale = Scale::new((0.0, 1.05), (frame.bottom, frame.top), false);
    frame.open(page, &format!("{} · model · time, the baseline's being 1", panel.name));
    frame.y_axis(page, &y_scale, &y_ticks);
    let slot = (frame.right - frame.left) / panel.series.len() as f64;
    for (position, subject) in panel.series.iter().enumerate() {
        let middle = frame.left + slot * (position as f64 + 0.5);
        bar(page, panel, rows, (subject.name(), middle, slot * 0.55), &y_scale);
        frame.x_tick(page, middle, subject.name());
    }
    for (position, (_, class, name)) in PARTS.iter().rev().enumerate() {
        frame.legend(page, position, class, name);
    }
    Frame::close(page);
}

fn bar(
    page: &mut String,
    panel: &Panel,
    rows: &[&Row],
    (name, middle, width): (&str, f64, f64),
    scale: &Scale,
) {
    let mut base = 0.0;
    for (part, class, part_name) in PARTS {
        let Some(row) = row_of(panel, rows, name, part) else { continue };
        let (low, high) = (scale.place(base), scale.place(base + row.ours));
        let _ = write!(
            page,
            "<rect class=\"bar {class}\" x=\"{:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{:.1}\">\
             <title>{}</title></rect>",
            middle - width / 2.0,
            low - high,
            escape(&format!("{name}: {part_name} {}", rounded(row.ours)))
        );
        if let Some(published) = row.published {
            let y = scale.place(base + published.bounds().0.midpoint(published.bounds().1));
            let _ = write!(page, "<path class=\"mark s1\" d=\"M{middle:.1} {:.1}l6 6-6 6-6-6z\"/>", y - 6.0);
        }
        base += row.ours;
    }
}

fn row_of<'a>(panel: &Panel, rows: &[&'a Row], name: &str, wanted: Part) -> Option<&'a Row> {
    let yardstick = panel
        .yardsticks
        .iter()
        .find(|one| matches!(one, Yardstick::TimeShare(part, _) if *part == wanted))?;
    let unit = yardstick.unit();
    rows.iter().find(|row| row.series == name && row.unit == unit).copied()
}

/// Draws one bar for each row, below each other, with its number; the paper's numbers as bands and
/// diamonds. All rows have one unit.
pub fn amounts(page: &mut String, caption: &str, rows: &[&Row]) {
    let letters = rows.iter().map(|row| row.series.chars().count()).max().unwrap_or(0);
    let frame = Frame::of_bars(rows.len(), letters);
    let stated = rows.iter().filter_map(|row| row.published).flat_map(|published| {
        let (low, high) = published.bounds();
        [low, high]
    });
    let numbers = rows.iter().map(|row| row.ours).chain(stated).filter(|number| number.is_finite());
    let most = numbers.fold(f64::MIN_POSITIVE, f64::max);
    let scale = Scale::new((0.0, most), (frame.left, frame.right), false);
    frame.open(page, caption);
    for (position, row) in rows.iter().enumerate() {
        let top = frame.top + LEGEND_LINE * position as f64;
        let colour = style::colour(&row.series, position);
        amount(page, (&frame, &scale), (top, colour), row);
    }
    Frame::close(page);
}

fn amount(page: &mut String, (frame, scale): (&Frame, &Scale), (top, colour): (f64, usize), row: &Row) {
    let (end, middle) = (scale.place(row.ours), top + LEGEND_LINE / 2.0);
    let _ = write!(
        page,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <rect class=\"bar s{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\"><title>{}</title></rect>\
         <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        frame.left - 7.0,
        middle + 4.0,
        escape(&row.series),
        frame.left,
        middle - 6.0,
        (end - frame.left).max(1.0),
        escape(&lines::hint(row)),
        end + 10.0,
        middle + 4.0,
        brief(row.ours)
    );
    let Some(published) = row.published else { return };
    if let Published::Exactly(number) | Published::About(number) = published {
        let x = scale.place(number);
        let _ = write!(page, "<path class=\"mark s1\" d=\"M{x:.1} {:.1}l6 6-6 6-6-6z\"/>", middle - 6.0);
        return;
    }
    let (low, high) = published.bounds();
    let (left, right) =
        (scale.place(low.max(0.0)), if high.is_finite() { scale.place(high) } else { frame.right });
    let _ = write!(
        page,
        "<rect class=\"band s{colour}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"18\"/>",
        middle - 9.0,
        (right - left).max(2.0)
    );
}
