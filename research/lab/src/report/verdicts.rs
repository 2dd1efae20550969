//! Verdicts as a page shows them: a sign, a word and a colour, each of which says it alone.

use super::html::{anchor, escape, prose};
use super::plot::short;
use super::site::{Shown, Site};
use crate::claims::headlines::Headline;
use crate::claims::judge::{AtPlace, ByPlace, Counts, JudgedFigure, Verdict};
use crate::claims::number::span;
use std::fmt::Write as _;

/// The columns of a figure's claims: their names, and the places of their rows.
const COLUMNS: [(&str, &[&str]); 2] =
    [("Paper's machine", &["anywhere", "model"]), ("Natively", &["native"])];

fn first_letter_is_small(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A verdict's class, sign and word.
const fn sign(verdict: &Verdict) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Verdict::Holds => ("holds", "✓", "holds"),
        Verdict::Within => ("within", "≈", "within 15 %"),
        Verdict::Off { .. } => ("off", "✗", "off"),
        Verdict::Beyond { .. } => ("beyond", "○", "beyond"),
    }
}

fn badge(verdict: &Verdict) -> String {
    let (class, sign, word) = sign(verdict);
    format!("<span class=\"v {class}\"><span aria-hidden=\"true\">{sign}</span> {word}</span>")
}

/// Writes how many claims hold at both places, as bars.
pub fn tally(page: &mut String, counts: ByPlace) {
    page.push_str("<div class=\"tally\">\n");
    for (place, counts) in [("On the paper's machine", counts.model), ("Natively", counts.native)] {
        let Counts { holds, within, off } = counts;
        if counts.total() == 0 {
            let _ = writeln!(page, "<div><span class=\"where\">{place}</span> <span>no number</span></div>");
            continue;
        }
        let _ = write!(
            page,
            "<div><span class=\"where\">{place}</span> <span class=\"parts\" aria-hidden=\"true\">"
        );
        for (class, part) in [("holds", holds), ("within", within), ("off", off)] {
            if part > 0 {
                let _ = write!(page, "<i class=\"{class}\" style=\"flex-grow:{part}\"></i>");
            }
        }
        let _ = writeln!(
            page,
            "</span> <span class=\"said\"><b>{holds} of {} hold</b>, {within} within 15 %, {off} off</span></div>",
            counts.total()
        );
    }
    page.push_str("</div>\n");
}

/// Writes claims of the abstract or the conclusions, each with its verdicts and its figure.
pub fn headlines<'a>(
    page: &mut String,
    shown: &Shown,
    headlines: impl Iterator<Item = &'a Headline>,
    file: &str,
) {
    page.push_str("<ul class=\"headlines\">\n");
    for headline in headlines {
        let claims = headline.claims(&shown.judged.figures);
        let of = |figure: &&JudgedFigure| figure.experiment.as_deref() == Some(&*headline.figure);
        let Some(figure) = shown.judged.figures.iter().find(of).filter(|_| !claims.is_empty()) else {
            continue;
        };
        let _ = write!(page, "<li><span class=\"says\">{}</span> <span class=\"by\">", prose(&headline.says));
        for (name, places) in COLUMNS {
            let at: Vec<&AtPlace> = claims
                .iter()
                .flat_map(|claim| &claim.places)
                .filter(|place| places.contains(&place.on))
                .collect();
            if let Some(worst) = Verdict::worst(&at) {
                let _ = write!(
                    page,
                    "<span class=\"at\">{} {}</span> ",
                    first_letter_is_small(name),
                    badge(worst)
                );
            }
        }
        let (link, name) = (anchor(&headline.figure), escape(&figure.name));
        let _ = writeln!(page, "<a href=\"{file}#{link}\">{name}</a></span></li>");
    }
    page.push_str("</ul>\n");
}

/// Writes a figure's claims with their verdicts; reasons are below, each once.
pub fn of_figure(page: &mut String, shown: &Shown, figure: &JudgedFigure, is_comparable: bool) {
    if figure.claims.is_empty() {
        if !figure.rows.is_empty() {
            page.push_str("<p class=\"quiet\">The text states no number for it.</p>\n");
        }
        return;
    }
    let mut notes: Vec<String> = Vec::new();
    // A place at which no claim was measured has no column.
    let columns: Vec<&(&str, &[&str])> = COLUMNS
        .iter()
        .filter(|(_, on)| {
            figure.claims.iter().flat_map(|claim| &claim.places).any(|place| on.contains(&place.on))
        })
        .collect();
    page.push_str("<table class=\"claims\"><thead><tr><th>What</th><th>The text states</th>");
    columns.iter().for_each(|(label, _)| page.push_str(&format!("<th>{label}</th>")));
    page.push_str("</tr></thead><tbody>\n");
    for claim in &figure.claims {
        let series: Vec<&str> = claim.series().iter().map(|name| shown.text.said(name)).collect();
        let unit = shown.text.unit(&claim.unit);
        let diagram: Vec<&str> =
            [&*claim.panel, &*unit].into_iter().filter(|part| !part.is_empty()).collect();
        let _ = write!(
            page,
            "<tr><td class=\"what\"><b>{}</b> {} <small>at {}</small></td><td data-label=\"The text states\">{}</td>",
            escape(&series.join(", ")),
            escape(&diagram.join(", ")),
            span(claim.rows.iter().map(|row| row.x), short),
            escape(&claim.stated)
        );
        for (label, places) in &columns {
            let at = claim.places.iter().find(|place| places.contains(&place.on));
            let cell = at.map(|at| cell(at, &mut notes, is_comparable));
            let empty = if cell.is_none() { " class=\"none\"" } else { "" };
            let _ = write!(page, "<td data-label=\"{label}\"{empty}>{}</td>", cell.unwrap_or_default());
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
    if !notes.is_empty() {
        page.push_str("<ol class=\"reasons\">\n");
        for note in &notes {
            let _ = writeln!(page, "<li>{note}</li>");
        }
        page.push_str("</ol>\n");
    }
}

/// A verdict with our numbers, and the number of its reason.
fn cell(at: &AtPlace, notes: &mut Vec<String>, is_comparable: bool) -> String {
    if !is_comparable {
        return format!("<span class=\"ours\">{}</span>", at.ours());
    }
    let of = at.rows.len();
    let share = match &at.verdict {
        Verdict::Off { .. } | Verdict::Within if of > 1 => {
            format!(" <small>{} of {of} differ</small>", at.differing())
        }
        _ => String::new(),
    };
    let reason = match &at.verdict {
        Verdict::Off { reason, .. } if reason.is_empty() => String::new(),
        Verdict::Off { reason, left } => {
            let left = left.as_ref().map(|left| format!(" <b>Not explained:</b> {}.", prose(left)));
            note(notes, format!("{}.{}", prose(reason), left.unwrap_or_default()))
        }
        Verdict::Beyond { reason } => note(notes, format!("{}.", prose(reason))),
        Verdict::Holds | Verdict::Within => String::new(),
    };
    format!("{}{reason} <span class=\"ours\">{}</span>{share}", badge(&at.verdict), at.ours())
}

/// Returns the mark of a reason, which is added unless it is there.
fn note(notes: &mut Vec<String>, text: String) -> String {
    let nth = notes.iter().position(|note| *note == text).unwrap_or_else(|| {
        notes.push(text);
        notes.len() - 1
    });
    format!("<sup title=\"reason {0} below\">{0}</sup>", nth + 1)
}

/// Writes the counts of all papers.
pub fn all(page: &mut String, site: &Site) {
    tally(page, ByPlace::of(site.papers.iter().flat_map(|shown| shown.judged.claims())));
}
