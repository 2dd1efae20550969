//! What pages say about papers and figures that results don't: titles, what to see, which numbers are drawn.

use serde::Deserialize;

/// A paper's text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The system's name.
    pub system: String,
    /// The paper's title.
    pub title: String,
    /// Who wrote it, where and when.
    pub authors: String,
    /// The idea, in a sentence.
    pub idea: String,
    /// The machine of its experiments, in a sentence.
    pub machine: String,
    /// What its drawing shows.
    pub drawing: String,
    /// Where the structures are: name, path below `research`.
    pub code: Vec<[String; 2]>,
    /// Names of series, as charts show them and as sentences do, and their colours by position.
    pub series: Vec<[String; 3]>,
    /// The figures.
    #[serde(rename = "figure")]
    pub figures: Vec<FigureText>,
}

/// A figure's text.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureText {
    /// The experiment, or the paper's name for a figure without one.
    pub of: String,
    /// The title.
    pub title: String,
    /// What to see in it.
    #[serde(default)]
    pub see: String,
    /// Where the code is: name, path below `research`.
    #[serde(default)]
    pub code: Vec<[String; 2]>,
    /// What is drawn; without any, each panel's first unit with a published number.
    #[serde(default)]
    pub charts: Vec<ChartText>,
}

/// The form of a chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Curves along the x axis; bars where there is one x only.
    #[default]
    Curves,
    /// Bars, in a block for each x.
    Bars,
    /// Bars in one block, each of which is a step from the one above.
    Steps,
    /// Parts of a whole, stacked.
    Stacks,
    /// A table: a line for each series, a column for each x and unit.
    Table,
}

/// One chart, for each place that has its rows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartText {
    /// The form.
    #[serde(default)]
    pub form: Form,
    /// The diagram within the figure.
    #[serde(default)]
    pub panel: String,
    /// Panels that are curves of one chart, in place of a panel.
    #[serde(default)]
    pub panels: Vec<String>,
    /// What is above it.
    #[serde(default)]
    pub caption: String,
    /// The drawn unit, or `cost`; of a table or of stacks all that are shown.
    pub unit: Vec<String>,
    /// The series that are drawn, in this order; without any, all.
    #[serde(default)]
    pub series: Vec<String>,
    /// The label of the y axis on the model; without one, the unit.
    #[serde(default)]
    pub y: String,
    /// The same natively; without one, as on the model.
    #[serde(default)]
    pub y_native: String,
    /// Numbers are multiplied by this.
    pub times: Option<f64>,
    /// Natively by this; without one, as on the model.
    pub times_native: Option<f64>,
    /// The label of the x axis; without one, the experiment's.
    #[serde(default)]
    pub x: String,
    /// The last x that is drawn.
    pub until: Option<f64>,
    /// Whether the x axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the y axis is logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// The only place at which it is drawn.
    pub on: Option<String>,
    /// Whether it is of rows that kept results may not have.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests refuse charts without rows but for these"))]
    pub optional: bool,
    /// Names that series have here only.
    #[serde(default)]
    pub names: Vec<[String; 2]>,
}

impl ChartText {
    /// Returns a series' name as this chart shows it.
    pub fn shown<'a>(&'a self, text: &'a Text, series: &'a str) -> &'a str {
        let own = self.names.iter().find(|[name, _]| name == series);
        own.map_or_else(|| text.shown(series), |[_, shown]| shown)
    }
}

impl Text {
    /// Returns the text of a paper, by its name.
    pub fn of(paper: &str) -> Self {
        let text = match paper {
            "pb-tree" => include_str!("texts/pb-tree.toml"),
            "olfit" => include_str!("texts/olfit.toml"),
            "cssl" => include_str!("texts/cssl.toml"),
            "pi" => include_str!("texts/pi.toml"),
            _ => include_str!("texts/spiderman.toml"),
        };
        // They are part of the program, and a test reads each of them.
        toml::from_str(text).unwrap_or_else(|error| panic!("the text of {paper}: {error}"))
    }

    /// Returns the text of a figure.
    pub fn figure(&self, name: &str) -> Option<&FigureText> {
        self.figures.iter().find(|figure| figure.of == name)
    }

    /// Returns a series' name as charts show it.
    pub fn shown<'a>(&'a self, series: &'a str) -> &'a str {
        self.series.iter().find(|[name, ..]| name == series).map_or(series, |[_, shown, _]| shown)
    }

    /// Returns a series' name in a sentence.
    pub fn said<'a>(&'a self, series: &'a str) -> &'a str {
        self.series.iter().find(|[name, ..]| name == series).map_or(series, |[.., said]| said)
    }

    /// Returns a unit with the names that charts show.
    pub fn unit(&self, unit: &str) -> String {
        let mut named: Vec<&[String; 3]> = self.series.iter().collect();
        // A longer name first: one may begin with another.
        named.sort_by_key(|[name, ..]| std::cmp::Reverse(name.len()));
        for [name, _, said] in named {
            if let Some(begin) = unit.strip_suffix(&format!(" {name}")) {
                return format!("{begin} {said}");
            }
            let (own, shown) = (format!(" {name}'s"), format!(" {said}'s"));
            if unit.contains(&own) {
                return unit.replace(&own, &shown);
            }
        }
        unit.to_string()
    }

    /// Returns the colour of a series that has one wherever it is drawn.
    pub fn colour(&self, series: &str) -> Option<usize> {
        self.series.iter().position(|[name, ..]| name == series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::PAPERS;

    #[test]
    fn every_paper_has_a_text_and_names_experiments_that_are_there() {
        for paper in PAPERS {
            let text = Text::of(paper.name);
            let is_there = |name: &str| paper.experiments.iter().any(|one| one.name == name);
            for figure in text.figures.iter().filter(|figure| !figure.charts.is_empty()) {
                assert!(is_there(&figure.of), "{} {}", paper.name, figure.of);
            }
        }
    }
}
