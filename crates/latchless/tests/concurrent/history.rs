//! The check whether a history is linearizable: whether every operation can have happened at one moment
//! between its call and its return, such that all answers fit. A [`Model`] defines the effects of operations
//! and the answers that fit: here that of one key; `whole.rs` has that of a map.
//!
//! The search is Wing and Gong's, pruned as Lowe does it (*Testing for linearizability*, 2017): it processes
//! the calls and returns in order and keeps every *configuration* that is possible at that point, which is
//! the state and the set of open operations that have taken effect. An operation takes effect as late as
//! possible, when a return requires it. There are few configurations because no more operations are open
//! than there are threads, so the cost is about proportional to the history's length.

use std::collections::BTreeSet;
use std::fmt;

/// An operation of a sequential object.
pub trait Model: Copy + fmt::Debug {
    type State: Copy + Ord;
    type Answer: Copy + fmt::Debug;

    /// Returns the state afterwards.
    fn after(self, before: Self::State) -> Self::State;

    /// Returns whether the operation may answer this when it finds `state`.
    fn fits(self, answer: Self::Answer, state: Self::State) -> bool;
}

/// The value of a key.
pub type State = Option<u64>;

/// A change of one key, in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Sets the key's value.
    Put(u64),
    /// Sets the key's value if it has none.
    Add(u64),
    /// Replaces the key's value if it has one.
    Replace(u64),
    /// Replaces the key's value if it is the expected one.
    Swap { expected: u64, value: u64 },
    /// Removes the key.
    Remove,
    /// Removes the key if it has this value.
    RemoveIf(u64),
}

/// An operation on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Get,
    Edit(Edit),
}

impl Model for Op {
    type State = State;
    type Answer = Answer;

    fn after(self, before: State) -> State {
        match self {
            Self::Get => before,
            Self::Edit(Edit::Put(value)) => Some(value),
            Self::Edit(Edit::Add(value)) => before.or(Some(value)),
            Self::Edit(Edit::Replace(value)) => before.and(Some(value)),
            Self::Edit(Edit::Swap { expected, value }) if before == Some(expected) => Some(value),
            Self::Edit(Edit::RemoveIf(expected)) if before == Some(expected) => None,
            Self::Edit(Edit::Swap { .. } | Edit::RemoveIf(_)) => before,
            Self::Edit(Edit::Remove) => None,
        }
    }

    fn fits(self, answer: Answer, state: State) -> bool {
        match answer {
            Answer::Was(told) => told == state,
            Answer::Present(told) => told == state.is_some(),
            Answer::Silent => true,
        }
    }
}

/// The part of the state that an operation's answer reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// All of it.
    Was(State),
    /// Whether the key was present.
    Present(bool),
    /// Nothing.
    Silent,
}

/// An operation with the times of its call and its return, on one clock: no two are equal.
#[derive(Debug, Clone, Copy)]
pub struct Event<O: Model = Op> {
    pub called: u64,
    pub returned: u64,
    pub op: O,
    pub answer: O::Answer,
}

/// A history that isn't linearizable.
#[derive(Debug)]
pub struct Violation<O: Model = Op> {
    /// The first operation for which there is no moment.
    pub event: Event<O>,
    /// Events just before and meanwhile, in the order of calls.
    pub around: Vec<Event<O>>,
}

impl<O: Model> fmt::Display for Violation<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "there is no moment for {:?}; around it:", self.event)?;
        self.around.iter().try_for_each(|event| writeln!(f, "  {event:?}"))
    }
}

/// The state, and the open operations, each a bit, that have taken effect.
type Configuration<O> = (<O as Model>::State, u64);

/// Checks a history that started in one of the states `starts`, and returns the states in which it may have
/// ended. At most 64 operations may be open at once.
pub fn check<O: Model>(
    history: &mut [Event<O>],
    starts: &BTreeSet<O::State>,
) -> Result<BTreeSet<O::State>, Violation<O>> {
    history.sort_unstable_by_key(|event| event.called);
    let mut returns: Vec<usize> = (0..history.len()).collect();
    returns.sort_unstable_by_key(|&at| history[at].returned);
    let mut open = Open { slots: [None; 64] };
    let mut configurations: Vec<Configuration<O>> = starts.iter().map(|&state| (state, 0)).collect();
    let mut calls = 0;
    for &returning in &returns {
        let event = history[returning];
        while history.get(calls).is_some_and(|next| next.called < event.returned) {
            open.enter(calls);
            calls += 1;
        }
        configurations = open.leave(returning, history, configurations);
        if configurations.is_empty() {
            let around = history[..calls].iter().filter(|other| other.returned >= event.called);
            let mut around: Vec<Event<O>> = around.copied().collect();
            let before = history[..calls].iter().rev().filter(|other| other.returned < event.called);
            around.extend(before.take(8));
            around.sort_unstable_by_key(|event| event.called);
            return Err(Violation { event, around });
        }
    }
    Ok(configurations.into_iter().map(|(state, _)| state).collect())
}

