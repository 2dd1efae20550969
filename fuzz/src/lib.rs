//! The fuzz targets' histories. Each target is a `run` method that panics when an index is wrong.

pub mod bulk_load;
pub mod index;
pub mod nodes;
pub mod operations;
#[path = "../../research/papers/tests/variants/shared.rs"]
mod shared;
pub mod snapshot;

use arbitrary::{Arbitrary, Result, Unstructured};
use latchless::Index;
use latchless::index::{Group, Options as IndexOptions};
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
use latchless_papers::pb_tree::{Member, Options, build};
use latchless_papers::{cssl, olfit, pi, spiderman};
use shared::Shared;
use std::num::NonZeroUsize;

/// The index under test.
#[derive(Debug, Clone, Copy)]
enum Which {
    Member(Member),
    /// OLFIT or a rival of it, with nodes of this many bytes.
    Scheme(olfit::Member, usize),
    /// A skip list over stretches of this many keys, or in one array.
    List(cssl::Member, Option<usize>),
    /// Pages under optimistic lock coupling of this many bytes, with batches that are led in this way.
    Pages(usize, Option<spiderman::Batching>),
    /// PI with segments of this many nodes, on this many threads.
    Pi(pi::Member, usize, usize),
    /// The flagship, updated without latches.
    Alone,
    /// The flagship, updated as if others were there.
    Shared,
}

/// An index: which one, with which kernel, and how little memory it has.
#[derive(Debug, Clone)]
pub struct Subject {
    which: Which,
    options: Options,
}

impl<'a> Arbitrary<'a> for Subject {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let available: Vec<Kernel> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect();
        let options = Options {
            limit_bytes: if bytes.arbitrary()? { Some(bytes.int_in_range(1 << 10..=1 << 18)?) } else { None },
            huge_pages: false,
            kernel: Some(*bytes.choose(&available)?),
            scan_ahead_leaves: bytes.int_in_range(0..=9)?,
            node_references: if bytes.arbitrary()? { Some(bytes.int_in_range(1..=2000)?) } else { None },
            ..Options::default()
        };
        let which = match bytes.int_in_range(0..=9)? {
            0 => Which::Alone,
            1 => Which::Shared,
            2 | 3 => {
                let member = *bytes.choose(&olfit::Member::ALL)?;
                // The only one that has no such small nodes with 64-bit lanes.
                let smallest = if member == olfit::Member::BPlusOlAtOnce { 2 } else { 1 };
                Which::Scheme(member, 64 * bytes.int_in_range(smallest..=8)?)
            }
            4 | 5 => {
                let part_keys = if bytes.arbitrary()? { Some(bytes.int_in_range(1..=200)?) } else { None };
                Which::List(*bytes.choose(&cssl::Member::ALL)?, part_keys)
            }
            6 => Which::Pages(64 * bytes.int_in_range(2..=8)?, batching(bytes)?),
            7 => {
                let member = *bytes.choose(&pi::Member::ALL)?;
                Which::Pi(member, bytes.int_in_range(1..=255)?, bytes.int_in_range(1..=2)?)
            }
            _ => Which::Member(*bytes.choose(&Member::ALL)?),
        };
        Ok(Self { which, options })
    }
}

/// Some way to serve batches, or none.
fn batching(bytes: &mut Unstructured<'_>) -> Result<Option<spiderman::Batching>> {
    use spiderman::{BatchSize, Batching, Prefetch, Rounds};
    let options: u8 = bytes.arbitrary()?;
    let options: Vec<u8> = (1..=8).filter(|option| options >> (option - 1) & 1 == 1).collect();
    let Ok(prefetch) = Prefetch::of(&options) else { return Ok(None) };
    let rounds = if bytes.arbitrary()? { Rounds::Naive } else { Rounds::Unfinished };
    let size = BatchSize::Of(bytes.int_in_range(1..=BatchSize::MAX)?);
    Ok(Some(Batching { size, prefetch, rounds }))
}

impl Subject {
    /// The index, or nothing if not even its root fits into the memory it is allowed.
    fn build(&self) -> Option<Box<dyn OrderedIndex<u64, u64>>> {
        match self.which {
            Which::Member(member) => self.taken(build(member, &self.options)),
            Which::Scheme(member, node_bytes) => self.taken(olfit::build(
                member,
                &olfit::Options {
                    node_bytes,
                    duplicates: false,
                    limit_bytes: self.options.limit_bytes,
                    huge_pages: false,
                    node_references: self.options.node_references,
                },
            )),
            Which::List(member, part_keys) => {
                let options = member.options(&cssl::Options {
                    limit_bytes: self.options.limit_bytes,
                    huge_pages: false,
                    kernel: self.options.kernel,
                    node_references: self.options.node_references,
                    ..cssl::Options::default()
                });
                let options = cssl::Options { part_keys: part_keys.or(options.part_keys), ..options };
                Some(Box::new(self.taken(cssl::CsslMap::with_options(&options))?))
            }
            Which::Pages(page_bytes, batching) => {
                let options = spiderman::Options {
                    batching,
                    page_bytes,
                    limit_bytes: self.options.limit_bytes,
                    huge_pages: false,
                    page_references: self.options.node_references,
                };
                let map = spiderman::SpidermanMap::<_, _>::with_options(&options);
                self.taken(map.map(|map| -> Box<dyn OrderedIndex<u64, u64>> { Box::new(map) }))
            }
            Which::Pi(member, segment_nodes, threads) => self.taken(pi::build(
                member,
                &pi::Options {
                    segment_nodes,
                    threads,
                    pin: false,
                    limit_bytes: self.options.limit_bytes,
                    huge_pages: false,
                    kernel: self.options.kernel,
                    rebuild_from: segment_nodes,
                    group: self.options.scan_ahead_leaves.max(1),
                    ..pi::Options::default()
                },
            )),
            Which::Alone => Some(Box::new(self.build_flagship(None)?)),
            Which::Shared => Some(Box::new(Shared(self.build_flagship(None)?))),
        }
    }

    /// An `Index` with these options, if that is the subject.
    fn build_flagship(&self, group: Option<NonZeroUsize>) -> Option<Index<u64, u64>> {
        self.taken(Index::with_options(IndexOptions {
            limit_bytes: self.options.limit_bytes,
            huge_pages: false,
            kernel: self.options.kernel,
            group: group.map_or(Group::Auto, Group::Of),
            node_references: self.options.node_references.unwrap_or(u32::MAX),
            ..IndexOptions::default()
        }))
    }

    fn taken<T, E: Into<latchless_papers::Error>>(&self, built: Result<T, E>) -> Option<T> {
        match built.map_err(Into::into) {
            Ok(built) => Some(built),
            Err(latchless_papers::Error::Index(error)) => {
                self.assert_refusal(&error);
                None
            }
            Err(error) => panic!("{self:?} refused with: {error}"),
        }
    }

    /// Refusals must come from the limits that were set, and from nothing else. A member that keeps two
    /// arenas names the share of the limit that ran out.
    fn assert_refusal(&self, error: &latchless::Error) {
        let expected = match error {
            latchless::Error::MemoryLimit { limit_bytes, .. } => {
                self.options.limit_bytes.is_some_and(|limit| *limit_bytes <= limit)
            }
            latchless::Error::ReferencesExhausted { .. } => self.options.node_references.is_some(),
            _ => false,
        };
        assert!(expected, "{self:?} refused with: {error}");
    }
}

/// Spreads a small number over all bits of a key, so that 0 and `u64::MAX` are among the keys and
/// small numbers still meet each other often.
fn spread(small: u16) -> u64 {
    u64::from(small) * 0x0001_0001_0001_0001
}
