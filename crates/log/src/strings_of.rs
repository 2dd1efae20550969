//! Reading the strings of a record.

use crate::record::{Header, LONG};
use latchless::snapshot::DataType;
use std::ops::Bound;

/// The strings of a record, one after the other; each with a value if there is a type of values.
pub struct StringsOf<'p> {
    payload: &'p [u8],
    is_long: bool,
    values: Option<DataType>,
}

/// A string and the bytes of its value, or that the record ends within them.
pub type StringEntry<'p> = Result<(&'p [u8], &'p [u8]), &'static str>;

impl<'p> Iterator for StringsOf<'p> {
    type Item = StringEntry<'p>;

    fn next(&mut self) -> Option<StringEntry<'p>> {
        if self.payload.is_empty() {
            return None;
        }
        let entry = self.take();
        if entry.is_none() {
            self.payload = &[];
        }
        Some(entry.ok_or("its strings are longer than the record"))
    }
}

impl<'p> StringsOf<'p> {
    pub fn new(header: Header, payload: &'p [u8], values: Option<DataType>) -> Self {
        Self { payload, is_long: header.is_long, values }
    }

    fn take(&mut self) -> Option<(&'p [u8], &'p [u8])> {
        let key = self.string()?;
        let value = match self.values.map(DataType::width_bytes) {
            None => &[],
            Some(0) => self.string()?,
            Some(width) => self.bytes(width)?,
        };
        Some((key, value))
    }

    pub fn string(&mut self) -> Option<&'p [u8]> {
        let length = match u16::from_le_bytes(self.bytes(2)?.try_into().ok()?) {
            LONG if self.is_long => u32::from_le_bytes(self.bytes(4)?.try_into().ok()?) as usize,
            length => length.into(),
        };
        self.bytes(length)
    }

    /// A range: the kinds of its ends, then their strings.
    pub fn range(&mut self) -> Result<[Bound<&'p [u8]>; 2], &'static str> {
        let &[low, high] = self.bytes(2).and_then(|kinds| kinds.first_chunk()).ok_or(NO_RANGE)?;
        let mut end = |kind: u8| match (kind, self.string()) {
            (0, Some(_)) => Ok(Bound::Unbounded),
            (1, Some(key)) => Ok(Bound::Included(key)),
            (2, Some(key)) => Ok(Bound::Excluded(key)),
            _ => Err(NO_RANGE),
        };
        Ok([end(low)?, end(high)?])
    }

    pub fn bytes(&mut self, count: usize) -> Option<&'p [u8]> {
        let (bytes, rest) = self.payload.split_at_checked(count)?;
        self.payload = rest;
        Some(bytes)
    }
}

/// The range of a [`Kind::RemoveRangeOfStrings`]; the error describes the damage.
pub fn range_of_strings(header: Header, payload: &[u8]) -> Result<[Bound<&[u8]>; 2], &'static str> {
    let mut strings = StringsOf::new(header, payload, None);
    let ends = strings.range()?;
    if strings.next().is_some() { Err(NO_RANGE) } else { Ok(ends) }
}

const NO_RANGE: &str = "no range of strings is written so";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Draft, Entry, Format, HEADER_BYTES, Kind};

    /// The header and the payload of a record.
    fn parsed(draft: Draft) -> (Header, Vec<u8>) {
        let mut draft = draft.seal();
        let (head, payload) = draft.numbered(1, 0).split_at(HEADER_BYTES);
        (Entry::parse(head, Format::NOW).unwrap().record.unwrap(), payload.to_vec())
    }

    #[test]
    fn strings_of_all_lengths_are_read_as_they_were_written() {
        for lens in [&[0, 1, 65_534][..], &[65_535, 3], &[7, 65_536, 65_535, 0, 1 << 20]] {
            let strings: Vec<Vec<u8>> = lens.iter().map(|&len| vec![len as u8; len]).collect();
            let mut draft = Draft::of_strings(Kind::RemoveStrings);
            strings.iter().for_each(|string| draft.push(string));
            let (header, payload) = parsed(draft);
            let read: Result<Vec<_>, _> = StringsOf::new(header, &payload, None).collect();
            assert!(read.unwrap().into_iter().map(|(key, _)| key).eq(&strings), "{lens:?}");
        }
    }

    /// Records without that mark are from before there were longer strings.
    #[test]
    fn without_the_mark_of_long_strings_a_length_of_65_535_is_one() {
        let mut draft = Draft::of_strings(Kind::RemoveStrings);
        draft.push_raw(&[0xFF; 2]);
        draft.push_raw(&[1; 65_535]);
        draft.push(b"next");
        let (header, payload) = parsed(draft);
        let read: Vec<_> = StringsOf::new(header, &payload, None).map(|entry| entry.unwrap().0).collect();
        assert_eq!(read, [&[1; 65_535][..], b"next"]);
    }
}
