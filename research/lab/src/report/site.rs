//! What the pages show: the papers with what was measured, of kept results or of a run.

use super::html::Links;
use super::text::Text;
use crate::catalogue::Selected;
use crate::claims::headlines::{Headline, Headlines};
use crate::claims::judge::{Judge, Judged, JudgedFigure, JudgedPaper};
use crate::claims::kept::{Kept, Record};
use crate::claims::{FigureEntry, PaperClaims, Research};
use crate::error::Result;
use crate::experiment::Scale;
use crate::on::On;
use crate::results::Circumstances;
use crate::row::Row;
use serde_json::Value;
use std::path::Path;

/// The papers with what was measured, ready to be written.
#[derive(Debug, Clone)]
pub struct Site {
    pub(super) papers: Vec<Shown>,
    pub(super) links: Links,
    /// Runs of the small scale aren't compared with the papers.
    pub(super) is_comparable: bool,
}

/// A paper: its text, and its figures with verdicts.
#[derive(Debug, Clone)]
pub struct Shown {
    pub text: Text,
    /// The claims of its abstract and conclusions.
    pub headlines: Vec<Headline>,
    pub judged: JudgedPaper,
}

impl Shown {
    /// The name on the command line.
    pub fn name(&self) -> &str {
        &self.judged.paper.name
    }

    /// The file of its page.
    pub fn file(&self) -> String {
        format!("{}.html", self.name())
    }
}

impl Site {
    /// Returns the site of kept results: of the selected experiments, and of the figures that have none if
    /// all of a paper's are selected.
    ///
    /// # Errors
    /// [`crate::LabError::Read`], [`crate::LabError::Claims`].
    pub fn kept(results: &Path, selected: &[Selected]) -> Result<Self> {
        let research = Research::of(results);
        let (judged, headlines) = (Judged::of(&research.papers()?, results)?, research.headlines()?);
        let papers =
            judged.papers.into_iter().filter_map(|paper| shown(paper, &headlines, selected)).collect();
        Ok(Self { papers, links: Links::Beside, is_comparable: true })
    }

    /// Returns the site of a run.
    ///
    /// # Errors
    /// [`crate::LabError::Read`], which [`readable`](super::readable) finds out before the run.
    pub fn of_rows(
        research: &Research,
        selected: &[Selected],
        rows: &[Row],
        here: &Circumstances,
    ) -> Result<Self> {
        let (papers, headlines) = (research.papers()?, research.headlines()?);
        let judged = papers.iter().map(|paper| judged_rows(paper, selected, rows, here));
        let papers = judged.filter_map(|paper| shown(paper, &headlines, selected)).collect();
        Ok(Self { papers, links: Links::Nowhere, is_comparable: here.scale == Scale::Paper.name() })
    }
}

/// A paper's figures of the selected experiments; `None` if there are none.
fn shown(mut judged: JudgedPaper, headlines: &Headlines, selected: &[Selected]) -> Option<Shown> {
    let name = judged.paper.name.clone();
    let mine: Vec<&Selected> = selected.iter().filter(|one| one.paper.name == name).collect();
    let whole = mine.first().is_some_and(|one| one.paper.experiments.len() == mine.len());
    judged.figures.retain(|figure| match &figure.experiment {
        Some(experiment) => whole || mine.iter().any(|one| one.experiment.name == experiment),
        None => whole,
    });
    let has_any = judged.figures.iter().any(|figure| figure.experiment.is_some());
    has_any.then(|| Shown { text: Text::of(&name), headlines: headlines.of(&name), judged })
}

/// Judges the rows of a run as if they had been kept.
fn judged_rows(
    paper: &PaperClaims,
    selected: &[Selected],
    rows: &[Row],
    here: &Circumstances,
) -> JudgedPaper {
    let judge = Judge::new(paper);
    let entry_of = |one: &Selected| {
        let entry =
            paper.figures.iter().find(|entry| entry.experiment.as_deref() == Some(one.experiment.name));
        entry.cloned().unwrap_or_else(|| FigureEntry {
            figure: one.experiment.name.to_string(),
            experiment: Some(one.experiment.name.to_string()),
            instead: None,
        })
    };
    let figure = |one: &Selected| -> JudgedFigure {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.paper == one.paper.name && row.experiment == one.experiment.name)
            .collect();
        let place = |is_native: bool| Kept {
            title: one.experiment.title.to_string(),
            remarks: one.experiment.remarks.iter().map(ToString::to_string).collect(),
            processor: here.processor.clone(),
            scale: here.scale.to_string(),
            commit: here.commit.name.clone(),
            dirty: here.commit.is_dirty,
            kernel: is_native.then(|| here.kernel.to_string()),
            machine: if is_native { here.machine.clone() } else { Value::Null },
            modelled: Value::Null,
            rows: own
                .iter()
                .filter(|row| (row.on == On::Native) == is_native)
                .map(|row| Record::from(*row))
                .collect(),
        };
        judge.figure(&entry_of(one), [place(false), place(true)])
    };
    let mine = selected.iter().filter(|one| one.paper.name == paper.name);
    JudgedPaper { paper: paper.clone(), figures: mine.map(figure).collect() }
}
