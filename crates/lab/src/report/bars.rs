//! Stacked bars: where the time goes, as the paper's Figure 14 draws it.

use super::svg::{Frame, Scale, escape, rounded, ticks};
use crate::experiment::{Panel, Part, Yardstick};
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
