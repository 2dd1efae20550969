//! Every kernel that this processor has against a naive reference.

use super::{Dispatch, Kernel};
use crate::base::error::Error;
use crate::base::key::Bits;
use crate::mem::touch::NoTrace;
use crate::testing::{random_cases, sample};
use proptest::prelude::*;

mod operation {
    crate::operations!(crate::search::Ranks);
}
use operation::{Operation, Run, Search};

/// Both ranks of a key.
struct Ranks<'a, B> {
    lanes: &'a [B],
    key: B,
}

impl<B: Bits> Operation for Ranks<'_, B> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<S: Search>(self) -> (usize, usize) {
        (S::below::<B, NoTrace>(self.lanes, self.key), S::up_to::<B, NoTrace>(self.lanes, self.key))
    }
}

/// The kernels of this processor. `checked` refuses the others; a machine that supports them runs the same
/// tests with them.
fn kernels() -> Vec<Dispatch> {
    Kernel::ALL.into_iter().filter_map(|kernel| Dispatch::of(kernel).ok()).collect()
}

fn naive<B: Bits>(lanes: &[B], key: B) -> (usize, usize) {
    (lanes.iter().filter(|&&lane| lane < key).count(), lanes.iter().filter(|&&lane| lane <= key).count())
}

fn same_ranks<B: Bits>(kernels: &[Dispatch], lanes: &[B], key: B) {
    let expected = naive(lanes, key);
    for kernel in kernels {
        let ranks = kernel.run(Ranks { lanes, key });
        assert_eq!(ranks, expected, "{} for {key:?} among {lanes:?}", kernel.kernel());
    }
}

/// Returns the keys that can distinguish ranks: each lane, its neighbours, and the ends of the domain. Miri
/// takes some of the lanes.
fn telling_keys<B: Bits>(lanes: &[B]) -> Vec<B> {
    let mut keys = vec![B::MIN, B::MAX];
    let step = if cfg!(miri) { 1 + lanes.len() / 3 } else { 1 };
    for lane in lanes.iter().step_by(step).map(|lane| lane.to_u64()) {
        keys.extend(
            [lane.saturating_sub(1), lane, lane.saturating_add(1).min(B::MAX.to_u64())].map(B::truncate),
        );
    }
    keys.dedup();
    keys
}

/// Lengths that nodes have, and beyond. Miri takes a sample.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=140).filter(|len| !cfg!(miri) || [0, 3, 7, 33, 65].contains(len))
}

/// Lanes over the whole domain, both halves of it, so that a signed compare would fail.
fn spread<B: Bits>(len: usize) -> Vec<B> {
    let step = B::MAX.to_u64() / (len as u64 + 1);
    (1..=len as u64).map(|i| B::truncate(i * step)).collect()
}

fn every_length_and_alignment<B: Bits>() {
    // 64 bytes: one whole vector of the widest kernel.
    let offsets = if cfg!(miri) { 2 } else { 64 / B::BYTES };
    let kernels = kernels();
    for len in lengths() {
        let lanes = spread::<B>(len);
        let keys = telling_keys(&lanes);
        let mut room = vec![B::MAX; len + 2 * offsets];
        // From a line's start on, so that every offset within a line occurs, whatever the allocator does.
        let start = room.as_ptr().align_offset(64).min(offsets);
        for offset in start..start + offsets {
            room.fill(B::MIN);
            room[offset..offset + len].copy_from_slice(&lanes);
            for &key in &keys {
                same_ranks(&kernels, &room[offset..offset + len], key);
            }
        }
    }
}

#[test]
fn u32_at_every_length_and_alignment() {
    every_length_and_alignment::<u32>();
}

#[test]
fn u64_at_every_length_and_alignment() {
    every_length_and_alignment::<u64>();
}

