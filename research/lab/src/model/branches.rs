//! Branches of a search, and on what a load depends.

use serde::Serialize;

/// The treatment of the branches of a binary search, which are unpredictable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Branches {
    /// Later instructions are issued only when they are resolved.
    #[default]
    Waited,
    /// A processor predicts them, and is right every other time, or once in n times if a branch has n ways
    /// that are equally likely: loads after a branch that was guessed rightly aren't late.
    HalfGuessed,
    /// There are none: the next key is computed.
    None,
    /// A processor predicts them, and is right each time: all keys of a search are requested as soon as it
    /// begins.
    Predicted,
    /// The same, but one guess of this many is wrong: loads after it are issued when it is resolved. Wrong
    /// guesses are spread evenly, and prefer no step of a search.
    WrongOnceIn(u64),
}

/// The condition for issuing a load, as far as its address is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Depends {
    /// The last line that was waited for: the rule where pointers are chased.
    #[default]
    OnLastLine,
    /// The same, but not across operations, nor across walks that take turns: the next one's key is known.
    /// Then the reorder buffer limits a search, as on processors that reorder across operations.
    WithinOperation,
    /// The same, but not across visits to nodes, as if a group of searches takes turns, each with a node.
    WithinVisit,
}
