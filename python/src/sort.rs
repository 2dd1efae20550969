//! Sorting by key: least significant byte first, stable, so that of equal keys the last one stays last.
//!
//! One pass over the entries counts all bytes of the keys; bytes that all keys share need no pass of their own.

use crate::lane::Lane;

/// Sorts entries by their keys. Equal keys stay in their order.
pub fn by_key<B: Lane, T: Copy + Send>(entries: &mut Vec<(B, T)>) {
    let Some(&filler) = entries.first() else { return };
    if entries.is_sorted_by_key(|&(key, _)| key) {
        return;
    }
    let mut counts = vec![[0usize; 256]; B::BYTES];
    for &(key, _) in entries.iter() {
        for (at, counts) in counts.iter_mut().enumerate() {
            counts[key.byte(at)] += 1;
        }
    }
    let mut target = vec![filler; entries.len()];
    for (at, counts) in counts.iter().enumerate() {
        if counts.contains(&entries.len()) {
            continue;
        }
        let mut next = [0; 256];
        let mut sum = 0;
        for (next, count) in next.iter_mut().zip(counts) {
            (*next, sum) = (sum, sum + count);
        }
        for &entry in entries.iter() {
            let place = &mut next[entry.0.byte(at)];
            target[*place] = entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut target);
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
