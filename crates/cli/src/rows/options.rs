//! How the index is built, on the command line.

use clap::Args;
use latchless::Kernel;
use latchless::index;
use latchless_terminal::{count, kernel};

/// Options of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Options {
    /// Keep nodes on plain pages, even where the system offers huge ones
    #[arg(long, help_heading = "Index options")]
    no_huge_pages: bool,
    /// The search kernel: scalar, avx2, avx512 or neon [default: the fastest here]
    #[arg(long, value_name = "NAME", value_parser = kernel::parse, help_heading = "Index options")]
    kernel: Option<Kernel>,
    /// The most memory that the index may take for its nodes; 64M and 2G can be written so
    /// [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = count::parse, help_heading = "Index options")]
    memory_limit: Option<usize>,
}

impl Options {
    /// The index's options.
    pub fn for_index(&self) -> index::Options {
        index::Options {
            huge_pages: !self.no_huge_pages,
            kernel: self.kernel,
            limit_bytes: self.memory_limit,
            ..index::Options::default()
        }
    }
}
