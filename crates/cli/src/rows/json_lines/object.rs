//! One object of JSON lines: its keys, and the texts of its values.

use serde_core::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The columns: keys of objects.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    places: HashMap<String, usize>,
    are_fixed: bool,
}

impl Columns {
    /// These, and no others.
    pub fn of(names: &[String]) -> Self {
        let mut columns = Self::default();
        names.iter().for_each(|name| columns.add(name));
        columns.fix();
        columns
    }

    /// Their names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// No others are added.
    pub fn fix(&mut self) {
        self.are_fixed = true;
    }

    /// Whether no others are added.
    pub fn are_fixed(&self) -> bool {
        self.are_fixed
    }

    /// Adds the keys of the object in a line that aren't there.
    ///
    /// # Errors
    /// If the line isn't an object.
    pub fn add_keys(&mut self, line: &str) -> Result<()> {
        walk(line, |key, _| {
            self.add(&key);
            Ok(())
        })
    }

    fn add(&mut self, name: &str) {
        if !self.places.contains_key(name) {
            self.places.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
    }

    /// The column of a key. `likely`: the one that it probably is.
    fn place(&self, key: &str, likely: usize) -> Option<usize> {
        if self.names.get(likely).is_some_and(|name| name == key) {
            return Some(likely);
        }
        self.places.get(key).copied()
    }
}

/// The values of one object, as they are written, in the order of the columns.
#[derive(Debug, Default)]
pub struct Cells<'l>(Vec<Option<&'l str>>);

impl<'l> Cells<'l> {
    /// Reads the object in a line. Returns a key that is no column, if it has one.
    ///
    /// # Errors
    /// If the line isn't an object, or one with a key that it has twice.
    pub fn read(&mut self, line: &'l str, columns: &Columns) -> Result<Option<Cow<'l, str>>> {
        self.0.clear();
        self.0.resize(columns.names.len(), None);
        let (mut likely, mut excess) = (0, None);
        walk(line, |key, value| {
            match columns.place(&key, likely) {
                Some(place) => {
                    likely = place + 1;
                    if self.0[place].replace(value).is_some() {
                        return Err(format!("the key {key:?} is there twice"));
                    }
                }
                None => excess = excess.take().or(Some(key)),
            }
            Ok(())
        })?;
        Ok(excess)
    }

    /// The cells; `None` for null, and for a key that isn't there.
    ///
    /// # Errors
    /// If an escape in a text is no character.
    pub fn texts(&self) -> Result<Vec<Option<Cow<'l, str>>>> {
        self.0.iter().map(|&value| value.map_or(Ok(None), text)).collect()
    }
}

/// A value as a cell: a text without its quotes, everything else as it is written.
fn text(value: &str) -> Result<Option<Cow<'_, str>>> {
    let inside = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inside {
        None => Ok(Some(value).filter(|&value| value != "null").map(Cow::Borrowed)),
        Some(inside) if !inside.contains('\\') => Ok(Some(Cow::Borrowed(inside))),
        Some(_) => serde_json::from_str(value).map(|text| Some(Cow::Owned(text))),
    }
}

/// Calls `each` with each key and value of the object in a line.
fn walk<'l>(
    line: &'l str,
    each: impl FnMut(Cow<'l, str>, &'l str) -> std::result::Result<(), String>,
) -> Result<()> {
    let mut from = Deserializer::from_str(line);
    (&mut from).deserialize_map(Object(each))?;
    from.end()
}

/// Takes the entries of an object.
struct Object<F>(F);

impl<'l, F: FnMut(Cow<'l, str>, &'l str) -> std::result::Result<(), String>> Visitor<'l> for Object<F> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("an object, one a line")
    }

    fn visit_map<A: MapAccess<'l>>(mut self, mut entries: A) -> std::result::Result<(), A::Error> {
        while let Some((key, value)) = entries.next_entry::<&'l RawValue, &'l RawValue>()? {
            let key = text(key.get()).map_err(A::Error::custom)?.unwrap_or_default();
            (self.0)(key, value.get()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
