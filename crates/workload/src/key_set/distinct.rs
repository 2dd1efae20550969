//! Drawing until there are enough distinct keys.

/// `count` distinct keys out of `draw`, ascending. `draw` has at least twice as many.
pub fn distinct(count: usize, mut draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(count);
    while keys.len() < count {
        let missing = count - keys.len();
        keys.extend((0..missing).map(|_| draw()));
        keys.sort_unstable();
        keys.dedup();
    }
    keys
}
