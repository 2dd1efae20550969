//! The indexes that experiments are done on.

use crate::row::On;
use latchless::OrderedIndex;
use latchless::search::Kernel;
use latchless::variants::pb_tree::{self, Member, Options};

/// An index, by name. Papers add their families here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A member of the pB+-Tree family.
    PbTree(Member),
}

/// What experiments drive: the paper's 4-byte keys and tuple identifiers.
pub type Index = Box<dyn OrderedIndex<u32, u32>>;

impl Subject {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PbTree(member) => member.name(),
        }
    }

    /// An empty index that tells the listening model everything it does. It searches with the
    /// paper's own kernel, a binary search, whatever this processor has.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_modelled(self) -> latchless::Result<Index> {
        let options = Options { huge_pages: false, kernel: Some(Kernel::Scalar), ..Options::default() };
        match self {
            Self::PbTree(member) => pb_tree::build_modelled(member, &options),
        }
    }

    /// An empty index for experiments in which several processors share it, with nodes of so many
    /// bytes where it offers a choice: on the model as [`Subject::make_modelled`], else as
    /// [`Subject::make_native`].
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_parallel(self, on: On, _node_bytes: usize) -> latchless::Result<Index> {
        match on {
            On::Model => self.make_modelled(),
            On::Native | On::Anywhere => self.make_native(),
        }
    }

    /// An empty index as users get it: the best kernel, huge pages where the system offers them.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_native(self) -> latchless::Result<Index> {
        match self {
            Self::PbTree(member) => pb_tree::build(member, &Options::default()),
        }
    }
}
