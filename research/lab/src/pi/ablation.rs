//! §6.8, Figure 15: from a typical skip list to PI, one optimization after the other.

use super::case::Case;
use super::contestant::{Contestant, Form};
use super::measure::measure;
use super::rows::{driven, row, throughputs};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::on::On;
use crate::row::Row;
use latchless_papers::pi::Prefetch;

pub(super) const FIG_15: Experiment = driven(
    "fig-15",
    "From a typical skip list to PI: entries, SIMD, huge pages, NUMA, groups, prefetch",
    &[
        "What the paper adds up are gains over the plain skip list: +1.3 (search) and +1 (insert) by entries and SIMD, \
         +1.2 by NUMA, +0.05 by groups, +0.2 and +0.14 by prefetching: \"pi\". It sorts batches in all steps, \"because the \
         impact of batches has been studied\": the gains are over \"skip-list\", which is given sorted \
         queries. \"as drawn\" is the same list without that.",
        "The typical skip list has a list for each thread's range of keys, so it needs no latches either; a node's \
         key, value and links are side by side. Natively entries come without vectors first, and huge pages, which \
         the paper doesn't have, are a step of their own: until then all is on small pages. The paper's first step \
         is \"+ SIMD\", entries included.",
        "Two more steps aren't the paper's: \"+ list\" prefetches the list's segments and nodes as well, where the \
         paper prefetches the entries of the next level alone (§4.3.4), and \"pi, defaults\" has eight keys an entry.",
        "This machine has one node: natively NUMA is no step. The model knows neither pages nor what a comparison \
         without vectors costs, so these aren't steps there.",
    ],
    "step",
    fig_15,
);

/// A step: its name, the place where it is one, the contestant, and the paper's gains of searches and
/// inserts.
struct Step {
    name: &'static str,
    on: &'static [On],
    who: Contestant,
    gains: Option<[f64; 2]>,
}

/// PI without the gains of the later steps.
const BARE: Form = Form {
    numa: false,
    group: 1,
    prefetch: Prefetch::Nothing,
    huge_pages: false,
    scalar: true,
    ..Form::PAPER
};
pub(super) const SIMD: Form = Form { scalar: false, ..BARE };
const HUGE: Form = Form { huge_pages: true, ..SIMD };
pub(super) const NUMA: Form = Form { numa: true, ..HUGE };
pub(super) const GROUPS: Form = Form { group: Form::PAPER.group, ..NUMA };
pub(super) const LIST: Form = Form { prefetch: Prefetch::EntriesAndList, ..Form::PAPER };
const BOTH: &[On] = &[On::Model, On::Native];
const NATIVE: &[On] = &[On::Native];
const MODEL: &[On] = &[On::Model];
/// The reference of all gains.
const PLAIN: &str = "skip-list";

const fn step(name: &'static str, on: &'static [On], who: Contestant, gains: Option<[f64; 2]>) -> Step {
    Step { name, on, who, gains }
}

const STEPS: [Step; 10] = [
    step("skip-list, as drawn", BOTH, Contestant::SkipList { sorted: false }, None),
    step(PLAIN, BOTH, Contestant::SkipList { sorted: true }, None),
    step("+ entries", NATIVE, Contestant::Pi(BARE), None),
    step("+ SIMD", BOTH, Contestant::Pi(SIMD), Some([1.3, 1.0])),
    step("+ huge pages", NATIVE, Contestant::Pi(HUGE), None),
    step("+ NUMA", MODEL, Contestant::Pi(NUMA), Some([1.2, 1.2])),
    step("+ groups", BOTH, Contestant::Pi(GROUPS), Some([0.05, 0.05])),
    step("pi", BOTH, Contestant::PI, Some([0.2, 0.14])),
    step("+ list", BOTH, Contestant::Pi(LIST), None),
    step("pi, defaults", BOTH, Contestant::DEFAULTS, None),
];

fn fig_15(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let steps: Vec<(usize, &Step)> =
        STEPS.iter().enumerate().filter(|(_, step)| step.on.contains(&on)).collect();
    for (nth, (panel, traffic)) in
        [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)].into_iter().enumerate()
    {
        let case = Case { traffic, ..Case::usual(on, scale) };
        let mut contestants: Vec<Contestant> = steps.iter().map(|(_, step)| step.who).collect();
        // A published list for comparison with ours.
        let published = Contestant::rivals().into_iter().find(|one| one.name() == "crossbeam-skiplist");
        contestants.extend(published.filter(|_| on == On::Native));
        let measured = measure(on, &contestants, &case)?;
        let at = |name: &str| steps.iter().position(|(_, step)| step.name == name);
        let plain = at(PLAIN).map_or(f64::NAN, |at| measured[at].throughput());
        // Entries and SIMD are one step in the paper.
        let (mut before, mut counted) = (None, plain);
        for (&(place, step), measured) in steps.iter().zip(&measured) {
            let (x, throughput) = (place as f64, measured.throughput());
            let one = |unit: &str, ours: f64| row(panel, on, step.name, x, (unit, ours), measured);
            rows.extend(throughputs(panel, on, step.name, x, measured));
            if let Some(each) = measured.per_query {
                rows.push(one("lines of other nodes/query", each.remote));
                rows.push(one("lines prefetched/query", each.prefetches));
            }
            if let Some(before) = before.replace(throughput) {
                rows.push(one("times the step before", throughput / before));
            }
            if let Some(gains) = step.gains {
                let gain = one("gain over the skip list", (throughput - counted) / plain);
                rows.push(gain.beside(Some(Published::About(gains[nth]))));
                counted = throughput;
            }
            if step.name == "+ huge pages" {
                counted = throughput;
            }
        }
        if let (Some(other), Some(measured)) = (published.filter(|_| on == On::Native), measured.last()) {
            rows.extend(throughputs(panel, on, other.name(), STEPS.len() as f64, measured));
            let times = measured.throughput() / plain;
            rows.push(row(
                panel,
                on,
                other.name(),
                STEPS.len() as f64,
                ("times the skip list", times),
                measured,
            ));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_step_prefetches_an_entry_a_level_and_nothing_of_the_list() {
        let prefetches = |form: Form| {
            let measured = measure(On::Model, &[Contestant::Pi(form)], &Case::usual(On::Model, Scale::Small));
            measured.unwrap()[0].per_query.unwrap().prefetches
        };
        assert_eq!(prefetches(GROUPS), 0.0);
        let entries = prefetches(Form::PAPER);
        assert!((3.0..7.0).contains(&entries), "{entries} lines: one for each level but the first");
        let list = prefetches(LIST) - entries;
        assert!(
            (2.5..3.5).contains(&list),
            "{list} lines of the list: a segment's place, two lines of nodes"
        );
    }

    #[test]
    fn the_paper_s_gains_are_those_of_its_own_steps() {
        let compared = STEPS.iter().filter(|step| step.gains.is_some()).map(|step| step.name);
        assert!(compared.eq(["+ SIMD", "+ NUMA", "+ groups", "pi"]));
        let last = STEPS.iter().position(|step| step.who == Contestant::PI);
        assert_eq!(last, Some(STEPS.len() - 3), "what isn't the paper's follows");
    }
}
