//! Byte strings one after the other, as Arrow has them: their bytes, and where each of them begins.

use crate::batch::{Pulse, stretches};
use crate::engine::Undone;
use crate::sort::{reserve, room};
use latchless::Result;

/// A column of byte strings.
#[derive(Debug)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where each string begins, and where the last one ends.
    offsets: Vec<i64>,
}

impl Strings {
    /// No string, and room for so many, of so many bytes together.
    pub fn with_room(count: usize, bytes: usize) -> Result<Self> {
        let mut offsets = room(count.saturating_add(1))?;
        offsets.push(0);
        Ok(Self { bytes: room(bytes)?, offsets })
    }

    /// A copy of strings that lie side by side in these bytes; nothing if the offsets aren't theirs.
    pub fn copied(bytes: &[u8], offsets: &[i64]) -> Result<Option<Self>> {
        let mut copy = Self { bytes: room(bytes.len())?, offsets: room(offsets.len())? };
        copy.bytes.extend_from_slice(bytes);
        copy.offsets.extend_from_slice(offsets);
        // What was copied is checked, because others may be writing what it was copied from.
        let ends = (copy.offsets.first().copied(), copy.offsets.last().copied());
        let fit = ends == (Some(0), Some(bytes.len() as i64)) && copy.offsets.is_sorted();
        Ok(fit.then_some(copy))
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The string at a place.
    #[inline(always)]
    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each string begins, and where the last one ends.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Both.
    pub fn into_parts(self) -> (Vec<u8>, Vec<i64>) {
        (self.bytes, self.offsets)
    }

    /// Adds a string.
    #[inline]
    pub fn push(&mut self, string: &[u8]) -> Result<()> {
        self.push_with(string.len(), |bytes| bytes.extend_from_slice(string))
    }

    /// Adds a string of at most so many bytes, which `write` appends.
    #[inline]
    pub fn push_with(&mut self, len_max: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        reserve(&mut self.bytes, len_max)?;
        reserve(&mut self.offsets, 1)?;
        write(&mut self.bytes);
        self.offsets.push(self.bytes.len() as i64);
        Ok(())
    }

    /// Adds strings that lie side by side: `ends` says where each ends in `bytes`, and ascends.
    pub fn append(&mut self, bytes: &[u8], ends: impl ExactSizeIterator<Item = i64>) -> Result<()> {
        reserve(&mut self.bytes, bytes.len())?;
        reserve(&mut self.offsets, ends.len())?;
        let before = self.bytes.len() as i64;
        self.bytes.extend_from_slice(bytes);
        self.offsets.extend(ends.map(|end| before + end));
        Ok(())
    }

    /// The place of the first string, from this place on, that isn't UTF-8.
    pub fn first_without_text(&self, from: usize) -> Option<usize> {
        let start = self.offsets[from] as usize;
        // All strings are texts exactly if all of them together are one, and none begins amid a character.
        let all = str::from_utf8(&self.bytes[start..]);
        let begins = |text: &str, at: i64| text.is_char_boundary(at as usize - start);
        if all.is_ok_and(|text| self.offsets[from..].iter().all(|&at| begins(text, at))) {
            return None;
        }
        (from..self.len()).find(|&at| str::from_utf8(self.get(at)).is_err())
    }

    /// The place of the first string that is longer than so many bytes.
    pub fn first_longer(&self, len_max: usize) -> Option<usize> {
        self.offsets.windows(2).position(|ends| (ends[1] - ends[0]) as usize > len_max)
    }

    /// Whether each string is greater than the one before.
    pub fn ascends(&self, pulse: &mut Pulse) -> Result<bool, Undone> {
        for stretch in stretches(self.len()) {
            if stretch.clone().any(|at| at > 0 && self.get(at - 1) >= self.get(at)) {
                return Ok(false);
            }
            pulse.check()?;
        }
        Ok(true)
    }

    /// The places of the strings in their order; of equal strings the last place alone.
    pub fn sorted(&self) -> Result<Vec<usize>> {
        let shared = self.shared();
        let mut order: Vec<(u64, usize)> = room(self.len())?;
        order.extend((0..self.len()).map(|at| (head(&self.get(at)[shared..]), at)));
        // Most strings differ in the bytes that a head has: their own bytes aren't read.
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.get(a.1).cmp(self.get(b.1))).then(a.1.cmp(&b.1))
        });
        let mut places: Vec<usize> = room(order.len())?;
        for (_, at) in order {
            if places.last().is_some_and(|&last| self.get(last) == self.get(at)) {
                places.pop();
            }
            places.push(at);
        }
        Ok(places)
    }

    /// How many bytes all strings begin with alike.
    fn shared(&self) -> usize {
        let Some(first) = (self.len() > 0).then(|| self.get(0)) else { return 0 };
        (1..self.len()).fold(first.len(), |shared, at| {
            first[..shared].iter().zip(self.get(at)).take_while(|(a, b)| a == b).count()
        })
    }
}

/// The first eight bytes as a number that compares as they do, with zeros after the end.
fn head(string: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = string.len().min(8);
    bytes[..len].copy_from_slice(&string[..len]);
    u64::from_be_bytes(bytes)
}
