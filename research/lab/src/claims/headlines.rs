//! The claims of the papers' abstracts and conclusions: what a reader of the artifact repeats first.
//!
//! `claims/headlines.toml` says which claims of the large table they are, and how long each takes.

use super::judge::{Claim, Judged, JudgedFigure, Verdict, distinct};
use super::number::{number, span};
use super::paper_claims::{OneOrMore, allows};
use crate::error::{LabError, Result};
use serde::Deserialize;
use std::fmt::Write as _;

/// The lines of the artifact's page between which the table is.
const BEGIN: &str =
    "<!-- Made by `latchless-lab claims` from claims/headlines.toml and the kept results. -->\n";
const END: &str = "<!-- End of what it makes. -->\n";

/// The file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headlines {
    claim: Vec<Headline>,
}

/// A headline: claims of one experiment that together are one sentence of a paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headline {
    /// The paper's name on the command line.
    paper: String,
    /// What the paper says.
    pub says: String,
    /// The experiment.
    pub figure: String,
    /// The panels; all of them if none is named.
    panel: Option<OneOrMore>,
    /// The units.
    unit: Option<OneOrMore>,
    /// The series; a claim's must all be among them.
    series: Option<OneOrMore>,
    /// What the text states, as the large table shows it.
    published: Option<OneOrMore>,
    /// How many minutes the experiment takes at the paper's size.
    #[serde(default)]
    minutes: Minutes,
}

/// Minutes, where they were measured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Minutes {
    model: Option<f64>,
    native: Option<f64>,
}

impl Headlines {
    /// Returns a paper's.
    pub fn of(&self, paper: &str) -> Vec<Headline> {
        self.claim.iter().filter(|one| one.paper == paper).cloned().collect()
    }

    /// Returns the table: a section per paper, a line per headline.
    ///
    /// # Errors
    /// [`LabError::Claims`] if a headline has no claim.
    pub(super) fn table(&self, judged: &Judged) -> Result<String> {
        let (mut text, mut missing) = (String::new(), Vec::new());
        for paper in &judged.papers {
            let name = &paper.paper.name;
            let _ = write!(text, "\n### {}\n\n", paper.paper.title);
            text.push_str(
                "| | the paper says | published | on the paper's machine | natively | again | minutes |\n",
            );
            text.push_str("|---|---|---|---|---|---|---|\n");
            for (number, headline) in self.claim.iter().filter(|one| one.paper == *name).enumerate() {
                let found = headline.claims(&paper.figures);
                if found.is_empty() {
                    missing.push(format!(
                        "headline of {name} {}: \"{}\" is no claim",
                        headline.figure, headline.says
                    ));
                }
                headline.line(&mut text, number + 1, &found);
            }
        }
        let papers = || judged.papers.iter().map(|paper| &paper.paper.name);
        for one in self.claim.iter().filter(|one| papers().all(|name| *name != one.paper)) {
            missing.push(format!("headline: there is no paper {}", one.paper));
        }
        if missing.is_empty() { Ok(text) } else { Err(LabError::Claims { missing }) }
    }
}

impl Headline {
    /// Returns whether it is a sentence of the abstract.
    pub fn is_of_the_abstract(&self) -> bool {
        self.says.contains("(abstract")
    }

    /// Returns the claims that it is about, but those that aren't the paper's own.
    pub fn claims<'a>(&self, figures: &'a [JudgedFigure]) -> Vec<&'a Claim> {
        let own = |claim: &Claim| {
            allows(self.panel.as_ref(), &claim.panel)
                && allows(self.unit.as_ref(), &claim.unit)
                && allows(self.published.as_ref(), &claim.stated)
                && claim.series().iter().all(|one| allows(self.series.as_ref(), one))
                && !claim.places.iter().all(|place| matches!(place.verdict, Verdict::Beyond { .. }))
        };
        let of_experiment =
            figures.iter().filter(|figure| figure.experiment.as_deref() == Some(&self.figure));
        of_experiment.flat_map(|figure| &figure.claims).filter(|claim| own(claim)).collect()
    }

    fn line(&self, text: &mut String, number: usize, claims: &[&Claim]) {
        let published = distinct(claims.iter().map(|claim| claim.stated.as_str())).join("; ");
        let on_model = kept(claims, &["anywhere", "model"]);
        let natively = kept(claims, &["native"]);
        let on = match (on_model.is_empty(), natively.is_empty()) {
            (false, true) => "model",
            (true, false) => "native",
            _ => "both",
        };
        let command = format!("latchless-lab paper {} {} --on {on}", self.paper, self.figure);
        let minutes = |minutes: Option<f64>| minutes.map_or_else(|| "–".to_string(), super::number::number);
        let _ = writeln!(
            text,
            "| C{number} | {} | {published} | {on_model} | {natively} | `{command}` | {} / {} |",
            self.says,
            minutes(self.minutes.model),
            minutes(self.minutes.native)
        );
    }
}

