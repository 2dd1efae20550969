//! Results as files: one JSON file per experiment, and a page of text that summarizes them.

use crate::catalogue::Selected;
use crate::error::{LabError, Result};
use crate::experiment::{BatchedPanel, BatchedYardstick, Body, ParallelPanel, Scale};
use crate::model;
use crate::on::On;
use crate::row::Row;
use latchless_core::search::Kernel;
use latchless_measure::built::Commit;
use latchless_measure::host::Host;
use latchless_measure::machine;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The place and the conditions of the rows' measurement.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// The machine that the native numbers are from, in one line.
    pub processor: String,
    /// The same machine and this build, with all facts.
    pub machine: Value,
    /// The scale's name.
    pub scale: &'static str,
    /// The commit that they were measured at.
    pub commit: Commit,
    /// The widest vectors that searches used.
    pub kernel: &'static str,
}

impl Circumstances {
    /// Returns those of this process.
    pub fn here(scale: Scale) -> Self {
        let host = Host::here();
        Self {
            processor: machine::short(&host),
            machine: machine::json(&host),
            scale: scale.name(),
            commit: Commit::here(),
            kernel: Kernel::best().name(),
        }
    }
}

/// Writes `<folder>/<paper>/<experiment>.json` for every selected experiment that has rows and
/// `<folder>/<paper>.md` for every paper, replacing it. Sections of experiments that weren't selected stay,
/// if they were measured in the same circumstances.
///
/// # Errors
/// When a file can't be written.
pub fn write(
    folder: &Path,
    selected: &[Selected],
    rows: &[Row],
    circumstances: &Circumstances,
) -> Result<()> {
    for one in selected {
        let (paper, experiment) = (one.paper.name, one.experiment);
        let rows: Vec<&Row> =
            rows.iter().filter(|row| row.paper == paper && row.experiment == experiment.name).collect();
        if rows.is_empty() {
            continue;
        }
        let path = folder.join(paper).join(format!("{}.json", experiment.name));
        let json = to_json(one, &rows, circumstances)
            .map_err(|source| LabError::Write { path: path.display().to_string(), source: source.into() })?;
        put(&path, &json)?;
    }
    let mut papers: Vec<&Selected> = selected.iter().collect();
    papers.dedup_by_key(|one| one.paper.name);
    for one in papers {
        let text = summary(one, selected, rows, circumstances);
        let path = folder.join(format!("{}.md", one.paper.name));
        let names = one.paper.experiments.iter().map(|experiment| experiment.name);
        let text = match fs::read_to_string(&path) {
            Ok(kept) => merged(names, &kept, &text),
            Err(_) => text,
        };
        put(&path, &text)?;
    }
    Ok(())
}

/// A page, with the sections of another one that it doesn't have, in this order of names. Pages whose heads
/// differ have nothing in common.
fn merged<'a>(names: impl Iterator<Item = &'a str>, kept: &str, page: &str) -> String {
    const SECTION: &str = "\n## ";
    let (kept, new) = (kept.split(SECTION).collect::<Vec<_>>(), page.split(SECTION).collect::<Vec<_>>());
    if kept[0].trim_end() != new[0].trim_end() {
        return page.to_string();
    }
    let mut merged = new[0].trim_end().to_string() + "\n";
    for name in names {
        let of_name = |section: &&&str| section.lines().next() == Some(name);
        if let Some(section) = new[1..].iter().find(of_name).or_else(|| kept[1..].iter().find(of_name)) {
            let _ = writeln!(merged, "{SECTION}{}", section.trim_end());
        }
    }
    merged
}

/// Returns one experiment as JSON with one line per row, so that a difference shows the changed rows. The
/// machine of native rows is in the head, and the modelled one of the model's rows.
fn to_json(
    one: &Selected,
    rows: &[&Row],
    circumstances: &Circumstances,
) -> core::result::Result<String, serde_json::Error> {
    let commit = &circumstances.commit;
    let mut text = format!(
        "{{\n\"title\": {},\n\"remarks\": {},\n\"scale\": {},\n\"commit\": {}, \"dirty\": {},\n",
        serde_json::to_string(one.experiment.title)?,
        serde_json::to_string(one.experiment.remarks)?,
        serde_json::to_string(circumstances.scale)?,
        serde_json::to_string(&commit.name)?,
        commit.is_dirty,
    );
    // Neither a model nor a count depends on them.
    if rows.iter().any(|row| row.on == On::Native) {
        let _ = writeln!(text, "\"machine\": {},", circumstances.machine);
        let _ = writeln!(text, "\"kernel\": {},", serde_json::to_string(circumstances.kernel)?);
    }
    if let Some(row) = rows.iter().find(|row| row.on == On::Model) {
        let _ = writeln!(text, "\"modelled\": {},", model::described(&row.machines)?);
    }
    text.push_str("\"rows\": [\n");
    let lines = rows.iter().map(serde_json::to_string).collect::<core::result::Result<Vec<_>, _>>()?;
    text.push_str(&lines.join(",\n"));
    text.push_str("\n]\n}\n");
    Ok(text)
}

