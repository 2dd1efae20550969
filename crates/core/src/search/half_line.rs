//! Half a line of a node: four words that other threads may write. They are loaded once and compared in
//! registers, or changed there and stored.
//!
//! Searches in single lines are written over this trait, as searches in long runs are over
//! [`InstructionSet`](super::InstructionSet).

use super::present::Present;
use super::scalar::Scalar;
use crate::base::key::Bits;
use crate::sync::Word;
use core::mem::MaybeUninit;

/// Returns the number of lanes of this width in half a line.
#[inline(always)]
pub const fn lanes_in_half<B: Bits>() -> usize {
    32 / B::BYTES
}

/// The operations of a kernel on half a line. Lanes are numbered from the front; a set of lanes is a mask
/// with one bit per lane.
///
/// # Safety
/// The functions return what they document; in particular, `store` writes every lane of half a line. Callers
/// ensure that the processor supports the kernel, which a type that is [`Present`] proves.
pub unsafe trait HalfLine: Present {
    /// Four words that were loaded.
    type Half: Copy;
    /// Partial sums, modulo 2^64.
    type Sums: Copy;

    /// Loads these words, each of them whole, by relaxed loads or their equivalent.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn half(words: &[Word; 4]) -> Self::Half;

    /// Stores these words, each of them whole, by relaxed stores or their equivalent. For the holder of the
    /// latch.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn set(words: &[Word; 4], half: Self::Half);

    /// Writes the lanes to the front of `to`, which may be uninitialized.
    ///
    /// # Panics
    /// If `to` is too short.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn store<B: Bits>(half: Self::Half, to: &mut [MaybeUninit<B>]);

    /// Loads the lanes at the front of `from`.
    ///
    /// # Panics
    /// If `from` is too short.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn load<B: Bits>(from: &[B]) -> Self::Half;

    /// Returns the lanes with `lane` inserted at this place: those from there on move up by one place, and
    /// the last is dropped.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn insert<B: Bits>(half: Self::Half, at: usize, lane: B) -> Self::Half {
        // SAFETY: as this function's.
        unsafe {
            let (mut lanes, len) = (Self::lanes::<B>(half), lanes_in_half::<B>());
            lanes.copy_within(at..len - 1, at + 1);
            lanes[at] = lane;
            Self::load(&lanes)
        }
    }

    /// Returns the lanes without the one at this place: those after it move down by one place, and the last
    /// is arbitrary.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn remove<B: Bits>(half: Self::Half, at: usize) -> Self::Half {
        // SAFETY: as this function's.
        unsafe {
            let (mut lanes, len) = (Self::lanes::<B>(half), lanes_in_half::<B>());
            lanes.copy_within(at + 1..len, at);
            Self::load(&lanes)
        }
    }

    /// Returns the lanes; of 64-bit lanes there are four, followed by arbitrary ones.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn lanes<B: Bits>(half: Self::Half) -> [B; 8] {
        let mut lanes = [MaybeUninit::new(B::MIN); 8];
        // SAFETY: as this function's; all lanes were written.
        unsafe {
            Self::store(half, &mut lanes);
            lanes.map(|lane| lane.assume_init())
        }
    }

    /// Returns the lanes that are equal to `key`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn equal<B: Bits>(half: Self::Half, key: B) -> u32;

    /// Returns the lanes that are at most `key`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn up_to<B: Bits>(half: Self::Half, key: B) -> u32;

    /// Returns the lanes that are smaller than `key`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn below<B: Bits>(half: Self::Half, key: B) -> u32;

    /// Returns the lanes in `low..=high`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn between<B: Bits>(half: Self::Half, low: B, high: B) -> u32;

    /// Returns how many of the sixteen 16-bit lanes, without the first two, are at most `hint`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn short_lanes_up_to(half: Self::Half, hint: u16) -> usize;

    /// Returns the bits of a word at the places that are set in `places`, packed from the lowest one on.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn extract(word: u64, mut places: u64) -> u64 {
        let (mut bits, mut at) = (0, 0);
        while places != 0 {
            bits |= (word >> places.trailing_zeros() & 1) << at;
            (places, at) = (places & (places - 1), at + 1);
        }
        bits
    }

    /// Returns the bytes, of 32, that are equal to this one.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn bytes_equal(half: Self::Half, byte: u8) -> u32;

    /// Returns sums of zero.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn zero_sums() -> Self::Sums;

    /// Adds the lanes of these places to the sums.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn add<B: Bits>(half: Self::Half, places: u32, sums: Self::Sums) -> Self::Sums;

    /// Returns the total of the sums.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn add_up(sums: Self::Sums) -> u64;
}

