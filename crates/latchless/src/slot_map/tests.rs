//! The slot map on its own: what readers keep, what is dropped when, and what memory is returned.

use super::*;
use latchless_core::base::value::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, TryRecvError, channel};

/// Creates a map with its own limit.
fn map<T: Send + Sync>(limit_bytes: Option<usize>) -> SlotMap<T> {
    SlotMap::new(&Arc::new(Budget::new(limit_bytes)))
}

/// Sends its number when it is dropped.
#[derive(Debug)]
struct Loud(u32, Sender<u32>);

impl Drop for Loud {
    fn drop(&mut self) {
        self.1.send(self.0).unwrap();
        if self.0 == 13 {
            panic!("thirteen");
        }
    }
}

#[test]
fn handles_that_are_out_of_date_find_nothing() {
    let slots = map(None);
    let pin = Pinned::new();
    let old = slots.put("old".to_owned()).unwrap();
    assert_eq!(slots.read(old, &pin).unwrap(), "old");
    assert!(slots.retire(old, &pin));
    assert!(!slots.retire(old, &pin));
    assert_eq!(slots.read(old, &pin), None);
    let far = SlotId { slot: u32::MAX, generation: 0 };
    assert!(slots.read(far, &pin).is_none() && !slots.retire(far, &pin));
    assert_eq!(SlotId::decode(old.encode()), old);
}

#[test]
fn a_reader_keeps_what_it_reads() {
    let (sender, dropped) = channel();
    let slots = map(None);
    let handle = slots.put(Loud(1, sender)).unwrap();
    let pin = Pinned::new();
    let loud = slots.read(handle, &pin).unwrap();
    std::thread::scope(|threads| {
        let retire = threads.spawn(|| {
            let pin = Pinned::new();
            slots.retire(handle, &pin);
            (0..100).for_each(|_| pin.flush());
        });
        retire.join().unwrap();
    });
    assert!(dropped.try_recv().is_err());
    assert_eq!(loud.0, 1);
    drop(pin);
    drop(slots);
    assert_eq!(dropped.recv(), Ok(1));
    assert!(dropped.recv().is_err(), "once");
}

/// The number of values in a test: more than a page of them.
const MANY: u64 = if cfg!(miri) { 200 } else { 20_000 };

/// Runs deferred drops until at most this many bytes are held.
fn wait_for_bytes<T: Send + Sync>(slots: &SlotMap<T>, at_most: usize) {
    for _ in 0..20_000 {
        if slots.bytes() <= at_most {
            return;
        }
        slots.flush();
        std::thread::yield_now();
    }
    panic!("{} bytes, not {at_most}", slots.bytes());
}

/// Returns the most that is kept for this many live values: twice what is live, spare, or about to be used,
/// and a page.
fn most_bytes<T>(live: usize) -> usize {
    let page = if cfg!(miri) { 512 } else { 4096 };
    2 * (live * size_of::<Slot<T>>() + (8 + 2 * 8) * page) + page
}

#[test]
fn slots_are_used_again() {
    let slots = map(None);
    for round in 0..if cfg!(miri) { 300 } else { 100_000 } {
        let pin = Pinned::new();
        let handle = slots.put(round).unwrap();
        slots.retire(handle, &pin);
        drop(pin);
        // Other tests keep pins as well.
        if slots.bytes() > most_bytes::<u64>(1) {
            wait_for_bytes(&slots, most_bytes::<u64>(1));
        }
    }
    wait_for_bytes(&slots, most_bytes::<u64>(1));
}

