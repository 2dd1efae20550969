//! The safe interface of the modules with unsafe code: every call returns a result or an error, and has no
//! other effect. The documentation of `search::Present` has the programs that must not compile.

#![forbid(unsafe_code)]

use latchless_core::mem::mapping::{HUGE_PAGE_BYTES, Mapping};
use latchless_core::mem::touch::NoTrace;
use latchless_core::mem::words::Words;
use latchless_core::search::{Dispatch, HalfLine, Kernel, Ranks, VectorOperation, WithKernel};
use latchless_core::sync::Word;
use std::panic::{AssertUnwindSafe, catch_unwind};

latchless_core::operations!(Ranks);

struct Below<'a>(&'a [u64], u64);

impl Operation for Below<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        S::below::<u64, NoTrace>(self.0, self.1)
    }
}

/// The bytes of a kernel's vectors, or nothing if it has none.
struct VectorBytes;

impl VectorOperation for VectorBytes {
    type Output = usize;

    fn run<I: latchless_core::search::InstructionSet>(self) -> usize {
        I::VECTOR_BYTES
    }
}

impl WithKernel for VectorBytes {
    type Output = usize;

    fn with<K: Ranks + HalfLine>(self) -> usize {
        K::with_vectors(self).unwrap_or(0)
    }
}

#[test]
fn an_operation_gets_a_kernel_that_the_processor_has_and_no_other() {
    let lanes: Vec<u64> = (0..64).collect();
    for kernel in Kernel::ALL {
        match Dispatch::of(kernel) {
            Ok(dispatch) => {
                assert_eq!(dispatch.run(Below(&lanes, 9)), 9);
                assert_eq!(dispatch.with(VectorBytes) == 0, kernel == Kernel::Scalar);
            }
            Err(_) => assert!(!kernel.is_available()),
        }
    }
}

fn panics<R>(act: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

#[test]
fn a_mapping_leaves_memory_that_is_not_its_own_alone() {
    let mut mapping = Mapping::reserve(HUGE_PAGE_BYTES).unwrap();
    let bytes = mapping.bytes();
    assert!(panics(|| mapping.commit(0, bytes + HUGE_PAGE_BYTES)));
    assert!(panics(|| mapping.commit(HUGE_PAGE_BYTES, 0)));
    assert!(panics(|| mapping.commit(1, bytes)));
    assert!(panics(|| mapping.release(0, bytes)), "nothing is committed");
    mapping.commit(bytes / 2, bytes).unwrap();
    assert!(panics(|| mapping.release(0, bytes)), "half of it isn't committed");
    mapping.commit(0, bytes).unwrap();
    assert!(panics(|| mapping.release(0, bytes + HUGE_PAGE_BYTES)));
    assert!(panics(|| mapping.release(bytes, 0)));
    assert!(panics(|| mapping.release(4, 8)));
    mapping.release(0, bytes);
}

#[test]
fn an_array_gives_back_whole_pages_of_its_words_alone() {
    let words = Words::<Word>::new(HUGE_PAGE_BYTES, false).unwrap();
    words.iter().step_by(100).for_each(|word| word.store_relaxed(7));
    assert!(panics(|| words.give_back(0..100)), "the rest of the page is others'");
    assert!(panics(|| words.give_back(8..words.len())));
    assert!(words.iter().step_by(100).all(|word| word.load_relaxed() == 7));
    words.give_back(0..words.len());
    assert!(words.iter().all(|word| word.load_relaxed() == 0));
}
