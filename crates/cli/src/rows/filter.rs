//! Conditions that rows have to meet: comparisons of cells with values, all of which have to hold.
//!
//! A value is compared as a question's key is: a number with numbers whatever their type, a day with all of
//! its moments. So each comparison is with the two places around the value among a column's keys.

use super::error::QueryError;
use super::given::Given;
use super::key::{self, Complaint};
use super::kind::{Kind, Part};

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Equal.
    Equal,
    /// Not equal.
    Unequal,
    /// Below.
    Below,
    /// Below or equal.
    AtMost,
    /// Above.
    Above,
    /// Above or equal.
    AtLeast,
}

/// Operators as they are written; of those that begin alike the longest first.
const OPERATORS: [(&str, Operator); 8] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("!=", Operator::Unequal),
    ("<>", Operator::Unequal),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Below),
    (">", Operator::Above),
];

/// A condition as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub value: String,
}

impl Condition {
    /// The conditions in an argument, separated by `and`. Columns and values with blanks or operators in them
    /// are in quotes, single or double, which are doubled inside.
    ///
    /// # Errors
    /// [`QueryError::Where`].
    pub fn parse(argument: &str) -> Result<Vec<Self>, QueryError> {
        let (mut rest, mut conditions) = (argument, Vec::new());
        loop {
            let bad = |rest: &str| QueryError::Where { rest: key::quoted(rest.trim_ascii_start()) };
            let (column, after) = word(rest, true).ok_or_else(|| bad(rest))?;
            let operators = after.trim_ascii_start();
            let found = OPERATORS
                .iter()
                .find_map(|&(text, operator)| Some((operators.strip_prefix(text)?, operator)));
            let (after, operator) = found.ok_or_else(|| bad(after))?;
            let (value, after) = word(after, false).ok_or_else(|| bad(after))?;
            conditions.push(Self { column, operator, value });
            let after = after.trim_ascii_start();
            if after.is_empty() {
                return Ok(conditions);
            }
            let and = after.get(..3).filter(|and| and.eq_ignore_ascii_case("and"));
            let next = and.map(|and| &after[and.len()..]).filter(|next| next.starts_with([' ', '"', '\'']));
            rest = next.ok_or_else(|| bad(after))?;
        }
    }

    /// Whether it is about the order of values.
    pub fn is_ordered(&self) -> bool {
        !matches!(self.operator, Operator::Equal | Operator::Unequal)
    }

    /// The value as a key.
    pub fn given(&self) -> Given<'_> {
        Given { text: &self.value, parts: vec![self.value.clone()] }
    }
}

/// The text up to a blank, or, of a column, up to an operator; or what is in quotes. And the rest.
fn word(text: &str, is_column: bool) -> Option<(String, &str)> {
    let text = text.trim_ascii_start();
    if let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let (mut word, mut rest) = (String::new(), &text[1..]);
        loop {
            let end = rest.find(quote)?;
            word.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            let Some(more) = rest.strip_prefix(quote) else { return Some((word, rest)) };
            word.push(quote);
            rest = more;
        }
    }
    let ends =
        |byte: char| byte.is_ascii_whitespace() || (is_column && matches!(byte, '=' | '<' | '>' | '!'));
    let end = text.find(ends).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// A comparison with the cells of a column.
#[derive(Debug, Clone)]
struct Test {
    part: Part,
    operator: Operator,
    /// The first bytes of keys that aren't below the value, and of those that are above it, if there are any.
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
}

/// Conditions on the cells of rows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    tests: Vec<Test>,
    skip_bad: bool,
}

impl Filter {
    /// No conditions yet. `skip_bad`: whether a cell that isn't of its column's type meets none, rather than
    /// being refused.
    pub fn new(skip_bad: bool) -> Self {
        Self { tests: Vec::new(), skip_bad }
    }

    /// Adds a condition on a column that is read so, for which its value was checked.
    pub fn add(&mut self, condition: &Condition, part: Part) {
        let (low, high) = condition.given().places(&[part.kind]);
        self.tests.push(Test { part, operator: condition.operator, low: low.next(), high: high.next() });
    }

    /// Whether a row meets all conditions. An empty cell meets none.
    ///
    /// # Errors
    /// The column of a cell that isn't of its type, and why.
    pub fn passes<'c>(&self, cell: impl Fn(usize) -> &'c [u8]) -> Result<bool, (usize, Complaint)> {
        for test in &self.tests {
            match test.passes(cell(test.part.column)) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(complaint) if self.skip_bad && complaint.is_no_value() => return Ok(false),
                Err(complaint) => return Err((test.part.column, complaint)),
            }
        }
        Ok(true)
    }
}

