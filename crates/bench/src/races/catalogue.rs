//! The indexes by name: one catalogue for every command that builds an index.

use latchless::index::{self, ExclusiveIndex};
use latchless::{Index, Key};
use latchless_core::Fits;
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
#[cfg(feature = "papers")]
use latchless_papers::{cssl, olfit, pb_tree, pi, spiderman};
use latchless_rivals::Missing;
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use latchless_terminal::kernel;
use latchless_terminal::nearest::{did_you_mean, nearest};

/// Options for building indexes, shared by all commands that build one.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Keep nodes on plain pages, even where the system offers huge ones
    #[arg(long, help_heading = "Index options")]
    pub no_huge_pages: bool,
    /// Has a thread prepare the recommended index's memory before it is needed
    #[arg(long, help_heading = "Index options")]
    pub prefault: bool,
    /// The in-node search kernel of this library's indexes [default: the fastest one; see `list`]
    #[arg(long, value_name = "NAME", value_parser = kernel::parse, help_heading = "Index options")]
    pub kernel: Option<Kernel>,
    /// The maximum memory for the nodes of an index of this library, such as 64M or 2G [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = count::parse, help_heading = "Index options")]
    pub memory_limit: Option<usize>,
    /// Bytes per node of OLFIT's family: 64, 128 and so on up to 512 [default: 128]
    #[arg(long, value_name = "BYTES", help_heading = "Index options")]
    pub node_bytes: Option<usize>,
}

impl Options {
    /// Returns the same options as flags of the command line.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        flags.extend(self.no_huge_pages.then(|| "--no-huge-pages".to_owned()));
        flags.extend(self.prefault.then(|| "--prefault".to_owned()));
        flags.extend(self.kernel.iter().flat_map(|kernel| ["--kernel".to_owned(), kernel.name().to_owned()]));
        flags.extend(
            self.memory_limit.iter().flat_map(|bytes| ["--memory-limit".to_owned(), bytes.to_string()]),
        );
        flags.extend(self.node_bytes.iter().flat_map(|bytes| ["--node-bytes".to_owned(), bytes.to_string()]));
        flags
    }

    /// Returns the options of the recommended index.
    pub fn for_index(&self) -> index::Options {
        index::Options {
            huge_pages: !self.no_huge_pages,
            prefault: self.prefault,
            kernel: self.kernel,
            limit_bytes: self.memory_limit,
            ..index::Options::default()
        }
    }
}

/// An index in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its origin.
    pub origin: Origin,
    /// Whether it accepts updates from many threads at once.
    pub concurrent: bool,
    /// Whether this build has it; if not, it needs the feature `rivals`.
    pub compiled: bool,
}

/// The origin of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A structure for comparison that every build has.
    Baseline,
    /// This library.
    Latchless,
    /// A published crate, built with the feature `rivals`.
    Rival,
}

impl Origin {
    /// Returns the word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Latchless => "latchless",
            Self::Rival => "rival",
        }
    }
}

/// Returns every index: the baselines, this library's, the rivals.
pub fn entries() -> Vec<Entry> {
    let ours = |name, about, concurrent| Entry {
        name,
        about,
        origin: Origin::Latchless,
        concurrent,
        compiled: true,
    };
    let flagship = [
        ours(FLAGSHIP, "concurrent B-link tree of wide nodes, batches, scans: latchless::Index", true),
        ours(SINGLE_THREADED, "the same without latches, for exclusive use by one thread", false),
    ];
    let papers = of_papers().into_iter().map(|(name, about, concurrent)| ours(name, about, concurrent));
    let others = latchless_rivals::entries().iter().map(|other| Entry {
        name: other.name,
        about: other.about,
        origin: if BASELINES.contains(&other.name) { Origin::Baseline } else { Origin::Rival },
        concurrent: other.concurrent,
        compiled: other.compiled,
    });
    let (baselines, rivals): (Vec<_>, Vec<_>) = others.partition(|entry| entry.origin == Origin::Baseline);
    baselines.into_iter().chain(flagship).chain(papers).chain(rivals).collect()
}

/// Returns the papers' structures: name, description, whether many threads may update them.
#[cfg(feature = "papers")]
fn of_papers() -> Vec<(&'static str, &'static str, bool)> {
    let papers = [
        &pb_tree::Member::ALL.map(pb_tree::Member::entry)[..],
        &olfit::Member::ALL.map(olfit::Member::entry),
        &cssl::Member::ALL.map(cssl::Member::entry),
        &pi::Member::ALL.map(pi::Member::entry),
        &spiderman::Member::ALL.map(spiderman::Member::entry),
    ];
    papers.into_iter().flatten().map(|entry| (entry.name, entry.about, entry.concurrent)).collect()
}

