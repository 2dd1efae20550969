//! Keys of LEFT's rows among those of RIGHT: of the same types, so that an index over these finds them.

use crate::rows::key::{self, Complaint, Rule};
use crate::rows::keys::{Keys, push};
use crate::rows::kind::{Kind, Part};
use crate::rows::number::{Number, has_leading_zero};
use latchless::bytes::KEY_LEN_MAX;

/// Which of RIGHT's keys is wanted in place of a number that its column can't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// None.
    Equal,
    /// The largest that is smaller.
    AtMost,
    /// The smallest that is larger.
    AtLeast,
}

/// What a row of LEFT is looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// A key. `prefix`: how many of its bytes are those of all parts but the last.
    Key { prefix: usize },
    /// Nothing: no row of RIGHT can have such a key.
    Unmatched,
    /// Nothing: a cell is empty.
    Empty,
}

/// Adds a row's key to others. `cell`: the cell that goes with a part of RIGHT's keys, by the part's place.
///
/// # Errors
/// The place of a part whose cell is of another type, and why.
pub fn probe<'c>(
    parts: &[Part],
    cell: impl Fn(usize) -> &'c [u8],
    end: End,
    keys: &mut Keys,
    bytes: &mut Vec<u8>,
) -> Result<Probe, (usize, Complaint)> {
    bytes.clear();
    if parts.iter().enumerate().any(|(place, part)| part.is_empty(cell(place))) {
        return Ok(Probe::Empty);
    }
    let is_word = !matches!(keys, Keys::Bytes(_));
    let (mut prefix, mut is_unmatched) = (0, false);
    for (place, part) in parts.iter().enumerate() {
        let is_last = place + 1 == parts.len();
        let cell = cell(place);
        if is_last {
            prefix = bytes.len();
        }
        match part.kind {
            Kind::Number(rule) => {
                let end = if is_last { end } else { End::Equal };
                match number(rule, cell, end).map_err(|complaint| (place, complaint))? {
                    None => is_unmatched = true,
                    Some(bits) if is_word => keys.push_number(bits),
                    Some(bits) => push(bytes, &bits, is_last),
                }
            }
            Kind::Form(form) => {
                let text = std::str::from_utf8(cell).unwrap_or_default();
                // A day among time stamps is its midnight.
                let [first, _] =
                    form.span(text.trim_ascii()).ok_or_else(|| (place, Complaint::of_form(text, form)))?;
                bytes.extend(first);
            }
            Kind::Text { .. } => push(bytes, cell, is_last),
        }
    }
    // No key of RIGHT is so long.
    if is_unmatched || bytes.len() > KEY_LEN_MAX {
        return Ok(Probe::Unmatched);
    }
    if !is_word {
        keys.push_bytes(bytes);
    }
    Ok(Probe::Key { prefix })
}

/// The order-keeping bits of the number in a cell, or of the key that is wanted in its place.
fn number(rule: Rule, cell: &[u8], end: End) -> Result<Option<u64>, Complaint> {
    let complaint = match rule.read_cell(cell) {
        Ok(bits) => return Ok(Some(bits)),
        Err(complaint) => complaint,
    };
    let text = std::str::from_utf8(cell).unwrap_or_default().trim_ascii();
    if !key::is_number(text) || (rule.inferred && has_leading_zero(text)) {
        return Err(complaint);
    }
    // NaN is a key of floats alone, which have read it.
    let Some(number) = Number::parse(text) else { return Ok(None) };
    let (at_least, at_most) = rule.place(text, &number);
    Ok(match end {
        End::Equal => at_least.filter(|_| at_least == at_most),
        End::AtMost => at_most,
        End::AtLeast => at_least,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::form::{Form, Order, Zone};
    use crate::rows::key::KeyType;

    /// The key that a cell is looked up by, as an unsigned integer.
    fn integer(cell: &str, end: End) -> Result<Option<u64>, Complaint> {
        number(Rule::new(None), cell.as_bytes(), end)
    }

    #[test]
    fn numbers_compare_as_numbers() {
        use End::{AtLeast, AtMost, Equal};
        for (cell, equal, at_most, at_least) in [
            ("5", Some(5), Some(5), Some(5)),
            (" 5.0 ", Some(5), Some(5), Some(5)),
            ("5.5", None, Some(5), Some(6)),
            ("-1", None, None, Some(0)),
            ("1e30", None, Some(u64::MAX), None),
            ("inf", None, Some(u64::MAX), None),
            ("NaN", None, None, None),
        ] {
            let ends = [Equal, AtMost, AtLeast].map(|end| integer(cell, end).unwrap());
            assert_eq!(ends, [equal, at_most, at_least], "{cell}");
        }
        for bad in ["x", "05", "5 5"] {
            assert!(integer(bad, Equal).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_of_several_parts_know_where_the_last_begins() {
        let number = Kind::Number(Rule::new(Some(KeyType::I64)));
        let moment = Kind::Form(Form::Timestamp(Order::Mdy, Zone::Without));
        let parts = [Part::new(3, Kind::Text { guessed: false }), Part::new(0, number), Part::new(1, moment)];
        let mut keys = Keys::of(&parts);
        let mut key = |cells: [&'static str; 3]| {
            probe(&parts, |place| cells[place].as_bytes(), End::Equal, &mut keys, &mut Vec::new())
        };
        assert_eq!(key(["a", "-1.0", "12/31/2023"]), Ok(Probe::Key { prefix: 3 + 8 }));
        assert_eq!(key(["a", "-1", "2023-12-31 00:00"]), Ok(Probe::Key { prefix: 3 + 8 }));
        assert_eq!(key(["a", "1.5", "2023-12-31"]), Ok(Probe::Unmatched));
        assert_eq!(key(["a", "1", " "]), Ok(Probe::Empty));
        assert_eq!(key(["", "x", "2023-12-31"]), Ok(Probe::Empty));
        assert!(matches!(key(["a", "1", "31/12/2023"]), Err((2, Complaint::NotOfForm(..)))));
        let Keys::Bytes(keys) = keys else { panic!("{keys:?}") };
        let keys: Vec<&[u8]> = keys.iter().collect();
        assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
    }
}