impl Test {
    fn passes(&self, cell: &[u8]) -> Result<bool, Complaint> {
        if self.part.is_empty(cell) {
            return Ok(false);
        }
        let (word, mut bytes);
        let (key, is_nan): (&[u8], bool) = match self.part.kind {
            Kind::Number(rule) => {
                let bits = rule.read_cell(cell)?;
                word = bits.to_be_bytes();
                (&word, bits > rule.key_type.ends().1)
            }
            Kind::Form(form) => {
                let text = std::str::from_utf8(cell).unwrap_or_default();
                bytes = Vec::new();
                let pushed = form.push(text.trim_ascii(), &mut bytes);
                pushed.ok_or_else(|| Complaint::of_form(text, form))?;
                let is_nan = form.ends().is_some_and(|[_, largest]| bytes[0] > largest);
                (&bytes, is_nan)
            }
            Kind::Text { .. } => (cell, false),
        };
        let is_from = |place: &Option<Vec<u8>>| place.as_ref().is_some_and(|place| key >= &place[..]);
        let (from_low, from_high) = (is_from(&self.low), is_from(&self.high));
        Ok(match self.operator {
            Operator::Equal => from_low && !from_high,
            Operator::Unequal => !from_low || from_high,
            // NaN is in no order.
            _ if is_nan => false,
            Operator::Below => !from_low,
            Operator::AtMost => !from_high,
            Operator::Above => from_high,
            Operator::AtLeast => from_low,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::{Form, Order, Zone};
    use super::super::key::{KeyType, Rule};
    use super::*;

    fn parsed(argument: &str) -> Result<Vec<(String, Operator, String)>, String> {
        let conditions = Condition::parse(argument).map_err(|error| error.to_string())?;
        Ok(conditions.into_iter().map(|one| (one.column, one.operator, one.value)).collect())
    }

    #[test]
    fn conditions_are_joined_by_and() {
        use Operator::{AtLeast, AtMost, Below, Equal, Unequal};
        let one = |column: &str, operator, value: &str| (column.to_owned(), operator, value.to_owned());
        for (argument, expected) in [
            ("a=1", vec![one("a", Equal, "1")]),
            (" a  <=  -1.5 ", vec![one("a", AtMost, "-1.5")]),
            (
                "a >= 1 and b<2 AND c <> and",
                vec![one("a", AtLeast, "1"), one("b", Below, "2"), one("c", Unequal, "and")],
            ),
            (
                "\"a \"\"b\" == 'it''s, and' and b!=''",
                vec![one("a \"b", Equal, "it's, and"), one("b", Unequal, "")],
            ),
            ("t >= '2024-01-01 10:00'", vec![one("t", AtLeast, "2024-01-01 10:00")]),
            ("url = a=b", vec![one("url", Equal, "a=b")]),
        ] {
            assert_eq!(parsed(argument), Ok(expected), "{argument}");
        }
        for bad in [
            "",
            "a",
            "a =",
            "= 1",
            "a = 1 b = 2",
            "a = 1 and",
            "a = 1 andb = 2",
            "a ~ 1",
            "a = 'x",
            "a = 1 or b = 2",
        ] {
            assert!(parsed(bad).unwrap_err().contains("--where"), "{bad}");
        }
    }

    #[test]
    fn values_compare_as_keys_do() {
        let number = |key_type| Kind::Number(Rule { key_type, inferred: true });
        let moments = Kind::Form(Form::Timestamp(Order::Mdy, Zone::Without));
        let (unsigned, float, text) =
            (number(KeyType::U64), number(KeyType::F64), Kind::Text { guessed: true });
        for (kind, condition, cells) in [
            (unsigned, "k = 5.0", &[("5", true), ("6", false), ("", false)][..]),
            (unsigned, "k != 5", &[("5", false), ("6", true), (" ", false)]),
            (unsigned, "k < 5.5", &[("5", true), ("6", false)]),
            (unsigned, "k > 5.5", &[("5", false), ("6", true)]),
            (unsigned, "k <= 5", &[("5", true), ("6", false)]),
            (unsigned, "k >= 5", &[("4", false), ("5", true)]),
            (unsigned, "k >= -1", &[("0", true)]),
            (unsigned, "k > 1e30", &[("18446744073709551615", false)]),
            (unsigned, "k = 5.5", &[("5", false), ("6", false)]),
            (float, "k > 1", &[("NaN", false), ("inf", true), ("1", false)]),
            (float, "k = NaN", &[("NaN", true), ("1", false)]),
            (float, "k != 1", &[("NaN", true), ("1.0", false)]),
            (moments, "k = 2023-12-31", &[("12/31/2023 23:59", true), ("1/1/2024 00:00", false)]),
            (moments, "k > 2023-12-31", &[("12/31/2023 23:59", false), ("1/1/2024 00:00", true)]),
            (moments, "k < 12/31/2023", &[("12/31/2023 00:00", false), ("12/30/2023 00:00", true)]),
            (text, "k = ab", &[("ab", true), ("a", false), ("abc", false), (" ab", false)]),
            (text, "k > ab", &[("ab", false), ("a", false), ("abc", true)]),
            (text, "k <= ab", &[("ab", true), ("a", true), ("abc", false), ("", false)]),
        ] {
            let condition = &Condition::parse(condition).unwrap()[0];
            let mut filter = Filter::new(false);
            filter.add(condition, Part::new(0, kind));
            for (cell, expected) in cells {
                assert_eq!(filter.passes(|_| cell.as_bytes()), Ok(*expected), "{condition:?} {cell:?}");
            }
        }
        let mut filter = Filter::new(true);
        filter.add(&Condition::parse("k != 5").unwrap()[0], Part::new(0, unsigned));
        assert_eq!(filter.passes(|_| b"x"), Ok(false));
        filter.skip_bad = false;
        assert!(filter.passes(|_| b"x").is_err() && filter.passes(|_| b"-1").is_err());
    }
}
