//! The foot of a paper's page: the commits and machines of its numbers.

use super::html::{anchor, escape};
use super::site::Shown;
use crate::claims::judge::JudgedFigure;
use crate::claims::kept::Kept;
use serde_json::Value;
use std::fmt::Write as _;

/// Writes it.
pub fn contents(page: &mut String, shown: &Shown) {
    let mut runs: Vec<(String, Vec<&str>)> = Vec::new();
    for figure in &shown.judged.figures {
        for (place, head) in ["On the model", "Natively"].into_iter().zip(&figure.heads) {
            let of = figure.experiment.as_deref().unwrap_or_default();
            if head.commit.is_empty() || !is_measured(place, figure, head) {
                continue;
            }
            let run = said(place, head);
            match runs.iter_mut().find(|(other, _)| *other == run) {
                Some((_, figures)) => figures.push(of),
                None => runs.push((run, vec![of])),
            }
        }
    }
    if runs.is_empty() {
        return;
    }
    runs.sort_by_key(|(run, _)| run.starts_with("<b>Natively"));
    page.push_str("<footer><h2>Where the numbers are from</h2>\n<ul>\n");
    for (run, figures) in runs {
        let figures: Vec<String> =
            figures.iter().map(|of| format!("<a href=\"#{}\">{}</a>", anchor(of), escape(of))).collect();
        let _ = writeln!(page, "<li>{run}: {}</li>", figures.join(", "));
    }
    page.push_str("</ul>\n");
    modelled(page, shown);
    page.push_str("</footer>\n");
}

/// Counts that are the same everywhere are kept twice; they are named once.
fn is_measured(place: &str, figure: &JudgedFigure, head: &Kept) -> bool {
    let on = if place == "Natively" { "native" } else { "model" };
    !head.title.is_empty()
        && figure.rows.iter().any(|row| row.on == on || (row.on == "anywhere" && on == "model"))
}

/// A place with its machine and commit.
fn said(place: &str, head: &Kept) -> String {
    let changed = if head.dirty { " with changes" } else { "" };
    let mut said = format!("<b>{place}</b>, at commit <code>{}</code>{changed}", escape(&head.commit));
    if place == "Natively" {
        let machine = machine(head);
        if !machine.is_empty() {
            let _ = write!(said, ", {}", escape(&machine));
        }
    }
    said
}

/// The machine in one line. Older results name only the processor.
fn machine(head: &Kept) -> String {
    let of = &head.machine;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut parts = Vec::new();
    parts.extend(text(&of["line"]).or_else(|| Some(head.processor.clone()).filter(|name| !name.is_empty())));
    parts
        .extend(text(&of["huge_pages"]["transparent"]).map(|when| format!("transparent huge pages: {when}")));
    parts.extend(text(&of["compiler"]["version"]));
    parts.extend(head.kernel.as_ref().map(|kernel| format!("searches by {kernel}")));
    parts.join(", ")
}

/// The parameters of the modelled machine, as the results' files have them.
fn modelled(page: &mut String, shown: &Shown) {
    let heads = shown.judged.figures.iter().flat_map(|figure| &figure.heads);
    let Some(machine) = heads.map(|head| &head.modelled["machine"]).find(|machine| machine.is_object())
    else {
        return;
    };
    let mut lines = Vec::new();
    flat("", machine, &mut lines);
    let lines: Vec<String> = lines
        .iter()
        .map(|(name, value)| format!("<span>{} <b>{}</b></span>", escape(name), escape(value)))
        .collect();
    let _ = writeln!(
        page,
        "<details><summary>Parameters of the modelled machine</summary><p class=\"parameters\">{}</p></details>",
        lines.join(" ")
    );
}

fn flat(name: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                flat(&name, value, lines);
            }
        }
        Value::Null => {}
        other => lines.push((name.to_string(), other.to_string().replace('"', ""))),
    }
}
