//! The accesses that members report to the memory-hierarchy model: they prefetch what the paper says.

use latchless::FillFactor;
use latchless_core::mem::touch::{Sink, Traced, Work, listen};
use latchless_papers::olfit;
use latchless_papers::pb_tree::{Member, Options, Placement, ScanPrefetch, build_traced};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Bound::{Included, Unbounded};
use std::rc::Rc;

/// Lines that were prefetched, lines that were read without a prefetch, and the number of reports of work.
#[derive(Default)]
struct Heard {
    asked: HashSet<usize>,
    unasked_reads: HashSet<usize>,
    visits: usize,
}

struct Listener(Rc<RefCell<Heard>>);

fn lines(at: usize, bytes: usize) -> impl Iterator<Item = usize> {
    at / 64..(at + bytes).div_ceil(64)
}

impl Sink for Listener {
    fn read(&mut self, at: usize, bytes: usize) {
        let mut heard = self.0.borrow_mut();
        for line in lines(at, bytes) {
            if !heard.asked.contains(&line) {
                heard.unasked_reads.insert(line);
            }
        }
    }

    fn write(&mut self, _: usize, _: usize) {}

    fn prefetch(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().asked.extend(lines(at, bytes));
    }

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().visits += usize::from(work == Work::Visit);
    }
}

/// 20,000 keys, loaded in bulk.
fn loaded(member: Member, options: &Options) -> Box<dyn latchless_core::base::index::OrderedIndex<u32, u32>> {
    let mut index = build_traced::<u32, u32, Traced>(member, options).unwrap();
    let entries: Vec<(u32, u32)> = (0..20_000).map(|i| (i, i)).collect();
    index.bulk_load(&entries, FillFactor::FULL).unwrap();
    index
}

fn heard_in(
    member: Member,
    body: impl FnOnce(&dyn latchless_core::base::index::OrderedIndex<u32, u32>),
) -> Heard {
    heard_with(member, &Options::default(), body)
}

fn heard_with(
    member: Member,
    options: &Options,
    body: impl FnOnce(&dyn latchless_core::base::index::OrderedIndex<u32, u32>),
) -> Heard {
    let index = loaded(member, options);
    let heard = Rc::new(RefCell::new(Heard::default()));
    listen(Box::new(Listener(heard.clone())), || body(&*index));
    heard.take()
}

#[test]
fn the_baseline_prefetches_nothing() {
    let heard = heard_in(Member::BPlus, |index| {
        index.get(777).unwrap();
    });
    assert!(heard.asked.is_empty());
    assert_eq!(heard.visits, index_levels(Member::BPlus));
    assert!((heard.visits..=2 * heard.visits).contains(&heard.unasked_reads.len()));
}

#[test]
fn wide_nodes_are_asked_for_whole_before_they_are_read() {
    for (member, width) in [(Member::P2, 2), (Member::P8, 8), (Member::P16, 16), (Member::P8Csb, 8)] {
        let heard = heard_in(member, |index| {
            index.get(777).unwrap();
        });
        assert_eq!(heard.unasked_reads.len(), 0, "{}", member.name());
        assert_eq!(heard.asked.len(), width * index_levels(member), "{}", member.name());
    }
}

#[test]
fn scans_with_jump_pointers_ask_for_every_leaf_they_read_and_few_more() {
    let scan = |index: &dyn latchless_core::base::index::OrderedIndex<u32, u32>| {
        let (mut keys, mut values) = (vec![0; 6300], vec![0; 6300]);
        let span = (Included(100), Unbounded);
        assert_eq!(index.page(span, Default::default(), &mut keys, &mut values), Ok(6300));
    };
    for member in [Member::P8, Member::P8External, Member::P8Internal, Member::P8Sweep] {
        let heard = heard_in(member, scan);
        // The hint's chunk is read right after it is prefetched; nothing else is read without a prefetch.
        assert_eq!(heard.unasked_reads.len(), 0, "{}", member.name());
        // A hundred leaves of eight lines and the two buffers' 788 lines; inner nodes and chunks come on
        // top.
        let most = 8 * 104 + 2 * 400 + 8 * 12;
        assert!(heard.asked.len() <= most, "{}: {} lines", member.name(), heard.asked.len());
    }
}

/// Buffers of sixteen entries each that begin a line.
#[repr(align(64))]
struct WholeLines([u32; 32]);

/// Lines that a sweeping scan of that many entries prefetches beyond those that a p8's does.
fn asked_ahead(options: &Options, entries: usize) -> usize {
    let asked = |member| {
        let heard = heard_with(member, options, |index| {
            let mut buffers = WholeLines([0; 32]);
            let (keys, values) = buffers.0.split_at_mut(16);
            let (keys, values) = (&mut keys[..entries], &mut values[..entries]);
            let span = (Included(100), Unbounded);
            assert_eq!(index.page(span, Default::default(), keys, values), Ok(entries));
        });
        heard.asked.len()
    };
    asked(Member::P8Sweep).saturating_sub(asked(Member::P8))
}

