//! The papers' claims beside the kept results: what the texts state, what was measured, and a verdict on
//! each.
//!
//! A claim is a number, a band or an order, over all points and indexes for which the text of a paper
//! states it. The laboratory writes it into each row; a folder `claims` has one file per paper with what
//! rows can't know: the paper's figures in its order, and the reasons for claims that are off. Results
//! that are kept are read as the runner wrote them, so nothing is measured here.

pub mod headlines;
pub mod judge;
pub mod kept;
mod markdown;
pub mod number;
#[cfg(test)]
mod tests;

use crate::error::{LabError, Result};
use headlines::Headlines;
use judge::Judged;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The papers' files, in the order of their publication.
const NAMES: [&str; 5] = ["pb-tree", "olfit", "cssl", "pi", "spiderman"];

/// What a paper's file says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperClaims {
    /// The name on the command line.
    pub name: String,
    /// The laboratory compares the model's and the native results with the same claims.
    #[serde(default)]
    pub claims_are_about_both: bool,
    /// The system, the authors, the place and the year.
    pub title: String,
    /// How contestants are treated alike.
    pub fair: String,
    /// Links to the pages of all numbers, as Markdown.
    pub pages: String,
    /// The paper's figures, in its order.
    pub figures: Vec<FigureEntry>,
    /// Measured reasons for claims that are off.
    #[serde(default)]
    pub off: Vec<Reason>,
    /// Comparisons that aren't the paper's own.
    #[serde(default)]
    pub beyond: Vec<Reason>,
}

/// A figure of a paper: with an experiment, or with what there is instead.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureEntry {
    /// The paper's name for it.
    pub figure: String,
    /// The experiment.
    pub experiment: Option<String>,
    /// What there is instead of one.
    pub instead: Option<String>,
}

/// A reason, for every claim that it doesn't exclude.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The experiments.
    pub figure: Option<OneOrMore>,
    /// The panels.
    pub panel: Option<OneOrMore>,
    /// The units.
    pub unit: Option<OneOrMore>,
    /// The series; a claim's must all be among them.
    pub series: Option<OneOrMore>,
    /// The places.
    pub on: Option<OneOrMore>,
    /// The reason.
    pub reason: String,
    /// What isn't explained, with the attempts to explain it.
    pub left: Option<String>,
}

/// A name or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// A name.
    One(String),
    /// Several.
    More(Vec<String>),
}

impl OneOrMore {
    /// Returns whether it has this name.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::One(one) => one == name,
            Self::More(more) => more.iter().any(|one| one == name),
        }
    }
}

/// Returns whether a file's entry is about a name: it is unless it has others.
fn allows(names: Option<&OneOrMore>, name: &str) -> bool {
    names.is_none_or(|names| names.has(name))
}

impl Reason {
    /// Returns whether it is about a claim: it is unless it excludes it.
    fn is_about(&self, experiment: &str, (panel, unit): (&str, &str), series: &[&str], on: &str) -> bool {
        allows(self.figure.as_ref(), experiment)
            && allows(self.panel.as_ref(), panel)
            && allows(self.unit.as_ref(), unit)
            && allows(self.on.as_ref(), on)
            && series.iter().all(|one| allows(self.series.as_ref(), one))
    }
}

/// The folder `research` of a checkout: its claims and results.
#[derive(Debug, Clone)]
pub struct Research {
    root: PathBuf,
}

impl Research {
    /// Finds the folder `research` in the working directory or in one above it.
    ///
    /// # Errors
    /// [`LabError::Read`] if there is none.
    pub fn find() -> Result<Self> {
        let here = std::env::current_dir().unwrap_or_default();
        let folder =
            here.ancestors().map(|folder| folder.join("research")).find(|root| root.join("claims").is_dir());
        match folder {
            Some(root) => Ok(Self { root }),
            None => Err(LabError::Read {
                path: "research/claims".to_string(),
                why: "neither here nor in a folder above; run in a checkout of latchless".to_string(),
            }),
        }
    }

    /// Returns the folder that a folder of results is in.
    pub fn of(results: &Path) -> Self {
        Self { root: results.join("..") }
    }

    /// Returns the folder of the kept results.
    pub fn results(&self) -> PathBuf {
        self.root.join("results")
    }

    /// Reads what the papers' files say.
    ///
    /// # Errors
    /// [`LabError::Read`] if a file isn't there or isn't understood.
    pub fn papers(&self) -> Result<Vec<PaperClaims>> {
        let read = |name: &&str| {
            let path = self.root.join("claims").join(format!("{name}.toml"));
            let text = read(&path)?;
            toml::from_str(&text).map_err(|error| unread(&path, &error))
        };
        NAMES.iter().map(read).collect()
    }

    /// Reads which claims are those of the abstracts and conclusions.
    ///
    /// # Errors
    /// [`LabError::Read`] if the file isn't there or isn't understood.
    pub fn headlines(&self) -> Result<Headlines> {
        let path = self.root.join("claims/headlines.toml");
        toml::from_str(&read(&path)?).map_err(|error| unread(&path, &error))
    }

    /// Returns the pages that are made from the kept results, each with its file: all claims, and the
    /// artifact's page with its table of headline claims.
    ///
    /// # Errors
    /// [`LabError::Claims`] if a reason, a figure or a headline's claim is missing, [`LabError::Read`] if a
    /// file isn't understood.
    pub fn pages(&self) -> Result<Vec<(PathBuf, String)>> {
        let judged = Judged::of(&self.papers()?, &self.results())?;
        let artifact = self.root.join("ARTIFACT.md");
        let table = self.headlines()?.table(&judged)?;
        let text = read(&artifact)?;
        let text = headlines::put_into(&text, &table)
            .ok_or_else(|| unread(&artifact, &"it has no place for the headline claims"))?;
        Ok(vec![(self.results().join("README.md"), markdown::page(&judged)), (artifact, text)])
    }
}

/// Reads a text.
fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, why: &dyn ToString) -> LabError {
    LabError::Read { path: path.display().to_string(), why: why.to_string() }
}
