//! The indexes over byte strings by name.

use super::contestant::Contestant;
use crate::races::catalogue::{self, Entry, Options, Origin};
use latchless_rivals::Missing;
use latchless_rivals::bytes::{self, Peer, Visitor};
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;

/// The name of the recommended index.
pub const FLAGSHIP: &str = "bytes";
/// The name of the baseline, which every build has.
const BASELINE: &str = "btreemap";

/// Returns every index: the baseline, this library's, the rivals.
pub fn entries() -> Vec<Entry> {
    let ours = Entry {
        name: FLAGSHIP,
        about: "concurrent B-link tree over keys of any length (bench --keys url): latchless::Index",
        origin: Origin::Latchless,
        concurrent: true,
        compiled: true,
    };
    let of = |entry: &latchless_rivals::Entry, origin| Entry {
        name: entry.name,
        about: entry.about,
        origin,
        concurrent: entry.concurrent,
        compiled: entry.compiled,
    };
    let (baseline, rivals): (Vec<_>, Vec<_>) =
        bytes::entries().iter().partition(|entry| entry.name == BASELINE);
    let baseline = baseline.into_iter().map(|entry| of(entry, Origin::Baseline));
    let rivals = rivals.into_iter().map(|entry| of(entry, Origin::Rival));
    baseline.chain([ours]).chain(rivals).collect()
}

/// Returns the indexes to race: those of the command line, `all` for every one of this build, or by
/// default the baseline and the recommended index.
///
/// # Errors
/// Those of [`check`].
pub fn names(given: &[String]) -> Result<Vec<String>, Failure> {
    let compiled = || entries().into_iter().filter(|entry| entry.compiled).map(|entry| entry.name);
    if given.is_empty() {
        let fixed = compiled().filter(|name| [BASELINE, FLAGSHIP].contains(name));
        return Ok(fixed.map(str::to_owned).collect());
    }
    let mut names = Vec::new();
    for name in given.iter().map(|name| name.trim()) {
        if name == "all" {
            names.extend(compiled().map(str::to_owned));
        } else {
            check(name)?;
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Refuses a name that [`build`] would refuse.
///
/// # Errors
/// A usage failure for an unknown index over byte strings, and for one that this build doesn't have.
pub fn check(name: &str) -> Result<(), Failure> {
    let entries = entries();
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) if entry.compiled => Ok(()),
        Some(_) => Err(Failure::usage(format!(
            "the index `{name}` is not in this build: --features rivals adds the published rivals"
        ))),
        None => {
            let known: Vec<_> = entries.iter().map(|entry| entry.name).collect();
            let like = did_you_mean(name, known.iter().copied());
            let known = known.join(", ");
            let other =
                if catalogue::check(name).is_ok() { "; that one has keys of at most 64 bits" } else { "" };
            Err(Failure::usage(format!(
                "no index over byte strings is called `{name}`{like}; there are {known}{other}"
            )))
        }
    }
}

/// Creates an empty index of that name; the options apply to the recommended index.
///
/// # Errors
/// Those of [`check`]; a failure while running if memory is refused.
pub fn build(name: &str, options: &Options) -> Result<Box<dyn Contestant>, Failure> {
    struct Boxed;
    impl Visitor for Boxed {
        type Output = Box<dyn Contestant>;
        fn visit<P: Peer>(self, map: P) -> Box<dyn Contestant> {
            Box::new(map)
        }
    }
    check(name)?;
    if name == FLAGSHIP {
        return Ok(Box::new(super::flagship::Flagship::new(options)?));
    }
    bytes::build(name, Boxed).map_err(|missing: Missing| Failure::usage(format!("{name}: {missing}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_of_this_build_is_built() {
        for entry in entries() {
            assert_eq!(build(entry.name, &Options::default()).is_ok(), entry.compiled, "{}", entry.name);
        }
        assert_eq!(names(&[]).unwrap()[0], BASELINE);
        let all = names(&["all".to_owned()]).unwrap();
        assert!(all.iter().all(|name| check(name).is_ok()) && all.contains(&BASELINE.to_owned()));
    }
}