#[test]
fn scans_of_the_paper_prefetch_three_whole_leaves_whatever_they_need() {
    let whole = asked_ahead(&Options::of_the_paper(), 10);
    assert_eq!(whole, 3 * 8 + 8, "three leaves, and the next node above them");
    assert_eq!(asked_ahead(&Options::default(), 10), 0, "a short scan");
    let needed = Options { short_scan_entries: 0, ..Options::default() };
    assert_eq!(asked_ahead(&needed, 10), 8, "the node above the leaves: its entries are in one leaf");
}

/// What each scan prefetches before it arrives there: whether a leaf's neighbour is left alone, and whether
/// scattered leaves have neighbours.
#[test]
fn neighbours_in_memory_are_left_alone_unless_the_scans_are_the_paper_s() {
    for (placement, prefetch, leaves_ahead) in [
        (Placement::InOrder, ScanPrefetch::Needed, 0..10),
        (Placement::Scattered(5), ScanPrefetch::Needed, 90..106),
        (Placement::InOrder, ScanPrefetch::Whole, 90..106),
        (Placement::Scattered(5), ScanPrefetch::Whole, 90..106),
    ] {
        let options = Options { placement, scan_prefetch: prefetch, ..Options::default() };
        for member in [Member::P8External, Member::P8Internal, Member::P8Sweep] {
            let leaves = early(member, &options, |index| {
                index.sum((Included(100), Unbounded), 6300).unwrap();
            });
            assert!(leaves_ahead.contains(&leaves), "{}, {options:?}: {leaves}", member.name());
        }
    }
}

/// A page at a time, as iterators and visits read: jump pointers lead beyond the page.
#[test]
fn pages_of_a_long_scan_ask_for_leaves_beyond_them() {
    type Read = fn(&dyn latchless_core::base::index::OrderedIndex<u32, u32>);
    let pages: Read = |index| {
        let mut seen = 0;
        let visit = &mut |keys: &[u32], _: &[u32]| seen += keys.len();
        assert_eq!(index.for_each_chunk((Included(100), Unbounded), 6300, visit), Ok(6300));
        assert_eq!(seen, 6300);
    };
    let sum: Read = |index| {
        let expected = (100..6400).sum::<u64>();
        let sum = index.sum((Included(100), Unbounded), 6300).unwrap();
        assert_eq!((sum.entries, sum.total), (6300, expected));
    };
    for member in [Member::P8External, Member::P8Internal, Member::P8Sweep] {
        for read in [pages, sum] {
            let options = Options { placement: Placement::Scattered(5), ..Options::default() };
            let early = early(member, &options, read);
            // A hundred leaves, each prefetched while others are read before it, except the first few.
            assert!(early >= 90, "{}: {early} leaves in time", member.name());
        }
    }
}

/// Leaves that are prefetched early enough, while others are read before them.
fn early(
    member: Member,
    options: &Options,
    read: impl FnOnce(&dyn latchless_core::base::index::OrderedIndex<u32, u32>),
) -> usize {
    let ahead = Rc::new(RefCell::new(Ahead::default()));
    let index = loaded(member, options);
    listen(Box::new(AheadListener(ahead.clone())), || read(&*index));
    ahead.take().early
}

/// The number of visits of nodes between the prefetch of a line and its first read.
#[derive(Default)]
struct Ahead {
    visits: usize,
    asked: HashMap<usize, usize>,
    early: usize,
}

struct AheadListener(Rc<RefCell<Ahead>>);

impl Sink for AheadListener {
    fn read(&mut self, at: usize, _: usize) {
        let mut ahead = self.0.borrow_mut();
        let visits = ahead.visits;
        if ahead.asked.remove(&(at / 512)).is_some_and(|asked| visits >= asked + 2) {
            ahead.early += 1;
        }
    }

    fn write(&mut self, _: usize, _: usize) {}

    fn prefetch(&mut self, at: usize, bytes: usize) {
        let mut ahead = self.0.borrow_mut();
        let visits = ahead.visits;
        if bytes >= 256 {
            ahead.asked.entry(at / 512).or_insert(visits);
        }
    }

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().visits += usize::from(work == Work::Visit);
    }
}

#[test]
fn short_scans_leave_jump_pointers_alone() {
    let asked = |member| {
        heard_in(member, |index| {
            let (mut keys, mut values) = ([0; 20], [0; 20]);
            index.page((Included(100), Unbounded), Default::default(), &mut keys, &mut values).unwrap();
        })
        .asked
        .len()
    };
    assert_eq!(asked(Member::P8Internal), asked(Member::P8));
    assert_eq!(asked(Member::P8Sweep), asked(Member::P8));
}

fn index_levels(member: Member) -> usize {
    loaded(member, &Options::default()).stats().unwrap().levels
}

/// The writes of a structure of OLFIT's family to shared memory, and the rest of its work.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Changed {
    exchanges: usize,
    writes: usize,
    visits: usize,
    prefetched_bytes: usize,
    lines_read: HashSet<usize>,
}