#[test]
fn slots_that_nothing_lives_in_are_given_back() {
    let slots = map(None);
    let pin = Pinned::new();
    let mut live = slots.put([0; 16]).unwrap();
    for version in 1..MANY {
        let new = slots.put([version; 16]).unwrap();
        slots.retire(live, &pin);
        live = new;
    }
    let held = slots.bytes();
    assert!(held >= MANY as usize * 128, "the pin keeps all of them");
    drop(pin);
    wait_for_bytes(&slots, most_bytes::<[u64; 16]>(1));
    assert_eq!(slots.read(live, &Pinned::new()), Some(&[MANY - 1; 16]));
    // And it can be reused.
    let handles: Vec<_> = (0..MANY).map(|value| slots.put([value; 16]).unwrap()).collect();
    let pin = Pinned::new();
    assert!(handles.iter().zip(0..).all(|(&handle, value)| slots.read(handle, &pin) == Some(&[value; 16])));
    assert!(slots.bytes() <= held + most_bytes::<[u64; 16]>(1));
}

#[test]
fn values_that_are_replaced_gather_on_few_pages() {
    let slots = map(None);
    let mut live: Vec<_> = (0..MANY).map(|value| slots.put([value; 8]).unwrap()).collect();
    let full = slots.bytes();
    // A few of them stay, at least one on every page.
    let stay = MANY as usize / 50;
    let pin = Pinned::new();
    for at in (0..MANY as usize).filter(|at| at % 50 != 0) {
        slots.retire(live[at], &pin);
    }
    drop(pin);
    live = live.into_iter().step_by(50).collect();
    let most = 2 * stay * size_of::<Slot<[u64; 8]>>() + most_bytes::<[u64; 8]>(1);
    assert!(cfg!(miri) || most < full / 4);
    for round in 0..3 {
        for handle in &mut live {
            let new = slots.put([round; 8]).unwrap();
            slots.retire(core::mem::replace(handle, new), &Pinned::new());
        }
        slots.flush();
    }
    wait_for_bytes(&slots, most);
}

#[test]
fn slots_in_the_lists_of_threads_that_are_gone_hold_up_no_page() {
    let mut slots = map(None);
    let mut handles: Vec<_> = (0..MANY).map(|value| slots.put([value; 16]).unwrap()).collect();
    // Too few for a thread to move them to the depot, each on a different page.
    let page = if cfg!(miri) { 3 } else { 30 };
    for thread in 0..if cfg!(miri) { 2 } else { 16 } {
        let few: Vec<_> = (0..20).map(|at| (thread * 20 + at) * page % handles.len()).collect();
        let few: Vec<_> = few.into_iter().map(|at| handles[at]).collect();
        std::thread::scope(|scope| {
            let slots = &mut slots;
            scope.spawn(move || few.into_iter().for_each(|handle| _ = slots.take(handle)));
        });
    }
    handles.drain(..).for_each(|handle| _ = slots.take(handle));
    assert!(slots.bytes() <= most_bytes::<[u64; 16]>(1), "{} bytes", slots.bytes());
}

#[test]
fn no_handle_from_before_finds_what_came_after() {
    let mut slots = map(None);
    let mut past: Vec<SlotId> = Vec::new();
    let rounds = if cfg!(miri) { 4 } else { 20 };
    for round in 0..rounds {
        let now: Vec<_> = (0..MANY / 10).map(|value| slots.put(value + round).unwrap()).collect();
        let pin = Pinned::new();
        assert!(now.iter().zip(0..).all(|(&handle, at)| slots.read(handle, &pin) == Some(&(at + round))));
        assert!(past.iter().all(|&handle| slots.read(handle, &pin).is_none() && !slots.retire(handle, &pin)));
        past.extend(&now);
        drop(pin);
        // Returns everything, so that the next round's slots are opened again.
        slots.clear();
        assert_eq!(slots.bytes(), 0);
        let pin = Pinned::new();
        assert!(past.iter().all(|&handle| slots.read(handle, &pin).is_none() && !slots.retire(handle, &pin)));
    }
    let mut bits: Vec<_> = past.iter().map(|handle| handle.encode()).collect();
    bits.sort_unstable();
    bits.dedup();
    assert_eq!(bits.len(), past.len());
}

