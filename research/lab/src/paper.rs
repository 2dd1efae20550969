//! `latchless-lab paper`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use latchless_lab::LabError;
use latchless_lab::catalogue::{PAPERS, Selected};
use latchless_lab::experiment::Scale;
use latchless_lab::on::On;
use latchless_lab::report::{self, Site, Target};
use latchless_lab::results::{self, Circumstances};
use latchless_lab::row::Row;
use latchless_lab::runner::{Places, Progress, Sizes, run_sized};
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rerun a paper's experiments and compare the numbers with the published ones.
///
/// On the model the real code runs while a model of the paper's machine, with one processor or several,
/// counts cycles; natively the code is timed on this machine. Numbers are compared within one run, as in
/// the paper.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Papers (`pb-tree`, `olfit`, `cssl`, `pi`, `spiderman`) and experiments (`table-3`, `fig-7`, …);
    /// everything if none is named, or by `all`
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// The place: a model of the paper's machine, this machine, or both
    #[arg(long, value_enum, default_value = "model")]
    on: Where,

    /// Scale: `small` takes seconds an experiment and only checks that it runs, `paper` has the paper's sizes
    #[arg(long, value_enum, default_value = "paper")]
    scale: Size,

    /// Records before the transactions of `spiderman` begin [default: the scale's]
    #[arg(long, value_name = "N", value_parser = parse_records)]
    records: Option<u32>,

    /// Seconds for which each way of `spiderman` is timed natively [default: 10]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,

    /// How results are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,

    /// Also write pages with charts and verdicts, which open offline: a site into a folder, or one page
    #[arg(long, value_name = "FOLDER|FILE.html")]
    report: Option<PathBuf>,

    /// Run nothing; make the report of the results that this folder keeps
    #[arg(long, value_name = "FOLDER", requires = "report", conflicts_with_all = ["results", "records", "seconds"])]
    kept: Option<PathBuf>,

    /// With --kept: write nothing; fail if the report isn't that of the kept results
    #[arg(long, requires = "kept")]
    check: bool,

    /// Only serve queries with one contestant, for valgrind to count: NAME:SPREAD:KIND:KEYS:QUERIES
    #[arg(long, value_name = "SPECIFICATION", hide = true)]
    probe: Option<String>,

    /// Also write the results to files in this folder: one JSON file per experiment and a summary
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  latchless-lab paper pb-tree table-3                 levels of every tree, against the paper's Table 3
  latchless-lab paper pb-tree fig-7 fig-10            searches and scans on the paper's machine
  latchless-lab paper pb-tree fig-7 --on both --format json   the same, natively as well, one JSON object a line
  latchless-lab paper olfit fig-8                     updates on 1 to 64 processors, under six schemes
  latchless-lab paper cssl fig-4                      ranges of 16M keys on the paper's machine
  latchless-lab paper spiderman --on native --records 5000000 --seconds 2   batches against one by one
  latchless-lab paper pi fig-10                       PI under skew on four nodes, threads assigned by load
  latchless-lab paper olfit --on both --results results --report olfit.html
  latchless-lab paper all --kept research/results --report research/site    the site of the kept results";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Where {
    /// The memory-hierarchy model with the paper's machine.
    Model,
    /// This machine.
    Native,
    /// Both, side by side.
    Both,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Size {
    /// Seconds an experiment, minutes for everything.
    Small,
    /// The paper's sizes.
    Paper,
}

fn parse_records(text: &str) -> Result<u32, String> {
    let records = u32::try_from(count::parse(text)?).map_err(|_| "too large".to_owned())?;
    if records == 0 { Err("at least 1".to_owned()) } else { Ok(records) }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds, from 0.001 to 86400".to_string()),
    }
}

