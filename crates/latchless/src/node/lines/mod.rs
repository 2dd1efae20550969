//! Searching single cache lines that may be written meanwhile: hints, leaf blocks, inner blocks.
//!
//! A line is read as words, each of them whole, by relaxed loads. The vector kernels load four words with
//! one instruction, which represents as many relaxed loads; that instruction is written in assembly,
//! because the language knows no vector of atomics, and it is all that is: comparing is done by intrinsics,
//! in registers. What a kernel must know for it is [`HalfLine`]; the scalar kernel's is plain relaxed loads
//! and serves interpreters, race detectors and processors that have none of AVX2, AVX-512 and NEON. Half a
//! line is written in the same ways, as so many relaxed stores.
//!
//! What a search answers for a line that is being written is one of the numbers that it may answer
//! at all; readers find out by the node's version.
//!
//! # The lines
//! - *Header*: words 4 to 7 are sixteen 16-bit lanes, low lanes first. Lanes 2 to 15 are hints, in
//!   ascending order.
//! - *Leaf block*: words 0 to 3 are keys, words 4 to 7 values: four of 64 bits or eight of 32.
//! - *Inner block*: 64 bits: words 0 to 4 are five separators, words 5 to 7 their children, two to a
//!   word. 32 bits: words 0 to 3 are eight separators, words 4 to 7 eight children.

#[cfg(test)]
mod tests;

use core::mem::MaybeUninit;
use latchless_core::base::key::Bits;
use latchless_core::search::{HalfLine, lanes_in_half};
use latchless_core::sync::{Line, Word};

/// Keys (and values) in a leaf block.
#[inline(always)]
pub const fn keys_in_line<B: Bits>() -> usize {
    lanes_in_half::<B>()
}

/// Children in an inner block.
#[inline(always)]
pub const fn children_in_line<B: Bits>() -> usize {
    if B::BYTES == 8 { 5 } else { 8 }
}

/// The four words of a line from `first` on.
#[inline(always)]
fn four(line: &Line, first: usize) -> &[Word; 4] {
    line[first..first + 4].try_into().expect("four words")
}

/// What hinted nodes ask of their lines.
// SAFETY (of every block below): a kernel is `Present`: the processor has what it needs.
pub trait Lines: HalfLine {
    /// How many of a header's fourteen hints are at most `hint`.
    #[inline(always)]
    fn hints_up_to(header: &Line, hint: u16) -> usize {
        // SAFETY: above the trait.
        unsafe { Self::short_lanes_up_to(Self::half(four(header, 4)), hint) }
    }

    /// The bits of a word at those places, side by side from the lowest one on.
    #[inline(always)]
    fn bits_at(word: u64, places: u64) -> u64 {
        // SAFETY: above the trait.
        unsafe { Self::extract(word, places) }
    }

