//! Sorting by key: least significant byte first, stable, so that of equal keys the last one stays last.
//!
//! One pass over the entries counts all bytes of the keys; bytes that all keys share need no pass of their
//! own. Between two stretches of a pass a signal can end it.

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

/// Room for so many more.
pub fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    let requested_bytes = column.len().saturating_add(more).saturating_mul(size_of::<T>());
    column.try_reserve(more).map_err(|_| Error::OutOfMemory { requested_bytes })
}

/// Sorts entries by their keys. Equal keys stay in their order.
pub fn by_key<B: Lane, T: Copy + Send>(entries: &mut Vec<(B, T)>, pulse: &mut Pulse) -> Result<(), Undone> {
    let Some(&filler) = entries.first() else { return Ok(()) };
    if entries.is_sorted_by_key(|&(key, _)| key) {
        return Ok(());
    }
    let mut counts = [[0usize; 256]; 8];
    for stretch in entries.chunks(STRETCH) {
        for &(key, _) in stretch {
            for (at, counts) in counts.iter_mut().enumerate().take(B::BYTES) {
                counts[key.byte(at)] += 1;
            }
        }
        pulse.check()?;
    }
    let mut target = room(entries.len())?;
    for stretch in entries.chunks(STRETCH) {
        target.resize(target.len() + stretch.len(), filler);
        pulse.check()?;
    }
    for (at, counts) in counts.iter().enumerate().take(B::BYTES) {
        if counts.contains(&entries.len()) {
            continue;
        }
        let mut next = [0; 256];
        let mut sum = 0;
        for (next, count) in next.iter_mut().zip(counts) {
            (*next, sum) = (sum, sum + count);
        }
        for stretch in entries.chunks(STRETCH) {
            for &entry in stretch {
                let place = &mut next[entry.0.byte(at)];
                target[*place] = entry;
                *place += 1;
            }
            pulse.check()?;
        }
        std::mem::swap(entries, &mut target);
    }
    Ok(())
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