#[test]
fn readers_with_any_handle_meet_pages_that_come_and_go() {
    let slots = map::<[Box<u64>; 2]>(None);
    let rounds = if cfg!(miri) { 3 } else { 100 };
    let (hold_on, stop) = std::sync::mpsc::sync_channel::<()>(0);
    let stop = std::sync::Mutex::new(stop);
    std::thread::scope(|scope| {
        let (slots, stop, hold_on) = (&slots, &stop, hold_on);
        for reader in 0..2u32 {
            scope.spawn(move || {
                let mut guess = reader;
                while stop.lock().unwrap().try_recv() == Err(TryRecvError::Empty) {
                    let pin = Pinned::new();
                    for _ in 0..50 {
                        guess = guess.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let handle = SlotId { slot: (guess >> 8) % 2000, generation: guess % (rounds + 2) };
                        slots.prefetch(handle);
                        if let Some(value) = slots.read(handle, &pin) {
                            assert_eq!(*value[0], *value[1]);
                        }
                    }
                }
            });
        }
        for round in 0..rounds {
            let values = (0..MANY / 20).map(|at| [Box::new(at), Box::new(at)]);
            let handles: Vec<_> = values.map(|value| slots.put(value).unwrap()).collect();
            let pin = Pinned::new();
            handles.iter().for_each(|&handle| assert!(slots.retire(handle, &pin)));
            drop(pin);
            if round % 2 == 0 {
                wait_for_bytes(slots, most_bytes::<[Box<u64>; 2]>(1));
            }
        }
        // Stops the readers, even if this thread panics.
        drop(hold_on);
    });
}

#[test]
fn a_limit_refuses_and_gives_the_value_back() {
    // And what the depot takes per page.
    let page_slots = if cfg!(miri) { 512 } else { 4096 } / size_of::<Slot<u64>>();
    let books = 200_usize.div_ceil(page_slots) * (32 + page_slots / 4);
    let slots = map(Some(200 * size_of::<Slot<u64>>() + books));
    let handles: Vec<_> = (0..200u64).map(|value| slots.put(value).unwrap()).collect();
    let (error, value) = slots.put(200).unwrap_err();
    assert!(matches!(error, Error::MemoryLimit { .. }) && value == 200);
    {
        let pin = Pinned::new();
        assert!(handles.iter().zip(0..).all(|(&handle, value)| slots.read(handle, &pin) == Some(&value)));
        handles.iter().for_each(|&handle| assert!(slots.retire(handle, &pin)));
    }
    // Whatever thread drops them, and whatever list their slots go to.
    let put = |value| {
        (0..20_000).find_map(|_| {
            slots.put(value).ok().or_else(|| {
                std::thread::yield_now();
                None
            })
        })
    };
    assert!((0..200).all(|value| put(value).is_some()));
    assert!(slots.put(200).is_err());
}

#[test]
fn values_are_taken_by_who_has_the_vault_alone() {
    let (sender, dropped) = channel();
    let mut slots = map(None);
    let [one, two] = [1, 2].map(|number| slots.put(Loud(number, sender.clone())).unwrap());
    let taken = slots.take(one).unwrap();
    assert!(dropped.try_recv().is_err() && taken.0 == 1);
    assert!(slots.take(one).is_none());
    slots.retire(two, &Pinned::new());
    assert!(slots.take(two).is_none(), "it is to be dropped");
    let forged = SlotId { slot: two.slot, generation: two.generation | 1 << 30 };
    assert!(slots.take(forged).is_none() && !slots.retire(forged, &Pinned::new()));
    drop((taken, slots, sender));
    let mut all: Vec<_> = dropped.iter().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2]);
}

#[test]
fn a_panicking_drop_keeps_the_others_from_nothing() {
    let (sender, dropped) = channel();
    let mut slots = map(None);
    for number in 10..17 {
        slots.put(Loud(number, sender.clone())).unwrap();
    }
    let panic = catch_unwind(AssertUnwindSafe(|| slots.clear())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"thirteen"));
    drop(sender);
    assert_eq!(dropped.try_iter().collect::<Vec<_>>(), (10..17).collect::<Vec<_>>());
    slots.clear();
}
