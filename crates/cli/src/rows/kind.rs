//! The type of a column of the key: numbers by a rule, cells of a form, or texts.

use super::form::{Form, Forms, Mark, Order, Zone};
use super::key::{KeyType, Rule};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::fmt;

/// The types that `--key-type` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Numbers of this type.
    Number(KeyType),
    /// Cells of one of a few forms.
    Form(&'static Choice),
    /// Texts as they are.
    Text,
}

/// Forms that share one name: the cells decide which of them it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    name: &'static str,
    about: &'static str,
    forms: &'static [Form],
}

const DATES: &[Form] =
    &[Form::Date(Order::Ymd), Form::Date(Order::Mdy), Form::Date(Order::Dmy), Form::Date(Order::Mon)];

const fn timestamps(zone: Zone) -> [Form; 4] {
    [
        Form::Timestamp(Order::Ymd, zone),
        Form::Timestamp(Order::Mdy, zone),
        Form::Timestamp(Order::Dmy, zone),
        Form::Timestamp(Order::Mon, zone),
    ]
}

static CHOICES: [Choice; 7] = [
    Choice {
        name: "decimal",
        about: "Numbers of any size, exact to the last digit; with --decimal-comma 1.234,50 is one",
        forms: &[Form::Decimal(Mark::Point), Form::Decimal(Mark::Comma)],
    },
    Choice {
        name: "date",
        about: "Days, such as 2023-12-31; --date-format names other orders",
        forms: DATES,
    },
    Choice {
        name: "timestamp",
        about: "Days with a time and no zone, such as 2023-12-31T23:59:59.5 or 12/31/2023 11:59 PM",
        forms: &timestamps(Zone::Without),
    },
    Choice {
        name: "timestamptz",
        about: "Days with a time and a zone, compared as instants, such as 2023-12-31 23:59:59+02:00",
        forms: &timestamps(Zone::With),
    },
    Choice { name: "time", about: "Times of day, such as 23:59:59.5 or 11:59 PM", forms: &[Form::Time] },
    Choice {
        name: "ip",
        about: "IP addresses in the order of their numbers, version 4 before version 6",
        forms: &[Form::Address],
    },
    Choice {
        name: "version",
        about: "Versions such as 1.10.2-rc.1, in the order of Semantic Versioning; 1.2 is 1.2.0",
        forms: &[Form::Version],
    },
];

impl Named {
    /// The forms of a type that has some, of which the arguments may have chosen.
    pub fn forms(self, order: Option<Order>, comma: bool) -> Option<Forms> {
        let Self::Form(choice) = self else { return None };
        let all: Forms = choice.forms.iter().copied().collect();
        let is_meant = |form| form != Form::Decimal(Mark::Comma) || comma;
        Some(all.allowed(order, comma).filter(is_meant))
    }

    /// The kind of a column of a type that determines it completely.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::Number(key_type) => Some(Kind::Number(Rule::new(Some(key_type)))),
            Self::Text => Some(Kind::Text { guessed: false }),
            Self::Form(_) => None,
        }
    }

    /// Whether a column of this kind has the type.
    pub fn is_of(self, kind: Kind) -> bool {
        match (self, kind) {
            (Self::Number(named), Kind::Number(rule)) => named == rule.key_type,
            (Self::Form(choice), Kind::Form(form)) => choice.forms.contains(&form),
            (named, kind) => named == Self::Text && matches!(kind, Kind::Text { .. }),
        }
    }
}

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        use KeyType::{F32, F64, I32, I64, U32, U64};
        static ALL: [Named; 14] = [
            Named::Number(U32),
            Named::Number(U64),
            Named::Number(I32),
            Named::Number(I64),
            Named::Number(F32),
            Named::Number(F64),
            Named::Form(&CHOICES[0]),
            Named::Form(&CHOICES[1]),
            Named::Form(&CHOICES[2]),
            Named::Form(&CHOICES[3]),
            Named::Form(&CHOICES[4]),
            Named::Form(&CHOICES[5]),
            Named::Form(&CHOICES[6]),
            Named::Text,
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Number(key_type) => key_type.to_possible_value(),
            Self::Form(choice) => Some(PossibleValue::new(choice.name).help(choice.about)),
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
            Self::Form(choice) => f.write_str(choice.name),
            Self::Text => f.write_str("text"),
        }
    }
}

/// How a column's cells are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As numbers, by this rule.
    Number(Rule),
    /// With this form.
    Form(Form),
    /// As they are. `guessed`: because nothing else fitted, not because that was said.
    Text { guessed: bool },
}

impl Kind {
    /// The kind of this name; `guessed`: whether it comes from the cells, and not from an argument.
    pub fn named(name: &str, guessed: bool) -> Option<Self> {
        if let Some(form) = Form::named(name) {
            return Some(Self::Form(form));
        }
        match Named::from_str(name, false).ok()? {
            Named::Number(key_type) => Some(Self::Number(Rule { key_type, inferred: guessed })),
            Named::Text => Some(Self::Text { guessed }),
            Named::Form(_) => None,
        }
    }

    /// Whether it was inferred from the cells.
    pub fn is_guessed(self) -> bool {
        match self {
            Self::Number(rule) => rule.inferred,
            Self::Text { guessed } => guessed,
            Self::Form(_) => false,
        }
    }

    /// Whether it is texts.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text { .. })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(rule) => rule.key_type.fmt(f),
            Self::Form(form) => form.fmt(f),
            Self::Text { .. } => f.write_str("text"),
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
    /// Whether a cell of a form has to be written so that it would be taken for it.
    pub is_strict: bool,
}

impl Part {
    /// A column that is read so.
    pub fn new(column: usize, kind: Kind) -> Self {
        Self { column, kind, is_strict: false }
    }

    /// Whether nothing is in a cell that this reads; of a text, blanks are something.
    pub fn is_empty(&self, cell: &[u8]) -> bool {
        if self.kind.is_text() { cell.is_empty() } else { cell.trim_ascii().is_empty() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for form in Form::all() {
            assert_eq!(Kind::named(&form.to_string(), true), Some(Kind::Form(form)));
            assert_eq!(
                Named::value_variants().iter().filter(|named| named.is_of(Kind::Form(form))).count(),
                1
            );
        }
        for named in Named::value_variants() {
            let kind = Kind::named(&named.to_string(), true).unwrap();
            assert!(named.is_of(kind), "{named}");
            assert_eq!(kind.is_guessed(), named.forms(None, false).is_none());
        }
    }
}
