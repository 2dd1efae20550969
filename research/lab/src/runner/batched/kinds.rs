//! The kind of data at an address of a tree's pages.

use crate::experiment::Kind;
use crate::model::KindOf;
use latchless_core::mem::touch::Traced;
use latchless_papers::spiderman::SpidermanMap;
use latchless_papers::spiderman::page::PagePart;

/// Sorts addresses by the current contents of the map's pages.
pub fn kind_of(map: &SpidermanMap<u64, u64, Traced>) -> KindOf {
    let (layout, mut pages) = (map.page_layout(), map.pages());
    pages.sort_unstable();
    Box::new(move |address| {
        let page = pages.partition_point(|&(start, _)| start <= address);
        let Some(&(start, level)) = page.checked_sub(1).and_then(|page| pages.get(page)) else {
            return Kind::Elsewhere as usize;
        };
        let kind = match (layout.part_at(address - start), level) {
            (None, _) => Kind::Elsewhere,
            (Some(PagePart::Header), 0) => Kind::LeafHeader,
            (Some(PagePart::Keys), 0) => Kind::LeafKeys,
            (Some(PagePart::Seconds), 0) => Kind::Payloads,
            (Some(PagePart::Header), _) => Kind::InnerHeader,
            (Some(PagePart::Keys), _) => Kind::InnerKeys,
            (Some(PagePart::Seconds), _) => Kind::Children,
        };
        kind as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless::FillFactor;
    use latchless_papers::spiderman::Options;

    #[test]
    fn each_part_of_a_page_is_known() {
        let mut map = SpidermanMap::<u64, u64, Traced>::with_options(&Options::default()).unwrap();
        let entries: Vec<(u64, u64)> = (0..1000).map(|key| (key, key)).collect();
        map.bulk_load(&entries, FillFactor::FULL).unwrap();
        let kind_of = kind_of(&map);
        let pages = map.pages();
        assert_eq!(pages.iter().filter(|page| page.1 > 0).count(), 1);
        for (start, level) in pages {
            let kinds = match level {
                0 => [Kind::LeafHeader, Kind::LeafKeys, Kind::Payloads],
                _ => [Kind::InnerHeader, Kind::InnerKeys, Kind::Children],
            };
            for (offset, kind) in [(0, 0), (15, 0), (16, 1), (2055, 1), (2056, 2), (4095, 2)] {
                assert_eq!(
                    kind_of(start + offset),
                    kinds[kind] as usize,
                    "{offset} of a page of level {level}"
                );
            }
        }
        assert_eq!(kind_of(8), Kind::Elsewhere as usize);
    }
}
