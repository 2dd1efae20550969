//! §6.8, Figure 15: from a typical skip list to PI, one optimization after the other.

use super::{Case, Contestant, Form, THROUGHPUT, Traffic, driven, measure, row};
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::row::{On, Row};

pub(super) const FIG_15: Experiment = driven(
    "fig-15",
    "From a typical skip list to PI: SIMD entries, NUMA, groups, prefetch",
    &[
        "What the paper adds up are gains over the plain skip list: +1.3 (search) and +1 (insert) by SIMD, +1.2 by \
       NUMA, +0.05 by groups, +0.2 and +0.14 by prefetching. The typical skip list here has a list for each thread's \
       range of keys, so it needs no latches either. This machine has one node: natively NUMA is no step.",
    ],
    "step",
    fig_15,
);

const STEPS: [Contestant; 5] = [
    Contestant::SkipList,
    Contestant::Pi(Form { numa: false, group: 1, prefetch: false, ..Form::WHOLE }),
    Contestant::Pi(Form { group: 1, prefetch: false, ..Form::WHOLE }),
    Contestant::Pi(Form { prefetch: false, ..Form::WHOLE }),
    Contestant::PI,
];

fn fig_15(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let traffics = [
        ("search", Traffic::SEARCHES, [1.3, 1.2, 0.05, 0.2]),
        ("insert", Traffic::INSERTS, [1.0, 1.2, 0.05, 0.14]),
    ];
    for (panel, traffic, gains) in traffics {
        let case = Case { traffic, ..Case::usual(on, scale) };
        let steps: Vec<Contestant> =
            STEPS.into_iter().filter(|step| on != On::Native || step.name() != "+ NUMA").collect();
        let measured = measure(on, &steps, &case)?;
        let plain = measured[0].throughput();
        let mut before = plain;
        for (step, measured) in steps.iter().zip(&measured) {
            let position = STEPS.iter().position(|other| other == step).unwrap_or(0);
            let (x, name) = (position as f64, step.name());
            let throughput = measured.throughput();
            rows.push(row(panel, on, name, x, (THROUGHPUT, throughput), measured));
            if let Some(remote) = measured.remote_per_query {
                rows.push(row(panel, on, name, x, ("lines of other nodes/query", remote), measured));
            }
            if position > 0 {
                let gain = (throughput - before) / plain;
                let published = Some(Published::AtLeast(gains[position - 1]));
                let gain =
                    row(panel, on, name, x, ("gain over the skip list", gain), measured).beside(published);
                rows.push(gain);
                let step = row(panel, on, name, x, ("times the step before", throughput / before), measured);
                rows.push(step.beside(Some(Published::MoreThan(1.0))));
            }
            before = throughput;
        }
    }
    Ok(rows)
}
