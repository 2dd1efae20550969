//! A paper's page: its idea, its structure as a drawing, the claims of its abstract, and its figures in
//! its own order.

use super::html::{Entry, anchor, close, escape, open, prose};
use super::site::{Shown, Site};
use super::text::FigureText;
use super::{drawing, figure, foot, verdicts};
use crate::claims::judge::JudgedFigure;
use std::fmt::Write as _;

/// Returns the page.
pub fn page(site: &Site, shown: &Shown, entries: &[Entry]) -> String {
    let title = format!("{}: {}", shown.text.system, shown.text.title);
    let mut page = open(&title, &shown.file(), entries);
    contents(&mut page, site, shown, false);
    close(&mut page);
    page
}

/// Writes what is on the page: on its own, or among those of other papers.
pub fn contents(page: &mut String, site: &Site, shown: &Shown, among_others: bool) {
    head(page, site, shown, among_others);
    let (figures, further): (Vec<&JudgedFigure>, Vec<&JudgedFigure>) =
        shown.judged.figures.iter().partition(|one| figure::is_of_the_paper(one));
    if !among_others {
        outline(page, shown, &figures);
        key(page);
    }
    figures.iter().for_each(|one| figure::section(page, site, shown, one));
    if !further.is_empty() {
        page.push_str(
            "<h2>Further experiments</h2>\n<p>They explain differences, or go beyond the paper.</p>\n",
        );
        for one in further {
            let of = one.experiment.as_deref().unwrap_or(&one.name);
            let default = FigureText::default();
            let title = figure::title(one, shown.text.figure(of).unwrap_or(&default));
            let _ = writeln!(page, "<details class=\"further\"><summary>{}</summary>", escape(&title));
            figure::section(page, site, shown, one);
            page.push_str("</details>\n");
        }
    }
    foot::contents(page, shown);
}

fn head(page: &mut String, site: &Site, shown: &Shown, among_others: bool) {
    let (text, paper) = (&shown.text, &shown.judged.paper);
    let level = if among_others { 2 } else { 1 };
    let _ = writeln!(
        page,
        "<header class=\"top\"><h{level} id=\"{}\">{}</h{level}>\n<p class=\"title\">{}. <cite>{}</cite></p>\n\
         <p class=\"lede\">{}</p>",
        anchor(&paper.name),
        escape(&text.system),
        escape(&text.authors),
        escape(&text.title),
        prose(&text.idea)
    );
    if site.is_comparable {
        verdicts::tally(page, shown.judged.counts());
    }
    page.push_str("</header>\n");
    if among_others {
        return;
    }
    let _ = writeln!(
        page,
        "<div class=\"intro\"><figure class=\"drawing\">{}<figcaption>{}</figcaption></figure>\n<div>",
        drawing::of(shown.name()),
        prose(&text.drawing)
    );
    if site.is_comparable {
        page.push_str("<h2>What abstract and conclusions claim</h2>\n");
        verdicts::headlines(page, shown, shown.headlines.iter(), "");
    }
    page.push_str("<h2>Where to find it in the code</h2>\n<ul class=\"code\">\n");
    for [name, path] in &text.code {
        let _ = writeln!(page, "<li>{}</li>", site.links.to(path, name));
    }
    page.push_str("</ul>\n</div></div>\n");
    let is_modelled =
        shown.judged.figures.iter().flat_map(|figure| &figure.rows).any(|row| row.on == "model");
    let _ = writeln!(
        page,
        "<h2>How it was measured</h2>\n<p><b>The paper's machine</b>{}: {}</p>\n\
         <details><summary>What is done so that all contestants are treated alike</summary><p>{}</p></details>",
        if is_modelled { ", which the model has" } else { "" },
        prose(&text.machine),
        prose(&paper.fair)
    );
}

/// The figures of the page, by name.
fn outline(page: &mut String, shown: &Shown, figures: &[&JudgedFigure]) {
    page.push_str("<h2>Figures</h2>\n<nav class=\"outline\" aria-label=\"Figures\">\n");
    for one in figures.iter().filter(|one| one.experiment.is_some()) {
        let of = one.experiment.as_deref().unwrap_or(&one.name);
        let default = FigureText::default();
        let title = figure::title(one, shown.text.figure(of).unwrap_or(&default));
        let _ = writeln!(
            page,
            "<a href=\"#{}\" title=\"{}\">{}</a>",
            anchor(of),
            escape(&title),
            escape(&one.name)
        );
    }
    page.push_str("</nav>\n");
}

/// The signs of the charts.
pub fn key(page: &mut String) {
    page.push_str(
        "<p class=\"key\">\
         <span><svg viewBox=\"0 0 46 16\" width=\"46\" height=\"16\" aria-hidden=\"true\"><g class=\"k4\">\
         <path class=\"curve\" d=\"M2 12L44 4\"/><path class=\"dots\" d=\"M23 13l4.5-8h-9z\"/></g></svg>ours</span>\
         <span><svg viewBox=\"0 0 18 16\" width=\"18\" height=\"16\" aria-hidden=\"true\">\
         <path class=\"stated k4\" d=\"M9 2l6 6-6 6-6-6z\"/></svg>a number that the text states</span>\
         <span><svg viewBox=\"0 0 18 20\" width=\"18\" height=\"20\" aria-hidden=\"true\">\
         <path class=\"band k4\" d=\"M9 3V17\"/><path class=\"stated k4\" d=\"M2 3h14M2 17h14\"/></svg>a band that it \
         states</span>\
         <span><svg viewBox=\"0 0 18 16\" width=\"18\" height=\"16\" aria-hidden=\"true\">\
         <path class=\"stated k4\" d=\"M2 10h14M3 10v-5M9 10v-5M15 10v-5\"/></svg>a bound: the text says at least this \
         (at most, with ticks downwards)</span></p>\n",
    );
}
