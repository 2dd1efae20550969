//! Searches in single cache lines that may be written meanwhile: hints, leaf blocks, inner blocks.
//!
//! A line is read as words, each of them whole, by relaxed loads. The vector kernels load four words with
//! one instruction, which represents as many relaxed loads. Only that instruction is written in assembly,
//! because the language has no vector of atomics; comparisons are intrinsics on registers. The kernels
//! implement [`HalfLine`] for it. The scalar kernel's implementation is plain relaxed loads, and is for
//! Miri, race detectors and processors without AVX2, AVX-512 and NEON. Half a line is written in the same
//! ways, as so many relaxed stores.
//!
//! The result of a search in a line that is being written is arbitrary within the result's range; readers
//! detect this by the node's version.
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

/// Returns the number of keys, and of values, in a leaf block.
#[inline(always)]
pub const fn keys_in_line<B: Bits>() -> usize {
    lanes_in_half::<B>()
}

/// Returns the number of children in an inner block.
#[inline(always)]
pub const fn children_in_line<B: Bits>() -> usize {
    if B::BYTES == 8 { 5 } else { 8 }
}

/// Returns the four words of a line from `first` on.
#[inline(always)]
fn four(line: &Line, first: usize) -> &[Word; 4] {
    line[first..first + 4].try_into().expect("four words")
}

/// The searches and changes of a hinted node's lines.
// SAFETY (of every block below): a kernel is `Present`: the processor supports it.
pub trait Lines: HalfLine {
    /// Returns how many of a header's fourteen hints are at most `hint`.
    #[inline(always)]
    fn hints_up_to(header: &Line, hint: u16) -> usize {
        // SAFETY: above the trait.
        unsafe { Self::short_lanes_up_to(Self::half(four(header, 4)), hint) }
    }

    /// Returns the bits of a word at those places, packed from the lowest one on.
    #[inline(always)]
    fn bits_at(word: u64, places: u64) -> u64 {
        // SAFETY: above the trait.
        unsafe { Self::extract(word, places) }
    }

    /// Returns one bit for each key place of a leaf block: whether it has `key`.
    #[inline(always)]
    fn keys_equal<B: Bits>(block: &Line, key: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::equal(Self::half(four(block, 0)), key) }
    }

    /// Returns how many of the separators of an inner block are at most `key`.
    #[inline(always)]
    fn separators_up_to<B: Bits>(block: &Line, key: B) -> usize {
        // Of five separators of 64 bits the first is compared separately.
        let apart = children_in_line::<B>() - keys_in_line::<B>();
        let first = usize::from(apart == 1 && block[0].load_relaxed() <= key.to_u64());
        // SAFETY: above the trait.
        first + unsafe { Self::up_to(Self::half(four(block, apart)), key) }.count_ones() as usize
    }

    /// Copies the lanes of the four words from `first` on to the front of `to`.
    ///
    /// # Panics
    /// If `to` is shorter than half a line, or the words don't lie in the line.
    #[inline(always)]
    fn copy_half<B: Bits>(line: &Line, first: usize, to: &mut [B]) {
        // SAFETY: lanes have the same layout whether they are initialized or not, and only lanes are written
        // to them: they stay initialized.
        let to = unsafe { &mut *(core::ptr::from_mut(to) as *mut [MaybeUninit<B>]) };
        Self::copy_half_to(line, first, to);
    }

    /// Copies the lanes of four words to the front of `to`, which may be uninitialized. The lanes of half a
    /// line are initialized then. See [`Lines::copy_half`].
    #[inline(always)]
    fn copy_half_to<B: Bits>(line: &Line, first: usize, to: &mut [MaybeUninit<B>]) {
        // SAFETY: above the trait.
        unsafe { Self::store(Self::half(four(line, first)), to) }
    }

    /// Sets the lanes of the four words from `first` on to those at the front of `from`. For the holder of
    /// the latch.
    ///
    /// # Panics
    /// If `from` is shorter than half a line, or the words don't lie in the line.
    #[inline(always)]
    fn set_half<B: Bits>(line: &Line, first: usize, from: &[B]) {
        // SAFETY: above the trait.
        unsafe { Self::set(four(line, first), <Self as HalfLine>::load(from)) }
    }

    /// Inserts an entry at a place of a leaf block that has room for one more. Those from there on move up
    /// by one place. For the holder of the latch.
    #[inline(always)]
    fn put_at<B: Bits>(block: &Line, at: usize, entry: (B, B)) {
        for (first, new) in [(0, entry.0), (4, entry.1)] {
            let words = four(block, first);
            // SAFETY: above the trait.
            unsafe { Self::set(words, Self::insert(Self::half(words), at, new)) }
        }
    }

    /// Removes the entry at a place of a leaf block. Those after it move down by one place; the content of
    /// the last place is unspecified then. For the holder of the latch.
    #[inline(always)]
    fn take_out<B: Bits>(block: &Line, at: usize) {
        for first in [0, 4] {
            let words = four(block, first);
            // SAFETY: above the trait.
            unsafe { Self::set(words, Self::remove::<B>(Self::half(words), at)) }
        }
    }

    /// Returns one bit for each key place of a leaf block: whether its key is smaller than `key`.
    #[inline(always)]
    fn keys_below<B: Bits>(block: &Line, key: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::below(Self::half(four(block, 0)), key) }
    }

    /// Returns one bit for each key place of a leaf block: whether its key is in `low..=high`.
    #[inline(always)]
    fn keys_between<B: Bits>(block: &Line, low: B, high: B) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::between(Self::half(four(block, 0)), low, high) }
    }

    /// Returns one bit for each byte of four words: whether it is `byte`.
    #[inline(always)]
    fn which_bytes(words: &[Word; 4], byte: u8) -> u32 {
        // SAFETY: above the trait.
        unsafe { <Self as HalfLine>::bytes_equal(Self::half(words), byte) }
    }

    /// Returns one bit for each of four words: whether it is smaller than `bound`.
    #[inline(always)]
    fn words_below(words: &[Word; 4], bound: u64) -> u32 {
        // SAFETY: above the trait.
        unsafe { Self::below(Self::half(words), bound) }
    }

    /// Copies four words to the front of `to`.
    ///
    /// # Panics
    /// If `to` is shorter.
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
    /// If `from` is shorter.
    #[inline(always)]
    fn set_words(words: &[Word; 4], from: &[u64]) {
        // SAFETY: above the trait.
        unsafe { Self::set(words, <Self as HalfLine>::load(from)) }
    }

    /// Sets four words to the values of four others, which may overlap. For the holder of the latch.
    #[inline(always)]
    fn move_words(from: &[Word; 4], to: &[Word; 4]) {
        // SAFETY: above the trait.
        unsafe { Self::set(to, Self::half(from)) }
    }

    /// Returns sums of zero.
    #[inline(always)]
    fn no_sums() -> Self::Sums {
        // SAFETY: above the trait.
        unsafe { Self::zero_sums() }
    }

    /// Adds the values at these places of a leaf block, one bit each, to the sums.
    #[inline(always)]
    fn add_values<B: Bits>(block: &Line, places: u32, sums: Self::Sums) -> Self::Sums {
        // SAFETY: above the trait.
        unsafe { Self::add::<B>(Self::half(four(block, 4)), places, sums) }
    }

    /// Returns the total of the sums.
    #[inline(always)]
    fn total(sums: Self::Sums) -> u64 {
        // SAFETY: above the trait.
        unsafe { Self::add_up(sums) }
    }
}

impl<H: HalfLine> Lines for H {}
