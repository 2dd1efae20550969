//! One result: one of our numbers with the paper's.

use crate::experiment::{Published, Scale};
use crate::model::Parameters;
use crate::on::On;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// The note on a published number that was measured at another size.
pub(crate) const NOT_COMPARABLE: &str = "smoke run, smaller than the paper's";

/// Sizes and percentages read better without a point.
fn whole_where_it_is<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && (0.0..1e15).contains(number) {
        (*number as u64).serialize(to)
    } else {
        number.serialize(to)
    }
}

/// One result. `ours` and `published` are in the same unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The paper's name.
    pub paper: &'static str,
    /// The experiment's name.
    pub experiment: &'static str,
    /// The diagram within the experiment; empty if there is one only.
    pub panel: &'static str,
    /// The index, or the curve.
    pub series: String,
    /// The place on the x axis.
    #[serde(serialize_with = "whole_where_it_is")]
    pub x: f64,
    /// The unit of `ours` and `published`.
    pub unit: String,
    /// The source of `ours`.
    pub on: On,
    /// Our number.
    pub ours: f64,
    /// The paper's number, if it gives one.
    pub published: Option<Published>,
    /// `ours` over the nearest published number; 1.0 inside a published band.
    pub ratio: Option<f64>,
    /// The cost of one operation.
    pub cost: Option<f64>,
    /// The unit of `cost`.
    pub cost_unit: String,
    /// The least and the greatest cost, if several rounds were timed; `cost` is the median then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    /// The difference, with its reason.
    pub note: String,
    /// The command that reproduces this row.
    pub command: String,
    /// The modelled machines of its experiment, in the order of their construction.
    #[serde(skip)]
    pub machines: Arc<[Parameters]>,
}

impl Row {
    /// Creates a row without context: the measured quantity, and the paper's number.
    pub fn new(series: impl Into<String>, x: f64, unit: impl Into<String>, ours: f64) -> Self {
        Self {
            paper: "",
            experiment: "",
            panel: "",
            series: series.into(),
            x,
            unit: unit.into(),
            on: On::Anywhere,
            ours,
            published: None,
            ratio: None,
            cost: None,
            cost_unit: String::new(),
            spread: None,
            note: String::new(),
            command: String::new(),
            machines: Arc::default(),
        }
    }

    /// Returns the same row with the paper's number, and a note if the two differ.
    pub fn beside(mut self, published: Option<Published>) -> Self {
        self.published = published;
        self.ratio = published.map(|published| published.ratio(self.ours));
        self.note = published.map(|published| published.verdict(self.ours)).unwrap_or_default();
        self
    }

    /// Returns the same row, for a run of this scale: smoke runs are smaller than the paper's.
    pub fn comparable(mut self, scale: Scale) -> Self {
        if scale == Scale::Small && self.published.is_some() {
            self.note = NOT_COMPARABLE.to_string();
        }
        self
    }

    /// The same row as part of an experiment.
    pub fn within(mut self, paper: &'static str, experiment: &'static str, scale: Scale) -> Self {
        (self.paper, self.experiment) = (paper, experiment);
        let on = match self.on {
            On::Anywhere => String::new(),
            on => format!(" --on {}", on.name()),
        };
        self.command = format!("latchless-lab paper {paper} {experiment}{on} --scale {}", scale.name());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_the_command_that_reproduces_it() {
        let row = Row::new("p8", 1e6, "levels", 4.0).within("pb-tree", "table-3", Scale::Paper);
        assert_eq!(row.command, "latchless-lab paper pb-tree table-3 --scale paper");
        let timed = Row { on: On::Model, ..row }.within("pb-tree", "fig-7", Scale::Small);
        assert_eq!(timed.command, "latchless-lab paper pb-tree fig-7 --on model --scale small");
    }

    #[test]
    fn a_row_outside_of_the_published_band_says_so() {
        let band = Some(Published::Within(1.27, 1.47));
        assert_eq!(Row::new("p8", 1e6, "speedup", 1.3).beside(band).note, "");
        assert!(Row::new("p8", 1e6, "speedup", 1.1).beside(band).note.starts_with("below"));
        let alone = Row::new("p8", 1e6, "speedup", 1.3).beside(None);
        assert_eq!((alone.note.as_str(), alone.ratio), ("", None));
    }

    #[test]
    fn is_one_json_object_in_a_fixed_order() {
        let row = Row::new("p8", 10_000.0, "levels", 3.0).beside(Some(Published::Exactly(3.0)));
        let json = serde_json::to_string(&row.within("pb-tree", "table-3", Scale::Small)).unwrap();
        assert!(json.starts_with(r#"{"paper":"pb-tree","experiment":"table-3","panel":"","series":"p8""#));
        assert!(json.contains(r#""x":10000,"unit":"levels""#));
        assert!(json.contains(r#""on":"anywhere","ours":3.0,"published":3.0,"ratio":1.0"#));
    }
}
