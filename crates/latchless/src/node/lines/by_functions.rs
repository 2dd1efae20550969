//! How a vector kernel's functions become its [`Lines`](super::Lines).

/// Makes the functions of the same names, of the file that says this, a vector kernel's [`Lines`]. `changes`: it
/// has functions for changes of blocks, too.
macro_rules! lines_by_functions {
    ($kernel:ty $(, $changes:ident)?) => {
        impl Lines for $kernel {
            type Sums = Sums;

            #[inline(always)]
            fn hints_up_to(header: &Line, hint: u16) -> usize {
                // SAFETY: a vector kernel comes to an operation through `Dispatch` alone, which is made only
                // of kernels that this processor has.
                unsafe { hints_up_to(header, hint) }
            }

            #[inline(always)]
            fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
                // SAFETY: as above.
                unsafe { keys_equal(block, key) }
            }

            #[inline(always)]
            fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
                // SAFETY: as above.
                unsafe { separators_up_to(block, key) }
            }

            #[inline(always)]
            fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
                // SAFETY: as above.
                unsafe { copy_half_to(line, first, to) }
            }

            #[inline(always)]
            fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
                // SAFETY: as above.
                unsafe { keys_between(block, low, high) }
            }

            #[inline(always)]
            fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
                // SAFETY: as above.
                unsafe { keys_below(block, key) }
            }

            $crate::node::lines::by_functions::changes!($($changes)?);

            #[inline(always)]
            fn no_sums() -> Sums {
                // SAFETY: as above.
                unsafe { no_sums() }
            }

            #[inline(always)]
            fn add_values<B: Bits>(block: &Line, places: u32, sums: Sums) -> Sums {
                // SAFETY: as above.
                unsafe { add_values::<B>(block, places, sums) }
            }

            #[inline(always)]
            fn total(sums: Sums) -> u64 {
                // SAFETY: as above.
                unsafe { total(sums) }
            }
        }
    };
}
pub(super) use lines_by_functions;

/// The changes of blocks, if the file has functions for them.
macro_rules! changes {
    () => {};
    (changes) => {
        #[inline(always)]
        fn put_at<B: Bits>(block: &Line, (at, _): (usize, usize), entry: (B, B)) {
            // SAFETY: as above.
            unsafe { put_at(block, at, entry) }
        }

        #[inline(always)]
        fn take_out<B: Bits>(block: &Line, (at, _): (usize, usize)) {
            // SAFETY: as above.
            unsafe { take_out::<B>(block, at) }
        }

        #[inline(always)]
        fn set_half<B: Bits>(line: &Line, first: usize, from: &[B]) {
            // SAFETY: as above.
            unsafe { set_half(line, first, from) }
        }
    };
}
pub(super) use changes;
