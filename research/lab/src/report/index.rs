//! The first page: five papers, the idea of each, and how much of it was reproduced.

use super::html::{Entry, close, escape, open, prose};
use super::site::Site;
use super::{drawing, figure, paper, verdicts};
use std::fmt::Write as _;

/// Returns the page.
pub fn page(site: &Site, entries: &[Entry]) -> String {
    let mut page = open("Five papers about ordered indexes in main memory, rerun", "index.html", entries);
    page.push_str(
        "<header class=\"top\"><h1>Five papers about ordered indexes in main memory, rerun</h1>\n\
         <p class=\"lede\">Each paper's structures and rivals were written in Rust from its text, and each figure is measured again: \
         on a model of the paper's machine, which counts its cycles, and natively on a processor of today. Beside each \
         number is what the paper's text states, a verdict, and the reason where they differ.</p>\n",
    );
    if site.is_comparable {
        verdicts::all(&mut page, site);
    } else {
        page.push_str(figure::SMALL);
    }
    page.push_str("</header>\n");
    for shown in &site.papers {
        let text = &shown.text;
        let _ = writeln!(
            page,
            "<article class=\"card\">\n<div class=\"picture\">{}</div>\n<div class=\"name\">\n<h2><a href=\"{}\">{}</a></h2>\n\
             <p class=\"title\">{}. <cite>{}</cite></p></div>\n<div class=\"rest\"><p class=\"idea\">{}</p>",
            drawing::of(shown.name()),
            shown.file(),
            escape(&text.system),
            escape(&text.authors),
            escape(&text.title),
            prose(&text.idea)
        );
        if site.is_comparable {
            verdicts::tally(&mut page, shown.judged.counts());
            let of_abstract = shown.headlines.iter().filter(|one| one.is_of_the_abstract());
            verdicts::headlines(&mut page, shown, of_abstract, &shown.file());
        }
        page.push_str("</div>\n</article>\n");
    }
    page.push_str("<section><h2>How to read the pages</h2>\n");
    paper::key(&mut page);
    page.push_str(
        "<p>The figures of the papers are images that we don't have. What is drawn as <em>stated</em> is what the text \
         says about them. A ratio that the text states, such as \u{201c}1.5 times as fast as the B+-Tree\u{201d}, is drawn \
         from our own B+-Tree of the same run. An order between two curves is seen by itself and has no mark.</p>\n\
         <p><b>Holds</b>: the same to as many digits as the text gives, or within a tenth if it says \u{201c}about\u{201d}. \
         <b>Within 15 %</b>: a number that is further away, but no more than that; an order holds or it doesn't. \
         <b>Off</b>: the rest, each with its measured reason.</p></section>\n",
    );
    close(&mut page);
    page
}
