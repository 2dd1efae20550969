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
/// keys and eight-byte references: 1.23. The paper's Figure 11 has 1.8. See
/// [`space_ratio_with_fixed_proxies`].
pub fn space_ratio(keys: usize, lanes: usize) -> f64 {
    lane_space_bytes(keys, 2, lanes, 4, 8) / lane_space_bytes(keys, 5, lanes, 4, 8)
}

/// Returns the same ratio if each element of lane 1 had a proxy with room for five keys and five
/// references, whatever p is, reached by a pointer: about the paper's 1.8. The paper doesn't say what its
/// authors measured; this is a hypothesis that fits.
pub fn space_ratio_with_fixed_proxies(keys: usize, lanes: usize) -> f64 {
    let node_bytes = 16.0;
    let proxy_bytes = 8.0 + 5.0 * (4.0 + 8.0);
    let bytes = |skip: usize| {
        keys as f64 * (node_bytes + proxy_bytes / skip as f64) + fast_lane_bytes(keys, skip, lanes, 4)
    };
    bytes(2) / bytes(5)
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
        assert!((space_ratio_with_fixed_proxies(16_000_000, 9) - 1.8).abs() < 0.1);
    }
}
