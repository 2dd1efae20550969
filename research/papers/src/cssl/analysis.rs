//! The memory of lanes: §3.

/// Bytes of a CSSL over `keys` keys of `key_bytes` bytes with references of `reference_bytes`, with `lanes`
/// fast lanes that hold every `skip`-th element each: the paper's n · (r + k) + Σ pⁱ · n · k, i = 1 … m.
/// Objects aren't counted, nor the proxy lane.
///
/// ```
/// use latchless_papers::cssl::lane_space_bytes;
/// // 16M keys, 9 lanes: 13 and 16 bytes a key.
/// assert_eq!(lane_space_bytes(16_000_000, 5, 9, 4, 8).round(), 207_999_992.0);
/// assert_eq!(lane_space_bytes(16_000_000, 2, 9, 4, 8).round(), 255_875_000.0);
/// ```
pub fn lane_space_bytes(
    keys: usize,
    skip: usize,
    lanes: usize,
    key_bytes: usize,
    reference_bytes: usize,
) -> f64 {
    keys as f64 * (reference_bytes + key_bytes) as f64 + fast_lane_bytes(keys, skip, lanes, key_bytes)
}

/// Bytes of the fast lanes alone: Σ pⁱ · n · k, i = 1 … m.
pub fn fast_lane_bytes(keys: usize, skip: usize, lanes: usize, key_bytes: usize) -> f64 {
    let p = 1.0 / skip as f64;
    let share: f64 = (1..=lanes).map(|lane| p.powi(lane as i32)).sum();
    share * keys as f64 * key_bytes as f64
}

/// Returns the bytes of this library's CSSL by the same calculation: the paper's, with the proxy lane's
/// keys and references and the values after the keys. The table of predictions, under 1 %, isn't counted.
///
/// ```
/// use latchless_papers::cssl::{CsslMap, Member, Options, space_bytes};
/// let entries: Vec<(u32, u32)> = (0..100_000).map(|key| (key, key)).collect();
/// let mut map = CsslMap::with_options(&Member::Cssl5.options(&Options::default()))?;
/// map.bulk_load(&entries)?;
/// let expected = space_bytes(entries.len(), 5, map.space().lanes, 4);
/// assert!((map.memory_bytes() as f64 / expected - 1.0).abs() < 0.01);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub fn space_bytes(keys: usize, skip: usize, lanes: usize, lane_bytes: usize) -> f64 {
    // References, and values, are as wide as keys; the proxy lane has a key and a reference of each entry.
    let proxies_and_values = keys * 3 * lane_bytes;
    lane_space_bytes(keys, skip, lanes, lane_bytes, lane_bytes) + proxies_and_values as f64
}

/// Returns the memory of p = 1/2 as a multiple of that of p = 1/5, by the paper's formula with four-byte
/// keys and eight-byte references: 1.23. The paper's Figure 11 has 1.8, which is that of the layout of its
/// authors' program: [`authors_space_bytes`].
pub fn space_ratio(keys: usize, lanes: usize) -> f64 {
    lane_space_bytes(keys, 2, lanes, 4, 8) / lane_space_bytes(keys, 5, lanes, 4, 8)
}

/// Bytes of a node of the data list in the authors' program: a key and a pointer, aligned.
const AUTHORS_NODE: usize = 16;
/// Bytes of one of their proxies: five keys, five pointers and a flag, aligned, whatever p is.
const AUTHORS_PROXY: usize = 72;
/// Bytes of the pointer by which a proxy is found.
const AUTHORS_POINTER: usize = 8;

/// Returns the bytes of a CSSL with that many keys, proxies, and bytes of fast lanes in the layout of the
/// authors' program (flippingbits/cssl on GitHub, `skiplist.h`): `DataNode` has 16 bytes; `ProxyNode` has
/// room for `MAX_SKIP` = 5 keys and pointers and so 72; an array has a pointer to each proxy. The
/// allocator's overhead isn't included.
///
/// ```
/// use latchless_papers::cssl::authors_space_bytes;
/// // 16M keys: a proxy for every fifth or every second one.
/// let [five, two] = [(5, 16_000_000), (2, 64_000_000)]
///     .map(|(skip, lane_bytes)| authors_space_bytes(16_000_000, 16_000_000 / skip, lane_bytes));
/// assert_eq!((five, two), (528_000_000, 960_000_000));
/// ```
pub const fn authors_space_bytes(keys: usize, proxies: usize, lane_bytes: usize) -> usize {
    keys * AUTHORS_NODE + proxies * (AUTHORS_PROXY + AUTHORS_POINTER) + lane_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_take_a_geometric_series() {
        assert_eq!(fast_lane_bytes(1000, 2, 0, 4), 0.0);
        assert_eq!(fast_lane_bytes(1000, 2, 1, 4), 2000.0);
        assert!((fast_lane_bytes(1000, 2, 40, 4) - 4000.0).abs() < 1e-6);
        assert!((fast_lane_bytes(1000, 5, 40, 4) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn the_formula_does_not_give_the_published_ratio() {
        assert!((space_ratio(16_000_000, 9) - 1.23).abs() < 0.01);
        assert!((space_ratio(16_000_000, 9) / 1.8 - 1.0).abs() > 0.3);
    }
}