/// Writes a paper's experiments as a page of text: every number that the paper states, with ours.
fn summary(of: &Selected, selected: &[Selected], rows: &[Row], circumstances: &Circumstances) -> String {
    let mut text = format!(
        "# {}\n\nOurs beside the numbers that the paper's text states. *model*: the memory-hierarchy \
         model with the paper's machine. *native*: the machine that the section names. Ratios are within one \
         run. Scale: {}.\n",
        of.paper.title, circumstances.scale
    );
    for one in selected.iter().filter(|one| one.paper.name == of.paper.name) {
        let experiment = one.experiment;
        let stated: Vec<&Row> = rows
            .iter()
            .filter(|row| row.paper == of.paper.name && row.experiment == experiment.name)
            .filter(|row| row.published.is_some())
            .collect();
        let _ = write!(text, "\n## {}\n\n{}.\n", experiment.name, experiment.title);
        for remark in experiment.remarks {
            let _ = write!(text, "\n{remark}\n");
        }
        if let Body::Parallel(panels) = experiment.body {
            let own = |row: &&Row| row.paper == of.paper.name && row.experiment == experiment.name;
            let own: Vec<&Row> = rows.iter().filter(own).collect();
            panels.iter().for_each(|panel| tables(&mut text, &Shown::parallel(panel), &own));
        }
        if let Body::Batched(panels) = experiment.body {
            let own = |row: &&Row| row.paper == of.paper.name && row.experiment == experiment.name;
            let own: Vec<&Row> = rows.iter().filter(own).collect();
            panels.iter().for_each(|panel| tables(&mut text, &Shown::batched(panel), &own));
        }
        let mut shown = stated.clone();
        if let Body::Timed { x_label, .. } | Body::Driven { x_label, .. } = experiment.body {
            let own = |row: &&Row| row.paper == of.paper.name && row.experiment == experiment.name;
            shown = rows.iter().filter(own).collect();
            timed(&mut text, x_label, &shown);
        }
        if !stated.is_empty() {
            text.push_str("\n| panel | series | x | unit | on | ours | paper | ratio | note |\n");
            text.push_str("|---|---|---:|---|---|---:|---:|---:|---|\n");
        }
        for row in &stated {
            text.push_str(&line(row));
        }
        for command in commands(&shown) {
            let _ = write!(text, "\n`{command}`\n");
        }
        let natively =
            |row: &Row| (row.paper, row.experiment, row.on) == (of.paper.name, experiment.name, On::Native);
        let commit = &circumstances.commit;
        let _ =
            write!(text, "\nAt commit {}{}", commit.name, if commit.is_dirty { " with changes" } else { "" });
        if rows.iter().any(natively) {
            let _ = write!(text, ", natively with {} on {}", circumstances.kernel, circumstances.processor);
        }
        text.push_str(".\n");
    }
    text
}

/// The tables of a panel.
struct Shown<'a> {
    name: &'static str,
    label: &'static str,
    series: Vec<&'a str>,
    units: Vec<String>,
}

impl Shown<'_> {
    fn parallel(panel: &ParallelPanel) -> Self {
        // Comparisons of two series repeat the two columns.
        let alone = panel.yardsticks.iter().filter(|yardstick| yardstick.compares_with().is_none());
        Self {
            name: panel.name,
            label: panel.axis.label(),
            series: panel.series.iter().map(|subject| subject.name()).collect(),
            units: alone.map(|yardstick| yardstick.unit()).collect(),
        }
    }

    /// The gain of a way over no batching is the paper's subject, so it is shown as well.
    fn batched(panel: &BatchedPanel) -> Self {
        Self {
            name: panel.name,
            label: "threads",
            series: panel.ways.iter().map(|way| way.name).collect(),
            units: panel.yardsticks.iter().copied().map(BatchedYardstick::unit).collect(),
        }
    }
}

