//! The members of the family by name, built as trait objects.

use super::map::PbTree;
use super::options::Options;
use crate::common::catalogue::members;
use crate::error::Result;
use crate::pb_tree::node::{External, Form, Grouped, Internal, Plain, Shaped, Sweeping};
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Trace};

members! {
    boxed;
    BPlus "b-plus" false, "B+-Tree, one-line nodes, no prefetch" => Plain<1>;
    P2 "p2" false, "pB+-Tree, two-line nodes, prefetched whole" => Plain<2>;
    P4 "p4" false, "pB+-Tree, four-line nodes" => Plain<4>;
    P8 "p8" false, "pB+-Tree, eight-line nodes: the paper's best width" => Plain<8>;
    P16 "p16" false, "pB+-Tree, sixteen-line nodes" => Plain<16>;
    P8External "p8e" false, "p8 with an external jump-pointer array for scans" => External<8>;
    P8Internal "p8i" false, "p8 with an internal jump-pointer array for scans" => Internal<8>;
    /// The paper hasn't got it, but it has the best width on processors that fetch more lines at once than
    /// the paper's machine did.
    P16Internal "p16i" false, "p16 with an internal jump-pointer array for scans" => Internal<16>;
    P8Sweep "p8-sweep" false, "p8 whose scans sweep the root-to-leaf path ahead of themselves" => Sweeping<8>;
    Csb "csb" false, "CSB+-Tree: one-line nodes, children in one group" => Grouped<1>;
    P8Csb "p8-csb" false, "CSB+-Tree with eight-line nodes, prefetched whole" => Grouped<8>;
}

/// An empty index of the family.
///
/// # Errors
/// [`Error::KernelUnavailable`](latchless_core::base::error::Error::KernelUnavailable), or when memory is
/// refused.
pub fn build<K: Key, V: Fits<K::Bits>>(
    member: Member,
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    build_traced::<K, V, NoTrace>(member, options)
}

fn boxed<K: Key, V: Fits<K::Bits>, F: Form, T: Trace>(
    options: &Options,
) -> Result<Box<dyn OrderedIndex<K, V>>> {
    Ok(Box::new(PbTree::<K, V, Shaped<K::Bits, F, T>>::with_options(options)?))
}
