//! The type of a column whose cells aren't plain numbers: the form that all of them have, or texts.
//!
//! A column has a form only if every one of its cells has it, and only if that leaves no choice: dates that
//! can be read month first and day first have neither form. A column is never taken for texts if the
//! question is about something else: dates would be in another order, and a cell such as NA among them
//! would be missed.

use super::error::QueryError;
use super::form::{Form, Forms, Mark, Order};
use super::key::{self, Complaint, Rule};
use super::kind::{Kind, Named};
use super::meant::Meant;
use super::table::Table;

/// Which rows have no key, and are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skip {
    /// Those with a cell that isn't of the column's type.
    pub bad: bool,
    /// Those with an empty cell.
    pub empty: bool,
}

/// The plan to find the type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The kind to begin with; `None`: its form is looked for first.
    pub first: Option<Kind>,
    /// The forms that it may have.
    pub forms: Forms,
    /// Whether an argument names these forms, so that each way to write them will do.
    pub is_named: bool,
    /// The question's constraint on it.
    pub meant: Meant,
    /// Whether ids with zeros in front may be texts where the question has numbers, as it has no order.
    pub has_no_order: bool,
}

impl Plan {
    /// For a column whose kind is known.
    pub fn known(kind: Kind) -> Self {
        Self {
            first: Some(kind),
            forms: Forms::NONE,
            is_named: true,
            meant: Meant::Anything,
            has_no_order: false,
        }
    }

    /// For a column that an argument restricts to one of these forms.
    pub fn named(forms: Forms) -> Self {
        Self { first: None, forms, is_named: true, meant: Meant::Anything, has_no_order: false }
    }

    /// For a column that only the question describes. `allowed`: the forms that arguments leave; `comma`:
    /// whether numbers have a comma; `skip_bad`: whether bad cells are left out, so that the question has
    /// to determine the type.
    pub fn open(meant: Meant, allowed: Forms, comma: bool, skip_bad: bool) -> Self {
        let numbers = Some(Kind::Number(Rule::new(None))).filter(|_| !comma);
        let (first, forms) = match meant {
            Meant::Values { numbers: false, forms } if skip_bad => (None, forms.in_any_order()),
            _ if comma => (None, allowed),
            _ if skip_bad => (numbers, [Form::Decimal(Mark::Point)].into_iter().collect()),
            _ => (numbers, allowed),
        };
        let meant = match meant {
            // Rows are left out for lack of numbers, so numbers are wanted.
            Meant::Texts | Meant::Anything if skip_bad => Meant::Values { numbers: true, forms: Forms::NONE },
            meant => meant,
        };
        Self { first, forms: forms.and(allowed), is_named: false, meant, has_no_order: false }
    }

    /// For a column that an argument or the file may describe. `named`: the type that an argument names;
    /// `said`: the one according to the file; `open`: the plan if there is neither.
    pub fn new(
        named: Option<Named>,
        said: Option<Kind>,
        (order, comma): (Option<Order>, bool),
        open: impl FnOnce() -> Self,
    ) -> Self {
        match (named, said) {
            (Some(named), _) => match named.forms(order, comma) {
                Some(forms) => Self::named(forms),
                None => Self::known(named.kind().unwrap_or_else(|| unreachable!("it has no forms"))),
            },
            (None, Some(kind)) => Self::known(kind),
            (None, None) => open(),
        }
    }

    /// Whether another plan finds this kind, too, in a column with rows in which this plan has found it. Only
    /// texts depend on what the question is about: everything else is what the cells are.
    pub fn finds_as(&self, other: &Self, kind: Kind) -> bool {
        let other = match kind {
            Kind::Text { guessed: true } => *other,
            _ => Self { meant: self.meant, has_no_order: self.has_no_order, ..*other },
        };
        *self == other
    }

