//! Pages: whole, offline, and true to what is kept.

use super::*;
use crate::catalogue::catalogue;
use crate::claims::headlines::Headline;
use crate::claims::judge::JudgedFigure;
use crate::claims::kept::Record;
use crate::experiment::Scale;
use crate::results::Circumstances;
use crate::runner::{Places, run};
use std::collections::HashSet;

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results")
}

fn kept() -> Site {
    Site::kept(&results(), &catalogue()).unwrap()
}

fn of_run(names: &[&str], places: Places) -> Site {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let selected = crate::select(&names).unwrap();
    let rows = run(&selected, places, Scale::Small, &mut |_| ()).unwrap();
    let research = Research::of(&results());
    Site::of_rows(&research, &selected, &rows, &Circumstances::here(Scale::Small)).unwrap()
}

/// What is between a mark and the next quotation mark.
fn values<'a>(page: &'a str, mark: &str) -> Vec<&'a str> {
    page.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn the_kept_site_is_that_of_the_kept_results() {
    kept().is_current(&Target::Folder(results().join("../site"))).unwrap();
}

#[test]
fn pages_fetch_nothing_and_are_small() {
    let files = kept().files();
    for (name, text) in &files {
        for outside in ["http:", "https:", "src=", "@import", "url(", "<script", "NaN", ">inf"] {
            // The name of a language isn't an address.
            let text = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
            assert!(!text.contains(outside), "{outside} in {name}");
        }
    }
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes < 2_000_000, "{bytes} bytes");
}

#[test]
fn every_tag_is_closed_and_every_name_is_there_once() {
    for (name, text) in kept().files().iter().filter(|(name, _)| name.ends_with(".html")) {
        for tag in [
            "main", "section", "figure", "svg", "table", "tr", "td", "th", "g", "details", "text", "p", "ul",
            "li", "ol", "dl", "a", "span", "div", "header", "article", "nav",
        ] {
            let opened =
                text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag} in {name}");
        }
        let mut ids = HashSet::new();
        for id in values(text, " id=\"") {
            assert!(ids.insert(id), "{id} twice in {name}");
        }
    }
}

#[test]
fn every_link_of_the_kept_site_leads_to_a_file_or_a_place_on_a_page() {
    let files = kept().files();
    let site = results().join("../site");
    let page = |name: &str| files.iter().find(|(file, _)| file == name).map(|(_, text)| text);
    let mut seen = 0;
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        for link in values(text, " href=\"") {
            seen += 1;
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { Some(text) } else { page(file) };
            match target {
                Some(target) if !place.is_empty() => {
                    assert!(target.contains(&format!(" id=\"{place}\"")), "{link} of {name}");
                }
                Some(_) => {}
                None => assert!(site.join(file).exists(), "{link} of {name}"),
            }
        }
    }
    assert!(seen > 300, "{seen} links");
}

#[test]
fn every_figure_has_a_section_and_every_experiment_a_chart() {
    let site = kept();
    for shown in &site.papers {
        let mut page = String::new();
        paper::contents(&mut page, &site, shown, false);
        for figure in &shown.judged.figures {
            let of = figure.experiment.as_deref().unwrap_or(&figure.name);
            let section =
                page.split(&format!("id=\"{}\"", html::anchor(of))).nth(1).unwrap_or_else(|| panic!("{of}"));
            let section = section.split("</section>").next().unwrap();
            assert!(
                figure.rows.is_empty() || section.contains("<figure"),
                "{} {of} has no chart",
                shown.name()
            );
        }
    }
}

#[test]
fn charts_that_a_text_describes_have_rows() {
    let site = kept();
    for shown in &site.papers {
        for figure in &shown.text.figures {
            let of = |one: &&JudgedFigure| one.experiment.as_deref().unwrap_or(&one.name) == figure.of;
            let judged = shown.judged.figures.iter().find(of).unwrap_or_else(|| panic!("{}", figure.of));
            for chart in &figure.charts {
                let place =
                    |on: &str| -> Vec<&Record> { judged.rows.iter().filter(|row| row.on == on).collect() };
                let drawn = ["anywhere", "model", "native"].iter().any(|on| match chart.form {
                    text::Form::Table => place(on).iter().any(|row| row.panel == chart.panel),
                    _ => plot::Plot::of(chart, &shown.text, &place(on), "").is_some(),
                });
                assert!(
                    drawn || chart.optional,
                    "{} {}: {} {:?}",
                    shown.name(),
                    figure.of,
                    chart.panel,
                    chart.unit
                );
            }
        }
        for headline in &shown.headlines {
            assert!(
                !headline.claims(&shown.judged.figures).is_empty(),
                "{}: {}",
                shown.name(),
                headline.says
            );
        }
        assert!(shown.headlines.iter().any(Headline::is_of_the_abstract), "{}", shown.name());
    }
}

#[test]
fn a_run_makes_the_same_pages_with_a_word_on_its_scale_and_links_to_nowhere() {
    let site = of_run(&["pb-tree", "eq-1", "table-3", "fig-7", "fig-14"], Places::Model);
    let page = site.page();
    assert!(page.contains("This is a small run") && page.contains("<style>"));
    assert!(!page.contains("href=\"../"), "a page of a run may be anywhere");
    for name in ["Figure 7. Searches", "Table 3. Levels", "Figure 14. Where the time goes", "(a) warm caches"]
    {
        assert!(page.contains(name), "{name}");
    }
    assert!(!page.contains("class=\"v holds\""), "small runs aren't compared");
    assert!(!page.contains("id=\"fig-8\""), "it wasn't run");
    let names: Vec<String> = site.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["index.html", "style.css", "summary.svg", "index-lessons.html", "pb-tree.html"]);
}

#[test]
fn targets_that_cannot_be_written_are_refused_and_no_roots_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    for path in ["missing/site", "missing/page.html", "a-file/site", "a-file/page.html", "a-file"] {
        let target = Target::of(&folder.path().join(path));
        assert!(target.prepare().is_err(), "{path}");
    }
    assert!(!folder.path().join("missing").exists());
    Target::of(&folder.path().join("site")).prepare().unwrap();
    Target::of(&folder.path().join("page.html")).prepare().unwrap();
    assert!(folder.path().join("site").is_dir() && !folder.path().join("page.html").exists());
}

/// But charts', where a page is so wide that they are drawn one and a half times as large.
#[test]
fn no_text_is_smaller_than_twelve_pixels() {
    let rules = html::STYLE
        .split('}')
        .filter(|rule| !rule.contains("svg.chart text") && !rule.contains("svg.chart .name"));
    let mut seen = 0;
    for rule in rules {
        for rest in rule.split("font-size:").skip(1).chain(rule.split("font:").skip(1)) {
            let size: String =
                rest.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
            let unit = &rest[size.len()..];
            let Ok(size) = size.parse::<f64>() else { continue };
            let pixels = if unit.starts_with("rem") || unit.starts_with("em") { 16.0 * size } else { size };
            assert!(unit.starts_with("pt") || pixels >= 12.0, "{rule}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} sizes");
}
