//! The steps of a round, in which every index grows, is read, is pruned and is dropped.

use super::subject::{BATCH, COMMIT, Digest, Form, RANGE};

/// At which moment a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The newest one.
    Newest,
    /// The one before each key got its second version.
    Older,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Fills an empty index.
    InsertKeys,
    /// Inserts a second version of each key, while a reader needs the first one.
    InsertVersions,
    Get,
    GetAt(At),
    GetAbsent,
    GetMany(At),
    Range(At, Form),
    /// The reads of ranges, while another thread writes.
    RangeBesideWriter,
    /// Inserts third versions.
    InsertTogether,
    Snapshot,
    /// Drops all versions that a reader of the newest moment doesn't need.
    Prune,
    Overwrite,
    /// Drops an index of two versions per key.
    Drop,
}

impl Step {
    /// In the order in which they are done: each finds the index as the one before has left it.
    pub const ALL: [Self; 17] = [
        Self::InsertKeys,
        Self::InsertVersions,
        Self::Get,
        Self::GetAt(At::Newest),
        Self::GetAt(At::Older),
        Self::GetAbsent,
        Self::GetMany(At::Newest),
        Self::GetMany(At::Older),
        Self::Range(At::Newest, Form::Iterator),
        Self::Range(At::Newest, Form::Lent),
        Self::Range(At::Older, Form::Iterator),
        Self::RangeBesideWriter,
        Self::InsertTogether,
        Self::Snapshot,
        Self::Prune,
        Self::Overwrite,
        Self::Drop,
    ];

    pub fn name(self) -> String {
        match self {
            Self::InsertKeys => "insert a new key".to_owned(),
            Self::InsertVersions => "insert a second version".to_owned(),
            Self::Get => "get the newest version".to_owned(),
            Self::GetAt(At::Newest) => "get at a number, the newest".to_owned(),
            Self::GetAt(At::Older) => "get at a number, an older one".to_owned(),
            Self::GetAbsent => "get at a number, an absent key".to_owned(),
            Self::GetMany(At::Newest) => format!("get in batches of {BATCH}, the newest"),
            Self::GetMany(At::Older) => format!("get in batches of {BATCH}, older ones"),
            Self::Range(At::Newest, Form::Iterator) => format!("range of {RANGE}, the newest"),
            Self::Range(At::Newest, Form::Lent) => format!("range of {RANGE}, the newest, lent"),
            Self::Range(At::Older, _) => format!("range of {RANGE}, older ones"),
            Self::RangeBesideWriter => format!("range of {RANGE}, beside a writer"),
            Self::InsertTogether => format!("insert a third version, in commits of {COMMIT}"),
            Self::Snapshot => "snapshot, and its end".to_owned(),
            Self::Prune => "prune, per key".to_owned(),
            Self::Overwrite => "overwrite, without a reader".to_owned(),
            Self::Drop => "drop, per version".to_owned(),
        }
    }
}

/// What a step has taken, and what it has found.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Nanoseconds of one operation.
    pub nanos: f64,
    /// The same in every index that has the step.
    pub digest: Digest,
}
