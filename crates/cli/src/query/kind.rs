//! What a column of the key is read as: numbers by a rule, or texts.
//!
//! No column is taken for texts behind the asker's back: its numbers would be in another order, and a cell
//! such as NA among numbers would go unseen. So a column is one of texts if a type was named, or if a cell is
//! no number *and* the question isn't about numbers either.

use super::key::{Complaint, KeyType, Rule};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::fmt;

/// What `--key-type` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Numbers of this type.
    Number(KeyType),
    /// Texts as they are.
    Text,
}

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        use KeyType::{F32, F64, I32, I64, U32, U64};
        const ALL: [Named; 7] = [
            Named::Number(U32),
            Named::Number(U64),
            Named::Number(I32),
            Named::Number(I64),
            Named::Number(F32),
            Named::Number(F64),
            Named::Text,
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Number(key_type) => key_type.to_possible_value(),
            Self::Text => {
                Some(PossibleValue::new("text").help("Texts as they are, ordered by their characters"))
            }
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(key_type) => key_type.fmt(f),
            Self::Text => f.write_str("text"),
        }
    }
}

/// What a question says about a column; of what its keys say, the last one here counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meant {
    /// It doesn't mention the column.
    Anything,
    /// Numbers: it gives nothing else.
    Numbers,
    /// Texts: something that it gives is no number.
    Texts,
}

/// How a column's cells are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As numbers, by this rule.
    Number(Rule),
    /// As they are.
    Text,
}

impl Kind {
    /// What to begin with, given what was named.
    pub fn new(named: Option<Named>) -> Self {
        match named {
            None => Self::Number(Rule::new(None)),
            Some(Named::Number(key_type)) => Self::Number(Rule::new(Some(key_type))),
            Some(Named::Text) => Self::Text,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(rule) => rule.key_type.fmt(f),
            Self::Text => f.write_str("text"),
        }
    }
}

/// A column of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 0.
    pub column: usize,
    /// How its cells are read.
    pub kind: Kind,
    /// Whether they are texts if one of them is no number.
    pub may_be_text: bool,
}

impl Part {
    /// The kind to start the column over with, after this one didn't read a cell.
    ///
    /// # Errors
    /// The [`Complaint`] to report when there is none.
    pub fn widened(&self, cell: &str, complaint: Complaint) -> Result<Kind, Complaint> {
        match self.kind {
            Kind::Text => Err(complaint),
            Kind::Number(rule) => match rule.widened(cell, complaint) {
                Err(_) if self.may_be_text => Ok(Kind::Text),
                rule => rule.map(Kind::Number),
            },
        }
    }
}