/// Writes everything that an experiment with its own driver measured: its panels and units in the order of
/// their rows.
fn timed(text: &mut String, label: &'static str, rows: &[&Row]) {
    let mut panels: Vec<Shown<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.on != On::Anywhere) {
        if panels.iter().all(|panel| panel.name != row.panel) {
            panels.push(Shown { name: row.panel, label, series: Vec::new(), units: Vec::new() });
        }
        for panel in panels.iter_mut().filter(|panel| panel.name == row.panel) {
            if !panel.series.contains(&row.series.as_str()) {
                panel.series.push(&row.series);
            }
            if !panel.units.contains(&row.unit) {
                panel.units.push(row.unit.clone());
            }
        }
    }
    panels.iter().for_each(|panel| tables(text, panel, rows));
}

/// Writes a panel's results as the paper draws them: a table for each yardstick and place, with a column
/// for each series and a line for each x.
fn tables(text: &mut String, panel: &Shown<'_>, rows: &[&Row]) {
    for on in [On::Model, On::Native] {
        for unit in &panel.units {
            let of_table = |row: &&&Row| row.panel == panel.name && row.on == on && row.unit == *unit;
            let rows: Vec<&Row> = rows.iter().filter(of_table).copied().collect();
            // A series whose yardstick measures nothing has no column.
            let measured = |name: &&str| rows.iter().any(|row| row.series == *name);
            let series: Vec<&str> = panel.series.iter().copied().filter(measured).collect();
            if series.is_empty() {
                continue;
            }
            let parts = [panel.name, on.name(), unit];
            let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let _ = write!(text, "\n{}:\n\n| {} |", said.join(", "), panel.label);
            series.iter().for_each(|name| text.push_str(&format!(" {name} |")));
            let _ = writeln!(text, "\n|---:|{}", "---:|".repeat(series.len()));
            for line in rows.chunk_by(|left, right| left.x.to_bits() == right.x.to_bits()) {
                let _ = write!(text, "| {} |", line[0].x);
                for name in &series {
                    let cell = line.iter().find(|row| row.series == *name).map(|row| to_three(row.ours));
                    let _ = write!(text, " {} |", cell.unwrap_or_default());
                }
                text.push('\n');
            }
        }
    }
}

/// Formats a number with three significant digits, or all of them before the point.
fn to_three(number: f64) -> String {
    let before = number.abs().max(1e-3).log10().floor() as i64;
    let behind = usize::try_from(2 - before).unwrap_or(0).min(3);
    format!("{number:.behind$}")
}

fn line(row: &Row) -> String {
    let published = row.published.map(|published| published.to_string()).unwrap_or_default();
    let ratio = row.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
    let ours = if row.on == On::Anywhere && row.ours.fract() == 0.0 {
        format!("{}", row.ours)
    } else {
        format!("{:.3}", row.ours)
    };
    format!(
        "| {} | {} | {} | {} | {} | {ours} | {published} | {ratio} | {} |\n",
        row.panel,
        row.series,
        row.x,
        row.unit,
        row.on.name(),
        row.note
    )
}

fn commands<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut commands: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    commands
}