struct Watcher(Rc<RefCell<Changed>>);

impl Sink for Watcher {
    fn read(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().lines_read.extend(lines(at, bytes));
    }

    fn write(&mut self, _: usize, _: usize) {
        self.0.borrow_mut().writes += 1;
    }

    fn prefetch(&mut self, _: usize, bytes: usize) {
        self.0.borrow_mut().prefetched_bytes += bytes;
    }

    fn exchange(&mut self, _: usize) {
        self.0.borrow_mut().exchanges += 1;
    }

    fn wait(&mut self, at: usize) {
        panic!("one alone never waits, but did at {at:#x}");
    }

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().visits += usize::from(work == Work::Visit);
    }
}

fn changed_in(
    member: olfit::Member,
    body: impl FnOnce(&mut dyn latchless_core::base::index::OrderedIndex<u32, u32>),
) -> Changed {
    let mut index = olfit::build_traced::<u32, u32, Traced>(member, &olfit::Options::default()).unwrap();
    let entries: Vec<(u32, u32)> = (0..20_000).map(|i| (i * 2, i)).collect();
    index.bulk_load(&entries, FillFactor::new(0.7).unwrap()).unwrap();
    let changed = Rc::new(RefCell::new(Changed::default()));
    listen(Box::new(Watcher(changed.clone())), || body(&mut *index));
    changed.take()
}

/// §3: a search under OLFIT writes nothing at all, under lock coupling each node twice, under one latch
/// that; versions cost a note that somebody is inside.
#[test]
fn searches_write_what_their_scheme_says() {
    use olfit::Member::*;
    let search = |member| changed_in(member, |index| assert_eq!(index.get(700), Some(350)));
    for member in [BPlusNo, BPlusOlAtOnce, CsbNo, CsbOlAtOnce] {
        let changed = search(member);
        assert_eq!((changed.exchanges, changed.writes), (0, 0), "{}", member.name());
    }
    for member in [BPlusOl, BPlusVn, BPlusVt, CsbOl, CsbVn, CsbVt] {
        let changed = search(member);
        assert_eq!((changed.exchanges, changed.writes), (1, 1), "{}", member.name());
    }
    for member in [BPlusTl, CsbTl] {
        let changed = search(member);
        assert_eq!((changed.exchanges, changed.writes), (2, 0), "{}", member.name());
    }
    for member in [BPlusLc, CsbLc] {
        let changed = search(member);
        assert_eq!((changed.exchanges, changed.writes), (2 * changed.visits, 0), "{}", member.name());
    }
}

/// The paper has no prefetch, so none of its schemes does; the additional member prefetches every node but
/// the root.
#[test]
fn only_the_member_named_after_it_prefetches_children() {
    for member in olfit::Member::ALL {
        let searched = changed_in(member, |index| assert_eq!(index.get(700), Some(350)));
        let nodes = if member.name().ends_with("prefetched") { searched.visits - 1 } else { 0 };
        let expected = nodes * olfit::Options::default().node_bytes;
        assert_eq!(searched.prefetched_bytes, expected, "{}", member.name());
    }
}

/// §6: in a node of 128 bytes that is 70 % full, there is a high probability of accessing the first 64
/// bytes only.
#[test]
fn a_search_often_needs_the_first_line_of_a_node_alone() {
    for member in [olfit::Member::BPlusNo, olfit::Member::BPlusOlAtOnce, olfit::Member::CsbNo] {
        let (mut lines, mut visits) = (0, 0);
        for entry in (0..20_000).step_by(199) {
            let searched = changed_in(member, |index| assert_eq!(index.get(2 * entry), Some(entry)));
            // One more is the root's reference.
            lines += searched.lines_read.len() - 1;
            visits += searched.visits;
        }
        let per_node = lines as f64 / visits as f64;
        assert!((1.2..1.6).contains(&per_node), "{per_node} of a node's two lines, {}", member.name());
    }
}

/// §3.3: an update under OLFIT latches the leaf alone, if that has room.
#[test]
fn updates_latch_what_their_scheme_says() {
    use olfit::Member::*;
    let replace = |member| changed_in(member, |index| assert_eq!(index.insert(700, 1), Ok(Some(350))));
    let latches = [
        (BPlusNo, 0),
        (BPlusOlAtOnce, 1),
        (CsbOlAtOnce, 1),
        // And the note that somebody is inside.
        (BPlusOl, 2),
        // The leaf and its parent, and the note.
        (BPlusVn, 3),
        (CsbVn, 3),
        (BPlusVt, 3),
        (BPlusTl, 2),
    ];
    for (member, exchanges) in latches {
        assert_eq!(replace(member).exchanges, exchanges, "{}", member.name());
    }
    let nodes = |member| replace(member).writes;
    assert!(nodes(BPlusVn) > nodes(BPlusOl), "a version is a copy");
    assert!(nodes(CsbVn) > nodes(BPlusVn), "and of a CSB+-Tree one of a whole group");
}