/// Runs the command.
///
/// # Errors
/// Unknown names, a file that can't be written, an index that refuses or answers wrongly.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(specification) = &args.probe {
        // Valgrind can be made to begin counting in between.
        let ready = |word: &str| {
            writeln!(std::io::stdout(), "{word}")?;
            std::io::stdin().read_line(&mut String::new()).map(drop)
        };
        let answer = latchless_lab::cssl::probe(specification, ready).map_err(failure)?;
        return put(&format!("{answer}\n"));
    }
    let selected = latchless_lab::select(&args.names).map_err(|error| unknown(error, &args.names))?;
    let scale = match args.scale {
        Size::Small => Scale::Small,
        Size::Paper => Scale::Paper,
    };
    let places = match args.on {
        Where::Model => Places::Model,
        Where::Native => Places::Native,
        Where::Both => Places::Both,
    };
    let target = args.report.as_deref().map(Target::of);
    if let (Some(results), Some(target)) = (&args.kept, &target) {
        return report_of_kept(results, &selected, target, args.check).map_err(failure);
    }
    args.results.iter().try_for_each(|folder| results::prepare_folder(folder)).map_err(failure)?;
    target.iter().try_for_each(Target::prepare).map_err(failure)?;
    let research = target.as_ref().map(|_| report::readable()).transpose().map_err(failure)?;
    let mut bar = Bar::new();
    let sizes = Sizes { records: args.records.map(|records| records as usize), seconds: args.seconds };
    let rows = run_sized(&selected, places, (scale, sizes), &mut |progress| bar.show(progress));
    bar.finish();
    let rows = rows.map_err(failure)?;
    // Whatever can't be written, the numbers are seen.
    match args.format {
        Format::Table => print_tables(&selected, &rows, scale),
        Format::Json => as_json(&rows)?.print(Format::Json),
        Format::Csv => as_csv(&rows).print(Format::Csv),
    }?;
    let circumstances = Circumstances::here(scale);
    if let Some(folder) = &args.results {
        results::write(folder, &selected, &rows, &circumstances).map_err(failure)?;
    }
    if let (Some(target), Some(research)) = (&target, &research) {
        let site = Site::of_rows(research, &selected, &rows, &circumstances).map_err(failure)?;
        site.write(target).map_err(failure)?;
    }
    Ok(())
}

/// Makes the report of kept results, or checks one.
fn report_of_kept(
    results: &Path,
    selected: &[Selected],
    target: &Target,
    check: bool,
) -> Result<(), LabError> {
    let site = Site::kept(results, selected)?;
    if check {
        return site.is_current(target);
    }
    target.prepare()?;
    site.write(target)
}

fn failure(error: LabError) -> Failure {
    match error {
        LabError::Wrong { .. } => Failure::wrong(error),
        other => Failure::run(other),
    }
}

/// Refuses an unknown paper or experiment, or one that isn't in the papers named with it.
fn unknown(error: LabError, names: &[String]) -> Failure {
    let given = match &error {
        LabError::UnknownPaper { given, .. } | LabError::UnknownExperiment { given, .. } => given,
        _ => return failure(error),
    };
    let papers: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
    let named: Vec<&str> =
        papers.iter().copied().filter(|paper| names.iter().any(|name| name == paper)).collect();
    let all = latchless_lab::catalogue();
    let experiments = all
        .iter()
        .filter(|one| named.is_empty() || named.contains(&one.paper.name))
        .map(|one| one.experiment.name);
    let like = did_you_mean(given, papers.iter().copied().chain(experiments));
    let of = if named.is_empty() { String::new() } else { format!(" of {}", named.join(", ")) };
    Failure::usage(format!(
        "no experiment{of} is called `{given}`{like}; the papers are {}, and `latchless-lab list experiment` shows \
         all experiments",
        papers.join(", "),
    ))
}

const COLUMNS: [&str; 15] = [
    "paper",
    "experiment",
    "panel",
    "series",
    "x",
    "unit",
    "on",
    "ours",
    "published",
    "ratio",
    "cost",
    "cost_unit",
    "spread",
    "note",
    "command",
];

fn as_json(rows: &[Row]) -> Result<Rows, Failure> {
    let mut out = Rows::new(COLUMNS);
    for row in rows {
        let mut object = serde_json::to_value(row).map_err(Failure::run)?;
        out.push(COLUMNS.map(|column| object[column].take()).to_vec());
    }
    Ok(out)
}

