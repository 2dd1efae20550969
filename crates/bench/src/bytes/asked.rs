//! What a race over byte strings is asked, and what these races don't have.

use super::catalogue;
use crate::args::{Args, Batch, Order, Width};
use latchless_terminal::failure::Failure;
use latchless_workload::{BytesKeySet, Kind, Spec, Workload};

/// The workloads that there are over byte strings.
const WORKLOADS: [Workload; 7] = [
    Workload::Load,
    Workload::Get,
    Workload::Chain,
    Workload::Absent,
    Workload::Insert,
    Workload::Remove,
    Workload::Scan,
];

/// What is raced.
pub struct Race {
    /// The keys.
    pub set: BytesKeySet,
    /// Keys, requests and seed.
    pub spec: Spec,
    /// Requests a batch, if there are batches.
    pub batch: Option<usize>,
    /// The indexes, the one to compare with first.
    pub names: Vec<String>,
}

impl Race {
    /// What the command line asks.
    ///
    /// # Errors
    /// What these races don't have, and names that no index has.
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
                return refused("don't try batches out: say how many requests a batch has".to_owned());
            }
        };
        Ok(Self { set, spec, batch, names: catalogue::names(&args.index)? })
    }
}

/// The set of byte strings that one race asks for, if it asks for one.
///
/// # Errors
/// Such a set among others.
pub fn parse(keys: &[String]) -> Result<Option<BytesKeySet>, Failure> {
    match (keys.iter().find_map(|name| name.parse().ok()), keys) {
        (Some(set), [_]) => Ok(Some(set)),
        (Some(set), _) => Err(Failure::usage(format!(
            "one race has one key set, such as {set}; --suite bytes takes several"
        ))),
        (None, _) => Ok(None),
    }
}

/// The sets of byte strings that a suite asks for. All of them, if `all` is said; if nothing is said, those
/// that aren't made to be hard.
///
/// # Errors
/// A name that no set of byte strings has.
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