/// Returns what was measured at some places, and the verdict: the worst of the claims'.
fn kept(claims: &[&Claim], on: &[&str]) -> String {
    let places: Vec<_> =
        claims.iter().flat_map(|claim| &claim.places).filter(|place| on.contains(&place.on)).collect();
    if places.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = places.iter().flat_map(|place| &place.rows).collect();
    let off = rows.iter().filter(|row| row.differs()).count();
    let verdict = match Verdict::worst(&places) {
        Some(Verdict::Off { .. }) => format!("**off** at {} of {}", number(off as f64), rows.len()),
        Some(Verdict::Within) => "within 15 %".to_string(),
        _ => "holds".to_string(),
    };
    format!("{}: {verdict}", span(rows.iter().map(|row| row.ours), number))
}

/// Puts the table into the artifact's page; nothing if that has no place for it.
pub(super) fn put_into(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::tests::judged;
    use crate::experiment::Published;
    use crate::on::On;
    use crate::row::Row;

    fn row(series: &str, ours: f64, published: Published) -> Row {
        Row { panel: "warm", published: Some(published), ..Row::new(series, 1.0, "times", ours) }
    }

    fn table(headlines: &str, rows: &[Row]) -> Result<String> {
        let reason = "[[off]]\nreason = \"measured\"\n";
        let judged =
            [reason, ""].into_iter().find_map(|more| judged(more, &[(On::Model, rows)]).0.ok()).unwrap();
        toml::from_str::<Headlines>(headlines).unwrap().table(&judged)
    }

    const ONE: &str = "[[claim]]\npaper = \"p\"\nsays = \"a is faster\"\nfigure = \"fig-1\"\n";

    #[test]
    fn a_headline_has_the_worst_verdict_of_its_claims() {
        let least = Published::AtLeast(2.0);
        let rows = [row("a", 2.5, least), row("b", 1.0, least)];
        let both = table(ONE, &rows).unwrap();
        let line = "| C1 | a is faster | at least 2 | 1 to 2.5: **off** at 1 of 2 |  | `latchless-lab paper p fig-1 --on model` | – / – |";
        assert!(both.contains(line), "{both}");
        let within = [row("a", 2.5, least), row("b", 1.9, Published::Exactly(2.15))];
        assert!(table(ONE, &within).unwrap().contains("at least 2; 2.15 | 1.9 to 2.5: within 15 %"));
        let narrow = format!("{ONE}series = \"a\"\nminutes = {{ model = 2.5 }}\n");
        let alone = table(&narrow, &within).unwrap();
        assert!(alone.contains("| 2.5: holds |  |") && alone.contains("| 2.5 / – |"), "{alone}");
    }

    #[test]
    fn a_headline_that_is_no_claim_is_refused() {
        let rows = [row("a", 2.5, Published::AtLeast(2.0))];
        for more in ["series = \"c\"", "panel = \"cold\"", "unit = \"ns\"", "published = \"at least 3\""] {
            let error = table(&format!("{ONE}{more}\n"), &rows).unwrap_err();
            assert!(
                matches!(error, LabError::Claims { missing } if missing[0].contains("is no claim")),
                "{more}"
            );
        }
        let other = ONE.replace("\"p\"", "\"q\"");
        assert!(table(&other, &rows).is_err(), "of no paper");
    }

    #[test]
    fn the_table_replaces_the_one_before() {
        let page = format!("# A\n\n{BEGIN}old\n{END}\nend\n");
        assert_eq!(put_into(&page, "\nnew\n").unwrap(), format!("# A\n\n{BEGIN}\nnew\n\n{END}\nend\n"));
        assert_eq!(put_into("# A\n", "new"), None);
    }
}
