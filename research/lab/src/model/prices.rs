//! The cost of the instructions between memory accesses.
//!
//! The unit is the paper's own (§4.5, footnote 6): the *graduation slot*. A four-issue processor
//! has four a cycle. A slot in which an instruction graduates is *busy*; a slot lost to a
//! dependence between instructions or to a mispredicted branch is an *other stall*; a slot lost to
//! a data-cache miss is priced by the memory system, never here.
//!
//! # Sources of the numbers
//! Each price was set by counting the instructions that a compiler emits for the work on a RISC processor,
//! and by the length of the dependence chain in it; a mispredicted branch counts ten cycles (resolving it
//! and refilling the pipeline). Then two of the lost-slot numbers were calibrated, each on one published
//! share of the **baseline** alone (Fig. 1): those of a binary-search probe, so that a B+-Tree search
//! among 10M keys stalls on data for 65 % of its time, and those of a copied entry, so that a B+-Tree scan
//! of 1M entries does for 84 %. Everything that the model says about another tree, another size or another
//! operation is a prediction.

use latchless_core::mem::touch::Work;
use serde::Serialize;

/// The price of a piece of work, in graduation slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Price {
    /// Slots in which an instruction graduates: the number of instructions.
    pub busy: u64,
    /// Slots lost to dependences and mispredicted branches.
    pub other: u64,
}

impl Price {
    const fn new(busy: u64, other: u64) -> Self {
        Self { busy, other }
    }

    const fn times(self, count: u64) -> Self {
        Self { busy: self.busy * count, other: self.other * count }
    }

    const fn plus(self, more: Self) -> Self {
        Self { busy: self.busy + more.busy, other: self.other + more.other }
    }
}

/// The price list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Prices {
    /// Entering and leaving one operation.
    pub operation: Price,
    /// Coming to one node: reference to address, key count, loop bounds.
    pub visit: Price,
    /// One binary-search step: the middle, its address, a load, a compare, a branch that goes
    /// either way half of the time, one bound moved.
    pub probe: Price,
    /// Leaving one node's binary search: the number of its iterations varies, so its last branch is
    /// mispredicted half of the time, and the following work depends on the position found. Charged with
    /// the first work after the probes.
    pub search_exit: Price,
    /// One key compared in a loop whose branches are predicted: a load and a compare, a branch, a step.
    pub compare: Price,
    /// One vector of keys compared in such a loop.
    pub vector: Price,
    /// A branch that was guessed wrongly, besides the wait for what it depends on; part of `probe` on
    /// machines that wait for branches.
    pub misprediction: Price,
    /// One entry copied to the caller: a load, a store, two addresses, a count, a loop branch.
    pub copy: Price,
    /// One lane (a key, a value or a reference) moved within or between nodes: a load, a store,
    /// one step, a loop branch; moves don't depend on each other, so nothing is lost.
    pub shift: Price,
    /// One jump pointer read: a load, the test for an empty slot, a loop branch.
    pub jump: Price,
    /// One node allocated.
    pub allocate: Price,
    /// One prefetch instruction and the computation of its address.
    pub prefetch: Price,
    /// One locked read-and-write, besides waiting for its line and for the stores before it.
    pub exchange: Price,
    /// One iteration of a loop that waits for a latch, besides waiting.
    pub spin: Price,
}

impl Prices {
    /// The price list of the pB+-Tree paper's machine.
    pub const PB_TREE: Self = Self {
        operation: Price::new(40, 40),
        visit: Price::new(12, 12),
        probe: Price::new(8, 11),
        search_exit: Price::new(0, 20),
        compare: Price::new(4, 0),
        vector: Price::new(8, 0),
        misprediction: Price::new(0, 0),
        copy: Price::new(6, 4),
        shift: Price::new(4, 0),
        jump: Price::new(4, 2),
        allocate: Price::new(60, 60),
        prefetch: Price::new(2, 0),
        exchange: Price::new(4, 16),
        spin: Price::new(8, 0),
    };

