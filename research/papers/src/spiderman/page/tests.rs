//! Pages on their own, compared with plain vectors.

use super::*;
use latchless_core::mem::touch::NoTrace;

/// Pages of the code base under the paper.
type Theirs = CodeBase<NoTrace>;

/// A page's words, outside of any arena.
struct Words<T>(Vec<Word>, PageLayout, PhantomData<T>);

impl<T: Form> Words<T> {
    fn new(page_bytes: usize, level: usize) -> Self {
        let words = (0..page_bytes / 8).map(|_| Word::default()).collect();
        let page = Self(words, PageLayout::of(page_bytes).unwrap(), PhantomData);
        page.get().reset(level);
        page
    }

    fn get(&self) -> Page<'_, T> {
        Page::new(&self.0, self.1)
    }

    fn entries(&self) -> Vec<(u64, u64)> {
        (0..self.get().size()).map(|place| (self.get().key(place), self.get().value(place))).collect()
    }

    /// Children, and the separators between them.
    fn children(&self) -> (Vec<u32>, Vec<u64>) {
        let (page, size) = (self.get(), self.get().size());
        let children = (0..size).map(|place| page.child(place).to_word()).collect();
        (children, (0..size - 1).map(|place| page.key(place)).collect())
    }
}

fn child(number: u32) -> NodeRef {
    NodeRef::from_word(number)
}

#[test]
fn the_papers_page_has_255_pairs() {
    assert_eq!(PageLayout::of(4096), Ok(PageLayout { places: 255 }));
    assert_eq!(PageLayout::of(128), Ok(PageLayout { places: 7 }));
    for given in [0, 64, 100, 129, 4096 + 64, usize::MAX] {
        assert_eq!(PageLayout::of(given), Err(Error::PageSize { given }));
    }
}

#[test]
fn a_leaf_is_a_sorted_vector() {
    is_a_sorted_vector::<NoTrace>();
    is_a_sorted_vector::<Theirs>();
}

fn is_a_sorted_vector<T: Form>() {
    let (left, right) = (Words::<T>::new(128, 0), Words::<T>::new(128, 0));
    let mut model: Vec<(u64, u64)> = Vec::new();
    for key in [50, 10, 30, 70, 20, 60, 40] {
        let place = left.get().lower(model.len(), key);
        left.get().insert_entry(place, key, key + 1);
        model.insert(place, (key, key + 1));
        assert_eq!(left.entries(), model);
    }
    assert!(left.get().is_full() && model.is_sorted());
    left.get().remove_entry(3);
    model.remove(3);
    assert_eq!((left.entries(), left.get().is_full()), (model.clone(), false));
    assert_eq!(left.get().split_to(right.get(), 4), 50);
    assert_eq!((left.entries(), right.entries()), (model[..4].to_vec(), model[4..].to_vec()));
    for wanted in [1, 5, 3] {
        let separator = left.get().share_with(right.get(), 0, wanted);
        assert_eq!(separator, model[wanted - 1].0);
        assert_eq!((left.entries(), right.entries()), (model[..wanted].to_vec(), model[wanted..].to_vec()));
    }
    left.get().take_all_of(right.get(), 0);
    assert_eq!(left.entries(), model);
}

#[test]
fn an_inner_page_keeps_a_separator_between_each_two_children() {
    keeps_a_separator_between_each_two_children::<NoTrace>();
    keeps_a_separator_between_each_two_children::<Theirs>();
}

fn keeps_a_separator_between_each_two_children<T: Form>() {
    let (left, right) = (Words::<T>::new(128, 3), Words::<T>::new(128, 3));
    let page = left.get();
    page.push_child(None, child(0));
    page.push_child(Some(10), child(1));
    page.insert_child(0, 5, child(5));
    page.insert_child(2, 15, child(15));
    assert_eq!(left.children(), (vec![0, 5, 1, 15], vec![5, 10, 15]));
    let at = |key| page.child(page.child_place(page.size(), key)).to_word();
    assert_eq!([0, 5, 6, 10, 11, 15, 16, u64::MAX].map(at), [0, 0, 5, 5, 1, 1, 15, 15]);
    page.remove_child_behind(1);
    assert_eq!(left.children(), (vec![0, 5, 15], vec![5, 15]));
    page.insert_child(1, 10, child(1));
    let separator = page.split_to(right.get(), 2);
    assert_eq!(
        (separator, left.children(), right.children()),
        (10, (vec![0, 5], vec![5]), (vec![1, 15], vec![15]))
    );
    assert_eq!(page.share_with(right.get(), 10, 3), 15);
    assert_eq!((left.children(), right.children()), ((vec![0, 5, 1], vec![5, 10]), (vec![15], vec![])));
    assert_eq!(page.share_with(right.get(), 15, 1), 5);
    assert_eq!((left.children(), right.children()), ((vec![0], vec![]), (vec![5, 1, 15], vec![10, 15])));
    page.take_all_of(right.get(), 5);
    assert_eq!(left.children(), (vec![0, 5, 1, 15], vec![5, 10, 15]));
}

