//! The verdict on each claim, at each place.

use super::kept::{Kept, Record, Stated};
use super::number::{number, span};
use super::paper_claims::{FigureEntry, PaperClaims, Reason};
use crate::error::{LabError, Result};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// A ratio further from 1 than this needs a reason.
const OFF: f64 = 0.15;
/// More published numbers than this in one diagram are summarized in one claim.
const MANY: usize = 6;
/// The places, in the order of the table.
const PLACES: [&str; 3] = ["anywhere", "model", "native"];
/// Words that a reason must not contain, because it has to be measured.
const GUESSED: [&str; 4] = ["not measured", "n't measured", "likely", "n't known"];

/// All papers' claims, judged.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The papers, in the order of their publication.
    pub papers: Vec<JudgedPaper>,
}

/// A paper's figures, and the verdicts on its claims.
#[derive(Debug, Clone)]
pub struct JudgedPaper {
    /// The paper's file.
    pub paper: PaperClaims,
    /// The figures in the paper's order, then other experiments.
    pub figures: Vec<JudgedFigure>,
}

/// A figure.
#[derive(Debug, Clone)]
pub struct JudgedFigure {
    /// The paper's name for it, or the experiment's.
    pub name: String,
    /// The experiment.
    pub experiment: Option<String>,
    /// What there is instead of one.
    pub instead: Option<String>,
    /// What was kept of the model and natively, without the rows.
    pub heads: [Kept; 2],
    /// The rows of both places.
    pub rows: Vec<Record>,
    /// The claims, in the results' order.
    pub claims: Vec<Claim>,
}

/// A claim of a paper's text.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The diagram within the figure.
    pub panel: String,
    /// The unit.
    pub unit: String,
    /// What the text states.
    pub stated: String,
    /// The rows.
    pub rows: Vec<Record>,
    /// The places at which it was measured.
    pub places: Vec<AtPlace>,
}

/// A claim's rows at one place, and the verdict on them.
#[derive(Debug, Clone)]
pub struct AtPlace {
    /// `anywhere`, `model` or `native`.
    pub on: &'static str,
    /// The rows.
    pub rows: Vec<Record>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A verdict. An order holds or it doesn't; a number may also be within 15 %.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It is within 15 % of the number.
    Within,
    /// It is off, for a measured reason.
    Off {
        /// The reason.
        reason: String,
        /// The unexplained part.
        left: Option<String>,
    },
    /// It isn't the paper's own comparison.
    Beyond {
        /// Why not.
        reason: String,
    },
}

impl Verdict {
    /// Returns the verdict on several claims together: off if one is, within 15 % if one is. Comparisons that
    /// aren't the paper's don't count.
    pub fn worst<'a>(places: &[&'a AtPlace]) -> Option<&'a Self> {
        let rank = |verdict: &&Self| match verdict {
            Self::Off { .. } => 2,
            Self::Within => 1,
            Self::Holds | Self::Beyond { .. } => 0,
        };
        let counted = places.iter().map(|place| &place.verdict);
        counted.filter(|verdict| !matches!(verdict, Self::Beyond { .. })).max_by_key(rank)
    }
}

/// The number of claims by verdict; comparisons that aren't a paper's don't count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that hold.
    pub holds: usize,
    /// Those within 15 %.
    pub within: usize,
    /// Those that are off.
    pub off: usize,
}

impl Counts {
    /// Returns how many there are.
    pub const fn total(self) -> usize {
        self.holds + self.within + self.off
    }

    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds => self.holds += 1,
            Verdict::Within => self.within += 1,
            Verdict::Off { .. } => self.off += 1,
            Verdict::Beyond { .. } => {}
        }
    }
}

/// Counts on the papers' machines, formulas and counts included, and natively.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByPlace {
    /// On the papers' machines.
    pub model: Counts,
    /// On this machine.
    pub native: Counts,
}

impl ByPlace {
    /// Counts the verdicts on claims.
    pub fn of<'a>(claims: impl Iterator<Item = &'a Claim>) -> Self {
        let mut counts = Self::default();
        for place in claims.flat_map(|claim| &claim.places) {
            if place.on == "native" { &mut counts.native } else { &mut counts.model }.add(&place.verdict);
        }
        counts
    }
}

impl Judged {
    /// Judges the kept results in a folder.
    ///
    /// # Errors
    /// [`LabError::Claims`] if a reason or a figure is missing, or a reason is a guess or about nothing;
    /// [`LabError::Read`] if a file isn't understood.
    pub fn of(papers: &[PaperClaims], results: &Path) -> Result<Self> {
        let mut missing = Vec::new();
        let mut judged = Vec::new();
        for paper in papers {
            let judge = Judge::new(paper);
            let figures = judge.figures(results)?;
            missing.extend(judge.missing());
            judged.push(JudgedPaper { paper: paper.clone(), figures });
        }
        if missing.is_empty() { Ok(Self { papers: judged }) } else { Err(LabError::Claims { missing }) }
    }

