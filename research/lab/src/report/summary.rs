//! The picture of all papers: how many claims hold. It stands alone, with its own style, for pages that
//! show pictures.

use super::html::escape;
use super::site::Site;
use crate::claims::judge::Counts;
use std::fmt::Write as _;

const WIDTH: f64 = 880.0;
const LINE: f64 = 74.0;
const TOP: f64 = 62.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = WIDTH - 24.0;

const STYLE: &str = "\
text{font:15px system-ui,sans-serif;fill:#1d2430}.b{font-weight:600;font-size:17px}.soft{fill:#56606e;font-size:14px}\
.in{fill:#fff;font-size:13px;font-weight:600}.holds{fill:#0a7a55}.within{fill:#2f78b7}.off{fill:#b5480f}.bg{fill:#fff}\
@media(prefers-color-scheme:dark){text{fill:#e6eaf0}.soft{fill:#a6b0bd}.in{fill:#101419}.bg{fill:#14181f}\
.holds{fill:#43c496}.within{fill:#78b6ea}.off{fill:#f2915a}}";

/// Returns the picture.
pub fn picture(site: &Site) -> String {
    let height = TOP + LINE * site.papers.len() as f64 + 8.0;
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-label=\"How many claims of five papers hold\"><style>{STYLE}</style>\
         <rect class=\"bg\" width=\"{WIDTH}\" height=\"{height}\"/>"
    );
    let _ = write!(page, "<text class=\"b\" x=\"24\" y=\"34\">Claims of five papers, measured again</text>");
    let mut x = LEFT + 106.0;
    for (class, word) in [("holds", "✓ hold"), ("within", "≈ within 15 %"), ("off", "✗ off, with a reason")]
    {
        let _ = write!(
            page,
            "<rect class=\"{class}\" x=\"{x}\" y=\"22\" width=\"13\" height=\"13\" rx=\"2\"/><text class=\"soft\" \
             x=\"{}\" y=\"34\">{word}</text>",
            x + 19.0
        );
        x += 34.0 + 8.2 * word.chars().count() as f64;
    }
    for (nth, shown) in site.papers.iter().enumerate() {
        let y = TOP + LINE * nth as f64;
        let (who, _) = shown.text.authors.split_once(" (").unwrap_or((&shown.text.authors, ""));
        let counts = shown.judged.counts();
        let _ = write!(
            page,
            "<text class=\"b\" x=\"24\" y=\"{:.1}\">{}</text><text class=\"soft\" x=\"24\" y=\"{:.1}\">{}</text>",
            y + 18.0,
            escape(&shown.text.system),
            y + 40.0,
            escape(who)
        );
        bar(&mut page, "paper's machine", counts.model, y + 2.0);
        bar(&mut page, "natively", counts.native, y + 30.0);
    }
    page.push_str("</svg>\n");
    page
}

fn bar(page: &mut String, place: &str, counts: Counts, y: f64) {
    let _ = write!(
        page,
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{place}</text>",
        LEFT + 96.0,
        y + 15.0
    );
    let (from, total) = (LEFT + 106.0, counts.total() as f64);
    if counts.total() == 0 {
        let _ = write!(page, "<text class=\"soft\" x=\"{from:.1}\" y=\"{:.1}\">no number</text>", y + 15.0);
        return;
    }
    let mut x = from;
    for (class, part) in [("holds", counts.holds), ("within", counts.within), ("off", counts.off)] {
        let width = (RIGHT - from) * part as f64 / total;
        if part == 0 {
            continue;
        }
        let _ = write!(
            page,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"21\" rx=\"2\"/>",
            (width - 2.0).max(1.0)
        );
        if width > 26.0 {
            let _ = write!(
                page,
                "<text class=\"in\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{part}</text>",
                x + width / 2.0 - 1.0,
                y + 15.0
            );
        }
        x += width;
    }
}