    /// One bit for each key place of a leaf block: whether it holds `key`.
    #[inline(always)]
    fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::equal(Self::half(four(block, 0)), key) }
    }

    /// How many of the separators of an inner block are at most `key`.
    #[inline(always)]
    fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
        // Of five separators of 64 bits the first is compared apart.
        let apart = children_in_line::<B>() - keys_in_line::<B>();
        let first = usize::from(apart == 1 && block[0].load_relaxed() <= key.to_u64());
        // SAFETY: above the trait.
        first + unsafe { Self::up_to(Self::half(four(block, apart)), key) }.count_ones() as usize
    }

    /// Copies the lanes of the four words from `first` on to the front of `to`.
    ///
    /// # Panics
    /// When that is shorter than half a line, or the words don't lie in the line.
    #[inline(always)]
    fn copy_half<B: Bits>(line: &Line, first: usize, to: &mut [B]) {
        // SAFETY: lanes are laid out alike whether they have been written or not, and nothing but lanes is
        // written to these: they stay what they are.
        let to = unsafe { &mut *(core::ptr::from_mut(to) as *mut [MaybeUninit<B>]) };
        Self::copy_half_to(line, first, to);
    }

    /// As [`Lines::copy_half`], to lanes of which nothing needs to be there. All of half a line are there
    /// then.
    #[inline(always)]
    fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
        // SAFETY: above the trait.
        unsafe { Self::store(Self::half(four(line, first)), to) }
    }

    /// Sets the lanes of the four words from `first` on to those at the front of `from`. For the holder of
    /// the latch.
    ///
    /// # Panics
    /// As [`Lines::copy_half`].
    #[inline(always)]
    fn set_half<B: Bits>(line: &Line, first: usize, from: &[B]) {
        // SAFETY: above the trait.
        unsafe { Self::set(four(line, first), <Self as HalfLine>::load(from)) }
    }

    /// Puts an entry at a place of a leaf block that has room for one more. Those from there on move one
    /// place up. For the holder of the latch.
    #[inline(always)]
    fn put_at<B: Bits>(block: &Line, at: usize, (key, value): (B, B)) {
        for (first, new) in [(0, key), (4, value)] {
            let words = four(block, first);
            // SAFETY: above the trait.
            unsafe { Self::set(words, Self::insert(Self::half(words), at, new)) }
        }
    }

    /// Takes out the entry at a place of a leaf block. Those after it move one place down; what is in the
    /// last place isn't sure then. For the holder of the latch.
    #[inline(always)]
    fn take_out<B: Bits>(block: &Line, at: usize) {
        for first in [0, 4] {
            let words = four(block, first);
            // SAFETY: above the trait.
            unsafe { Self::set(words, Self::remove::<B>(Self::half(words), at)) }
        }
    }

    /// One bit for each key place of a leaf block: whether its key is smaller than `key`.
    #[inline(always)]
    fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::below(Self::half(four(block, 0)), key) }
    }

    /// One bit for each key place of a leaf block: whether its key is one of `low..=high`.
    #[inline(always)]
    fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::between(Self::half(four(block, 0)), low, high) }
    }

    /// Which bytes of four words are this one, one bit each.
    #[inline(always)]
    fn which_bytes(words: &[Word; 4], byte: u8) -> u32 {
        // SAFETY: above the trait.
        unsafe { <Self as HalfLine>::bytes_equal(Self::half(words), byte) }
    }

    /// One bit for each of four words: whether it is smaller than `bound`.
    #[inline(always)]
    fn words_below(words: &[Word; 4], bound: u64) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::below(Self::half(words), bound) }
    }

    /// Copies four words to the front of `to`.
    ///
    /// # Panics
    /// When that is shorter.
    #[inline(always)]
    fn copy_words(words: &[Word; 4], to: &mut [u64]) {
        // SAFETY: as in `copy_half`.
        let to = unsafe { &mut *(core::ptr::from_mut(to) as *mut [MaybeUninit<u64>]) };
        // SAFETY: above the trait.
        unsafe { Self::store(Self::half(words), to) }
    }

    /// Sets four words to those at the front of `from`. For the holder of the latch.
    ///
    /// # Panics
    /// When that is shorter.
    #[inline(always)]
    fn set_words(words: &[Word; 4], from: &[u64]) {
        // SAFETY: above the trait.
        unsafe { Self::set(words, <Self as HalfLine>::load(from)) }
    }

    /// Sets four words to what four others are, which may be the same in part. For the holder of the latch.
    #[inline(always)]
    fn move_words(from: &[Word; 4], to: &[Word; 4]) {
        // SAFETY: above the trait.
        unsafe { Self::set(to, Self::half(from)) }
    }

    /// Sums of nothing.
    #[inline(always)]
    fn no_sums() -> Self::Sums {
        // SAFETY: above the trait.
        unsafe { Self::zero_sums() }
    }

    /// Adds to the sums the values at these places of a leaf block, one bit each.
    #[inline(always)]
    fn add_values<B: Bits>(block: &Line, places: u32, sums: Self::Sums) -> Self::Sums {
        // SAFETY: above the trait.
        unsafe { Self::add::<B>(Self::half(four(block, 4)), places, sums) }
    }

    /// All sums added up.
    #[inline(always)]
    fn total(sums: Self::Sums) -> u64 {
        // SAFETY: above the trait.
        unsafe { Self::add_up(sums) }
    }
}

impl<H: HalfLine> Lines for H {}