    /// Returns the counts of all papers.
    pub fn counts(&self) -> ByPlace {
        ByPlace::of(self.papers.iter().flat_map(JudgedPaper::claims))
    }
}

impl JudgedPaper {
    /// Returns its claims.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.figures.iter().flat_map(|figure| &figure.claims)
    }

    /// Returns its counts.
    pub fn counts(&self) -> ByPlace {
        ByPlace::of(self.claims())
    }
}

impl JudgedFigure {
    /// Returns whether some of its rows were measured natively.
    pub fn natively(&self) -> bool {
        self.rows.iter().any(|row| row.on == "native")
    }
}

impl Claim {
    /// Returns the series that it is about, each once.
    pub fn series(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.series.as_str()))
    }

    /// Returns the points of the x axis, from the first to the last.
    pub fn points(&self) -> String {
        span(self.rows.iter().map(|row| row.x), number)
    }
}

impl AtPlace {
    /// Returns how many rows differ from what the text states.
    pub fn differing(&self) -> usize {
        self.rows.iter().filter(|row| row.differs()).count()
    }

    /// Returns our least and greatest number.
    pub fn ours(&self) -> String {
        span(self.rows.iter().map(|row| row.ours), number)
    }

    /// Returns the ratio that is furthest from 1.
    pub fn worst(&self) -> f64 {
        worst(&self.rows)
    }
}

/// Judges one paper's claims, and remembers what its file lacks.
#[derive(Debug)]
pub struct Judge<'a> {
    paper: &'a PaperClaims,
    used: RefCell<HashSet<*const Reason>>,
    missing: RefCell<Vec<String>>,
}

impl<'a> Judge<'a> {
    /// Creates the judge of a paper.
    pub fn new(paper: &'a PaperClaims) -> Self {
        Self { paper, used: RefCell::default(), missing: RefCell::default() }
    }

    fn figures(&self, results: &Path) -> Result<Vec<JudgedFigure>> {
        let folders = ["model", "native"].map(|place| results.join(place).join(&self.paper.name));
        let named: BTreeSet<&str> =
            self.paper.figures.iter().filter_map(|entry| entry.experiment.as_deref()).collect();
        let kept: BTreeSet<String> = folders.iter().flat_map(|folder| experiments(folder)).collect();
        let others = kept.into_iter().filter(|name| !named.contains(name.as_str())).map(|name| FigureEntry {
            figure: name.clone(),
            experiment: Some(name),
            instead: None,
        });
        let mut figures = Vec::new();
        for entry in self.paper.figures.iter().cloned().chain(others) {
            let mut places = [Kept::default(), Kept::default()];
            if let Some(experiment) = &entry.experiment {
                for (place, folder) in places.iter_mut().zip(&folders) {
                    *place = Kept::read(&folder.join(format!("{experiment}.json")))?;
                }
            }
            figures.push(self.figure(&entry, places));
        }
        Ok(figures)
    }

    /// Judges a figure by its results on the model and natively. If a paper's claims are about both, older
    /// native results are compared with the claims of the model's.
    pub fn figure(&self, entry: &FigureEntry, mut places: [Kept; 2]) -> JudgedFigure {
        let [on_model, natively] = &mut places;
        let mut rows = std::mem::take(&mut on_model.rows);
        let modelled = rows.len();
        for row in std::mem::take(&mut natively.rows) {
            // Results that are the same everywhere are kept twice.
            if row.on != "native" && modelled > 0 {
                continue;
            }
            let now = rows[..modelled].iter().rev().find(|other| other.is_at(&row));
            let published = match now {
                Some(other) if self.paper.claims_are_about_both => other.published,
                _ => row.published,
            };
            rows.push(row.beside(published));
        }
        let claims = match &entry.experiment {
            Some(experiment) => self.claims(experiment, &rows),
            None => Vec::new(),
        };
        if entry.experiment.is_some() && rows.is_empty() {
            let name = entry.experiment.as_deref().unwrap_or_default();
            self.misses(format!("{} {name}: nothing is kept under results/", self.paper.name));
        }
        JudgedFigure {
            name: entry.figure.clone(),
            experiment: entry.experiment.clone(),
            instead: entry.instead.clone(),
            heads: places,
            rows,
            claims,
        }
    }

