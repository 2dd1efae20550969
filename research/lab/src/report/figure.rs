//! A figure of a page: title, what to see in it, charts of the model and of this machine side by side,
//! verdicts, and where it is from.

use super::html::{anchor, escape, prose};
use super::plot::{self, Plot};
use super::site::{Shown, Site};
use super::text::{ChartText, FigureText, Form};
use super::verdicts;
use crate::catalogue::PAPERS;
use crate::claims::judge::{JudgedFigure, distinct, grouped};
use crate::claims::kept::{Kept, Record};
use crate::experiment::{Body, Experiment};
use std::fmt::Write as _;

/// Said above the charts of a small run.
pub const SMALL: &str = "<p class=\"note\">This is a small run: it shows that everything runs, and its numbers can't be \
                         compared with the papers'.</p>\n";

/// The places, in the order of the page, and their names.
const PLACES: [(&str, &str); 3] =
    [("anywhere", "the same on every machine"), ("model", "on the paper's machine"), ("native", "natively")];

/// The most diagrams of an experiment that isn't a figure of the paper.
const MOST_PANELS: usize = 6;

/// Writes a figure.
pub fn section(page: &mut String, site: &Site, shown: &Shown, figure: &JudgedFigure) {
    let of = figure.experiment.as_deref().unwrap_or(&figure.name);
    let default = FigureText::default();
    let text = shown.text.figure(of).unwrap_or(&default);
    if let (true, Some(instead)) = (figure.rows.is_empty(), &figure.instead) {
        let (id, title) = (anchor(of), escape(&title(figure, text)));
        let instead = prose(&first_letter_is_large(instead));
        let _ = writeln!(page, "<p class=\"instead\" id=\"{id}\"><b>{title}.</b> {instead}.</p>");
        return;
    }
    let _ = writeln!(
        page,
        "<section class=\"figure\" id=\"{}\">\n<h3>{}</h3>",
        anchor(of),
        escape(&title(figure, text))
    );
    if !text.see.is_empty() {
        let _ = writeln!(page, "<p class=\"see\"><b>What to see.</b> {}</p>", prose(&text.see));
    }
    charts(page, shown, figure, text);
    verdicts::of_figure(page, shown, figure, site.is_comparable);
    details(page, figure);
    sources(page, site, shown, figure, text);
    page.push_str("</section>\n");
}

/// The title: the text's, else the paper's name for it with the experiment's.
pub fn title(figure: &JudgedFigure, text: &FigureText) -> String {
    if !text.title.is_empty() {
        return text.title.clone();
    }
    let operation = figure.heads.iter().map(|head| head.title.as_str()).find(|title| !title.is_empty());
    let name = match figure.name.strip_prefix("Fig. ") {
        Some(numbers) if numbers.contains([' ', ',']) => format!("Figures {numbers}"),
        Some(number) => format!("Figure {number}"),
        None if figure.name.contains(" to ") => {
            first_letter_is_large(&figure.name).replace("Eq. ", "Equations ")
        }
        None => first_letter_is_large(&figure.name).replace("Eq. ", "Equation "),
    };
    match operation {
        Some(operation) if name != operation => format!("{name}. {}", first_letter_is_large(operation)),
        _ => name,
    }
}