/// Writes a file, and the folders above it if they aren't there.
///
/// # Errors
/// [`LabError::Write`].
pub fn put(path: &Path, text: &str) -> Result<()> {
    let refused = |source| LabError::Write { path: path.display().to_string(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    fs::write(path, text).map_err(refused)
}

/// Checks that a file has the text that a command makes.
///
/// # Errors
/// [`LabError::Stale`].
pub fn is_current(path: &Path, text: &str, command: &'static str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|kept| kept == text) {
        return Ok(());
    }
    Err(LabError::Stale { path: path.display().to_string(), command })
}

/// Finds out whether [`put`] may write a file, before a run that takes long. The folder must be there.
///
/// # Errors
/// [`LabError::Write`], as from [`put`].
pub fn prepare(path: &Path) -> Result<()> {
    let refused = |source| LabError::Write { path: path.display().to_string(), source };
    if folder_of(path).is_some_and(|folder| !folder.is_dir()) {
        return Err(refused(io::Error::new(ErrorKind::NotFound, "the folder isn't there")));
    }
    latchless_terminal::file::check_writable(path).map_err(refused)
}

/// Finds out whether files can be written into a folder, before a run that takes long. Makes the folder, but
/// none that it is in: a misspelt path is refused.
///
/// # Errors
/// [`LabError::Write`].
pub fn prepare_folder(folder: &Path) -> Result<()> {
    let refused = |source| LabError::Write { path: folder.display().to_string(), source };
    if !folder.is_dir() {
        if folder_of(folder).is_some_and(|above| !above.is_dir()) {
            return Err(refused(io::Error::new(ErrorKind::NotFound, "the folder above isn't there")));
        }
        fs::create_dir(folder).map_err(refused)?;
    }
    latchless_terminal::file::check_writable(&folder.join("latchless-lab.probe")).map_err(refused)
}

/// The folder that a path is in, unless that is the working directory.
fn folder_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Parameters;
    use crate::runner::{Places, run};

    #[test]
    fn results_are_a_file_an_experiment_and_a_page_a_paper() {
        let selected = crate::select(&["pb-tree".to_string(), "eq-1".to_string()]).unwrap();
        let rows = run(&selected, Places::Model, Scale::Small, &mut |_| ()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &selected, &rows, &Circumstances::here(Scale::Small)).unwrap();
        let json = fs::read_to_string(folder.path().join("pb-tree/eq-1.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["rows"].as_array().unwrap().len(), rows.len());
        assert_eq!(json.lines().count(), rows.len() + 8);
        assert!(value["commit"].is_string() && value["dirty"].is_boolean());
        assert!(
            value.get("machine").is_none() && value.get("modelled").is_none(),
            "formulas need no machine"
        );
        let page = fs::read_to_string(folder.path().join("pb-tree.md")).unwrap();
        assert!(page.contains("| optimal width | 15 | lines | anywhere | 8 | 8 | 1.00 |"), "{page}");
        assert!(page.contains("| optimal width | 50 | lines | anywhere | 22 | 22 | 1.00 |"), "{page}");
        assert!(page.contains("`latchless-lab paper pb-tree eq-1 --scale small`"));
    }

    #[test]
    fn native_results_say_by_which_vectors() {
        let selected = crate::select(&["pi".to_string(), "sorting".to_string()]).unwrap();
        let rows = run(&selected, Places::Native, Scale::Small, &mut |_| ()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &selected, &rows, &Circumstances::here(Scale::Small)).unwrap();
        let json = fs::read_to_string(folder.path().join("pi/sorting.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["kernel"], Kernel::best().name());
        let host = Host::here();
        let of_file = |name: &str| value["machine"][name].clone();
        assert_eq!(of_file("logical_processors"), host.processors.unwrap());
        assert_eq!(of_file("compiler")["version"], latchless_measure::built::COMPILER);
        assert!(value.get("modelled").is_none(), "nothing was modelled");
        let page = fs::read_to_string(folder.path().join("pi.md")).unwrap();
        assert!(page.contains(&format!("on {}.\n", machine::short(&host))), "{page}");
    }

    #[test]
    fn results_of_the_model_name_the_modelled_machine_and_no_other() {
        let selected = crate::select(&["pb-tree".to_string(), "fig-7".to_string()]).unwrap();
        let row = Row { on: On::Model, ..Row::new("p8", 1e6, "cycles", 3.0) };
        let machines = [Parameters::spiderman(1), Parameters::spiderman(4)].into();
        let rows = [Row { machines, ..row.within("pb-tree", "fig-7", Scale::Small) }];
        let [here, elsewhere] = [("this one", "avx2"), ("another one", "neon")].map(|(processor, kernel)| {
            let own = Circumstances::here(Scale::Small);
            let circumstances = Circumstances {
                processor: processor.to_string(),
                machine: Value::from(processor),
                kernel,
                ..own
            };
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &selected, &rows, &circumstances).unwrap();
            ["pb-tree/fig-7.json", "pb-tree.md"]
                .map(|file| fs::read_to_string(folder.path().join(file)).unwrap())
        });
        assert_eq!(here, elsewhere);
        let value: Value = serde_json::from_str(&here[0]).unwrap();
        assert_eq!(value["modelled"]["machine"]["clock_mhz"], 3100);
        assert_eq!(value["modelled"]["others"][0]["system"]["processors"], 4);
        assert!(value.get("machine").is_none() && value.get("kernel").is_none());
    }

    #[test]
    fn sections_of_other_experiments_stay_if_the_circumstances_are_the_same() {
        let names = || ["a", "b", "c"].into_iter();
        let kept = "# head\n\n## b\n\nold\n\n## c\n\nkept\n";
        let expected = "# head\n\n## a\n\nnew\n\n## b\n\nnewer\n\n## c\n\nkept\n";
        assert_eq!(merged(names(), kept, "# head\n\n## a\n\nnew\n\n## b\n\nnewer\n"), expected);
        assert_eq!(merged(names(), expected, "# head\n"), expected);
        assert_eq!(merged(names(), kept, "# other\n\n## a\n\nnew\n"), "# other\n\n## a\n\nnew\n");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = put(&file.path().join("below/a.json"), "").unwrap_err().to_string();
        assert!(error.contains("below"), "{error}");
    }
}
