//! Byte strings in one buffer, as in Arrow: their bytes, and the offset of each of them.

use crate::batch::{Pulse, stretches};
use crate::engine::Undone;
use crate::sort::{reserve, room};
use latchless::Result;
use std::ops::Range;

/// Shorter runs of strings that begin alike are compared as a whole.
const RUN_MIN: usize = 16;
/// How often eight bytes are compared at a time before the rest is compared as a whole.
const DEPTH_MAX: usize = 16;

/// A column of byte strings.
#[derive(Debug)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where each string begins, and where the last one ends.
    offsets: Vec<i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0] }
    }
}

impl Strings {
    /// No string, and room for this many, of this many bytes together.
    pub fn with_room(count: usize, bytes: usize) -> Result<Self> {
        let mut offsets = room(count.saturating_add(1))?;
        offsets.push(0);
        Ok(Self { bytes: room(bytes)?, offsets })
    }

    /// A copy of adjacent strings in these bytes; `None` if the offsets don't fit them.
    pub fn copied(bytes: &[u8], offsets: impl ExactSizeIterator<Item = i64>) -> Result<Option<Self>> {
        let mut copy = Self { bytes: room(bytes.len())?, offsets: room(offsets.len())? };
        copy.bytes.extend_from_slice(bytes);
        copy.offsets.extend(offsets);
        let ends = (copy.offsets.first().copied(), copy.offsets.last().copied());
        let fit = ends == (Some(0), Some(bytes.len() as i64)) && copy.offsets.is_sorted();
        Ok(fit.then_some(copy))
    }

    /// The step from one string to the next. There must be as many strings as keys, or a single one, which
    /// then is repeated with step 0.
    pub fn step_beside(&self, count: usize) -> Option<usize> {
        let own = self.len();
        if own == count { Some(1) } else { (own == 1).then_some(0) }
    }

    /// The strings of a chunk.
    pub fn read(&self, chunk: Range<usize>) -> Vec<&[u8]> {
        chunk.map(|at| self.get(at)).collect()
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

    /// Adds a string of at most this many bytes, which `write` appends.
    #[inline]
    pub fn push_with(&mut self, len_max: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        reserve(&mut self.bytes, len_max)?;
        reserve(&mut self.offsets, 1)?;
        write(&mut self.bytes);
        self.offsets.push(self.bytes.len() as i64);
        Ok(())
    }

    /// Adds adjacent strings: the ascending `ends` are their ends in `bytes`.
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

    /// The place of the first string that is longer than this many bytes.
    pub fn first_longer(&self, len_max: usize) -> Option<usize> {
        self.offsets.windows(2).position(|ends| (ends[1] - ends[0]) as usize > len_max)
    }

    /// Whether each string is greater than the previous one.
    pub fn ascends(&self, pulse: &mut Pulse) -> Result<bool, Undone> {
        for stretch in stretches(self.len()) {
            if stretch.clone().any(|at| at > 0 && self.get(at - 1) >= self.get(at)) {
                return Ok(false);
            }
            pulse.check()?;
        }
        Ok(true)
    }

    /// The places of the strings in their order, and those of equal strings in theirs.
    pub fn sorted(&self, pulse: &mut Pulse) -> Result<Vec<usize>, Undone> {
        let mut order: Vec<(u64, usize)> = room(self.len())?;
        order.extend((0..self.len()).map(|at| (0, at)));
        self.sort(&mut order, (0, 0), pulse)?;
        let mut places = room(order.len())?;
        places.extend(order.iter().map(|&(_, at)| at));
        Ok(places)
    }

    /// Keeps of each run of equal strings the last place.
    pub fn keep_last(&self, places: &mut Vec<usize>) {
        places.dedup_by(|later, kept| {
            let equal = self.get(*later) == self.get(*kept);
            if equal {
                *kept = *later;
            }
            equal
        });
    }

    /// Sorts places by their strings, and those of equal strings by themselves. The strings have a common
    /// prefix of `shared` bytes. Eight bytes of each are compared at a time, as a number that is stored
    /// with its place.
    fn sort(
        &self,
        order: &mut [(u64, usize)],
        (shared, depth): (usize, usize),
        pulse: &mut Pulse,
    ) -> Result<(), Undone> {
        let shared = self.shared(order, shared);
        for (head, at) in &mut *order {
            *head = first_bytes(&self.get(*at)[shared..]);
        }
        order.sort_unstable();
        for run in order.chunk_by_mut(|a, b| a.0 == b.0) {
            // Zeros after the end of a string are as those in another.
            let go_on = |&(_, at): &(u64, usize)| self.get(at).len() >= shared + 8;
            if run.len() > RUN_MIN && depth < DEPTH_MAX && run.iter().all(go_on) {
                self.sort(run, (shared + 8, depth + 1), pulse)?;
                pulse.check()?;
            } else if run.len() > 1 {
                run.sort_unstable_by(|a, b| self.get(a.1).cmp(self.get(b.1)).then(a.1.cmp(&b.1)));
            }
        }
        Ok(())
    }

    /// How many bytes the strings at these places begin with alike: at least this many.
    fn shared(&self, order: &[(u64, usize)], least: usize) -> usize {
        let Some(first) = order.first().map(|&(_, at)| self.get(at)) else { return least };
        order.iter().fold(first.len(), |shared, &(_, at)| {
            let bytes = first[least..shared].iter().zip(&self.get(at)[least..]);
            least + bytes.take_while(|(a, b)| a == b).count()
        })
    }
}

/// The first eight bytes as a number that compares as they do, with zeros after the end.
fn first_bytes(string: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = string.len().min(8);
    bytes[..len].copy_from_slice(&string[..len]);
    u64::from_be_bytes(bytes)
}