    /// The type of the column if it has no rows.
    pub fn without_rows(&self) -> Kind {
        let form = |forms: Forms| forms.iter().next().map(Kind::Form);
        match (self.meant, self.first) {
            (_, Some(known)) if self.is_named => known,
            _ if self.is_named => form(self.forms).unwrap_or(Kind::Text { guessed: true }),
            (Meant::Values { numbers: true, .. }, Some(numbers)) => numbers,
            (Meant::Values { forms, .. }, _) => {
                form(forms.and(self.forms)).unwrap_or(Kind::Text { guessed: true })
            }
            _ => Kind::Text { guessed: true },
        }
    }

    /// The kind of a column. `number`: the error of the first cell that is no number, if they were tried.
    ///
    /// # Errors
    /// [`QueryError::Key`] for the first cell that doesn't fit the question, [`QueryError::EitherForm`].
    pub fn settle(
        &self,
        table: &Table,
        column: usize,
        skip: Skip,
        mut number: Option<QueryError>,
    ) -> Result<Kind, QueryError> {
        let is_id = matches!(number, Some(QueryError::Key { complaint: Complaint::LeadingZero(_), .. }));
        if let Some(number) = number.take_if(|_| is_id && skip.bad) {
            return Err(number);
        }
        let may_be_text = !self.is_named
            && (matches!(self.meant, Meant::Anything | Meant::Texts) || (is_id && self.has_no_order));
        let refused = match self.look(table, column, skip)? {
            Looked::NoRows => return Ok(self.without_rows()),
            Looked::Agreed { forms, numbers, example } => match one_of(forms, numbers) {
                Ok(form) => return Ok(Kind::Form(form)),
                Err(forms) => QueryError::EitherForm { column: table.called(column), example, forms },
            },
            Looked::Broken { line, complaint } => {
                let is_about_numbers = matches!(self.meant, Meant::Values { numbers: true, .. });
                let broken = QueryError::Key { line, column: table.called(column), complaint };
                number.filter(|_| is_about_numbers || self.forms.is_empty()).unwrap_or(broken)
            }
        };
        if may_be_text { Ok(Kind::Text { guessed: true }) } else { Err(refused) }
    }

    /// The forms that all cells of a column have.
    fn look(&self, table: &Table, column: usize, skip: Skip) -> Result<Looked, QueryError> {
        let (mut forms, mut numbers, mut example) = (self.forms, true, None);
        let mut walk = table.walk()?;
        while walk.advance()? {
            let cell = walk.field(column).trim_ascii();
            if skip.empty && cell.is_empty() {
                continue;
            }
            let has = |form: Form| {
                if self.is_named { form.push(cell, &mut Vec::new()).is_some() } else { form.looks_so(cell) }
            };
            let left = forms.filter(has);
            if left.is_empty() {
                let is_id = self.forms.contains(Form::Decimal(Mark::Point)) && key::is_number(cell);
                if skip.bad && self.forms.filter(has).is_empty() && !is_id {
                    continue;
                }
                // The question determines the type of the first cell.
                let expected = match (self.meant, example) {
                    (Meant::Values { forms: meant, .. }, None) => meant.and(forms),
                    _ => forms,
                };
                let expected = expected.iter().chain(forms.iter()).next();
                let complaint = expected.map_or_else(
                    || Complaint::NotANumber(key::quoted(cell)),
                    |form| Complaint::of_form(cell, form),
                );
                return Ok(Looked::Broken { line: walk.line(), complaint });
            }
            forms = left;
            numbers = numbers && key::is_number(cell);
            example.get_or_insert_with(|| cell.to_owned());
        }
        Ok(example.map_or(Looked::NoRows, |example| Looked::Agreed { forms, numbers, example }))
    }
}

/// The findings about a column's cells.
enum Looked {
    /// No cell of any form, for lack of rows.
    NoRows,
    /// All cells have these forms; and whether all are numbers; and one of them.
    Agreed { forms: Forms, numbers: bool, example: String },
    /// The first cell that has no form of those before it.
    Broken { line: u64, complaint: Complaint },
}