/// Returns lane `at` of four words.
#[inline(always)]
fn lane<B: Bits>(half: &[u64; 4], at: usize) -> B {
    let per_word = 8 / B::BYTES;
    B::truncate(half[at / per_word] >> (at % per_word * B::BYTES * 8))
}

/// Returns one bit for each lane that satisfies `holds`.
#[inline(always)]
fn which<B: Bits>(half: &[u64; 4], holds: impl Fn(B) -> bool) -> u32 {
    (0..lanes_in_half::<B>()).fold(0, |bits, at| bits | u32::from(holds(lane(half, at))) << at)
}

// SAFETY: plain code, in which `store` writes all lanes.
unsafe impl HalfLine for Scalar {
    type Half = [u64; 4];
    type Sums = u64;

    #[inline(always)]
    unsafe fn half(words: &[Word; 4]) -> [u64; 4] {
        words.each_ref().map(Word::load_relaxed)
    }

    #[inline(always)]
    unsafe fn set(words: &[Word; 4], half: [u64; 4]) {
        words.iter().zip(half).for_each(|(word, to)| word.store_relaxed(to));
    }

    #[inline(always)]
    unsafe fn store<B: Bits>(half: [u64; 4], to: &mut [MaybeUninit<B>]) {
        for (at, to) in to[..lanes_in_half::<B>()].iter_mut().enumerate() {
            to.write(lane(&half, at));
        }
    }

    #[inline(always)]
    unsafe fn load<B: Bits>(from: &[B]) -> [u64; 4] {
        let (from, per_word) = (&from[..lanes_in_half::<B>()], 8 / B::BYTES);
        core::array::from_fn(|at| {
            let lanes = &from[at * per_word..][..per_word];
            let high = if B::BYTES == 8 { 0 } else { lanes[per_word - 1].to_u64() << 32 };
            lanes[0].to_u64() | high
        })
    }

    #[inline(always)]
    unsafe fn equal<B: Bits>(half: [u64; 4], key: B) -> u32 {
        which(&half, |lane: B| lane == key)
    }

    #[inline(always)]
    unsafe fn up_to<B: Bits>(half: [u64; 4], key: B) -> u32 {
        which(&half, |lane: B| lane <= key)
    }

    #[inline(always)]
    unsafe fn below<B: Bits>(half: [u64; 4], key: B) -> u32 {
        which(&half, |lane: B| lane < key)
    }

    #[inline(always)]
    unsafe fn between<B: Bits>(half: [u64; 4], low: B, high: B) -> u32 {
        which(&half, |lane: B| (low <= lane) & (lane <= high))
    }

    #[inline(always)]
    unsafe fn short_lanes_up_to(half: [u64; 4], hint: u16) -> usize {
        (2..16).map(|at| usize::from((half[at / 4] >> (at % 4 * 16)) as u16 <= hint)).sum()
    }

    #[inline(always)]
    unsafe fn bytes_equal(half: [u64; 4], byte: u8) -> u32 {
        const LOWEST: u64 = u64::MAX / 0xFF;
        const ALL_BUT_HIGHEST: u64 = LOWEST * 0x7F;
        let equal = |word: u64| {
            let other = word ^ (LOWEST * u64::from(byte));
            // The highest bit of each byte that is zero, without carries from byte to byte.
            let zeros = !(((other & ALL_BUT_HIGHEST) + ALL_BUT_HIGHEST) | other | ALL_BUT_HIGHEST);
            // The product collects them in its highest byte.
            ((zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
        };
        half.iter().rev().fold(0, |bits, &word| bits << 8 | equal(word))
    }

    #[inline(always)]
    unsafe fn zero_sums() -> u64 {
        0
    }

    #[inline(always)]
    unsafe fn add<B: Bits>(half: [u64; 4], places: u32, sums: u64) -> u64 {
        (0..lanes_in_half::<B>()).fold(sums, |sum, at| {
            let chosen = 0u64.wrapping_sub(u64::from(places >> at & 1));
            sum.wrapping_add(lane::<B>(&half, at).to_u64() & chosen)
        })
    }

    #[inline(always)]
    unsafe fn add_up(sums: u64) -> u64 {
        sums
    }
}
