//! Figures 4 and 10 with ART in two ways: ranges by a walk, the crate's own way, and by a search from the
//! root for each key.

use super::data::{Spread, genome, ranges};
use super::race::{Point, Queries, field, native, race, rows};
use super::who::{Ask, Who};
use crate::error::Result;
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::row::Row;
use latchless_measure::huge_pages;
use latchless_papers::cssl::Member;

const CSSL5: Who = Who::Cssl(Member::Cssl5, Ask::Unguessed, None);
const CONTESTANTS: [Who; 4] =
    [CSSL5, Who::BinarySearch, Who::AdaptiveRadixTree, Who::AdaptiveRadixTreeBySearches];
const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
/// As in Figure 10.
const POSITIONS: Scaled<usize> = Scaled::new(13_571_394, 20_000);
/// Percent of n, or of the genome's interval, that a range is wide: the widest of the paper.
const WIDTH: f64 = 10.0;
const QUERIES: usize = 16;

pub(super) const ART: Experiment = Experiment {
    name: "art",
    title: "Ranges of 10 % in ART: by a walk, and by a search from the root for each key",
    remarks: &[
        "By the paper's Figure 6 its ART takes 313 cycles for each of the 1.6M keys of a dense range and about 380 for \
         each of the 12,000 of a sparse one; by its Figure 8 a lookup takes 209 and 383. So a key of a range costs it \
         about as much as a search. The crate that takes its place here walks from leaf to leaf.",
        "One thread, all on huge pages, in turn; of five rounds the median counts.",
    ],
    body: Body::Timed { x_label: "width of a range, percent", rows: art },
};

fn art(scale: Scale) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for (panel, keys) in [
        ("dense", Spread::Dense.keys(KEYS.at(scale))),
        ("sparse", Spread::Sparse.keys(KEYS.at(scale))),
        ("drawn", genome(POSITIONS.at(scale))),
    ] {
        let field = field(&CONTESTANTS, &keys)?;
        if scale == Scale::Paper {
            huge_pages::for_all();
        }
        let interval = if panel == "drawn" { keys[keys.len() - 1] - keys[0] } else { keys.len() as u32 };
        let ranges = ranges(&keys, (f64::from(interval) * WIDTH / 100.0) as u32, QUERIES);
        let times = race(&field, Queries::Ranges(&ranges), scale)?;
        let at = Point { panel, x: WIDTH, scale };
        all.extend(rows(&field, &times, at, Who::BinarySearch, |_| None));
        let cssl5 = times[0];
        all.extend(field.iter().zip(&times).skip(1).map(|((who, _), &time)| {
            native(Row::new(CSSL5.name(), at.x, format!("times {}", who.name()), time / cssl5), at)
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_for_each_key_finds_what_a_walk_finds() {
        let keys: Vec<u32> = (1..=500).map(|key| 3 * key).chain([u32::MAX]).collect();
        let field = field(&CONTESTANTS, &keys).unwrap();
        for range in [(0, 10), (4, 5), (3, 3), (700, 1_600), (1_500, u32::MAX), (u32::MAX, u32::MAX)] {
            let expected = keys.iter().filter(|key| (range.0..=range.1).contains(key)).count() as u64;
            for (who, contestant) in &field {
                assert_eq!(contestant.ranges(&[range]), expected, "{} in {range:?}", who.name());
            }
        }
    }
}
