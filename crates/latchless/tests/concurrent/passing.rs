//! Searches that pass the leaf where they begin, while a writer keeps an invariant: whenever the *far* key
//! is present, the *near* one is, too. They are in neighbouring leaves, so a search that reads the near
//! one's leaf, finds nothing, and reads the far one's later finds the far key, unless it validates.

use crate::broken_order::{FlawedOrder, OrderFlaw};
use crate::ordered::{Ordered, on_every_ordered};
use crate::subject::scaled;
use latchless::Direction;
use latchless_core::testing::Rng;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// A kind of search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// `ceiling`, `floor`.
    Nearest,
    /// `higher`, `lower`.
    Beside,
    /// `first`, `last`.
    End,
    /// `pop_first`, `pop_last`.
    Pop,
}

/// The keys of a scene.
#[derive(Debug)]
struct Scene {
    near: u64,
    far: u64,
    /// The start of a search.
    from: u64,
    /// A key between the two.
    border: u64,
    staying: Vec<u64>,
    /// Keys that the writer inserts and removes, so that the near key's leaf is full at times: then the near
    /// key goes into a separate leaf.
    coming: Vec<u64>,
}

/// A key at which a leaf ends if keys come in order: leaves of 60 and of 120 entries are left full.
const BORDER: u64 = 17 * 120;

impl Scene {
    /// Returns a scene among other keys: both leaves have more than the two.
    fn inside(direction: Direction) -> Self {
        let (left, right) = (BORDER - 10, BORDER + 10);
        let staying = (0..2 * BORDER).filter(|&key| key.abs_diff(BORDER) > 20).collect();
        let scene = |near, far, from| Self { near, far, from, border: BORDER, staying, coming: Vec::new() };
        match direction {
            Direction::Forward => scene(left, right, left - 5),
            Direction::Reverse => scene(right, left, right + 5),
        }
    }

    /// Returns a scene whose near key is the map's first one in this direction.
    fn at_the_end(direction: Direction) -> Self {
        let at = |distance: u64| match direction {
            Direction::Forward => distance,
            Direction::Reverse => u64::from(u32::MAX) - distance,
        };
        Self {
            near: at(100),
            far: at(200),
            from: at(0),
            border: at(150),
            staying: (1000..1200).map(at).collect(),
            coming: (300..430).map(at).collect(),
        }
    }

    fn of(question: Question, direction: Direction) -> Self {
        match question {
            Question::Nearest | Question::Beside => Self::inside(direction),
            Question::End | Question::Pop => Self::at_the_end(direction),
        }
    }

    fn prepare(&self, map: &dyn Ordered) {
        // In order, so that leaves are full; then the keys that aren't to stay are removed.
        let staying: BTreeSet<u64> = self.staying.iter().copied().collect();
        let all = || *staying.first().expect("some stay")..=*staying.last().expect("some stay");
        all().for_each(|key| _ = map.put(key, 0));
        all().filter(|key| !staying.contains(key)).for_each(|key| _ = map.remove(key));
        let inside = self.coming.is_empty();
        let (low, high) = (self.near.min(self.far), self.near.max(self.far));
        assert!(!inside || map.parts(low, high) != Some(false), "both keys are in one leaf");
    }

    fn write(&self, map: &dyn Ordered, over: &AtomicBool) {
        let mut rng = Rng(7);
        while !over.load(Ordering::Acquire) {
            let coming = rng.below(self.coming.len() as u64 + 1) as usize;
            self.coming[..coming].iter().for_each(|&key| _ = map.put(key, 0));
            map.put(self.near, 1);
            map.put(self.far, 2);
            map.remove(self.far);
            map.remove(self.near);
            self.coming[..coming].iter().for_each(|&key| _ = map.remove(key));
        }
    }

    /// Searches once. A pop inserts the removed entry again, so that nothing differs before the next one.
    fn ask(&self, map: &dyn Ordered, question: Question, direction: Direction) -> Option<u64> {
        let found = match question {
            Question::Nearest => map.nearest(self.from, direction),
            Question::Beside => map.beside(self.from, direction),
            Question::End => map.end(direction),
            Question::Pop => map.pop(direction),
        };
        if let (Question::Pop, Some((key, value))) = (question, found) {
            map.put(key, value);
        }
        found.map(|(key, _)| key)
    }
}

/// Searches this many times, and returns how often the far key was the answer, which is always wrong.
fn count_wrong(
    map: &dyn Ordered,
    scene: &Scene,
    (question, direction): (Question, Direction),
    calls: usize,
) -> usize {
    scene.prepare(map);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| scene.write(map, &over));
        let wrong = (0..calls).filter(|_| scene.ask(map, question, direction) == Some(scene.far)).count();
        over.store(true, Ordering::Release);
        wrong
    })
}

const QUESTIONS: [Question; 4] = [Question::Nearest, Question::Beside, Question::End, Question::Pop];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Reverse];

/// Returns every kind of search, in both directions.
fn all_asked() -> impl Iterator<Item = (Question, Direction)> {
    QUESTIONS.into_iter().flat_map(|question| DIRECTIONS.map(|direction| (question, direction)))
}

#[test]
fn a_search_across_leaves_finds_no_key_behind_a_nearer_one() {
    on_every_ordered(|make| {
        let wrong = all_asked().map(|asked| {
            let calls = scaled(if asked.0 == Question::Pop { 30_000 } else { 300_000 }, 3);
            (asked, count_wrong(&*make(), &Scene::of(asked.0, asked.1), asked, calls), calls)
        });
        let wrong: Vec<_> = wrong.filter(|&(_, wrong, _)| wrong > 0).collect();
        assert!(wrong.is_empty(), "wrong answers, and of how many: {wrong:?}");
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn a_search_that_does_not_look_back_is_found() {
    for (question, direction) in all_asked() {
        let scene = Scene::of(question, direction);
        let wrong = |flaw| {
            let map = FlawedOrder::new(flaw, scene.border);
            count_wrong(&map, &scene, (question, direction), 5_000)
        };
        assert_eq!(wrong(OrderFlaw::None), 0, "the control is linearizable");
        assert!((0..20).any(|_| wrong(OrderFlaw::TwoLooks) > 0), "{question:?} {direction:?} wasn't found");
    }
}
