//! One page with a chart for every experiment, with the paper's numbers and ours. It opens offline: one
//! file, the charts drawn inline, nothing fetched.
//!
//! The charts are drawn here rather than by a library because two forms suffice (lines with published
//! bands, stacked bars) and the smallest current one takes a minute to build.

mod bars;
mod lines;
mod style;
mod svg;

use crate::catalogue::Selected;
use crate::experiment::{BatchedPanel, Body, Panel, ParallelPanel, Part, Yardstick};
use crate::results::Circumstances;
use crate::row::{On, Row};
use std::fmt::Write as _;
use svg::escape;

/// The page.
pub fn html(selected: &[Selected], rows: &[Row], circumstances: &Circumstances) -> String {
    let mut page = String::new();
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let _ = writeln!(page, "<title>latchless: papers rerun</title>\n<style>{}</style>", style::CSS);
    page.push_str("</head>\n<body>\n<main>\n<header>\n<h1>Papers rerun</h1>\n");
    let _ = writeln!(
        page,
        "<p>Ours beside the published numbers. <em>Model</em>: the memory-hierarchy model with the paper's \
         machine. <em>Native</em>: {}. Scale: {}.</p>",
        escape(&circumstances.processor),
        circumstances.scale
    );
    page.push_str("<p class=\"key\"><svg width=\"200\" height=\"18\" viewBox=\"0 0 200 18\">");
    page.push_str(
        "<rect x=\"2\" y=\"3\" width=\"26\" height=\"12\" class=\"band s0\"/><text x=\"34\" y=\"13\">",
    );
    page.push_str("published band</text><path d=\"M140 3l6 6-6 6-6-6z\" class=\"mark s0\"/>");
    page.push_str("<text x=\"152\" y=\"13\">number</text></svg></p>\n</header>\n");
    navigation(&mut page, selected);
    let mut paper = "";
    for one in selected {
        if paper != one.paper.name {
            paper = one.paper.name;
            let _ = writeln!(page, "<h2>{}</h2>", escape(one.paper.title));
        }
        experiment(&mut page, one, rows);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn navigation(page: &mut String, selected: &[Selected]) {
    page.push_str("<nav>");
    for one in selected {
        let name = one.experiment.name;
        let _ = write!(page, "<a href=\"#{}-{name}\">{name}</a>", one.paper.name);
    }
    page.push_str("</nav>\n");
}

fn experiment(page: &mut String, one: &Selected, rows: &[Row]) {
    let experiment = one.experiment;
    let rows: Vec<&Row> =
        rows.iter().filter(|row| row.paper == one.paper.name && row.experiment == experiment.name).collect();
    let _ = writeln!(
        page,
        "<section id=\"{}-{}\">\n<h3>{}</h3>\n<p>{}.</p>",
        one.paper.name,
        experiment.name,
        experiment.name,
        escape(experiment.title)
    );
    for remark in experiment.remarks {
        let _ = writeln!(page, "<p class=\"remark\">{}</p>", escape(remark));
    }
    page.push_str("<div class=\"charts\">\n");
    match experiment.body {
        Body::Measured(panels) => panels.iter().for_each(|panel| charts(page, panel, &rows)),
        Body::Parallel(panels) => panels.iter().for_each(|panel| parallel_charts(page, panel, &rows)),
        Body::Batched(panels) => panels.iter().for_each(|panel| batched_charts(page, panel, &rows)),
        Body::Timed { x_label, .. } | Body::Driven { x_label, .. } | Body::Computed { x_label, .. } => {
            own_charts(page, x_label, &rows);
        }
    }
    page.push_str("</div>\n");
    table(page, &rows);
    page.push_str("</section>\n");
}

/// A chart of a panel for each place that it was run on.
fn charts(page: &mut String, panel: &Panel, rows: &[&Row]) {
    for on in [On::Model, On::Native, On::Anywhere] {
        let rows: Vec<&Row> =
            rows.iter().filter(|row| row.panel == panel.name && row.on == on).copied().collect();
        let Some(first) = panel.yardsticks.first() else { continue };
        let breakdown = matches!(first, Yardstick::TimeShare(Part::DataStall, _));
        if breakdown && on == On::Model {
            bars::breakdown(page, panel, &rows);
            continue;
        }
        // Without a breakdown (native runs have none) the speedups are shown.
        let shown =
            panel.yardsticks.iter().find(|yardstick| rows.iter().any(|row| row.unit == yardstick.unit()));
        if let Some(yardstick) = shown {
            let unit = yardstick.unit();
            let rows: Vec<&Row> = rows.iter().filter(|row| row.unit == unit).copied().collect();
            lines::panel(page, panel, on, &rows);
        }
    }
}

/// A chart of a parallel panel's first yardstick for each place that it was run on.
fn parallel_charts(page: &mut String, panel: &ParallelPanel, rows: &[&Row]) {
    let Some(unit) = panel.yardsticks.first().map(|yardstick| yardstick.unit()) else { return };
    for on in [On::Model, On::Native] {
        let of_chart = |row: &&Row| row.panel == panel.name && row.on == on && row.unit == unit;
        let rows: Vec<&Row> = rows.iter().copied().filter(of_chart).collect();
        lines::parallel_panel(page, panel, on, &rows);
    }
}

/// Charts of what isn't run by panels: one for each panel, place and unit that rows have.
fn own_charts(page: &mut String, x_label: &str, rows: &[&Row]) {
    let groups = groups(rows);
    // A single number is shown in the table only, unless there is no other.
    let is_drawn = |group: &&Vec<&Row>| group.len() > 1 || groups.len() == 1;
    groups.iter().filter(is_drawn).for_each(|group| lines::group(page, x_label, group));
}

/// Rows that belong into one chart: of one panel, one place and one unit, in their first order.
fn groups<'a>(rows: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let alike =
        |one: &Row, other: &Row| (one.panel, one.on, &one.unit) == (other.panel, other.on, &other.unit);
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for &row in rows {
        match groups.iter_mut().find(|group| alike(group[0], row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// A chart of a batched panel's first yardstick for each place that it was run on, where it has an axis.
fn batched_charts(page: &mut String, panel: &BatchedPanel, rows: &[&Row]) {
    let Some(unit) = panel.yardsticks.first().map(|yardstick| yardstick.unit()) else { return };
    for on in [On::Model, On::Native] {
        let of_chart = |row: &&Row| row.panel == panel.name && row.on == on && row.unit == unit;
        let rows: Vec<&Row> = rows.iter().copied().filter(of_chart).collect();
        lines::batched_panel(page, panel, on, &rows);
    }
}

fn table(page: &mut String, rows: &[&Row]) {
    page.push_str("<details><summary>All numbers</summary>\n<table>\n<thead><tr>");
    for head in ["panel", "series", "x", "unit", "on", "ours", "paper", "ratio", "cost", "note"] {
        let _ = write!(page, "<th>{head}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let published = row.published.map(|published| published.to_string()).unwrap_or_default();
        let ratio = row.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let cost = row.cost.map(|cost| format!("{cost:.0} {}", row.cost_unit)).unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{published}</td><td class=\"n\">{ratio}</td><td class=\"n\">{cost}</td><td>{}</td></tr>",
            row.panel,
            escape(&row.series),
            svg::short(row.x),
            escape(&row.unit),
            row.on.name(),
            svg::rounded(row.ours),
            escape(&row.note),
        );
    }
    page.push_str("</tbody>\n</table>\n</details>\n");
    let mut commands: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    for command in commands {
        let _ = writeln!(page, "<pre>{}</pre>", escape(command));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Scale;
    use crate::runner::{Places, run};

    fn page(names: &[&str], places: Places) -> String {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let selected = crate::select(&names).unwrap();
        let rows = run(&selected, places, Scale::Small, &mut |_| ()).unwrap();
        html(&selected, &rows, &Circumstances::here(Scale::Small))
    }

    #[test]
    fn a_page_has_a_chart_for_every_panel_and_fetches_nothing() {
        let page = page(&["pb-tree", "eq-1", "table-3", "fig-7", "fig-14"], Places::Model);
        for outside in ["http:", "https:", "src=", "@import", "url(", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
        let figures = page.matches("<figure>").count();
        assert_eq!(figures, 2 + 1 + 2 + 2, "one for table-3, two for the others: eq-1 has two units");
        assert!(page.contains("class=\"band s"), "the published band is drawn");
        assert!(page.contains("class=\"mark s"), "published numbers are drawn");
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }

    #[test]
    fn what_processors_share_has_a_chart_a_panel_and_place() {
        let page = page(&["olfit", "eq-1", "fig-2"], Places::Model);
        assert_eq!(page.matches("<figure>").count(), 2);
        for part in ["processors", "level", "coherence misses/node visit", "b-lc"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn panels_places_and_units_have_charts_of_their_own() {
        let row = |panel, on, unit: &str, (series, x): (&str, f64)| Row {
            panel,
            on,
            ..Row::new(series, x, unit, 10.0 * x)
        };
        let mut rows = Vec::new();
        for x in [100.0, 1.0, 10.0] {
            for (panel, unit) in [("dense", "a second"), ("sparse", "a second"), ("dense", "times")] {
                rows.push(row(panel, On::Native, unit, ("ours", x)));
                rows.push(row(panel, On::Native, unit, ("theirs", x)));
            }
        }
        rows.push(row("dense", On::Model, "a second", ("ours", 1.0)));
        rows.push(row("dense", On::Model, "a second", ("theirs", 1.0)));
        rows.push(row("dense", On::Native, "share", ("all", 1.0)));
        let rows: Vec<&Row> = rows.iter().collect();
        let mut page = String::new();
        own_charts(&mut page, "percent", &rows);
        let captions: Vec<&str> = page
            .split("<figcaption>")
            .skip(1)
            .map(|rest| rest.split("</figcaption>").next().unwrap_or_default())
            .collect();
        let expected = [
            "dense · native · a second",
            "sparse · native · a second",
            "dense · native · times",
            "dense · model · a second · percent 1",
        ];
        assert_eq!(captions, expected);
        assert_eq!(page.matches("class=\"curve").count(), 6, "a line for each series of three charts");
        assert_eq!(page.matches("class=\"bar").count(), 2, "bars where there is no axis");
        // Lines go from left to right, in whatever order the rows come.
        for path in page.split("class=\"curve").skip(1) {
            let path = path.split("d=\"M").nth(1).and_then(|path| path.split('"').next()).expect("a path");
            let xs: Vec<f64> =
                path.split('L').map(|point| point.split(' ').next().unwrap().parse().unwrap()).collect();
            assert!(xs.len() == 3 && xs.is_sorted(), "{xs:?}");
        }
    }

    /// The kept rows of an experiment, without the notes.
    fn kept(paper: &str, experiment: &str) -> Vec<Row> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = root.join("research/results/native").join(paper).join(format!("{experiment}.json"));
        let text = std::fs::read_to_string(&path).expect("kept results");
        let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let text = |row: &serde_json::Value, field: &str| row[field].as_str().expect("a text").to_owned();
        let row = |row: &serde_json::Value| Row {
            paper: text(row, "paper").leak(),
            experiment: text(row, "experiment").leak(),
            panel: text(row, "panel").leak(),
            on: if row["on"] == "native" { On::Native } else { On::Anywhere },
            ..Row::new(
                text(row, "series"),
                row["x"].as_f64().expect("a number"),
                text(row, "unit"),
                row["ours"].as_f64().unwrap_or(f64::NAN),
            )
        };
        kept["rows"].as_array().expect("rows").iter().map(row).collect()
    }

    #[test]
    fn every_experiment_of_cssl_has_a_chart_and_each_chart_one_unit() {
        let selected = crate::select(&["cssl".to_string()]).unwrap();
        let circumstances = Circumstances::here(Scale::Paper);
        assert_eq!(selected.len(), 14);
        for one in &selected {
            let rows = kept(one.paper.name, one.experiment.name);
            let page = html(std::slice::from_ref(one), &rows, &circumstances);
            let captions: Vec<&str> = page
                .split("<figcaption>")
                .skip(1)
                .map(|rest| rest.split("</figcaption>").next().unwrap_or_default())
                .collect();
            let name = one.experiment.name;
            assert!(!captions.is_empty(), "{name} has no chart");
            for row in &rows {
                let unit = escape(&row.unit);
                let of_unit = captions.iter().filter(|caption| caption.contains(&*unit)).count();
                let alike = rows.iter().filter(|other| (other.panel, &other.unit) == (row.panel, &row.unit));
                assert!(of_unit > 0 || alike.count() == 1, "{name} draws nothing in {unit}");
            }
            assert!(!page.contains("NaN") && !page.contains("inf"), "{name}");
        }
    }

    #[test]
    fn every_tag_is_closed() {
        let page = page(&["pb-tree", "eq-1", "table-3"], Places::Model);
        for tag in ["main", "section", "figure", "svg", "table", "tr", "td", "g", "details", "text", "p"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
