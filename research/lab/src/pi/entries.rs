//! Keys of an entry: four, which fill the paper's vectors, eight and sixteen (§3.1).

use super::case::Case;
use super::contestant::{Contestant, Form};
use super::rows::{compared, driven};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Scale};
use crate::on::On;
use crate::row::Row;
use latchless_papers::pi::EntryKeys;

pub(super) const ENTRY_KEYS: Experiment = driven(
    "entry-keys",
    "PI with four, eight and sixteen keys an entry",
    &[
        "The paper's vectors have 128 bits, so its entries have four keys of 32 bits, as in its figures here. This \
         library's default is eight, which fill a line together with their routes. The paper compares no others. The \
         list is prefetched, as by default.",
    ],
    "threads",
    entry_keys,
);

const CONTESTANTS: [Contestant; 3] = [
    Contestant::DEFAULTS,
    Contestant::Pi(Form { entry_keys: EntryKeys::Four, ..Form::DEFAULTS }),
    Contestant::Pi(Form { entry_keys: EntryKeys::Sixteen, ..Form::DEFAULTS }),
];

fn entry_keys(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        let case = Case { traffic, ..Case::usual(on, scale) };
        rows.extend(compared(panel, on, case.threads as f64, &CONTESTANTS, &case, |_| None)?);
    }
    Ok(rows)
}