    /// The price list of the OLFIT paper's machine: that of the other, but for locked steps, which its
    /// processor does in the secondary cache.
    pub const OLFIT: Self = Self { exchange: Price::new(4, 60), ..Self::PB_TREE };

    /// The price list of the CSSL paper's machine, whose latencies between instructions are those of Intel's
    /// *Optimization Reference Manual* for that processor (Sandy Bridge): five cycles from an address in a
    /// register to data of the primary cache in another, which a node's visit waits for. A misprediction
    /// takes the 15 cycles of the pipeline from fetch to execution, and those five until the next branch has
    /// its key. Instructions are counted in what a compiler emits; a vector is the paper's loop (Algorithm 2,
    /// lines 18 to 25): eight keys in two halves, a compare, the mask, and two tests.
    ///
    /// One number is calibrated, because the paper doesn't publish it: the slots that an iteration of that
    /// loop loses. It makes CSSL5's range of 10 % of 16M dense keys take Fig. 6's 202K cycles, 2.3 more an
    /// iteration than the 117K without it. Everything else that the model says is a prediction.
    pub const CSSL: Self = Self {
        operation: Price::new(40, 0),
        visit: Price::new(8, 20),
        probe: Price::new(6, 0),
        search_exit: Price::new(0, 0),
        compare: Price::new(5, 0),
        vector: Price::new(12, 9),
        misprediction: Price::new(0, 80),
        copy: Price::new(6, 0),
        shift: Price::new(4, 0),
        jump: Price::new(4, 0),
        allocate: Price::new(60, 60),
        prefetch: Price::new(2, 0),
        exchange: Price::new(4, 80),
        spin: Price::new(8, 0),
    };

    /// The same where searches compute the next key instead of branching to it: each step waits for its key,
    /// the compare and the move that depends on it.
    pub const CSSL_COMPUTED: Self = Self { probe: Price::new(6, 26), ..Self::CSSL };

    /// Returns the cost of `work`.
    pub fn of(&self, work: Work) -> Price {
        let count = |entries: usize| entries as u64;
        match work {
            Work::Operation => self.operation,
            Work::Walk | Work::Serve => Price::new(0, 0),
            Work::Visit => self.visit,
            Work::Probe => self.probe,
            Work::Compare(keys) => self.compare.times(count(keys)),
            Work::Vectors(vectors) => self.vector.times(count(vectors)),
            Work::Branch(_) => Price::new(0, 0),
            Work::Copy(entries) => self.copy.times(count(entries)),
            Work::Shift(entries) => self.shift.times(count(entries)),
            Work::Jump(pointers) => self.jump.times(count(pointers)),
            Work::Allocate => self.allocate,
        }
    }

    /// Returns the cost of leaving a node's binary search.
    pub fn of_search_exit(&self) -> Price {
        self.search_exit
    }

    /// Returns the processor's cost of prefetching `lines` lines.
    pub fn of_prefetches(&self, lines: u64) -> Price {
        Price::new(0, 0).plus(self.prefetch.times(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_priced_one_by_one() {
        let prices = Prices::PB_TREE;
        assert_eq!(prices.of(Work::Copy(7)), prices.copy.times(7));
        assert_eq!(prices.of(Work::Shift(0)), Price::new(0, 0));
        assert_eq!(prices.of(Work::Compare(3)), prices.compare.times(3));
        assert_eq!(prices.of(Work::Vectors(3)), prices.vector.times(3));
        assert_eq!(prices.of(Work::Jump(3)).busy, 3 * prices.jump.busy);
        assert_eq!(prices.of_prefetches(8).busy, 16);
    }

    #[test]
    fn leaving_a_search_costs_no_instruction() {
        assert_eq!(Prices::PB_TREE.of_search_exit().busy, 0);
    }
}
