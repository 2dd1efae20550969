//! The papers and their experiments, by name.

use crate::error::{LabError, Result};
use crate::experiment::{Experiment, Paper};
use crate::{cssl, olfit, pb_tree, pi, spiderman};

/// The papers whose experiments can be rerun.
pub static PAPERS: &[Paper] =
    &[pb_tree::PAPER, olfit::PAPER, cssl::PAPER, pi::PAPER, spiderman::PAPER_OF_SPIDERMAN];

/// The name of everything.
const ALL: &str = "all";

/// An experiment and the paper that it is from.
#[derive(Debug, Clone, Copy)]
pub struct Selected {
    /// The paper.
    pub paper: &'static Paper,
    /// The experiment.
    pub experiment: &'static Experiment,
}

/// Every experiment of every paper, in the papers' order.
///
/// ```
/// let names: Vec<_> = latchless_lab::catalogue().iter().map(|one| one.experiment.name).collect();
/// assert!(names.contains(&"table-3"));
/// ```
pub fn catalogue() -> Vec<Selected> {
    let of = |paper: &'static Paper| {
        paper.experiments.iter().map(move |experiment| Selected { paper, experiment })
    };
    PAPERS.iter().flat_map(of).collect()
}

/// The experiments that `names` select: names of papers, which narrow the choice to them, and
/// names of experiments. No name at all selects everything, and `all` does. In the papers' order, each once.
///
/// # Errors
/// A name that no paper and no experiment of the chosen papers has.
pub fn select(names: &[String]) -> Result<Vec<Selected>> {
    if names == [ALL] {
        return Ok(catalogue());
    }
    let is_paper = |name: &str| PAPERS.iter().any(|paper| paper.name == name);
    let (papers, experiments): (Vec<&str>, Vec<&str>) =
        names.iter().map(String::as_str).partition(|name| is_paper(name));
    let eligible: Vec<Selected> =
        catalogue().into_iter().filter(|one| papers.is_empty() || papers.contains(&one.paper.name)).collect();
    for &given in &experiments {
        if !eligible.iter().any(|one| one.experiment.name == given) {
            return Err(unknown(given, papers.is_empty(), &eligible));
        }
    }
    let wanted = |one: &Selected| experiments.is_empty() || experiments.contains(&one.experiment.name);
    Ok(eligible.into_iter().filter(wanted).collect())
}

fn unknown(given: &str, could_be_a_paper: bool, eligible: &[Selected]) -> LabError {
    let mut known: Vec<&str> = eligible.iter().map(|one| one.experiment.name).collect();
    known.dedup();
    let known = known.join(", ");
    if could_be_a_paper && !given.contains("fig") && !given.contains("table") {
        let papers: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        return LabError::UnknownPaper {
            given: given.to_string(),
            known: format!("{}; the experiments are: {known}", papers.join(", ")),
        };
    }
    LabError::UnknownExperiment { given: given.to_string(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &[&str]) -> Result<Vec<&'static str>> {
        let given: Vec<String> = given.iter().map(ToString::to_string).collect();
        Ok(select(&given)?.iter().map(|one| one.experiment.name).collect())
    }

    #[test]
    fn no_name_stands_for_everything() {
        let all = names(&[]).unwrap();
        assert_eq!(all.len(), catalogue().len());
        let each = PAPERS.iter().flat_map(|paper| names(&[paper.name]).unwrap());
        assert_eq!(each.collect::<Vec<_>>(), all);
        assert_eq!(names(&["all"]).unwrap(), all);
    }

    #[test]
    fn experiments_come_once_and_in_the_paper_s_order() {
        assert_eq!(names(&["fig-7", "table-3", "fig-7"]).unwrap(), names(&["table-3", "fig-7"]).unwrap());
        assert_eq!(names(&["pb-tree", "fig-8"]).unwrap(), ["fig-8"]);
        assert_eq!(names(&["fig-8"]).unwrap(), ["fig-8"; 4], "of each paper that has one");
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let message = names(&["fig-99"]).unwrap_err().to_string();
        assert!(message.contains("'fig-99'") && message.contains("fig-7"), "{message}");
        let message = names(&["pi-tree"]).unwrap_err().to_string();
        assert!(message.contains("pb-tree") && message.contains("table-3"), "{message}");
    }

    #[test]
    fn names_are_unique_within_a_paper_and_described() {
        for paper in PAPERS {
            let mut seen = std::collections::HashSet::new();
            for experiment in paper.experiments {
                assert!(seen.insert(experiment.name), "{} twice", experiment.name);
                assert!(!experiment.title.is_empty());
            }
        }
    }
}