    fn claims(&self, experiment: &str, rows: &[Record]) -> Vec<Claim> {
        let stated: Vec<&Record> = rows.iter().filter(|row| row.published.is_some()).collect();
        let mut claims = Vec::new();
        for of_diagram in grouped(&stated, |row| (row.panel.clone(), row.unit.clone())) {
            let parts = grouped(&of_diagram, |row| row.published);
            if parts.len() > MANY {
                let all = format!("{} numbers", of_diagram.len());
                claims.push(self.claim(experiment, all, &of_diagram));
            } else {
                let each = parts.iter().map(|part| {
                    let said = part[0].published.map(|stated| stated.written(number)).unwrap_or_default();
                    self.claim(experiment, said, part)
                });
                claims.extend(each);
            }
        }
        claims
    }

    fn claim(&self, experiment: &str, stated: String, rows: &[&Record]) -> Claim {
        let mut places = Vec::new();
        for on in PLACES {
            let of_place: Vec<Record> = rows.iter().filter(|row| row.on == on).copied().cloned().collect();
            if !of_place.is_empty() {
                let verdict = self.verdict(experiment, on, &of_place);
                places.push(AtPlace { on, rows: of_place, verdict });
            }
        }
        let (panel, unit) = (rows[0].panel.clone(), rows[0].unit.clone());
        Claim { panel, unit, stated, rows: rows.iter().copied().cloned().collect(), places }
    }

    fn verdict(&self, experiment: &str, on: &'static str, rows: &[Record]) -> Verdict {
        if let Some(beyond) = self.entry(&self.paper.beyond, experiment, on, rows) {
            return Verdict::Beyond { reason: beyond.reason.clone() };
        }
        if !rows.iter().any(Record::differs) {
            return Verdict::Holds;
        }
        let is_order = rows.iter().any(|row| row.published.is_some_and(Stated::is_order));
        if !is_order && (worst(rows) - 1.0).abs() <= OFF {
            return Verdict::Within;
        }
        match self.entry(&self.paper.off, experiment, on, rows) {
            Some(entry) => Verdict::Off { reason: entry.reason.clone(), left: entry.left.clone() },
            None => {
                self.misses(format!(
                    "{} {experiment}, panel '{}', '{}', on {on}, {:?}: ratio {:.2}",
                    self.paper.name,
                    rows[0].panel,
                    rows[0].unit,
                    rows.iter().map(|row| &row.series).collect::<BTreeSet<_>>(),
                    worst(rows)
                ));
                Verdict::Off { reason: String::new(), left: None }
            }
        }
    }

    /// Returns the first entry that is about these rows.
    fn entry(
        &self,
        entries: &'a [Reason],
        experiment: &str,
        on: &str,
        rows: &[Record],
    ) -> Option<&'a Reason> {
        let series = distinct(rows.iter().map(|row| row.series.as_str()));
        let diagram = (rows[0].panel.as_str(), rows[0].unit.as_str());
        let entry = entries.iter().find(|entry| entry.is_about(experiment, diagram, &series, on))?;
        self.used.borrow_mut().insert(std::ptr::from_ref(entry));
        Some(entry)
    }

    fn misses(&self, what: String) {
        self.missing.borrow_mut().push(what);
    }

    /// Returns what the paper's file lacks, or has too much.
    fn missing(&self) -> Vec<String> {
        let mut missing = self.missing.borrow().clone();
        for entry in self.paper.off.iter().chain(&self.paper.beyond) {
            let begin: String = entry.reason.chars().take(60).collect();
            if GUESSED.iter().any(|word| entry.reason.contains(word)) {
                missing.push(format!("a guess, not a measured reason: {begin}…"));
            }
            if !self.used.borrow().contains(&std::ptr::from_ref(entry)) {
                let name = &self.paper.name;
                missing.push(format!("nothing is off or beyond for this reason of {name}: {begin}…"));
            }
        }
        missing
    }
}

/// The names of the experiments that a folder has results of.
fn experiments(folder: &Path) -> Vec<String> {
    let Ok(files) = folder.read_dir() else { return Vec::new() };
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect()
}

/// Rows with the same key together, in the order of their first ones.
pub fn grouped<'a, K: PartialEq>(rows: &[&'a Record], key: impl Fn(&Record) -> K) -> Vec<Vec<&'a Record>> {
    let mut groups: Vec<(K, Vec<&Record>)> = Vec::new();
    for &row in rows {
        let of_row = key(row);
        match groups.iter_mut().find(|(key, _)| *key == of_row) {
            Some((_, group)) => group.push(row),
            None => groups.push((of_row, vec![row])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Names, each once, in the order of their first ones.
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// The ratio that is furthest from 1; a zero beside a published zero has none.
fn worst(rows: &[Record]) -> f64 {
    let ratios = rows.iter().filter_map(|row| row.ratio);
    let further = |worst: Option<f64>, ratio: f64| match worst {
        Some(worst) if (worst - 1.0).abs() >= (ratio - 1.0).abs() => Some(worst),
        _ => Some(ratio),
    };
    ratios.fold(None, further).unwrap_or(1.0)
}