/// The operations that were called and haven't returned.
struct Open {
    slots: [Option<usize>; 64],
}

impl Open {
    fn enter(&mut self, event: usize) {
        let free = self.slots.iter_mut().find(|slot| slot.is_none());
        *free.expect("at most 64 operations are open at once") = Some(event);
    }

    /// Returns the configurations in which `event` has taken effect, reached from these.
    fn leave<O: Model>(
        &mut self,
        event: usize,
        history: &[Event<O>],
        from: Vec<Configuration<O>>,
    ) -> Vec<Configuration<O>> {
        let slot = self.slots.iter().position(|&slot| slot == Some(event)).expect("it was called");
        let mut reached = from;
        let mut done = Vec::new();
        let mut looked_at = 0;
        while looked_at < reached.len() {
            let (state, effective) = reached[looked_at];
            looked_at += 1;
            if effective >> slot & 1 == 1 {
                done.push((state, effective & !(1 << slot)));
                continue;
            }
            for (bit, &other) in self.slots.iter().enumerate() {
                let Some(other) = other.filter(|_| effective >> bit & 1 == 0) else { continue };
                let Event { op, answer, .. } = history[other];
                if op.fits(answer, state) {
                    let next = (op.after(state), effective | 1 << bit);
                    if !reached.contains(&next) {
                        reached.push(next);
                    }
                }
            }
        }
        self.slots[slot] = None;
        done.sort_unstable();
        done.dedup();
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Answer::*;
    use Edit::*;

    /// The times of call and return, the operation and its answer.
    type Row = (u64, u64, Op, Answer);

    fn history(events: &[Row]) -> Vec<Event> {
        events.iter().map(|&(called, returned, op, answer)| Event { called, returned, op, answer }).collect()
    }

    fn ends(events: &[Row]) -> Option<Vec<State>> {
        let ends = check(&mut history(events), &BTreeSet::from([None])).ok()?;
        Some(ends.into_iter().collect())
    }

    const GET: Op = Op::Get;

    fn put(value: u64) -> Op {
        Op::Edit(Put(value))
    }

    #[test]
    fn histories_that_have_an_order() {
        assert_eq!(ends(&[]), Some(vec![None]));
        // One after the other.
        let one_by_one = [
            (1, 2, put(5), Was(None)),
            (3, 4, GET, Was(Some(5))),
            (5, 6, Op::Edit(Swap { expected: 5, value: 6 }), Was(Some(5))),
            (7, 8, Op::Edit(RemoveIf(5)), Was(Some(6))),
            (9, 10, Op::Edit(Add(7)), Was(Some(6))),
            (11, 12, Op::Edit(Remove), Was(Some(6))),
            (13, 14, Op::Edit(Replace(9)), Was(None)),
        ];
        assert_eq!(ends(&one_by_one), Some(vec![None]));
        // A get may see one put that is still under way, and another one not yet.
        assert_eq!(ends(&[(1, 9, put(5), Was(None)), (2, 3, GET, Was(Some(5)))]), Some(vec![Some(5)]));
        let in_turn = [(1, 9, put(5), Was(None)), (2, 3, GET, Was(None)), (4, 5, GET, Was(Some(5)))];
        assert_eq!(ends(&in_turn), Some(vec![Some(5)]));
        // The answers determine which of two puts came first; without them both ends are possible.
        let told = [(1, 4, put(1), Was(Some(2))), (2, 3, put(2), Was(None))];
        assert_eq!(ends(&told), Some(vec![Some(1)]));
        let untold = [(1, 4, put(1), Silent), (2, 3, put(2), Silent), (5, 6, GET, Present(true))];
        assert_eq!(ends(&untold), Some(vec![Some(1), Some(2)]));
    }

    #[test]
    fn histories_that_have_none() {
        let broken: [(&str, &[Row]); 8] = [
            ("a value from nowhere", &[(1, 2, GET, Was(Some(5)))]),
            ("a stale get", &[(1, 2, put(5), Was(None)), (3, 4, GET, Was(None))]),
            ("a get of the future", &[(1, 2, GET, Was(Some(5))), (3, 4, put(5), Was(None))]),
            (
                "gets that see time run back",
                &[(1, 9, put(5), Was(None)), (2, 3, GET, Was(Some(5))), (4, 5, GET, Was(None))],
            ),
            (
                "two readers that see two puts in different orders",
                &[
                    (1, 20, put(1), Silent),
                    (2, 21, put(2), Silent),
                    (3, 4, GET, Was(Some(1))),
                    (5, 6, GET, Was(Some(2))),
                    (7, 8, GET, Was(Some(1))),
                ],
            ),
            (
                "a replace that leaves a gap",
                &[(1, 2, put(1), Was(None)), (3, 6, put(2), Was(Some(1))), (4, 5, GET, Was(None))],
            ),
            (
                "two takers of one value",
                &[
                    (1, 2, put(1), Was(None)),
                    (3, 6, Op::Edit(Remove), Was(Some(1))),
                    (4, 5, Op::Edit(Remove), Was(Some(1))),
                ],
            ),
            (
                "a lost update",
                &[
                    (1, 2, put(1), Was(None)),
                    (3, 6, Op::Edit(Swap { expected: 1, value: 2 }), Was(Some(1))),
                    (4, 7, Op::Edit(Swap { expected: 1, value: 3 }), Was(Some(1))),
                ],
            ),
        ];
        for (what, events) in broken {
            assert_eq!(ends(events), None, "{what}");
        }
    }

    #[test]
    fn a_violation_shows_what_was_going_on() {
        let mut events = history(&[
            (1, 2, put(4), Was(None)),
            (3, 4, put(5), Was(Some(4))),
            (5, 8, put(6), Was(Some(5))),
            (6, 7, GET, Was(Some(4))),
            (9, 10, GET, Was(Some(6))),
        ]);
        let violation = check(&mut events, &BTreeSet::from([None])).unwrap_err();
        assert_eq!(violation.event.called, 6);
        assert_eq!(violation.around.iter().map(|event| event.called).collect::<Vec<_>>(), [1, 3, 5, 6]);
        assert!(violation.to_string().contains("Was(Some(4))"));
    }

    #[test]
    fn windows_hand_on_every_state_that_may_be() {
        let mut first = history(&[(1, 4, put(1), Silent), (2, 3, put(2), Silent)]);
        let middle = check(&mut first, &BTreeSet::from([None])).unwrap();
        for (value, fits) in [(1, true), (2, true), (3, false)] {
            let mut next = history(&[(5, 6, GET, Was(Some(value)))]);
            assert_eq!(check(&mut next, &middle).is_ok(), fits);
        }
    }

    /// Compared with trying every order of short random histories.
    #[test]
    fn finds_what_trying_every_order_finds() {
        let mut rng = latchless_core::testing::Rng(3);
        let (mut fine, mut broken) = (0, 0);
        for _ in 0..if cfg!(miri) { 30 } else { 20_000 } {
            let len = 2 + rng.below(4);
            let mut moments: Vec<u64> = (0..2 * len).collect();
            (1..moments.len()).rev().for_each(|i| moments.swap(i, rng.below(i as u64 + 1) as usize));
            let value = |rng: &mut latchless_core::testing::Rng| 1 + rng.below(2);
            let mut random = |pair: &[u64]| {
                let (a, b) = (value(&mut rng), value(&mut rng));
                let ops = [GET, put(a), Op::Edit(Add(a)), Op::Edit(Remove), Op::Edit(RemoveIf(a))];
                let swap = Op::Edit(Swap { expected: a, value: b });
                let op = *ops.get(rng.below(6) as usize).unwrap_or(&swap);
                let state = [None, Some(1), Some(2)][rng.below(3) as usize];
                let answer = [Was(state), Present(state.is_some()), Silent][rng.below(3) as usize];
                Event { called: pair[0].min(pair[1]), returned: pair[0].max(pair[1]), op, answer }
            };
            let mut events: Vec<Event> = moments.chunks(2).map(&mut random).collect();
            let mut ends = BTreeSet::new();
            try_every_order(&events, None, &mut ends);
            match check(&mut events, &BTreeSet::from([None])) {
                Ok(found) => {
                    assert_eq!(found, ends, "{events:?}");
                    fine += 1;
                }
                Err(violation) => {
                    assert!(ends.is_empty(), "{violation}");
                    broken += 1;
                }
            }
        }
        assert!(cfg!(miri) || (fine > 1000 && broken > 1000), "{fine} fine, {broken} broken");
    }

    fn try_every_order(left: &[Event], state: State, ends: &mut BTreeSet<State>) {
        if left.is_empty() {
            ends.insert(state);
        }
        for (at, event) in left.iter().enumerate() {
            let may_be_first = left.iter().all(|other| other.returned >= event.called);
            if may_be_first && event.op.fits(event.answer, state) {
                let rest: Vec<Event> = [&left[..at], &left[at + 1..]].concat();
                try_every_order(&rest, event.op.after(state), ends);
            }
        }
    }
}
