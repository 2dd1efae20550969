//! A page with plots that opens offline: the file contains everything that it shows.

use super::outcome::{Outcome, Setting, table};
use kuva::backend::svg::SvgBackend;
use kuva::plot::BarPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::escape;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse}td,th{padding:.3rem .8rem;border-bottom:1px solid #ccc;text-align:right}\
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}";

/// Writes the page.
///
/// # Errors
/// When the file can't be written.
pub fn write(file: &Path, machine: &str, setting: &Setting, outcomes: &[Outcome]) -> Result<(), Failure> {
    fs::write(file, page(machine, setting, outcomes))
        .map_err(|error| Failure::run(format!("the report {} can't be written: {error}", file.display())))
}

fn page(machine: &str, setting: &Setting, outcomes: &[Outcome]) -> String {
    let rounds = outcomes.first().map_or(0, Outcome::rounds);
    let per = outcomes.first().map_or("op", |outcome| outcome.unit().name());
    let times =
        BarPlot::new()
            .with_bars(outcomes.iter().rev().map(|outcome| (outcome.name(), outcome.median_ns())))
            .with_asymmetric_error(outcomes.iter().rev().map(|outcome| {
                (outcome.median_ns() - outcome.min_ns(), outcome.max_ns() - outcome.median_ns())
            }))
            .with_horizontal(true)
            .with_color("steelblue");
    let sizes = BarPlot::new()
        .with_bars(outcomes.iter().rev().map(|outcome| (outcome.name(), outcome.bytes_per_key())))
        .with_horizontal(true)
        .with_color("darkorange");
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>latchless-bench</title>\
         <style>{STYLE}</style><h1>latchless-bench: {}</h1><p>{}</p><p>{}</p>",
        escape(setting.workload),
        escape(&setting.line(rounds)),
        escape(machine),
    );
    html.push_str(&table(setting, outcomes).to_html());
    let plots = [
        (times, format!("Time per {per}: median, fastest and slowest round"), format!("ns per {per}")),
        (sizes, "Memory".to_owned(), "bytes per key".to_owned()),
    ];
    for (plot, title, axis) in plots {
        // Writing to a string never fails.
        let _ = write!(html, "<figure>{}</figure>", svg(plot, &title, &axis));
    }
    html.push_str("</html>\n");
    html
}

fn svg(plot: BarPlot, title: &str, axis: &str) -> String {
    let plots = vec![Plot::Bar(plot)];
    let layout = Layout::auto_from_plots(&plots).with_title(title).with_x_label(axis);
    SvgBackend.render_scene(&render_multiple(plots, layout))
}
