//! What a paper's file says: its figures, and the reasons for claims that are off.

use serde::Deserialize;

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
pub(super) fn allows(names: Option<&OneOrMore>, name: &str) -> bool {
    names.is_none_or(|names| names.has(name))
}

impl Reason {
    /// Returns whether it is about a claim: it is unless it excludes it.
    pub(super) fn is_about(
        &self,
        experiment: &str,
        (panel, unit): (&str, &str),
        series: &[&str],
        on: &str,
    ) -> bool {
        allows(self.figure.as_ref(), experiment)
            && allows(self.panel.as_ref(), panel)
            && allows(self.unit.as_ref(), unit)
            && allows(self.on.as_ref(), on)
            && series.iter().all(|one| allows(self.series.as_ref(), one))
    }
}
