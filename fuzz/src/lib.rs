//! The fuzz targets' histories. Each target is a `run` method that panics when an index is wrong.

pub mod bulk_load;
pub mod bytes;
pub mod damage;
pub mod drawn;
pub mod index;
pub mod log;
pub mod multi;
pub mod nodes;
pub mod operations;
pub mod snapshot;

use arbitrary::{Arbitrary, Result, Unstructured};
use latchless::Index;
use latchless::index::{Group, Options};
use latchless_core::base::index::OrderedIndex;
use latchless_core::search::Kernel;
use std::num::NonZeroUsize;

/// An index under test, before it is built.
pub trait Subject: std::fmt::Debug {
    /// The index, or nothing if not even its root fits into the memory that it may take.
    fn build(&self) -> Option<Box<dyn OrderedIndex<u64, u64>>>;

    /// What the index may refuse for.
    fn limits(&self) -> Limits;
}

/// How little memory an index has.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Its limit in bytes.
    pub limit_bytes: Option<usize>,
    /// How many nodes its references tell apart.
    pub node_references: Option<u32>,
}

impl<'a> Arbitrary<'a> for Limits {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            limit_bytes: if bytes.arbitrary()? { Some(bytes.int_in_range(1 << 10..=1 << 18)?) } else { None },
            node_references: if bytes.arbitrary()? { Some(bytes.int_in_range(1..=2000)?) } else { None },
        })
    }
}

impl Limits {
    /// Options of an index under these limits.
    pub fn options(&self) -> Options {
        Options {
            limit_bytes: self.limit_bytes,
            huge_pages: false,
            node_references: self.node_references.unwrap_or(u32::MAX),
            ..Options::default()
        }
    }

    /// Refusals must come from the limits that were set, and from nothing else. An index that keeps two
    /// arenas names the share of the limit that ran out.
    ///
    /// # Panics
    /// If an index refused something else.
    pub fn assert_refusal(&self, error: &latchless::Error) {
        let expected = match error {
            latchless::Error::MemoryLimit { limit_bytes, .. } => {
                self.limit_bytes.is_some_and(|limit| *limit_bytes <= limit)
            }
            latchless::Error::ReferencesExhausted { .. } => self.node_references.is_some(),
            _ => false,
        };
        assert!(expected, "{self:?} refused with: {error}");
    }

    /// What was built, or nothing if these limits don't allow even that.
    pub fn built<T>(&self, built: latchless::Result<T>) -> Option<T> {
        built.inspect_err(|error| self.assert_refusal(error)).ok()
    }
}

/// One of the kernels that this processor has.
///
/// # Errors
/// Those of the bytes that it is drawn from.
pub fn kernel(bytes: &mut Unstructured<'_>) -> Result<Kernel> {
    let available: Vec<Kernel> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect();
    bytes.choose(&available).copied()
}

/// `Index`: with which kernel, and under which limits.
#[derive(Debug, Clone)]
pub struct Flagship {
    limits: Limits,
    kernel: Kernel,
}

impl<'a> Arbitrary<'a> for Flagship {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self { limits: bytes.arbitrary()?, kernel: kernel(bytes)? })
    }
}

impl Flagship {
    fn build_with(&self, group: Option<NonZeroUsize>) -> Option<Index<u64, u64>> {
        let group = group.map_or(Group::Auto, Group::Of);
        let options = Options { kernel: Some(self.kernel), group, ..self.limits.options() };
        self.limits.built(Index::with_options(options))
    }
}

impl Subject for Flagship {
    fn build(&self) -> Option<Box<dyn OrderedIndex<u64, u64>>> {
        Some(Box::new(self.build_with(None)?))
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// Spreads a small number over all bits of a key, so that 0 and `u64::MAX` are among the keys and
/// small numbers still meet each other often.
fn spread(small: u16) -> u64 {
    u64::from(small) * 0x0001_0001_0001_0001
}
