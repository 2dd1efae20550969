//! The accesses that CSSL reports: the paper's algorithms, if searches branch.

use latchless_core::mem::touch::{Sink, Trace, Traced, TracedBranching, Work, listen};
use latchless_papers::cssl::{CsslMap, Member, Options};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Debug, Clone, Default)]
struct Heard {
    reads: Vec<(usize, usize)>,
    prefetches: usize,
    works: Vec<Work>,
}

struct Listener(Rc<RefCell<Heard>>);

impl Sink for Listener {
    fn read(&mut self, at: usize, bytes: usize) {
        self.0.borrow_mut().reads.push((at, bytes));
    }

    fn write(&mut self, _: usize, _: usize) {
        panic!("a read writes nothing");
    }

    fn prefetch(&mut self, _: usize, _: usize) {
        self.0.borrow_mut().prefetches += 1;
    }

    fn work(&mut self, work: Work) {
        self.0.borrow_mut().works.push(work);
    }
}

impl Heard {
    fn count(&self, is: impl Fn(Work) -> bool) -> usize {
        self.works.iter().filter(|&&work| is(work)).count()
    }
}

const KEYS: u32 = 20_000;

/// With the paper's lanes, and without a table that guesses.
fn list(member: Member, lanes: usize) -> CsslMap<u32, u32> {
    let own = Options { guess: false, lanes: Some(lanes), huge_pages: false, ..Options::default() };
    let mut map = CsslMap::with_options(&member.options(&own)).unwrap();
    map.bulk_load(&(1..=KEYS).map(|key| (key, key)).collect::<Vec<_>>()).unwrap();
    map
}

fn heard_of<T: Trace>(
    map: &CsslMap<u32, u32>,
    ask: impl Fn(&latchless_papers::cssl::Pinned<'_, u32, u32, T>),
) -> Heard {
    let heard = Rc::new(RefCell::new(Heard::default()));
    listen(Box::new(Listener(Rc::clone(&heard))), || ask(&map.pin_as::<T>()));
    heard.take()
}

/// Algorithm 1: the highest lane is halved, each other lane and the proxy are compared key by key up to a
/// larger one, and neither a node nor a prefetch is needed.
#[test]
fn the_paper_s_lookup_reads_lanes_and_a_proxy() {
    for (member, others) in [(Member::Cssl5, 4), (Member::Cssl2, 1)] {
        let map = list(member, 4);
        let heard = heard_of::<TracedBranching>(&map, |pinned| assert!(pinned.contains(7_777)));
        assert_eq!(heard.prefetches, 0);
        assert_eq!(heard.works[0], Work::Operation);
        let ends = heard.count(|work| work == Work::Branch(others + 1));
        assert_eq!(ends, 4, "three lanes and the proxy");
        let compared = heard.count(|work| work == Work::Compare(1));
        assert!((4..=4 * others).contains(&compared), "{compared}");
        assert_eq!(heard.reads.len(), compared + heard.count(|work| work == Work::Probe));
        assert_eq!(heard.count(|work| work == Work::Visit), 0);
    }
}

#[test]
fn a_value_is_read_in_its_node() {
    let map = list(Member::Cssl5, 4);
    let heard = heard_of::<TracedBranching>(&map, |pinned| assert_eq!(pinned.get(7_777), Some(7_777)));
    assert_eq!((heard.count(|work| work == Work::Visit), heard.reads.last().unwrap().1), (1, 12));
    map.remove(8_888);
    let heard = heard_of::<TracedBranching>(&map, |pinned| assert!(pinned.contains(7_777)));
    assert_eq!(heard.count(|work| work == Work::Visit), 1, "lanes alone aren't sure any more");
}

#[test]
fn our_lookup_compares_vectors_and_prefetches() {
    let heard =
        heard_of::<Traced>(&list(Member::Cssl5, 4), |pinned| assert_eq!(pinned.get(7_777), Some(7_777)));
    assert_eq!(heard.count(|work| work == Work::Vectors(1)), 5, "four lanes and the proxy");
    assert!(heard.prefetches >= 8 && heard.count(|work| matches!(work, Work::Branch(_))) == 0);
}

/// Algorithm 2: each line of lane 1 between the range's ends is read once, in order, by vectors of eight
/// keys.
#[test]
fn the_paper_s_range_runs_along_lane_1() {
    for (member, skip) in [(Member::Cssl5, 5), (Member::Cssl2, 2)] {
        let map = list(member, 4);
        let (low, wide) = (2_000, 8_000);
        let range = low..=low + wide;
        let heard = heard_of::<TracedBranching>(&map, |pinned| {
            assert_eq!(pinned.range_along_lane(range.clone()).unwrap().count(), wide as usize + 1);
        });
        let lane: Vec<_> = heard.reads.iter().filter(|read| read.1 > 4).collect();
        assert!(lane.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0 && pair[1].0 % 64 == 0));
        let bytes: usize = lane.iter().map(|read| read.1).sum();
        let passed = (wide / skip * 4) as usize;
        assert!((passed..=passed + 32).contains(&bytes), "{bytes} of {passed}");
        let vectors: usize =
            heard.works.iter().map(|&work| if let Work::Vectors(count) = work { count } else { 0 }).sum();
        assert_eq!(vectors, bytes.div_ceil(32));
    }
}
