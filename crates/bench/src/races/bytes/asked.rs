//! The parameters of a race over byte strings, and the refusal of those that these races don't support.

use super::catalogue;
use crate::races::args::{Args, Batch, Order, Width};
use latchless_terminal::failure::Failure;
use latchless_workload::{BytesKeySet, Kind, Spec, Workload};

/// The workloads over byte strings.
const WORKLOADS: [Workload; 7] = [
    Workload::Load,
    Workload::Get,
    Workload::Chain,
    Workload::Absent,
    Workload::Insert,
    Workload::Remove,
    Workload::Scan,
];

/// The parameters of a race.
pub struct Race {
    /// The keys.
    pub set: BytesKeySet,
    /// Keys, requests and seed.
    pub spec: Spec,
    /// Requests per batch, if there are batches.
    pub batch: Option<usize>,
    /// The indexes, the one to compare with first.
    pub names: Vec<String>,
}

impl Race {
    /// Reads the parameters from the command line.
    ///
    /// # Errors
    /// Options that these races don't support, and unknown indexes.
    pub fn new(args: &Args, set: BytesKeySet) -> Result<Self, Failure> {
        let spec = args.spec()?;
        let refused = |what: String| Err(Failure::usage(format!("races over byte strings {what}")));
        if !WORKLOADS.contains(&spec.workload) {
            let known = WORKLOADS.map(Workload::name).join(", ");
            return refused(format!("are of {known}, not of {}", spec.workload));
        }
        if args.key == Width::U32 {
            return refused("have values of 64 bits: leave out --key".to_owned());
        }
        if args.order == Order::Sorted || args.pauses.is_some() {
            return refused("have neither --order sorted nor --pauses".to_owned());
        }
        let batched = [Kind::Get, Kind::Absent, Kind::Insert].iter().any(|&kind| spec.workload.is_only(kind));
        let batch = match args.batch {
            Batch::None => None,
            Batch::Size(size) if batched => Some(size.get()),
            Batch::Size(_) => return refused(format!("have no batches of {}", spec.workload)),
            Batch::Auto => {
                return refused(
                    "don't try out batch sizes: give the number of requests per batch".to_owned(),
                );
            }
        };
        Ok(Self { set, spec, batch, names: catalogue::names(&args.index)? })
    }
}

/// Returns the set of byte strings that a race's `--keys` names, if it names one.
///
/// # Errors
/// A set of byte strings together with other sets.
pub fn parse(keys: &[String]) -> Result<Option<BytesKeySet>, Failure> {
    match (keys.iter().find_map(|name| name.parse().ok()), keys) {
        (Some(set), [_]) => Ok(Some(set)),
        (Some(set), _) => Err(Failure::usage(format!(
            "one race has one key set, such as {set}; --suite bytes takes several"
        ))),
        (None, _) => Ok(None),
    }
}

/// Returns the sets of byte strings that a suite's `--keys` names: every one for `all`; without names, all
/// but the hard ones.
///
/// # Errors
/// An unknown set of byte strings.
pub fn sets(keys: &[String]) -> Result<Vec<BytesKeySet>, Failure> {
    if keys.iter().any(|name| name == "all") {
        return Ok(BytesKeySet::ALL.into());
    }
    if keys.is_empty() {
        return Ok(BytesKeySet::ALL.into_iter().filter(|set| !set.is_hard()).collect());
    }
    let known = BytesKeySet::ALL.map(BytesKeySet::name);
    let parsed = keys.iter().map(|name| {
        name.parse().map_err(|_| {
            Failure::usage(format!(
                "no set of byte strings is called `{name}`; there are {}",
                known.join(", ")
            ))
        })
    });
    parsed.collect()
}