fn first_letter_is_large(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Figures, tables, equations and sections of the paper; other experiments ask why, or go beyond it.
pub fn is_of_the_paper(figure: &JudgedFigure) -> bool {
    let name = figure.name.as_str();
    ["Fig", "Table", "Eq", "§"].iter().any(|begin| name.starts_with(begin)) && !name.contains("by the bus")
        || figure.experiment.is_none()
}

fn charts(page: &mut String, shown: &Shown, figure: &JudgedFigure, text: &FigureText) {
    let own;
    let wanted = if text.charts.is_empty() {
        own = of_rows(&figure.rows);
        &own
    } else {
        &text.charts
    };
    let mut pairs = Vec::new();
    for chart in wanted {
        let mut pair = String::new();
        for (on, place) in PLACES {
            let rows: Vec<&Record> = figure.rows.iter().filter(|row| row.on == on).collect();
            // Other experiments may be on a machine that differs from the paper's in something.
            let place = if on == "model" && !is_of_the_paper(figure) { "on the model" } else { place };
            if !rows.is_empty() && chart.on.as_ref().is_none_or(|only| only == on) {
                one(&mut pair, shown, figure, (chart, &rows), place);
            }
        }
        if !pair.is_empty() {
            pairs.push(pair);
        }
    }
    // Charts of one place each go side by side.
    let is_alone = |pair: &String| pair.matches("<figure").count() == 1;
    for row in pairs.chunk_by(|left, right| is_alone(left) && is_alone(right)) {
        let _ = writeln!(page, "<div class=\"pair\">\n{}</div>", row.concat());
    }
}

/// Writes one chart, if it has rows here.
fn one(
    page: &mut String,
    shown: &Shown,
    figure: &JudgedFigure,
    (chart, rows): (&ChartText, &[&Record]),
    place: &str,
) {
    let label = x_label(shown.name(), figure.experiment.as_deref().unwrap_or_default(), &chart.panel);
    let mut body = String::new();
    let mut caption = chart.caption.clone();
    let mut wide = false;
    match chart.form {
        Form::Table => {
            let of_panel: Vec<&Record> =
                rows.iter().filter(|row| row.panel == chart.panel).copied().collect();
            if !of_panel.is_empty() {
                wide = plot::table(&mut body, chart, &shown.text, &of_panel, &label) > 4;
                caption = if caption.is_empty() { chart.panel.clone() } else { caption };
            }
        }
        Form::Stacks => {
            let part = |unit: &String| {
                let one = ChartText { unit: vec![unit.clone()], times: Some(100.0), ..chart.clone() };
                let name = unit.split(", share").next().unwrap_or(unit).to_string();
                Plot::of(&one, &shown.text, rows, &label).map(|plot| (name, plot))
            };
            let parts: Vec<(String, Plot)> = chart.unit.iter().filter_map(part).collect();
            let named: Vec<(&str, Plot)> =
                parts.iter().map(|(name, plot)| (name.as_str(), plot.clone())).collect();
            plot::stacks(&mut body, &chart.y, &named);
        }
        Form::Curves | Form::Bars | Form::Steps => {
            if let Some(plot) = Plot::of(chart, &shown.text, rows, &label) {
                caption.clone_from(&plot.caption);
                if chart.form == Form::Curves {
                    plot::curves(&mut body, &plot)
                } else {
                    plot::bars(&mut body, &plot)
                }
                if plot.left_out > 0 {
                    let _ = writeln!(body, "<p class=\"more\">{} more in the numbers</p>", plot.left_out);
                }
            }
        }
    }
    if !body.is_empty() {
        let caption = if caption.is_empty() { String::new() } else { format!("<b>{}</b> ", prose(&caption)) };
        let wide = if wide { " class=\"wide\"" } else { "" };
        let _ = writeln!(
            page,
            "<figure{wide}><figcaption>{caption}<span>{place}</span></figcaption>\n{body}</figure>"
        );
    }
}

/// The charts of an experiment without a text: for each panel its first unit about which something is
/// stated, or its first one.
fn of_rows(rows: &[Record]) -> Vec<ChartText> {
    let all: Vec<&Record> = rows.iter().filter(|row| !is_aside(&row.unit)).collect();
    let panels = grouped(&all, |row| row.panel.clone());
    let chart = |panel: Vec<&Record>| {
        let stated = panel.iter().find(|row| row.published.is_some());
        let unit = stated.or(panel.first()).map(|row| row.unit.clone()).unwrap_or_default();
        let xs: Vec<f64> = panel.iter().filter(|row| row.unit == unit).map(|row| row.x).collect();
        let least = xs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = xs.iter().copied().fold(0.0, f64::max);
        ChartText {
            panel: panel[0].panel.clone(),
            unit: vec![unit],
            // Sizes that grow by factors lie apart evenly.
            log_x: least > 0.0 && most > 20.0 * least,
            ..ChartText::default()
        }
    };
    panels.into_iter().take(MOST_PANELS).map(chart).collect()
}

/// Units that say something about the run, not about an index.
fn is_aside(unit: &str) -> bool {
    unit == "share on huge pages" || unit.ends_with(" round")
}

/// The label of an experiment's x axis.
fn x_label(paper: &str, experiment: &str, panel: &str) -> String {
    let found = PAPERS.iter().find(|one| one.name == paper);
    let found: Option<&Experiment> =
        found.and_then(|paper| paper.experiments.iter().find(|one| one.name == experiment));
    let Some(experiment) = found else { return String::new() };
    let label = match experiment.body {
        Body::Measured(panels) => {
            panels.iter().find(|one| one.name == panel).or(panels.first()).map(|one| one.axis.label())
        }
        Body::Parallel(panels) => {
            panels.iter().find(|one| one.name == panel).or(panels.first()).map(|one| one.axis.label())
        }
        Body::Batched(_) => Some("threads"),
        Body::Timed { x_label, .. } | Body::Driven { x_label, .. } | Body::Computed { x_label, .. } => {
            Some(x_label)
        }
    };
    label.unwrap_or_default().to_string()
}

/// Remarks of the laboratory on the numbers.
fn details(page: &mut String, figure: &JudgedFigure) {
    let remarks = figure.heads.iter().map(|head| &head.remarks).find(|remarks| !remarks.is_empty());
    let Some(remarks) = remarks else { return };
    page.push_str("<details><summary>Remarks on the numbers</summary>\n");
    for remark in remarks {
        let _ = writeln!(page, "<p>{}</p>", prose(remark));
    }
    page.push_str("</details>\n");
}

/// The code, the commands that repeat it, and the files of all numbers.
fn sources(page: &mut String, site: &Site, shown: &Shown, figure: &JudgedFigure, text: &FigureText) {
    let mut lines = Vec::new();
    if !text.code.is_empty() {
        let code: Vec<String> = text.code.iter().map(|[name, path]| site.links.to(path, name)).collect();
        lines.push(format!("<b>Code</b> {}", code.join(", ")));
    }
    let mut commands: Vec<&str> = distinct(figure.rows.iter().map(|row| row.command.as_str()));
    commands.sort_unstable();
    let both = commands.iter().find(|command| command.contains("--on model"));
    if let (Some(both), true) = (both, commands.len() == 2) {
        lines.push(format!("<b>Again</b> <code>{}</code>", escape(&both.replace("--on model", "--on both"))));
    } else if !commands.is_empty() {
        let each = commands.iter().map(|command| format!("<code>{}</code>", escape(command)));
        lines.push(format!("<b>Again</b> {}", each.collect::<Vec<_>>().join(" ")));
    }
    if let Some(experiment) = &figure.experiment {
        let files = ["model", "native"].iter().zip(&figure.heads).filter(|(_, head)| !head.title.is_empty());
        let name = shown.name();
        let files: Vec<String> = files
            .map(|(place, head)| {
                let path = format!("results/{place}/{name}/{experiment}.json");
                format!("{} {}", site.links.to(&path, place), at_commit(head))
            })
            .collect();
        if !files.is_empty() {
            lines.push(format!("<b>All numbers</b> {}", files.join(", ")));
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(page, "<p class=\"sources\">{}</p>", lines.join("<br>\n"));
    }
}

fn at_commit(head: &Kept) -> String {
    let changed = if head.dirty { " with changes" } else { "" };
    if head.commit.is_empty() {
        String::new()
    } else {
        format!("at commit {}{changed}", escape(&head.commit))
    }
}
