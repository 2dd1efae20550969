//! The papers' structures as subjects of the product's fuzz targets. It doesn't care what histories do:
//! `latchless_fuzz` has them.

use arbitrary::{Arbitrary, Result, Unstructured};
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
use latchless_fuzz::{Limits, Subject, kernel};
use latchless_papers::pb_tree::{Member, Options, Placement, ScanPrefetch, build};
use latchless_papers::{cssl, olfit, pi, spiderman};

/// A member of one of the families.
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
}

/// A structure: which one, with which kernel, and under which limits.
#[derive(Debug, Clone)]
pub struct Published {
    which: Which,
    limits: Limits,
    kernel: Kernel,
    scan_ahead_leaves: usize,
    scan_prefetch: ScanPrefetch,
    placement: Placement,
}

impl<'a> Arbitrary<'a> for Published {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let (limits, kernel) = (bytes.arbitrary()?, kernel(bytes)?);
        let scan_ahead_leaves = bytes.int_in_range(0..=9)?;
        let which = match bytes.int_in_range(0..=7)? {
            0 | 1 => {
                let member = *bytes.choose(&olfit::Member::ALL)?;
                // The only one that has no such small nodes with 64-bit lanes.
                let smallest = if member == olfit::Member::BPlusOlAtOnce { 2 } else { 1 };
                Which::Scheme(member, 64 * bytes.int_in_range(smallest..=8)?)
            }
            2 | 3 => {
                let part_keys = if bytes.arbitrary()? { Some(bytes.int_in_range(1..=200)?) } else { None };
                Which::List(*bytes.choose(&cssl::Member::ALL)?, part_keys)
            }
            4 => Which::Pages(64 * bytes.int_in_range(2..=8)?, batching(bytes)?),
            5 => {
                let member = *bytes.choose(&pi::Member::ALL)?;
                Which::Pi(member, bytes.int_in_range(1..=255)?, bytes.int_in_range(1..=2)?)
            }
            _ => Which::Member(*bytes.choose(&Member::ALL)?),
        };
        let scan_prefetch = if bytes.arbitrary()? { ScanPrefetch::Whole } else { ScanPrefetch::Needed };
        let placement =
            if bytes.arbitrary()? { Placement::Scattered(bytes.arbitrary()?) } else { Placement::InOrder };
        Ok(Self { which, limits, kernel, scan_ahead_leaves, scan_prefetch, placement })
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

impl Published {
    fn built<T>(&self, built: std::result::Result<T, impl Into<latchless_papers::Error>>) -> Option<T> {
        match built.map_err(Into::into) {
            Ok(built) => Some(built),
            Err(latchless_papers::Error::Index(error)) => self.limits.built(Err(error)),
            Err(error) => panic!("{self:?} refused with: {error}"),
        }
    }

    fn list(&self, member: cssl::Member, part_keys: Option<usize>) -> cssl::Options {
        let options = member.options(&cssl::Options {
            limit_bytes: self.limits.limit_bytes,
            huge_pages: false,
            kernel: Some(self.kernel),
            node_references: self.limits.node_references,
            ..cssl::Options::default()
        });
        cssl::Options { part_keys: part_keys.or(options.part_keys), ..options }
    }
}

impl Subject for Published {
    fn build(&self) -> Option<Box<dyn OrderedIndex<u64, u64>>> {
        let Limits { limit_bytes, node_references } = self.limits;
        match self.which {
            Which::Member(member) => self.built(build(
                member,
                &Options {
                    limit_bytes,
                    huge_pages: false,
                    kernel: Some(self.kernel),
                    scan_ahead_leaves: self.scan_ahead_leaves,
                    scan_prefetch: self.scan_prefetch,
                    placement: self.placement,
                    node_references,
                    ..Options::default()
                },
            )),
            Which::Scheme(member, node_bytes) => self.built(olfit::build(
                member,
                &olfit::Options {
                    node_bytes,
                    duplicates: false,
                    limit_bytes,
                    huge_pages: false,
                    node_references,
                },
            )),
            Which::List(member, part_keys) => {
                let options = self.list(member, part_keys);
                Some(Box::new(self.built(cssl::CsslMap::with_options(&options))?))
            }
            Which::Pages(page_bytes, batching) => {
                let options = spiderman::Options {
                    batching,
                    page_bytes,
                    limit_bytes,
                    huge_pages: false,
                    page_references: node_references,
                };
                Some(Box::new(self.built(spiderman::SpidermanMap::<_, _>::with_options(&options))?))
            }
            Which::Pi(member, segment_nodes, threads) => self.built(pi::build(
                member,
                &pi::Options {
                    segment_nodes,
                    threads,
                    pin: false,
                    limit_bytes,
                    huge_pages: false,
                    kernel: Some(self.kernel),
                    rebuild_from: segment_nodes,
                    group: self.scan_ahead_leaves.max(1),
                    ..pi::Options::default()
                },
            )),
        }
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}