fn equal_lanes_and_the_ends_of_the_domain<B: Bits>() {
    let kernels = kernels();
    for len in lengths() {
        let (low, middle) = (B::truncate(1), B::truncate(1 << (8 * B::BYTES - 1)));
        for lane in [B::MIN, low, middle, B::MAX].into_iter().step_by(sample(3)) {
            let lanes = vec![lane; len];
            telling_keys(&lanes).into_iter().for_each(|key| same_ranks(&kernels, &lanes, key));
        }
        // Runs of equal lanes that cross every vector boundary.
        for run in [2, 3, 5, 11].into_iter().step_by(sample(2)) {
            let lanes: Vec<B> = (0..len).map(|i| B::truncate((i / run) as u64 * 3)).collect();
            telling_keys(&lanes).into_iter().for_each(|key| same_ranks(&kernels, &lanes, key));
        }
        // Only the first and only the last lane differ.
        let mut lanes = vec![B::MAX; len];
        lanes.iter_mut().take(1).for_each(|first| *first = B::MIN);
        telling_keys(&lanes).into_iter().for_each(|key| same_ranks(&kernels, &lanes, key));
        let mut lanes = vec![B::MIN; len];
        lanes.iter_mut().rev().take(1).for_each(|last| *last = B::MAX);
        telling_keys(&lanes).into_iter().for_each(|key| same_ranks(&kernels, &lanes, key));
    }
}

#[test]
fn u32_equal_lanes_and_the_ends_of_the_domain() {
    equal_lanes_and_the_ends_of_the_domain::<u32>();
}

#[test]
fn u64_equal_lanes_and_the_ends_of_the_domain() {
    equal_lanes_and_the_ends_of_the_domain::<u64>();
}

#[test]
fn a_kernel_that_the_processor_lacks_is_refused() {
    for kernel in Kernel::ALL {
        match Dispatch::of(kernel) {
            Ok(dispatch) => assert!(kernel.is_available() && dispatch.kernel() == kernel),
            Err(error) => {
                assert!(!kernel.is_available());
                assert_eq!(error, Error::KernelUnavailable { kernel: kernel.name() });
            }
        }
        assert_eq!(Kernel::from_name(kernel.name()), Some(kernel));
    }
    assert_eq!(Kernel::from_name("mmx"), None);
    assert_eq!(Dispatch::of(Kernel::best()), Ok(Dispatch::best()));
    // No processor belongs to both families.
    assert!(!(Kernel::Neon.is_available() && Kernel::Avx2.is_available()));
}

/// Prints the kernels that the tests of this run covered.
#[test]
fn what_was_tested() {
    let (tested, skipped): (Vec<_>, Vec<_>) =
        Kernel::ALL.into_iter().partition(|kernel| kernel.is_available());
    println!("kernels tested: {tested:?}; not on this processor, so not tested: {skipped:?}");
    assert!(tested.contains(&Kernel::Scalar));
}

fn ascending<B: Bits>(mut lanes: Vec<u64>) -> Vec<B> {
    lanes.iter_mut().for_each(|lane| *lane = B::truncate(*lane).to_u64());
    lanes.sort_unstable();
    lanes.into_iter().map(B::truncate).collect()
}

/// More lanes than a search covers in one round.
const MANY: usize = if cfg!(miri) { 70 } else { 200 };

proptest! {
    #![proptest_config(random_cases(2000))]

    #[test]
    fn random_lanes(lanes in prop::collection::vec(any::<u64>(), 0..MANY), keys in prop::collection::vec(any::<u64>(), 8 / sample(4))) {
        let (narrow, wide) = (ascending::<u32>(lanes.clone()), ascending::<u64>(lanes));
        for key in keys {
            same_ranks(&kernels(), &narrow, key as u32);
            same_ranks(&kernels(), &wide, key);
        }
    }

    #[test]
    fn crowded_lanes(lanes in prop::collection::vec(0..40u64, 0..MANY), key in 0..42u64) {
        same_ranks(&kernels(), &ascending::<u32>(lanes.clone()), key as u32);
        same_ranks(&kernels(), &ascending::<u64>(lanes), key);
    }

    /// Lanes out of order give a wrong rank, never one past the lanes.
    #[test]
    fn lanes_out_of_order(lanes in prop::collection::vec(any::<u64>(), 0..MANY), key: u64) {
        let narrow: Vec<u32> = lanes.iter().map(|&lane| lane as u32).collect();
        for kernel in kernels() {
            let (below, up_to) = kernel.run(Ranks { lanes: &lanes, key });
            prop_assert!(below <= lanes.len() && up_to <= lanes.len());
            let (below, up_to) = kernel.run(Ranks { lanes: &narrow, key: key as u32 });
            prop_assert!(below <= lanes.len() && up_to <= lanes.len());
        }
    }
}

