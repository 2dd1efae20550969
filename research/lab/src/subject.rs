//! The indexes of the experiments.

use crate::on::On;
use latchless_core::base::index::OrderedIndex;
use latchless_core::mem::touch::Traced;
use latchless_core::search::Kernel;
use latchless_papers::olfit;
use latchless_papers::pb_tree::{self, Member, Options, Placement};

/// An index, by name. Papers add their families here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A member of the pB+-Tree family.
    PbTree(Member),
    /// A member of the OLFIT family.
    Olfit(olfit::Member),
}

/// The type of all indexes of experiments: the paper's 4-byte keys and tuple identifiers.
pub type Index = Box<dyn OrderedIndex<u32, u32>>;

impl Subject {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PbTree(member) => member.name(),
            Self::Olfit(member) => member.name(),
        }
    }

    /// Creates an empty index that reports everything to the listening model. It searches with the paper's
    /// own kernel, a binary search, whatever this processor supports.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_modelled(self) -> latchless_papers::Result<Index> {
        self.make_parallel(On::Model, olfit::Options::default().node_bytes, false)
    }

    /// An empty index on this machine: the best kernel, huge pages where the system offers them. Scans of
    /// the pB+-Tree family are the paper's ([`Options::of_the_paper`]), as on the model.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_native(self) -> latchless_papers::Result<Index> {
        self.make_placed(Placement::InOrder)
    }

    /// Creates an empty index like [`Subject::make_native`], whose bulk load places nodes in this way if the
    /// index offers a choice.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn make_placed(self, placement: Placement) -> latchless_papers::Result<Index> {
        match self {
            Self::PbTree(member) => pb_tree::build(member, &Options { placement, ..Options::of_the_paper() }),
            Self::Olfit(_) => self.make_parallel(On::Native, olfit::Options::default().node_bytes, false),
        }
    }

    /// Creates an empty index like [`Subject::make_modelled`] or [`Subject::make_native`], with nodes of
    /// that many bytes and with duplicates if the index offers a choice.
    ///
    /// # Errors
    /// If there are no nodes of that size, or memory is refused.
    pub fn make_parallel(
        self,
        on: On,
        node_bytes: usize,
        duplicates: bool,
    ) -> latchless_papers::Result<Index> {
        let modelled = on == On::Model;
        match self {
            Self::PbTree(member) if modelled => {
                let kernel = Some(Kernel::Scalar);
                pb_tree::build_traced::<_, _, Traced>(
                    member,
                    &Options { huge_pages: false, kernel, ..Options::of_the_paper() },
                )
            }
            Self::PbTree(_) => self.make_native(),
            Self::Olfit(member) => {
                let huge_pages = !modelled;
                let options = olfit::Options { node_bytes, duplicates, huge_pages, ..Default::default() };
                if modelled {
                    olfit::build_traced::<_, _, Traced>(member, &options)
                } else {
                    olfit::build(member, &options)
                }
            }
        }
    }
}
