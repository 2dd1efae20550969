//! The pages of the papers: each figure redrawn with what its text states and what was measured, the
//! verdicts, the structures as drawings, and what each paper taught the index. Static and offline: nothing
//! is fetched, and nothing depends on the day or the place.
//!
//! One generator makes a folder of pages or a single page, from the rows of a run or from kept results.

mod drawing;
mod figure;
mod foot;
mod html;
mod index;
mod lessons;
mod paper;
mod plot;
mod summary;
mod text;
mod verdicts;

use crate::catalogue::Selected;
use crate::claims::headlines::{Headline, Headlines};
use crate::claims::judge::{Judge, Judged, JudgedFigure, JudgedPaper};
use crate::claims::kept::{Kept, Record};
use crate::claims::{FigureEntry, PaperClaims, Research};
use crate::error::Result;
use crate::experiment::Scale;
use crate::results::{self, Circumstances};
use crate::row::{On, Row};
use html::{Entry, Links};
use serde_json::Value;
use std::path::{Path, PathBuf};
use text::Text;

/// Where pages are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One page.
    File(PathBuf),
    /// A folder of pages.
    Folder(PathBuf),
}

impl Target {
    /// Returns the target that a path means: a page if it ends in `.html`, else a folder.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("html") => Self::File(path.to_path_buf()),
            _ => Self::Folder(path.to_path_buf()),
        }
    }

    /// Finds out whether it can be written, before a run that takes long. Makes the folder, in one that is
    /// there.
    ///
    /// # Errors
    /// [`crate::LabError::Write`].
    pub fn prepare(&self) -> Result<()> {
        match self {
            Self::File(file) => results::prepare(file),
            Self::Folder(folder) => results::prepare_folder(folder),
        }
    }
}

/// The papers with what was measured, ready to be written.
#[derive(Debug, Clone)]
pub struct Site {
    papers: Vec<Shown>,
    links: Links,
    /// Runs of the small scale aren't compared with the papers.
    is_comparable: bool,
}

/// A paper: its text, and its figures with verdicts.
#[derive(Debug, Clone)]
struct Shown {
    text: Text,
    /// The claims of its abstract and conclusions.
    headlines: Vec<Headline>,
    judged: JudgedPaper,
}

impl Shown {
    fn name(&self) -> &str {
        &self.judged.paper.name
    }

    /// The file of its page.
    fn file(&self) -> String {
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
    /// [`crate::LabError::Read`], which [`readable`] finds out before the run.
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

    /// Writes it.
    ///
    /// # Errors
    /// [`crate::LabError::Write`].
    pub fn write(&self, target: &Target) -> Result<()> {
        self.files_of(target).iter().try_for_each(|(path, text)| results::put(path, text))
    }

    /// Checks that it is what is there.
    ///
    /// # Errors
    /// [`crate::LabError::Stale`].
    pub fn is_current(&self, target: &Target) -> Result<()> {
        let command = "latchless-lab paper all --kept research/results --report research/site";
        self.files_of(target).iter().try_for_each(|(path, text)| results::is_current(path, text, command))
    }

    /// Returns the files of a target.
    fn files_of(&self, target: &Target) -> Vec<(PathBuf, String)> {
        match target {
            Target::File(file) => vec![(file.clone(), self.page())],
            Target::Folder(folder) => {
                self.files().into_iter().map(|(name, text)| (folder.join(name), text)).collect()
            }
        }
    }

    /// Returns the files of the folder, by name.
    pub fn files(&self) -> Vec<(String, String)> {
        let entries = self.entries();
        let mut files = vec![
            ("index.html".to_string(), index::page(self, &entries)),
            ("style.css".to_string(), html::STYLE.to_string()),
            ("summary.svg".to_string(), summary::picture(self)),
            (lessons::FILE.to_string(), lessons::page(self.links, &entries)),
        ];
        files.extend(self.papers.iter().map(|shown| (shown.file(), paper::page(self, shown, &entries))));
        files
    }

    /// Returns everything as one page.
    pub fn page(&self) -> String {
        let mut page = html::open("Five papers about ordered indexes, rerun", "", &[]);
        page.push_str("<h1>Five papers about ordered indexes, rerun</h1>\n");
        if !self.is_comparable {
            page.push_str(figure::SMALL);
        }
        paper::key(&mut page);
        for shown in &self.papers {
            paper::contents(&mut page, self, shown, true);
        }
        html::close(&mut page);
        page
    }

    fn entries(&self) -> Vec<Entry> {
        let of = |file: &str, name: &str| Entry { file: file.to_string(), name: name.to_string() };
        let papers = self.papers.iter().map(|shown| of(&shown.file(), &shown.text.system));
        let mut entries = vec![of("index.html", "Five papers")];
        entries.extend(papers);
        entries.push(of(lessons::FILE, "What Index took"));
        entries
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

/// Finds out whether what pages need besides rows can be read, before a run that takes long.
///
/// # Errors
/// [`crate::LabError::Read`].
pub fn readable() -> Result<Research> {
    let research = Research::find()?;
    research.papers()?;
    research.headlines()?;
    Ok(research)
}

#[cfg(test)]
mod tests;
