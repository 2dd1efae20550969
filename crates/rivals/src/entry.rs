//! A map's line in the table of maps.

/// Properties of a map that are known before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether this build has it.
    pub compiled: bool,
    /// Whether it takes updates from many threads at once.
    pub concurrent: bool,
    /// How many pairs of key and value take the room that one entry takes in the map, about.
    pub pairs: u64,
}
