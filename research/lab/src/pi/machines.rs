//! The reasons for the gains of the steps of Figure 15 and of the inserts of Figure 6: the former on
//! machines that differ from the paper's in one property, the latter without rebuilds.

use super::ablation::{GROUPS, LIST, NUMA, SIMD};
use super::case::Case;
use super::contestant::{Contestant, Form};
use super::measure::measure;
use super::rows::{compared, driven, row, throughputs};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Scale};
use crate::model::{Branches, Change, Depends, Translation};
use crate::on::On;
use crate::row::Row;

pub(super) const MACHINES: Experiment = driven(
    "machines",
    "Figure 15's last steps, searches, on machines that differ from the paper's in one thing",
    &[
        "\"gain\" is what a step adds to the throughput, in units of the plain skip list's, as in Figure 15.",
        "\"searches overlap\": the processor reorders across searches, which are without branches. In a group that holds \
         for each node that is visited, without one for each search. \"branches guessed\" has the branches and guesses \
         every other one of them. \"memory of other nodes thrice as far\": \"several times slower than accessing local \
         memory\" (§6.8). \"small pages\": translations for 512 pages of 4 KB, the Xeon's second level; another one takes \
         30 clocks.",
    ],
    "step",
    machines,
);

/// The Xeon 7540's translations of the second level, for 4 KB each.
const SMALL_PAGES: Translation = Translation { pages: 512, ways: 4, miss_cycles: 30, second: None };

type Changes = fn(Depends) -> Change;
/// A machine, as each step finds it.
const CHANGED: [(&str, Changes); 5] = [
    ("searches overlap", |depends| Change::Reordered(Branches::None, depends, 128)),
    ("branches guessed", |depends| Change::Reordered(Branches::HalfGuessed, depends, 128)),
    ("two miss handlers", |_| Change::MissHandlers(2)),
    ("memory of other nodes thrice as far", |_| Change::RemoteLatency(400)),
    ("small pages", |_| Change::Translated(SMALL_PAGES)),
];

fn machines(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if on != On::Model {
        return Ok(rows);
    }
    let steps = [
        ("skip-list", Contestant::SkipList { sorted: true }, Depends::WithinOperation),
        ("+ SIMD", Contestant::Pi(SIMD), Depends::WithinOperation),
        ("+ NUMA", Contestant::Pi(NUMA), Depends::WithinOperation),
        ("+ groups", Contestant::Pi(GROUPS), Depends::WithinVisit),
        ("pi", Contestant::PI, Depends::WithinVisit),
        ("+ list", Contestant::Pi(LIST), Depends::WithinVisit),
    ];
    for (panel, changes) in CHANGED {
        let (mut plain, mut before) = (None, None);
        for (place, (name, who, depends)) in steps.into_iter().enumerate() {
            let case = Case { change: changes(depends), ..Case::usual(on, scale) };
            let measured = measure(on, &[who], &case)?.remove(0);
            let (x, throughput) = (place as f64, measured.throughput());
            let plain = *plain.get_or_insert(throughput);
            rows.extend(throughputs(panel, on, name, x, &measured));
            if let Some(before) = before.replace(throughput) {
                let gain = ("gain over the skip list", (throughput - before) / plain);
                rows.push(row(panel, on, name, x, gain, &measured));
                rows.push(row(panel, on, name, x, ("times the step before", throughput / before), &measured));
            }
        }
    }
    Ok(rows)
}

pub(super) const REBUILDS: Experiment = driven(
    "rebuilds",
    "Figure 6's inserts with the index layer rebuilt in the background, never, and never with more room in segments",
    &[
        "Never: the layer stays that of the load, while each set grows by what the rounds insert, a million keys in \
         all: half of the smaller set. A segment without room left is copied to the allocator's memory.",
    ],
    "keys",
    rebuilds,
);

fn rebuilds(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if on != On::Native {
        return Ok(rows);
    }
    let never = Contestant::Pi(Form { rebuilt: false, ..Form::PAPER });
    let roomy = Contestant::Pi(Form { rebuilt: false, room_percent: Some(100), ..Form::PAPER });
    let contestants = [roomy, never, Contestant::PI, Contestant::BLinkWide];
    let sizes: &[usize] = if scale == Scale::Paper { &[2 << 20, 16 << 20] } else { &[20_000] };
    for &keys in sizes {
        let case = Case { keys, traffic: Traffic::INSERTS, ..Case::usual(on, scale) };
        rows.extend(compared("insert", on, keys as f64, &contestants, &case, |_| None)?);
    }
    Ok(rows)
}

pub(super) const LATCHED: Experiment = driven(
    "latched",
    "Figure 6 among 2M keys beside OLFIT's tree with keys of 32 and of 64 bits",
    &[
        "OLFIT's tree takes Masstree's place on the model. Masstree looks at keys eight bytes at a time, so its keys and \
         values take twice as much. \"b-ol, 64 bits\" is OLFIT's tree with such keys and values, in nodes of the same size.",
    ],
    "keys",
    latched,
);

fn latched(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let keys = if scale == Scale::Paper { 2 << 20 } else { 2_000 };
    let masstree = Contestant::rivals().into_iter().find(|one| one.name() == "masstree");
    let mut contestants = vec![Contestant::PI, Contestant::BLink, Contestant::BLinkWide];
    contestants.extend(masstree.filter(|_| on == On::Native));
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        let case = Case { keys, traffic, ..Case::usual(on, scale) };
        rows.extend(compared(panel, on, keys as f64, &contestants, &case, |_| None)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_keys_take_part_on_both_machines() {
        for on in [On::Model, On::Native] {
            let rows = latched(on, Scale::Small).unwrap();
            let wide = rows.iter().filter(|row| row.series == "b-ol, 64 bits" && row.unit == "M queries/s");
            assert_eq!(wide.count(), 2, "{on:?}");
        }
    }
}
