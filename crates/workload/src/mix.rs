//! The named workloads and their shares of operations.

use crate::error::Error;
use core::fmt;
use core::str::FromStr;

/// A named workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workload {
    /// A bulk load of sorted pairs.
    Load,
    /// Gets of keys that are there.
    Get,
    /// Gets of keys that are there, each key known only once the last answer is.
    Chain,
    /// Gets of keys that aren't there.
    Absent,
    /// Inserts of keys that aren't there.
    Insert,
    /// New values under keys that are there.
    Update,
    /// Removals of keys that are there.
    Remove,
    /// Scans of a fixed length from keys that are there.
    Scan,
    /// Entries from a key that is there, through the index's iterator.
    Range,
    /// The same entries, leaf by leaf where an index shows its leaves.
    Visit,
    /// Sums of the values of this many entries from a key that is there.
    Sum,
    /// Sums of the values in a range that takes a share of the key space.
    SumRange,
    /// Counts of the keys in such a range.
    Count,
    /// Half gets, a fifth inserts, a fifth removals, a tenth scans.
    Mixed,
    /// YCSB A: gets and updates in halves.
    YcsbA,
    /// YCSB B: 95 % gets, 5 % updates.
    YcsbB,
    /// YCSB C: gets.
    YcsbC,
    /// YCSB D: 95 % gets of the newest keys, 5 % inserts.
    YcsbD,
    /// YCSB E: 95 % scans of 1 to the scan length, 5 % inserts.
    YcsbE,
    /// YCSB F: gets and read-modify-writes in halves.
    YcsbF,
    /// Spiderman's A: gets and inserts in halves.
    SpidermanA,
    /// Spiderman's B: inserts.
    SpidermanB,
    /// Spiderman's C: gets.
    SpidermanC,
    /// Spiderman's D: 95 % scans of 48 entries on average (standard deviation 30), 5 % inserts.
    SpidermanD,
}

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The value under a key.
    Get,
    /// The value under a key that follows from the last answer.
    Chain,
    /// The value under a key that isn't there.
    Absent,
    /// A new value under a key that is there.
    Update,
    /// A key that isn't there.
    Insert,
    /// Out with a key that is there.
    Remove,
    /// Entries from a key upwards.
    Scan,
    /// Entries from a key upwards, one by one out of an iterator.
    Range,
    /// Entries from a key upwards, leaf by leaf.
    Visit,
    /// The sum of the values of entries from a key upwards.
    Sum,
    /// The sum of the values in a range.
    SumRange,
    /// The number of keys in a range.
    Count,
    /// The value under a key, then a new one.
    ReadModifyWrite,
}

impl Kind {
    /// Whether it changes the index.
    pub const fn updates(self) -> bool {
        matches!(self, Self::Update | Self::Insert | Self::Remove | Self::ReadModifyWrite)
    }

    /// Whether it takes a key that isn't among those loaded.
    pub const fn is_fresh(self) -> bool {
        matches!(self, Self::Insert | Self::Absent)
    }

    /// Whether it changes how many keys there are.
    pub const fn resizes(self) -> bool {
        matches!(self, Self::Insert | Self::Remove)
    }
}

/// How long scans are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lengths {
    /// Always the spec's length.
    Fixed,
    /// From 1 to the spec's length, evenly.
    UpTo,
    /// Normally distributed, at least 1.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
}