fn as_csv(rows: &[Row]) -> Rows {
    let mut out = Rows::new(COLUMNS);
    for row in rows {
        out.push(vec![
            json!(row.paper),
            json!(row.experiment),
            json!(row.panel),
            json!(row.series),
            json!(row.x),
            json!(row.unit),
            json!(row.on.name()),
            json!(row.ours),
            published(row),
            json!(row.ratio),
            json!(row.cost),
            json!(row.cost_unit),
            row.spread.map_or(Value::Null, |[least, most]| json!(format!("{least}–{most}"))),
            json!(row.note),
            json!(row.command),
        ]);
    }
    out
}

fn published(row: &Row) -> Value {
    row.published.map_or(Value::Null, |published| json!(published.to_string()))
}

/// A table for each experiment, under its title and above the command that reproduces it.
fn print_tables(selected: &[Selected], rows: &[Row], scale: Scale) -> Result<(), Failure> {
    for one in selected {
        let rows: Vec<&Row> = rows
            .iter()
            .filter(|row| row.paper == one.paper.name && row.experiment == one.experiment.name)
            .collect();
        put(&format!("{} {}: {}\n", one.paper.name, one.experiment.name, one.experiment.title))?;
        table(&rows).print(Format::Table)?;
        if scale != Scale::Paper && !one.experiment.remarks.is_empty() {
            put("Remarks on the paper's sizes (--scale paper), not on those of this run:\n")?;
        }
        for remark in one.experiment.remarks {
            put(&format!("{remark}\n"))?;
        }
        let mut commands: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
        commands.sort_unstable();
        commands.dedup();
        for command in commands {
            put(&format!("again: {command}\n"))?;
        }
        put("\n")?;
    }
    Ok(())
}

fn table(rows: &[&Row]) -> Rows {
    let columns = ["panel", "series", "x", "on", "ours", "unit", "paper", "ratio", "cost", "note"];
    // Columns without a single entry only take room.
    let filled: [bool; 10] = [
        rows.iter().any(|row| !row.panel.is_empty()),
        true,
        true,
        rows.iter().any(|row| row.on != On::Anywhere),
        true,
        true,
        true,
        true,
        rows.iter().any(|row| row.cost.is_some()),
        rows.iter().any(|row| !row.note.is_empty()),
    ];
    let keep = |cells: Vec<Value>| -> Vec<Value> {
        cells.into_iter().zip(filled).filter(|(_, filled)| *filled).map(|(cell, _)| cell).collect()
    };
    let mut out =
        Rows::new(columns.into_iter().zip(filled).filter(|(_, filled)| *filled).map(|(name, _)| name));
    for row in rows {
        let cost = row.cost.map(|cost| format!("{cost:.0} {}", row.cost_unit));
        out.push(keep(vec![
            json!(row.panel),
            json!(row.series),
            if row.x.fract() == 0.0 { json!(row.x as i64) } else { json!(row.x) },
            json!(row.on.name()),
            rounded(row.ours, 3),
            json!(row.unit),
            published(row),
            row.ratio.map_or(Value::Null, |ratio| rounded(ratio, 2)),
            json!(cost),
            json!(row.note),
        ]));
    }
    out
}

fn rounded(number: f64, digits: i32) -> Value {
    let power = 10f64.powi(digits);
    json!((number * power).round() / power)
}

/// Prints; a reader that closes the pipe early ends the printing quietly.
fn put(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Progress on standard error: on a terminal only, and only if it takes more than a second.
struct Bar {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl Bar {
    const PATIENCE: Duration = Duration::from_secs(1);

    fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({elapsed})")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()).with_style(style);
        Self { bar, since: Instant::now(), shown: false }
    }

    fn show(&mut self, progress: Progress) {
        if !self.shown && !say::is_quiet() && self.since.elapsed() > Self::PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
        self.bar.set_message(progress.doing);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
