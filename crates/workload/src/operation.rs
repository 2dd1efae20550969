//! A request, as data.

/// One request, ready to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<L> {
    /// The value under a key.
    Get(L),
    /// The value under the exclusive or of this lane and the last answer: `lane ^ answer`. Before the first
    /// answer the lane is the key. No lookup can start before the previous one has its answer, and the
    /// lanes are read in order, so that a chain costs nothing but its lookups.
    Chain(L),
    /// A value under a key, whether it is there or not.
    Insert(L, L),
    /// Out with a key.
    Remove(L),
    /// The entries from a key upwards, at most that many.
    Scan(L, u32),
    /// The sum of the values of the entries from a key upwards, at most that many entries, each from an
    /// iterator.
    Range(L, u32),
    /// The same, from leaf to leaf.
    Visit(L, u32),
    /// The same, in whatever way is fastest.
    Sum(L, u32),
    /// The sum of the values of the entries from one key to another, both inclusive.
    SumRange(L, L),
    /// The number of keys from one key to another, both inclusive.
    Count(L, L),
    /// The value under a key, then this one in its place.
    ReadModifyWrite(L, L),
}