/// The form to take of several: the narrowest.
///
/// # Errors
/// The two of which either may be meant.
fn one_of(forms: Forms, numbers: bool) -> Result<Form, [Form; 2]> {
    let (point, comma) = (Form::Decimal(Mark::Point), Form::Decimal(Mark::Comma));
    if numbers && forms.contains(point) {
        return Ok(point);
    }
    let first = forms.iter().next().unwrap_or_else(|| unreachable!("a form is left"));
    let other = match first {
        Form::Date(Order::Mdy) => Form::Date(Order::Dmy),
        Form::Timestamp(Order::Mdy, zone) => Form::Timestamp(Order::Dmy, zone),
        Form::Decimal(Mark::Point) => comma,
        _ => return Ok(first),
    };
    if forms.contains(other) { Err([first, other]) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(cells: &[&str], meant: Meant, skip_bad: bool) -> String {
        let text = format!("k;\n{}", cells.iter().map(|cell| format!("{cell};\n")).collect::<String>());
        let table = Table::new(&text, b';', true).unwrap();
        let plan = Plan::open(meant, Forms::all(), false, skip_bad);
        let skip = Skip { bad: skip_bad, empty: false };
        plan.settle(&table, 0, skip, None).map_or_else(|error| error.to_string(), |kind| kind.to_string())
    }

    #[test]
    fn a_column_has_the_form_that_all_of_its_cells_have() {
        for (cells, expected) in [
            (&["1/5/2024", "12/31/2023"][..], "date-mdy"),
            (&["1/5/2024", "31/12/2023"], "date-dmy"),
            (&["1.5.2024", "1.2.2024"], "date-dmy"),
            (&["2024-01-01", "2024-01-01 10:00"], "timestamp"),
            (&["2024-01-01 10:00Z", "2024-01-01 10:00+02"], "timestamptz"),
            (&["10.0.0.1", "::1"], "ip"),
            (&["10.0.0.1", "10.0.0.256"], "version"),
            (&["1.2", "3", "1.2.3"], "version"),
            (&["1,50", "3"], "decimal-comma"),
            (&["1,500", "0.5"], "decimal"),
            (&["1,500", "1,5"], "decimal-comma"),
            (&["18446744073709551616", "1.234"], "decimal"),
            (&["1-2", "3-4"], "text"),
            (&["01000", "1000"], "text"),
            (&["1/5/2024", "2/5/2024"], "text"),
            (&["2024-01-01 10:00Z", "2024-01-01 10:00"], "text"),
            (&["2024-01-01", ""], "text"),
        ] {
            assert_eq!(settled(cells, Meant::Anything, false), expected, "{cells:?}");
        }
    }

    #[test]
    fn a_question_about_dates_is_not_answered_about_texts() {
        let asked = |cells: &[&str], text, skip_bad| settled(cells, Meant::by(text), skip_bad);
        let broken = asked(&["2024/12/12", "1"], "2024-01-01", false);
        assert!(
            broken.starts_with("line 3, column \"k\": \"1\" is not of type date, as 2023-12-31 is"),
            "{broken}"
        );
        assert_eq!(asked(&["2024/12/12", "1"], "2024-01-01", true), "date");
        assert_eq!(asked(&["12/31/2023", "1", ""], "2024-01-01", true), "date-mdy");
        let either = asked(&["1/5/2024", "2/5/2024"], "1/5/2024", false);
        assert!(either.contains("--date-format mdy or --date-format dmy"), "{either}");
        let mixed = asked(&["2024-01-01 10:00", "2024-01-01 10:00Z"], "2024-01-01 10:00Z", false);
        assert!(mixed.contains("line 3") && mixed.contains("is not of type timestamp,"), "{mixed}");
        let empty = asked(&["2024-01-01", ""], "2024-01-01", false);
        assert!(empty.contains("line 3") && empty.contains("the field is empty"), "{empty}");
        let first = asked(&["abc"], "12/31/2023", false);
        assert!(first.contains("\"abc\" is not of type date-mdy"), "{first}");
        assert_eq!(asked(&[], "12/31/2023", false), "date-mdy");
        assert_eq!(asked(&[], "foo", false), "text");
    }
}
