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
mod paper_claims;
mod read;
#[cfg(test)]
mod tests;

pub use paper_claims::{FigureEntry, OneOrMore, PaperClaims, Reason};

use crate::error::{LabError, Result};
use headlines::Headlines;
use judge::Judged;
use read::{read, unread};
use std::path::{Path, PathBuf};

/// The papers' files, in the order of their publication.
const NAMES: [&str; 5] = ["pb-tree", "olfit", "cssl", "pi", "spiderman"];

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
