//! The rows of experiments: throughputs, and their ratios.

use super::case::Case;
use super::contestant::Contestant;
use super::measure::measure;
use super::measured::Measured;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale};
use crate::on::On;
use crate::row::Row;

pub const THROUGHPUT: &str = "M queries/s";
pub const SLOWEST: &str = "M queries/s, slowest round";
pub const FASTEST: &str = "M queries/s, fastest round";

/// Returns an experiment with its own driver.
pub const fn driven(
    name: &'static str,
    title: &'static str,
    remarks: &'static [&'static str],
    x_label: &'static str,
    rows: fn(On, Scale) -> Result<Vec<Row>>,
) -> Experiment {
    Experiment { name, title, remarks, body: Body::Driven { x_label, rows } }
}

/// A contestant's throughput; natively that of its slowest and its fastest round, too.
pub fn throughputs(panel: &'static str, on: On, name: &str, x: f64, measured: &Measured) -> Vec<Row> {
    let mut rows = vec![row(panel, on, name, x, (THROUGHPUT, measured.throughput()), measured)];
    if let Some((shortest, longest)) = measured.range {
        for (unit, seconds) in [(SLOWEST, longest), (FASTEST, shortest)] {
            rows.push(row(panel, on, name, x, (unit, measured.throughput_in(seconds)), measured));
        }
    }
    rows
}

/// Returns a row of a panel, with the cost of a query.
pub fn row(
    panel: &'static str,
    on: On,
    name: &str,
    x: f64,
    (unit, ours): (&str, f64),
    measured: &Measured,
) -> Row {
    let cost = Some(measured.nanoseconds());
    Row { panel, on, cost, cost_unit: "ns/query".to_string(), ..Row::new(name, x, unit, ours) }
}

/// Returns each contestant's throughput, and the ratio of the last ones to the first one, with the paper's
/// numbers.
pub fn compared(
    panel: &'static str,
    on: On,
    x: f64,
    contestants: &[Contestant],
    case: &Case,
    published: impl Fn(Contestant) -> Option<Published>,
) -> Result<Vec<Row>> {
    let measured = measure(on, contestants, case)?;
    let each = contestants.iter().zip(&measured);
    let mut rows: Vec<Row> =
        each.clone().flat_map(|(one, measured)| throughputs(panel, on, one.name(), x, measured)).collect();
    let first = &measured[0];
    for (&other, theirs) in each.skip(1) {
        let unit = format!("times {}", other.name());
        let times = first.throughput() / theirs.throughput();
        let name = contestants[0].name();
        rows.push(row(panel, on, name, x, (&unit, times), first).beside(published(other)));
    }
    Ok(rows)
}

/// PI's yardsticks: on the model OLFIT's tree with keys of 64 bits, which like Masstree has latches and
/// doesn't know of nodes; natively the published maps that the build has as well.
pub fn opponents(on: On) -> Vec<Contestant> {
    let mut all = vec![Contestant::PI, Contestant::BLinkWide];
    if on == On::Native {
        all.push(Contestant::Flagship);
        all.extend(Contestant::rivals());
    }
    all
}

/// Returns what the paper says of Masstree, if this contestant takes its place.
pub fn of_masstree(on: On, other: Contestant, published: Published) -> Option<Published> {
    (other == Contestant::masstree(on)).then_some(published)
}
