//! The keys of all rows: numbers as their order-keeping bits; texts, and keys of several columns, as bytes.
//!
//! The bytes are those of [`BytesKey`]: of a text or of a tuple, whose numbers are their bits. So they have
//! the order of the keys, and those of a tuple begin with those of its first parts. Cells of a form have
//! the bytes of that form ([`super::form`]), which need no terminator.

use super::form::Form;
use super::key::Complaint;
use super::kind::{Kind, Part};
use latchless::BytesKey;
use latchless::bytes::KEY_LEN_MAX;

/// Each row's key, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Keys {
    /// Numbers of 32 bits.
    Narrow(Vec<u32>),
    /// Numbers of 64 bits.
    Wide(Vec<u64>),
    /// Everything else.
    Bytes(Strings),
}

impl Keys {
    /// No keys yet, of these parts.
    pub fn of(parts: &[Part]) -> Self {
        match parts {
            [Part { kind: Kind::Number(rule), .. }] if rule.key_type.is_narrow() => Self::Narrow(Vec::new()),
            [Part { kind: Kind::Number(_), .. }] => Self::Wide(Vec::new()),
            _ => Self::Bytes(Strings::default()),
        }
    }

    /// Adds the key of a row, whose cell in a column `cell` gives, in UTF-8.
    ///
    /// # Errors
    /// The place of the part that can't be read, and why; nothing is added then.
    pub fn push<'c>(
        &mut self,
        parts: &[Part],
        cell: impl Fn(usize) -> &'c [u8],
    ) -> Result<(), (usize, Complaint)> {
        let number = || match parts[0].kind {
            Kind::Number(rule) => rule.read_cell(cell(parts[0].column)).map_err(|complaint| (0, complaint)),
            Kind::Form(_) | Kind::Text { .. } => unreachable!("these are bytes"),
        };
        match self {
            Self::Narrow(keys) => keys.push(number()? as u32),
            Self::Wide(keys) => keys.push(number()?),
            Self::Bytes(keys) => keys.push(parts, cell)?,
        }
        Ok(())
    }

    /// Adds a key that is one number, by its order-keeping bits.
    pub fn push_number(&mut self, bits: u64) {
        match self {
            Self::Narrow(keys) => keys.push(bits as u32),
            Self::Wide(keys) => keys.push(bits),
            Self::Bytes(_) => unreachable!("numbers are words"),
        }
    }

    /// Adds a key of other keys, by its bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        match self {
            Self::Bytes(keys) => {
                keys.bytes.extend_from_slice(bytes);
                keys.ends.push(keys.bytes.len());
            }
            Self::Narrow(_) | Self::Wide(_) => unreachable!("numbers are words"),
        }
    }

    /// Removes the last one.
    pub fn pop(&mut self) {
        match self {
            Self::Narrow(keys) => drop(keys.pop()),
            Self::Wide(keys) => drop(keys.pop()),
            Self::Bytes(keys) => {
                keys.ends.pop();
                keys.bytes.truncate(keys.ends.last().copied().unwrap_or(0));
            }
        }
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        match self {
            Self::Narrow(keys) => keys.clear(),
            Self::Wide(keys) => keys.clear(),
            Self::Bytes(keys) => {
                keys.bytes.clear();
                keys.ends.clear();
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(keys) => keys.len(),
            Self::Wide(keys) => keys.len(),
            Self::Bytes(keys) => keys.ends.len(),
        }
    }

    /// Whether a row's key is that of a row among others, which have the same parts.
    pub fn same(&self, row: usize, others: &Self, other: usize) -> bool {
        match (self, others) {
            (Self::Bytes(ours), Self::Bytes(theirs)) => ours.get(row) == theirs.get(other),
            _ => self.number(row) == others.number(other),
        }
    }

    /// Whether the key of a row among others begins as the key of a row does, up to this many bytes of it. Of
    /// keys that are one number no part does.
    pub fn begins(&self, row: usize, others: &Self, other: usize, prefix: usize) -> bool {
        match (self, others) {
            (Self::Bytes(ours), Self::Bytes(theirs)) => {
                theirs.get(other).starts_with(&ours.get(row)[..prefix])
            }
            _ => true,
        }
    }

    /// Whether the last part of a row's key, which is of this kind and begins at this byte, is NaN.
    pub fn is_nan(&self, row: usize, kind: Kind, prefix: usize) -> bool {
        let bytes = match self {
            Self::Bytes(keys) => &keys.get(row)[prefix..],
            _ => &self.number(row).to_be_bytes(),
        };
        match kind {
            Kind::Number(rule) => u64::from_bytes(bytes) > rule.key_type.ends().1,
            Kind::Form(form) => form.ends().is_some_and(|[_, largest]| bytes.first() > Some(&largest)),
            Kind::Text { .. } => false,
        }
    }

    /// The order-keeping bits of a row's key, of keys that are one number each.
    pub fn number(&self, row: usize) -> u64 {
        match self {
            Self::Narrow(keys) => keys[row].into(),
            Self::Wide(keys) => keys[row],
            Self::Bytes(_) => unreachable!("numbers are words"),
        }
    }
}

