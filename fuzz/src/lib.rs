//! What the fuzz targets do with the bytes that they are given. Each target is a `run` method that
//! panics when an index is wrong.

pub mod bulk_load;
pub mod operations;

use arbitrary::{Arbitrary, Result, Unstructured};
use latchless::OrderedIndex;
use latchless::search::Kernel;
use latchless::variants::pb_tree::{Member, Options, build};

/// An index of the family: which member, with which kernel, and how little memory it has.
#[derive(Debug, Clone)]
pub struct Subject {
    member: Member,
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
        };
        Ok(Self { member: *bytes.choose(&Member::ALL)?, options })
    }
}

impl Subject {
    /// The index, or nothing if not even its root fits into the memory it is allowed.
    fn build(&self) -> Option<Box<dyn OrderedIndex<u64, u64>>> {
        match build(self.member, &self.options) {
            Ok(index) => Some(index),
            Err(error) => {
                self.assert_refusal(&error);
                None
            }
        }
    }

    /// Refusals come from the limits that were set, and from nothing else. A member that keeps two
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
