//! Sets of forms: those that a column may still have, and those that a question's keys may have.

use super::{Form, Mark, NAMES, Order};

/// A set of forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms(u32);

impl Forms {
    /// No form.
    pub const NONE: Self = Self(0);

    /// Every form.
    pub fn all() -> Self {
        Form::all().collect()
    }

    /// The forms that a cell has.
    pub fn of(cell: &str) -> Self {
        Self::all().filter(|form| form.looks_so(cell))
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether this one is in it.
    pub fn contains(self, form: Form) -> bool {
        self.0 & 1 << form.place() != 0
    }

    /// Those that are in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those of it, in the order in which they are guessed.
    pub fn iter(self) -> impl Iterator<Item = Form> {
        (0..NAMES.len()).filter(move |place| self.0 & 1 << place != 0).map(|place| NAMES[place].0)
    }

    /// Those of it that a test lets pass.
    pub fn filter(self, test: impl Fn(Form) -> bool) -> Self {
        self.iter().filter(|&form| test(form)).collect()
    }

    /// With each form of dates the same ones in every order, as a question may have another than its column.
    pub fn in_any_order(self) -> Self {
        let kind = |form| match form {
            Form::Date(_) => Form::Date(Order::Ymd),
            Form::Timestamp(_, zone) => Form::Timestamp(Order::Ymd, zone),
            other => other,
        };
        Self::all().filter(|form| self.iter().any(|ours| kind(ours) == kind(form)))
    }

    /// Those that the arguments leave: dates in one order, numbers with a comma.
    pub fn allowed(self, order: Option<Order>, comma: bool) -> Self {
        self.filter(|form| match form {
            Form::Decimal(mark) => !comma || mark == Mark::Comma,
            form => order.is_none() || form.order().is_none() || form.order() == order,
        })
    }
}

impl FromIterator<Form> for Forms {
    fn from_iter<I: IntoIterator<Item = Form>>(forms: I) -> Self {
        Self(forms.into_iter().fold(0, |set, form| set | 1 << form.place()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Zone;
    use super::*;

    #[test]
    fn a_cell_has_the_forms_that_it_can_be_read_in() {
        let of =
            |cell: &str| Forms::of(cell).iter().map(|form| form.to_string()).collect::<Vec<_>>().join(" ");
        for (cell, expected) in [
            ("12/31/2023", "date-mdy timestamp-mdy"),
            ("1/5/2024", "date-mdy date-dmy timestamp-mdy timestamp-dmy"),
            ("31.12.2023", "date-dmy timestamp-dmy version"),
            ("2023-12-31", "date timestamp"),
            ("2023-12-31 10:00", "timestamp"),
            ("2023-12-31 10:00Z", "timestamptz"),
            ("10:30", "time"),
            ("10.0.0.1", "ip version"),
            ("::1", "ip"),
            ("1.2.3", "version"),
            ("1,50", "decimal-comma"),
            ("1,500", "decimal decimal-comma"),
            ("1.5", "version decimal"),
            ("3", "version decimal decimal-comma"),
            ("01000", ""),
            ("rs74", ""),
            ("", ""),
            ("555-1234", ""),
        ] {
            assert_eq!(of(cell), expected, "{cell}");
        }
    }

    #[test]
    fn sets_are_cut_and_widened() {
        let mdy: Forms = [Form::Date(Order::Mdy), Form::Time].into_iter().collect();
        assert!(
            mdy.in_any_order().contains(Form::Date(Order::Mon)) && mdy.in_any_order().contains(Form::Time)
        );
        assert!(!mdy.in_any_order().contains(Form::Timestamp(Order::Ymd, Zone::Without)));
        assert_eq!(Forms::all().allowed(Some(Order::Dmy), true).iter().count(), 7);
        assert_eq!(Forms::all().allowed(None, false), Forms::all());
    }
}
