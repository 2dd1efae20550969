//! Sorting by key, stable, so that of equal keys the last one stays last.
//!
//! First by the leading bits of the keys, as many as distinguish this many random keys, byte by byte, the
//! least significant one first. Then each run of keys with equal leading bits, in the same way: random keys
//! have hardly any. Bits that all keys share are skipped. Between two stretches of a pass a signal can end
//! it.

use crate::batch::{Pulse, STRETCH};
use crate::engine::Undone;
use crate::lane::Lane;
use latchless::{Error, Result};

/// An empty vector with room, unless that is refused.
pub fn room<T>(len: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    reserve(&mut room, len)?;
    Ok(room)
}

/// Room for this many more.
pub fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    let requested_bytes = column.len().saturating_add(more).saturating_mul(size_of::<T>());
    column.try_reserve(more).map_err(|_| Error::OutOfMemory { requested_bytes })
}

/// Up to this many entries are compared with each other: the standard library's stable sort allocates
/// nothing for them.
const FEW: usize = 128;

/// Sorts entries by their keys. Equal keys stay in their order.
pub fn by_key<B: Lane, T: Copy + Send>(entries: &mut [(B, T)], pulse: &mut Pulse) -> Result<(), Undone> {
    if entries.is_sorted_by_key(|&(key, _)| key) {
        return Ok(());
    }
    let mut spare = room(entries.len())?;
    for stretch in entries.chunks(STRETCH) {
        spare.extend_from_slice(stretch);
        pulse.check()?;
    }
    sort(entries, &mut spare, pulse)
}

/// Sorts as [`by_key`] does. `spare` is scratch of the same size.
fn sort<B: Lane, T: Copy>(
    entries: &mut [(B, T)],
    mut spare: &mut [(B, T)],
    pulse: &mut Pulse,
) -> Result<(), Undone> {
    if entries.len() <= FEW {
        entries.sort_by_key(|&(key, _)| key);
        return Ok(());
    }
    let leading = Leading::of(entries);
    leading.sort(entries, spare, pulse)?;
    if leading.shift == 0 {
        return Ok(());
    }
    for run in entries.chunk_by_mut(|one, next| leading.bits(one.0) == leading.bits(next.0)) {
        let own = spare.split_off_mut(..run.len()).expect("as many are there");
        if run.len() > 1 {
            sort(run, own, pulse)?;
        }
    }
    Ok(())
}

/// The leading ones of the bits in which keys differ.
#[derive(Debug, Clone, Copy)]
struct Leading {
    smallest: u64,
    /// The number of bits of a key's difference from the smallest that come after them.
    shift: u32,
    /// In how many bytes they are.
    bytes: u32,
}

impl Leading {
    /// Enough bits to distinguish the keys of this many entries if they are random.
    fn of<B: Lane, T>(entries: &[(B, T)]) -> Self {
        let keys = entries.iter().map(|entry| entry.0.to_u64());
        let (smallest, largest) = keys.fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)));
        let all = u64::BITS - (largest - smallest).leading_zeros();
        let bits = (entries.len().ilog2() + 2).next_multiple_of(8).min(all);
        Self { smallest, shift: all - bits, bytes: bits.div_ceil(8) }
    }

    #[inline(always)]
    fn bits<B: Lane>(self, key: B) -> u64 {
        (key.to_u64() - self.smallest) >> self.shift
    }

    /// Sorts by them, and by nothing else.
    fn sort<B: Lane, T: Copy>(
        self,
        entries: &mut [(B, T)],
        spare: &mut [(B, T)],
        pulse: &mut Pulse,
    ) -> Result<(), Undone> {
        let (mut from, mut to, mut turned) = (entries, spare, false);
        for byte in 0..self.bytes {
            let digit = |entry: &(B, T)| (self.bits(entry.0) >> (8 * byte)) as u8 as usize;
            let mut next = [0; 256];
            for stretch in from.chunks(STRETCH) {
                stretch.iter().for_each(|entry| next[digit(entry)] += 1);
                pulse.check()?;
            }
            let mut sum = 0;
            for next in &mut next {
                (*next, sum) = (sum, sum + *next);
            }
            for stretch in from.chunks(STRETCH) {
                for entry in stretch {
                    let place = &mut next[digit(entry)];
                    to[*place] = *entry;
                    *place += 1;
                }
                pulse.check()?;
            }
            std::mem::swap(&mut from, &mut to);
            turned = !turned;
        }
        if turned {
            to.copy_from_slice(from);
        }
        Ok(())
    }
}

/// Keeps the last of each run of equal keys.
pub fn keep_last<B: Lane, T: Copy>(entries: &mut Vec<(B, T)>) {
    let mut kept = 0;
    for at in 0..entries.len() {
        if kept > 0 && entries[kept - 1].0 == entries[at].0 {
            kept -= 1;
        }
        entries[kept] = entries[at];
        kept += 1;
    }
    entries.truncate(kept);
}
