//! The kind of data at an address of a tree's pages.

use crate::experiment::Kind;
use crate::model::KindOf;
use latchless_papers::spiderman::SpidermanMap;
use latchless_papers::spiderman::page::{Form, Page, PagePart};

/// Sorts addresses by the current contents of the map's pages.
pub fn kind_of<T: Form>(map: &SpidermanMap<u64, u64, T>) -> KindOf {
    let (layout, mut pages) = (map.page_layout(), map.pages());
    pages.sort_unstable();
    Box::new(move |address| {
        let page = pages.partition_point(|&(start, _)| start <= address);
        let Some(&(start, level)) = page.checked_sub(1).and_then(|page| pages.get(page)) else {
            return Kind::Elsewhere as usize;
        };
        let kind = match (Page::<T>::part_at(layout, level, address - start), level) {
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
    use latchless_core::mem::touch::Traced;
    use latchless_papers::spiderman::Options;
    use latchless_papers::spiderman::page::CodeBase;

    #[test]
    fn each_part_of_a_page_is_known() {
        is_known::<Traced>([Kind::InnerHeader, Kind::InnerKeys, Kind::Children]);
        is_known::<CodeBase<Traced>>([Kind::InnerHeader, Kind::Children, Kind::InnerKeys]);
    }

    fn is_known<T: Form>(inner: [Kind; 3]) {
        let mut map = SpidermanMap::<u64, u64, T>::with_options(&Options::default()).unwrap();
        let entries: Vec<(u64, u64)> = (0..1000).map(|key| (key, key)).collect();
        map.bulk_load(&entries, FillFactor::FULL).unwrap();
        let kind_of = kind_of(&map);
        let pages = map.pages();
        assert_eq!(pages.iter().filter(|page| page.1 > 0).count(), 1);
        for (start, level) in pages {
            let kinds = if level == 0 { [Kind::LeafHeader, Kind::LeafKeys, Kind::Payloads] } else { inner };
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