/// Byte strings one after the other.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Appends the key of a row. See [`Keys::push`].
    fn push<'c>(
        &mut self,
        parts: &[Part],
        cell: impl Fn(usize) -> &'c [u8],
    ) -> Result<(), (usize, Complaint)> {
        let start = self.bytes.len();
        for (place, part) in parts.iter().enumerate() {
            let (cell, is_last) = (cell(part.column), place + 1 == parts.len());
            let pushed = match part.kind {
                Kind::Number(rule) => rule.read_cell(cell).map(|bits| push(&mut self.bytes, &bits, is_last)),
                Kind::Form(form) => push_form(&mut self.bytes, form, cell, part.is_strict),
                Kind::Text { .. } => {
                    push(&mut self.bytes, cell, is_last);
                    Ok(())
                }
            };
            let length = self.bytes.len() - start;
            let fits = || (length <= KEY_LEN_MAX).then_some(()).ok_or(Complaint::TooLong(length));
            if let Err(complaint) = pushed.and_then(|()| fits()) {
                self.bytes.truncate(start);
                return Err((place, complaint));
            }
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// A row's.
    pub fn get(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[row]]
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

impl<'k> FromIterator<&'k [u8]> for Strings {
    fn from_iter<I: IntoIterator<Item = &'k [u8]>>(keys: I) -> Self {
        let mut strings = Self::default();
        for key in keys {
            strings.bytes.extend_from_slice(key);
            strings.ends.push(strings.bytes.len());
        }
        strings
    }
}

/// Appends a cell of a form to the parts before it.
fn push_form(bytes: &mut Vec<u8>, form: Form, cell: &[u8], is_strict: bool) -> Result<(), Complaint> {
    let cell = std::str::from_utf8(cell).unwrap_or_default();
    let trimmed = cell.trim_ascii();
    let pushed = (!is_strict || form.looks_so(trimmed)).then(|| form.push(trimmed, bytes)).flatten();
    pushed.ok_or_else(|| Complaint::of_form(cell, form))
}

/// Appends a part of a key to those before it.
pub fn push<K: BytesKey, P: BytesKey<K> + ?Sized>(bytes: &mut Vec<u8>, part: &P, is_last: bool) {
    if is_last {
        part.with_bytes(|part| bytes.extend_from_slice(part));
    } else {
        // As a tuple's first part, without anything after it.
        (part, Vec::<u8>::new()).with_bytes(|part| bytes.extend_from_slice(part));
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::{KeyType, Rule};
    use super::*;
    use proptest::prelude::*;

    fn part(column: usize, named: Option<KeyType>) -> Part {
        let text = Kind::Text { guessed: false };
        let kind = named.map_or(text, |key_type| Kind::Number(Rule::new(Some(key_type))));
        Part::new(column, kind)
    }

    /// The bytes of one row's key.
    fn bytes(parts: &[Part], row: &[&str]) -> Result<Vec<u8>, (usize, Complaint)> {
        let mut keys = Strings::default();
        keys.push(parts, |column| row[column].as_bytes())?;
        Ok(keys.iter().next().unwrap().to_vec())
    }

    #[test]
    fn a_key_that_is_too_long_is_not_added() {
        let (text, number) = (part(0, None), part(1, Some(KeyType::I64)));
        let long: &str = "x".repeat(KEY_LEN_MAX).leak();
        assert_eq!(bytes(&[text], &[long]).unwrap().len(), KEY_LEN_MAX);
        let mut keys = Keys::of(&[text, number]);
        let mut push = |row: [&'static str; 2]| keys.push(&[text, number], |column| row[column].as_bytes());
        assert_eq!(push(["a", "1"]), Ok(()));
        assert_eq!(push([long, "1"]), Err((0, Complaint::TooLong(KEY_LEN_MAX + 2))));
        assert!(matches!(push(["b", "x"]), Err((1, Complaint::NotANumber(_)))));
        assert_eq!(push(["c", "-1"]), Ok(()));
        let Keys::Bytes(keys) = keys else { panic!("{keys:?}") };
        let bits = |number: i64| latchless::Key::encode(number);
        let expected = [("a", bits(1)), ("c", bits(-1))]
            .map(|(text, bits)| (text.to_owned(), bits).with_bytes(<[u8]>::to_vec));
        assert_eq!(keys.iter().collect::<Vec<_>>(), expected);
    }

    proptest! {
        /// Keys of several columns have the bytes of tuples.
        #[test]
        fn keys_of_columns_are_tuples(a in "[\u{0}a-c]{0,4}", n: i64, b in "[\u{0}a-c]{0,4}") {
            let (first, number, last) = (part(0, None), part(1, Some(KeyType::I64)), part(2, None));
            let (written, bits) = (n.to_string(), latchless::Key::encode(n));
            let row = [&a[..], &written, &b];
            let of = |parts: &[Part]| bytes(parts, &row).unwrap();
            prop_assert_eq!(of(&[first]), a.as_bytes());
            prop_assert_eq!(of(&[first, number]), (&a, bits).with_bytes(<[u8]>::to_vec));
            prop_assert_eq!(of(&[number, last]), (bits, &b).with_bytes(<[u8]>::to_vec));
            prop_assert_eq!(of(&[first, last]), (&a, &b).with_bytes(<[u8]>::to_vec));
            prop_assert_eq!(of(&[first, number, last]), (&a, bits, &b).with_bytes(<[u8]>::to_vec));
        }
    }
}
