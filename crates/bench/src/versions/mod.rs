//! `latchless-bench versions`: indexes that keep versions, beside one that doesn't, and beside published maps
//! of versions.
//!
//! In reading order: [`subject`] (what an index does for its users), [`ours`] and the peers, one file each,
//! [`keys`], [`step`] (the steps of a round), [`life`] (how an index takes them), [`table`] (medians and
//! their ratios), and the rounds here.

#[cfg(feature = "versions")]
mod art;
mod keys;
mod life;
mod ours;
#[cfg(feature = "versions")]
mod skip_list;
mod step;
mod subject;
mod table;
#[cfg(test)]
mod tests;

use crate::rounds::Rounds;
use keys::{Key, Keys, SHARE, Set};
use latchless::{Index, VersionedKey};
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use life::{Contestant, Life, Work};
use step::{Sample, Step};
use table::Medians;

/// Nanoseconds of each operation of indexes that keep versions, beside an index that doesn't.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless-bench versions
      A million random numbers with two versions each, medians of nine rounds in which the indexes alternate.
  latchless-bench versions --keys url --records 100k --markdown

In each round every index is filled, gets a second version of each key, is read, pruned and dropped. A plain
index has one value per key: its column is what versions cost. Published maps (in a build with the feature
versions) get their numbers from a counter. All must give the same answers.")]
pub struct Args {
    /// Keys of each index, such as 1M or 20k
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    records: usize,
    /// u64 (random numbers), u64-dense, or a set of byte strings that `list` has, such as uuid16 or url
    #[arg(long, value_name = "SET", default_value = "u64")]
    keys: Set,
    #[command(flatten)]
    race: Rounds,
}

/// Runs the command.
///
/// # Errors
/// Refused memory, fewer than [`SHARE`] entries, and unequal answers.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.records < SHARE {
        return Err(Failure::usage(format!("at least {SHARE} records")));
    }
    Rounds::introduce();
    let medians = match args.keys {
        Set::Bytes(set) => rounds(args, &Keys::bytes(args.records, set)?, &mut all())?,
        set => rounds(args, &Keys::numbers(args.records, set == Set::Dense)?, &mut all())?,
    };
    args.race.print(&medians.rows())
}

type Contestants<K> = Vec<Box<dyn Contestant<K>>>;

/// Returns the subjects, in the order of their columns.
fn all<K: Key>() -> Contestants<K>
where
    VersionedKey<K>: latchless::KeyFor<u64>,
    ours::Numbered<K>: subject::Subject<K>,
{
    vec![
        Box::new(Life::<K, Index<K, u64>>::new()),
        Box::new(Life::<K, ours::Versions<K>>::new()),
        Box::new(Life::<K, ours::Numbered<K>>::new()),
        #[cfg(feature = "versions")]
        Box::new(Life::<K, art::Art<K>>::new()),
        #[cfg(feature = "versions")]
        Box::new(Life::<K, skip_list::List<K>>::new()),
    ]
}

/// Does all steps in each round, each step in all subjects one after the other: so a load of the machine that
/// comes and goes meets all of them. The next round begins with the next subject.
fn rounds<K: Key>(args: &Args, keys: &Keys<K>, subjects: &mut Contestants<K>) -> Result<Medians, Failure> {
    let probes: Vec<K::Probe<'_>> = keys.sample.iter().map(K::probe).collect();
    let work = Work { keys, probes: &probes };
    let columns = subjects.iter().map(|subject| (subject.name(), subject.is_rival())).collect();
    let mut medians = Medians::new(columns, keys.all.len());
    for (column, subject) in subjects.iter().enumerate() {
        medians.weigh(column, subject.weigh(&work)?);
    }
    for round in 0..usize::from(args.race.rounds) {
        for step in Step::ALL {
            let mut samples = vec![None; subjects.len()];
            for turn in 0..subjects.len() {
                let which = (round + turn) % subjects.len();
                samples[which] = subjects[which].perform(step, &work)?;
            }
            agree(step, subjects, &samples)?;
            medians.add(step, &samples);
        }
    }
    Ok(medians)
}

/// Compares the answers of all subjects that have a step.
fn agree<K: Key>(step: Step, subjects: &Contestants<K>, samples: &[Option<Sample>]) -> Result<(), Failure> {
    let mut answers =
        subjects.iter().zip(samples).filter_map(|(subject, sample)| Some((subject, (*sample)?)));
    let Some((one, sample)) = answers.next() else { return Ok(()) };
    match answers.find(|(_, other)| other.digest != sample.digest) {
        None => Ok(()),
        Some((other, _)) => {
            let (one, other, step) = (one.name(), other.name(), step.name());
            Err(Failure::wrong(format!("{one} and {other} give unequal answers: {step}")))
        }
    }
}