/// The shares of a workload's operations, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mix {
    /// Kinds and their shares; they add up to 100.
    pub shares: &'static [(Kind, u32)],
    /// How long scans are.
    pub lengths: Lengths,
    /// Whether gets go to the newest keys rather than to popular ones.
    pub latest: bool,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 24] = [
        Self::Load,
        Self::Get,
        Self::Chain,
        Self::Absent,
        Self::Insert,
        Self::Update,
        Self::Remove,
        Self::Scan,
        Self::Range,
        Self::Visit,
        Self::Sum,
        Self::SumRange,
        Self::Count,
        Self::Mixed,
        Self::YcsbA,
        Self::YcsbB,
        Self::YcsbC,
        Self::YcsbD,
        Self::YcsbE,
        Self::YcsbF,
        Self::SpidermanA,
        Self::SpidermanB,
        Self::SpidermanC,
        Self::SpidermanD,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Get => "get",
            Self::Chain => "chain",
            Self::Absent => "absent",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Remove => "remove",
            Self::Scan => "scan",
            Self::Range => "range",
            Self::Visit => "visit",
            Self::Sum => "sum",
            Self::SumRange => "sum-range",
            Self::Count => "count",
            Self::Mixed => "mixed",
            Self::YcsbA => "ycsb-a",
            Self::YcsbB => "ycsb-b",
            Self::YcsbC => "ycsb-c",
            Self::YcsbD => "ycsb-d",
            Self::YcsbE => "ycsb-e",
            Self::YcsbF => "ycsb-f",
            Self::SpidermanA => "spiderman-a",
            Self::SpidermanB => "spiderman-b",
            Self::SpidermanC => "spiderman-c",
            Self::SpidermanD => "spiderman-d",
        }
    }

    /// One line for people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Load => "bulk load of sorted pairs, ns per key",
            Self::Get => "gets of keys that are there",
            Self::Chain => "gets, each key known only once the last answer is",
            Self::Absent => "gets of keys that aren't there",
            Self::Insert => "inserts of new keys",
            Self::Update => "new values under keys that are there",
            Self::Remove => "removals of keys that are there",
            Self::Scan => "scans of a fixed length, copied, ns per entry",
            Self::Range => "a fixed number of entries out of range(), ns per entry",
            Self::Visit => "the same entries, leaf by leaf where an index shows leaves, ns per entry",
            Self::Sum => "sums of a fixed number of values, pushed down where an index can, ns per entry",
            Self::SumRange => "sums over a share of the key space, ns per entry",
            Self::Count => "counts of such a range, ns per entry",
            Self::Mixed => "50 % get, 20 % insert, 20 % remove, 10 % scan",
            Self::YcsbA => "50 % get, 50 % update",
            Self::YcsbB => "95 % get, 5 % update",
            Self::YcsbC => "100 % get",
            Self::YcsbD => "95 % get of the newest keys, 5 % insert",
            Self::YcsbE => "95 % scan of 1 to the scan length, 5 % insert",
            Self::YcsbF => "50 % get, 50 % read-modify-write",
            Self::SpidermanA => "50 % get, 50 % insert",
            Self::SpidermanB => "100 % insert",
            Self::SpidermanC => "100 % get",
            Self::SpidermanD => "95 % scan (mean 48, s.d. 30), 5 % insert",
        }
    }

    /// Whether YCSB defines it, whose keys are popular by Zipf's law.
    pub const fn is_ycsb(self) -> bool {
        matches!(self, Self::YcsbA | Self::YcsbB | Self::YcsbC | Self::YcsbD | Self::YcsbE | Self::YcsbF)
    }

    /// Its shares of operations. A bulk load has none.
    pub const fn mix(self) -> Mix {
        use Kind::{Get, Insert, ReadModifyWrite, Remove, Scan, Update};
        let shares: &[(Kind, u32)] = match self {
            Self::Load => &[],
            Self::Get | Self::YcsbC | Self::SpidermanC => &[(Get, 100)],
            Self::Chain => &[(Kind::Chain, 100)],
            Self::Absent => &[(Kind::Absent, 100)],
            Self::Insert | Self::SpidermanB => &[(Insert, 100)],
            Self::Update => &[(Update, 100)],
            Self::Remove => &[(Remove, 100)],
            Self::Scan => &[(Scan, 100)],
            Self::Range => &[(Kind::Range, 100)],
            Self::Visit => &[(Kind::Visit, 100)],
            Self::Sum => &[(Kind::Sum, 100)],
            Self::SumRange => &[(Kind::SumRange, 100)],
            Self::Count => &[(Kind::Count, 100)],
            Self::Mixed => &[(Get, 50), (Insert, 20), (Remove, 20), (Scan, 10)],
            Self::YcsbA => &[(Get, 50), (Update, 50)],
            Self::YcsbB => &[(Get, 95), (Update, 5)],
            Self::YcsbD => &[(Get, 95), (Insert, 5)],
            Self::YcsbE | Self::SpidermanD => &[(Scan, 95), (Insert, 5)],
            Self::YcsbF => &[(Get, 50), (ReadModifyWrite, 50)],
            Self::SpidermanA => &[(Get, 50), (Insert, 50)],
        };
        let lengths = match self {
            Self::YcsbE => Lengths::UpTo,
            Self::SpidermanD => Lengths::Normal { mean: 48.0, deviation: 30.0 },
            _ => Lengths::Fixed,
        };
        Mix { shares, lengths, latest: matches!(self, Self::YcsbD) }
    }

    /// Whether it changes the index.
    pub fn updates(self) -> bool {
        self == Self::Load || self.mix().shares.iter().any(|(kind, _)| kind.updates())
    }

    /// Of a hundred operations, how many change the number of keys.
    pub fn resizing_percent(self) -> u32 {
        self.mix().shares.iter().filter(|(kind, _)| kind.resizes()).map(|(_, share)| share).sum()
    }

    /// Whether any of its operations is of that kind.
    pub fn has(self, kind: Kind) -> bool {
        self.mix().shares.iter().any(|&(other, _)| other == kind)
    }

    /// Whether all of its operations are of that kind.
    pub fn is_only(self, kind: Kind) -> bool {
        matches!(self.mix().shares, [(only, _)] if *only == kind)
    }
}

impl FromStr for Workload {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|workload| workload.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::UnknownWorkload { given: text.to_owned(), known }
        })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_names_are_read_back() {
        for workload in Workload::ALL {
            let sum: u32 = workload.mix().shares.iter().map(|(_, share)| share).sum();
            assert_eq!(sum, if workload == Workload::Load { 0 } else { 100 }, "{workload}");
            assert_eq!(workload.name().parse(), Ok(workload));
        }
        let refused = "ycsb-g".parse::<Workload>().unwrap_err();
        assert!(refused.to_string().contains("ycsb-f, spiderman-a"), "{refused}");
    }

    #[test]
    fn only_reading_workloads_leave_the_index_alone() {
        let reading: Vec<_> = Workload::ALL.into_iter().filter(|workload| !workload.updates()).collect();
        let names: Vec<_> = reading.iter().map(|workload| workload.name()).collect();
        let expected = [
            "get",
            "chain",
            "absent",
            "scan",
            "range",
            "visit",
            "sum",
            "sum-range",
            "count",
            "ycsb-c",
            "spiderman-c",
        ];
        assert_eq!(names, expected);
        let resizing = |workload: Workload| workload.resizing_percent();
        assert_eq!([Workload::Update, Workload::Mixed, Workload::Remove].map(resizing), [0, 40, 100]);
    }
}
