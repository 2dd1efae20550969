//! Results as the runner keeps them: one file per experiment, and place.

use super::read::{read, unread};
use crate::error::Result;
use crate::experiment::{ABOUT, Published};
use crate::row::Row;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The tolerance of the ends of a band: digits that the text doesn't give.
const DIGITS: f64 = 0.005;

/// A file of results.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Kept {
    /// The operation, in one line.
    pub title: String,
    /// Remarks on the numbers.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The processor.
    #[serde(default)]
    pub processor: String,
    /// The scale.
    #[serde(default)]
    pub scale: String,
    /// The commit.
    #[serde(default)]
    pub commit: String,
    /// The widest vectors that searches used, natively.
    pub kernel: Option<String>,
    /// Whether sources differed from the commit.
    #[serde(default)]
    pub dirty: bool,
    /// All facts of the machine, natively.
    #[serde(default)]
    pub machine: Value,
    /// The parameters of the modelled machines.
    #[serde(default)]
    pub modelled: Value,
    /// The rows.
    pub rows: Vec<Record>,
}

impl Kept {
    /// Reads a file; a missing one has no rows.
    ///
    /// # Errors
    /// [`crate::LabError::Read`] if it isn't understood.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        serde_json::from_str(&read(path)?).map_err(|error| unread(path, &error))
    }
}

/// What the text of a paper states.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Stated {
    /// A number.
    Number(f64),
    /// A band; an end that is open has no number.
    Band([Option<f64>; 2]),
}

impl Stated {
    /// Returns whether it is an order: a band of which one end is open.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::Band([None, _] | [_, None]))
    }

    /// Returns it in words, with numbers as `number` writes them.
    pub fn written(self, number: impl Fn(f64) -> String) -> String {
        match self {
            Self::Number(value) => number(value),
            Self::Band([Some(low), Some(high)]) => format!("{} to {}", number(low), number(high)),
            Self::Band([Some(low), None]) => format!("at least {}", number(low)),
            Self::Band([None, Some(high)]) => format!("at most {}", number(high)),
            Self::Band([None, None]) => String::new(),
        }
    }

    /// Returns the ends, open ones infinite.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Self::Number(number) => (number, number),
            Self::Band([low, high]) => (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)),
        }
    }
}

impl From<Published> for Stated {
    fn from(published: Published) -> Self {
        match published {
            Published::Exactly(number) | Published::About(number) => Self::Number(number),
            Published::Within(low, high) => Self::Band([Some(low), Some(high)]),
            Published::AtLeast(low) | Published::MoreThan(low) => Self::Band([Some(low), None]),
            Published::AtMost(high) | Published::LessThan(high) => Self::Band([None, Some(high)]),
        }
    }
}

/// A row of a file: one number of ours, with the paper's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Record {
    /// The diagram within the figure.
    pub panel: String,
    /// The index, or the curve.
    pub series: String,
    /// The place on the x axis.
    pub x: f64,
    /// The unit of `ours` and `published`.
    pub unit: String,
    /// `model`, `native` or `anywhere`.
    pub on: String,
    /// Our number.
    pub ours: f64,
    /// What the paper's text states.
    pub published: Option<Stated>,
    /// `ours` over the nearest published number.
    pub ratio: Option<f64>,
    /// The cost of one operation.
    pub cost: Option<f64>,
    /// The unit of `cost`.
    #[serde(default)]
    pub cost_unit: String,
    /// The difference; empty if there is none.
    pub note: String,
    /// The command that repeats it.
    pub command: String,
}

impl Record {
    /// Returns whether it differs from what the text states.
    pub fn differs(&self) -> bool {
        !self.note.is_empty()
    }

    /// Returns whether both are the same point of the same curve.
    pub fn is_at(&self, other: &Self) -> bool {
        (&self.panel, &self.series, &self.unit) == (&other.panel, &other.series, &other.unit)
            && self.x.to_bits() == other.x.to_bits()
    }

    /// Returns the row with another published number, compared as in the laboratory.
    #[must_use]
    pub fn beside(mut self, published: Option<Stated>) -> Self {
        if published == self.published {
            return self;
        }
        self.published = published;
        if let Some(stated) = published {
            let (low, high) = stated.ends();
            let nearest = self.ours.max(low).min(high);
            let ratio = if nearest == 0.0 { 1.0 } else { self.ours / nearest };
            let tolerance = if matches!(stated, Stated::Number(_)) { ABOUT } else { DIGITS };
            self.ratio = Some(ratio);
            self.note = if (ratio - 1.0).abs() > tolerance { "differs".to_string() } else { String::new() };
        }
        self
    }
}

impl From<&Row> for Record {
    fn from(row: &Row) -> Self {
        Self {
            panel: row.panel.to_string(),
            series: row.series.clone(),
            x: row.x,
            unit: row.unit.clone(),
            on: row.on.name().to_string(),
            ours: row.ours,
            published: row.published.map(Stated::from),
            ratio: row.ratio,
            cost: row.cost,
            cost_unit: row.cost_unit.clone(),
            note: row.note.clone(),
            command: row.command.clone(),
        }
    }
}
