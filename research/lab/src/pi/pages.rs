//! The gain of huge pages, which the paper leaves to future work (§7). Only natively: the model translates
//! no addresses.

use super::case::Case;
use super::contestant::{Contestant, Form};
use super::rows::{compared, driven};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Experiment, Published, Scale};
use crate::on::On;
use crate::row::Row;

pub(super) const HUGE_PAGES: Experiment = driven(
    "huge-pages",
    "PI with nodes and entries on huge pages, and on small ones (§7)",
    &["The paper expects a gain. Where the system offers no huge pages both are the same."],
    "threads",
    huge_pages,
);

const CONTESTANTS: [Contestant; 2] =
    [Contestant::PI, Contestant::Pi(Form { huge_pages: false, ..Form::PAPER })];

fn huge_pages(on: On, scale: Scale) -> Result<Vec<Row>> {
    if on != On::Native {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for (panel, traffic) in [("search", Traffic::SEARCHES), ("insert", Traffic::INSERTS)] {
        for threads in [1, 2] {
            let case = Case { threads, traffic, ..Case::usual(on, scale) };
            let gain = |_| Some(Published::MoreThan(1.0));
            rows.extend(compared(panel, on, threads as f64, &CONTESTANTS, &case, gain)?);
        }
    }
    Ok(rows)
}