/// Lanes that end where an unreadable page starts, and lanes that start where one ends: a read of one byte
/// outside of them faults.
#[cfg(all(target_os = "linux", not(miri)))]
mod beside_unreadable_pages {
    use super::*;
    use core::ptr::null_mut;
    use libc::{
        MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE, mmap, mprotect, munmap,
    };

    /// The largest page size in use where this library runs.
    const PAGE_BYTES: usize = 64 << 10;

    fn walled<B: Bits>() {
        // SAFETY: a new mapping, whose outer pages are made unreadable and never touched, and
        // which is unmapped once no slice of it is left.
        unsafe {
            let (access, flags) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
            let mapping = mmap(null_mut(), 3 * PAGE_BYTES, access, flags, -1, 0);
            assert_ne!(mapping, MAP_FAILED);
            let middle = mapping.cast::<u8>().add(PAGE_BYTES);
            assert_eq!(mprotect(mapping, PAGE_BYTES, PROT_NONE), 0);
            assert_eq!(mprotect(middle.add(PAGE_BYTES).cast(), PAGE_BYTES, PROT_NONE), 0);
            for len in lengths() {
                let lanes = spread::<B>(len);
                for at in [middle, middle.add(PAGE_BYTES - len * B::BYTES)].map(|at| at.cast::<B>()) {
                    at.copy_from_nonoverlapping(lanes.as_ptr(), len);
                    let walled = core::slice::from_raw_parts(at, len);
                    telling_keys(&lanes).into_iter().for_each(|key| same_ranks(&kernels(), walled, key));
                }
            }
            assert_eq!(munmap(mapping, 3 * PAGE_BYTES), 0);
        }
    }

    #[test]
    fn no_read_leaves_the_lanes() {
        walled::<u32>();
        walled::<u64>();
    }
}

/// The events that the kernels report to the tracing hook.
#[cfg(feature = "model")]
mod told {
    use super::*;
    use crate::mem::touch::{Sink, Traced, Work, listen};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Default)]
    struct Heard {
        reads: Vec<(usize, usize)>,
        probes: usize,
    }

    struct Listener(Rc<RefCell<Heard>>);

    impl Sink for Listener {
        fn read(&mut self, at: usize, bytes: usize) {
            self.0.borrow_mut().reads.push((at, bytes));
        }

        fn write(&mut self, _: usize, _: usize) {
            unreachable!("a search writes nothing");
        }

        fn prefetch(&mut self, _: usize, _: usize) {
            unreachable!("a search prefetches nothing");
        }

        fn work(&mut self, work: Work) {
            assert_eq!(work, Work::Probe);
            self.0.borrow_mut().probes += 1;
        }
    }

    struct Below<'a>(&'a [u64], u64);

    impl Operation for Below<'_> {
        type Output = usize;

        #[inline(always)]
        fn run<S: Search>(self) -> usize {
            S::below::<u64, Traced>(self.0, self.1)
        }
    }

    fn heard(kernel: Dispatch, lanes: &[u64], key: u64) -> Heard {
        let heard = Rc::new(RefCell::new(Heard::default()));
        let rank = listen(Box::new(Listener(heard.clone())), || kernel.run(Below(lanes, key)));
        assert_eq!(rank, naive(lanes, key).0);
        heard.take()
    }

    #[test]
    fn scalar_tells_each_probe_and_vectors_tell_their_lanes_once() {
        let lanes = spread::<u64>(63);
        let here = lanes.as_ptr().addr()..lanes.as_ptr_range().end.addr();
        for kernel in kernels() {
            let heard = heard(kernel, &lanes, lanes[20]);
            if kernel.kernel() == Kernel::Scalar {
                assert_eq!((heard.probes, heard.reads.len()), (6, 6), "log2 of 64");
                assert!(heard.reads.iter().all(|(at, bytes)| here.contains(at) && *bytes == 8));
            } else {
                assert_eq!((heard.probes, heard.reads), (1, vec![(here.start, 63 * 8)]));
            }
        }
    }
}