/// Returns nothing, because this build doesn't have the feature `papers`.
#[cfg(not(feature = "papers"))]
const fn of_papers() -> [(&'static str, &'static str, bool); 0] {
    []
}

/// The recommended index: `query` builds it, `bench` races it by default, and `list` shows it first.
pub const FLAGSHIP: &str = "index";

/// The recommended index for exclusive use by one thread, without latches.
pub const SINGLE_THREADED: &str = "index-exclusive";

/// The structures for comparison that every build has.
const BASELINES: [&str; 2] = ["btreemap", "sorted-array"];

/// Creates an empty index of that name.
///
/// # Errors
/// A usage failure for an unknown name (with similar names) and for a rival that this build doesn't have
/// (with the feature that adds it); a failure while running if memory is refused.
pub fn build<K, V>(name: &str, options: &Options) -> Result<Box<dyn OrderedIndex<K, V>>, Failure>
where
    K: Key,
    V: Fits<K::Bits>,
{
    if name == FLAGSHIP || name == SINGLE_THREADED {
        let index = flagship(options)?;
        return Ok(if name == SINGLE_THREADED {
            Box::new(ExclusiveIndex::from(index))
        } else {
            Box::new(index)
        });
    }
    #[cfg(feature = "papers")]
    if let Some(built) = of_a_paper(name, options) {
        return built.map_err(Failure::run);
    }
    latchless_rivals::build(name).map_err(|missing| refusal(name, missing))
}

/// Creates an empty index, the recommended one.
///
/// # Errors
/// If memory is refused.
pub fn flagship<K: Key, V: Fits<K::Bits>>(options: &Options) -> Result<Index<K, V>, Failure> {
    Ok(Index::with_options(options.for_index())?)
}

/// Creates an empty index of a paper, if one has that name.
#[cfg(feature = "papers")]
fn of_a_paper<K, V>(
    name: &str,
    options: &Options,
) -> Option<latchless_papers::Result<Box<dyn OrderedIndex<K, V>>>>
where
    K: Key,
    V: Fits<K::Bits>,
{
    // The options that all papers' structures share, and those of each paper.
    macro_rules! built {
        ($($paper:ident { $($field:ident: $value:expr)? })*) => {
            $(if let Some(member) = $paper::Member::from_name(name) {
                return Some($paper::build(member, &$paper::Options {
                    huge_pages: !options.no_huge_pages,
                    limit_bytes: options.memory_limit,
                    $($field: $value,)?
                    ..$paper::Options::default()
                }));
            })*
        };
    }
    built! {
        pb_tree { kernel: options.kernel }
        olfit { node_bytes: options.node_bytes.unwrap_or(olfit::Options::default().node_bytes) }
        cssl { kernel: options.kernel }
        spiderman {}
        // One thread, because the race brings its own.
        pi { kernel: options.kernel }
    }
    None
}

/// Refuses a name that [`build`] would refuse, without building anything.
///
/// # Errors
/// Those of [`build`].
pub fn check(name: &str) -> Result<(), Failure> {
    match entries().iter().find(|entry| entry.name == name) {
        Some(entry) if entry.compiled => Ok(()),
        Some(_) => Err(refusal(name, Missing::NotCompiled)),
        None => Err(refusal(name, Missing::Unknown)),
    }
}

fn refusal(name: &str, missing: Missing) -> Failure {
    match missing {
        Missing::NotCompiled => Failure::usage(format!(
            "the index `{name}` is not in this build: --features rivals adds the published rivals \
             (cargo run --release -p latchless-bench --features rivals -- …)"
        )),
        Missing::Unknown => {
            let entries = entries();
            let like = nearest(name, entries.iter().map(|entry| entry.name));
            let lacks = |name: &&str| entries.iter().any(|entry| entry.name == *name && !entry.compiled);
            let absent: Vec<_> = like.iter().filter(|name| lacks(name)).copied().collect();
            let absent = match &absent[..] {
                [] => String::new(),
                [only] => format!("; {only} is not in this build: --features rivals"),
                several => format!("; {} are not in this build: --features rivals", several.join(" and ")),
            };
            Failure::usage(format!(
                "no index is called `{name}`{}{absent}; `latchless-bench list index` shows all{}",
                did_you_mean(name, like),
                if cfg!(feature = "papers") { "" } else { ", --features papers adds those of the papers" },
            ))
        }
    }
}
