//! The types that keys in a question may be of.

use super::form::Forms;
use super::key;
use super::number::has_leading_zero;

/// The possible types of a question's keys in a column: the last of these that any key requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// It doesn't mention the column.
    Anything,
    /// Each key is a number, or has these forms, or both.
    Values { numbers: bool, forms: Forms },
    /// Texts: a key is nothing else, or no two keys are of one kind.
    Texts,
}

impl Meant {
    /// The constraint that a key puts on its column.
    pub fn by(text: &str) -> Self {
        let text = text.trim_ascii();
        Self::values(key::is_number(text) && !has_leading_zero(text), Forms::of(text))
    }

    fn values(numbers: bool, forms: Forms) -> Self {
        if numbers || !forms.is_empty() { Self::Values { numbers, forms } } else { Self::Texts }
    }

    /// The constraint of two keys together.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, other) | (other, Self::Anything) => other,
            (Self::Values { numbers, forms }, Self::Values { numbers: too, forms: others }) => {
                Self::values(numbers && too, forms.and(others))
            }
            _ => Self::Texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_several_kinds_are_texts() {
        assert_eq!(Meant::by("x"), Meant::Texts);
        assert_eq!(Meant::by("01000"), Meant::Texts);
        assert_eq!(Meant::by("12/31/2023").and(Meant::by("foo")), Meant::Texts);
        assert_eq!(Meant::by("12/31/2023").and(Meant::by("31/12/2023")), Meant::Texts);
        assert_eq!(Meant::by("1.2").and(Meant::by("1.2.3")), Meant::by("1.2.3"));
        assert_eq!(Meant::by("1").and(Meant::Anything), Meant::by("1"));
        assert!(matches!(Meant::by("1").and(Meant::by("2.5")), Meant::Values { numbers: true, .. }));
    }
}