#[test]
fn a_header_keeps_its_fields_apart() {
    let words = Words::<NoTrace>::new(4096, 2);
    let page = words.get();
    assert_eq!((page.size(), page.meta().level(), page.meta().link().is_nil()), (0, 2, true));
    page.push_entry(1, 2);
    page.set_link(child(77));
    let meta = page.meta();
    assert_eq!((meta.size(), meta.level(), meta.link(), meta.is_dead()), (1, 2, child(77), false));
    page.mark_dead();
    let meta = page.meta();
    assert_eq!((meta.size(), meta.level(), meta.link(), meta.is_dead()), (0, 2, child(77), true));
    page.reset(0);
    assert!(!page.meta().is_dead() && page.meta().link().is_nil());
}

#[test]
fn a_search_key_by_key_ends_where_one_at_once_does() {
    ends_where_one_at_once_does::<NoTrace>();
    ends_where_one_at_once_does::<Theirs>();
}

fn ends_where_one_at_once_does<T: Form>() {
    let words = Words::<T>::new(4096, 0);
    let (sizes, apart) = if cfg!(miri) { (8..10, 255) } else { (0..20, 5) };
    for size in sizes.chain([100, 254, 255]) {
        words.get().reset(0);
        (0..size).for_each(|key| words.get().push_entry(10 * key, key));
        for key in (0..10 * size + 20).step_by(apart) {
            let (mut probes, mut steps) = (Probes::through(size as usize), 0);
            while !probes.is_over() {
                let next = words.get().probe(probes, key);
                assert!(T::THREE_WAY || probes.halves().contains(&next), "{key} in {size}: {next:?}");
                assert!(next.place() + next.left() <= size as usize && next.left() < probes.left());
                (probes, steps) = (next, steps + 1);
            }
            assert_eq!(probes.place() as u64, size.min(key.div_ceil(10)), "{key} in {size}");
            assert_eq!(probes.place(), words.get().lower(size as usize, key), "{key} in {size}");
            assert!(steps <= 8, "{size} keys took {steps} steps");
        }
    }
}

#[test]
fn a_search_of_three_ways_ends_at_an_equal_key() {
    let words = Words::<Theirs>::new(4096, 0);
    (0..255).for_each(|key| words.get().push_entry(10 * key, key));
    let all = Probes::through(255);
    let there = words.get().probe(all, 1270);
    assert_eq!((there.is_over(), there.place()), (true, 127));
    assert!(!words.get().probe(all, 1271).is_over() && !words.get().probe(all, 1269).is_over());
}

#[test]
fn inner_pages_of_the_code_base_have_their_children_first() {
    let (ours, theirs) = (Words::<NoTrace>::new(4096, 1), Words::<Theirs>::new(4096, 1));
    let offset = |from: *const u8, to: *const u8| to.addr() - from.addr();
    let at = |page: Page<'_, Theirs>| {
        let header = page.header_address();
        (offset(header, page.key_address(0)), offset(header, page.second_address(0)))
    };
    let ours_at = offset(ours.get().header_address(), ours.get().key_address(0));
    assert_eq!((ours_at, at(theirs.get())), (16, (2056, 16)));
    let leaf = Words::<Theirs>::new(4096, 0);
    assert_eq!(at(leaf.get()), (16, 2056));
    let part = |level, bytes| Page::<Theirs>::part_at(PageLayout { places: 255 }, level, bytes);
    use PagePart::{Header, Keys, Seconds};
    assert_eq!(
        [0, 16, 2055, 2056, 4095].map(|at| part(1, at).unwrap()),
        [Header, Seconds, Seconds, Keys, Keys]
    );
    assert_eq!(
        [0, 16, 2055, 2056, 4095].map(|at| part(0, at).unwrap()),
        [Header, Keys, Keys, Seconds, Seconds]
    );
    assert_eq!(part(1, 4096), None);
    for page in [
        ours.get().end_address().addr() - ours.get().header_address().addr(),
        offset(leaf.get().header_address(), leaf.get().end_address()),
    ] {
        assert_eq!(page, 4096);
    }
}
