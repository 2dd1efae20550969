//! Numbers of byte strings: the bytes after the common prefix, as digits.
//!
//! At each place strings usually use the same few bytes: `0` to `9`, or `a` to `f` as well, or all. Each of
//! these is a digit of that place, by its order among them, and the base of a place is its number of bytes.
//! So digits in any notation give the number that they write, and bytes that are the same everywhere
//! contribute nothing: separators, and leading zeros. A byte that wasn't seen counts as the next larger one
//! would. Bytes after all that were seen are one digit more at every place, and bytes before them one digit
//! less at the first place. So growing keys, downwards or upwards, have numbers beyond those of the others.
//!
//! A table holds the value of each byte at each place, so that a number is a sum.

use crate::byte_tree::text::{head, word};
use core::array::from_fn;
use latchless_core::sync::Word;
use std::sync::OnceLock;

/// Places in a window, which a word holds.
const PLACES: usize = 8;
/// Windows at most.
const WINDOWS: usize = 4;
/// The longest that strings may begin with alike.
const PREFIX_MAX: usize = 64;
/// A place with this many bytes has all between the first and the last of them.
const BINARY: usize = 100;

/// The value of each byte at each place of a window.
type Worth = [[Word; 256]; PLACES];

/// How strings become numbers. See the file's head.
#[derive(Debug)]
pub struct Numbers {
    /// How many bytes strings begin with alike.
    skip: Word,
    /// These bytes.
    prefix: [Word; PREFIX_MAX / 8],
    /// Where the last word of them begins, its bytes, and ones for those of it that count.
    last: [Word; 3],
    /// Windows in use; none: the first one is used, with each byte as its own digit.
    windows: Word,
    worth: [OnceLock<Box<Worth>>; WINDOWS],
}

/// The bytes seen at each place.
pub struct Seen([[bool; 256]; PLACES * WINDOWS]);

impl Seen {
    pub fn nothing() -> Self {
        Self([[false; 256]; PLACES * WINDOWS])
    }

    /// Records the bytes of a string after the first `skip`. After its end a whole string has zeros.
    pub fn see(&mut self, string: &[u8], skip: usize, is_whole: bool) {
        let own = string.get(skip..).unwrap_or(&[]).iter().copied();
        let zeros = if is_whole { self.0.len() } else { 0 };
        for (place, byte) in self.0.iter_mut().zip(own.chain(core::iter::repeat_n(0, zeros))) {
            place[usize::from(byte)] = true;
        }
    }

    /// The digit of each byte at a place, and the number of digits. Bytes after the last one are a digit
    /// more: growing numbers exceed all that were seen. Bytes before the first one are a digit less at the
    /// first place, where numbers shrink; at other places a digit that no key has would leave holes in the
    /// range of the numbers.
    fn digits(&self, place: usize) -> ([u16; 256], u64) {
        let seen = &self.0[place];
        let first = seen.iter().position(|&seen| seen).unwrap_or(0);
        let last = seen.iter().rposition(|&seen| seen).unwrap_or(0);
        // A place with this many bytes has no notation: the bytes in between just weren't seen.
        let is_binary = seen.iter().filter(|&&seen| seen).count() >= BINARY;
        // Of the first place, digit 0 is that of bytes that are smaller than all.
        let least = u16::from(place == 0);
        let mut next = least;
        let digits = from_fn(|byte| {
            let own = if byte < first { 0 } else { next };
            next += u16::from(seen[byte] || is_binary && (first..last).contains(&byte));
            own
        });
        (digits, u64::from(next - least).max(1))
    }

    /// The number of places that give this many numbers, or of all places if they don't, and whether each
    /// byte of these is its own digit.
    fn places(&self, enough: u64) -> (usize, bool) {
        let (mut numbers, mut end, mut are_bytes) = (1u64, 0, true);
        for place in 0..self.0.len() {
            let (_, count) = self.digits(place);
            if numbers >= enough {
                break;
            }
            numbers = numbers.saturating_mul(count);
            are_bytes &= count == 256;
            if count > 1 {
                end = place + 1;
            }
        }
        (end, are_bytes)
    }
}

impl Numbers {
    /// Most bytes of memory taken outside the struct.
    pub const BYTES_MAX: usize = WINDOWS * size_of::<Worth>();

    /// Of strings that begin with nothing alike and have all bytes.
    pub fn none() -> Self {
        let [skip, windows] = [const { Word::new(0) }; 2];
        let prefix = [const { Word::new(0) }; PREFIX_MAX / 8];
        Self {
            skip,
            prefix,
            last: [const { Word::new(0) }; 3],
            windows,
            worth: [const { OnceLock::new() }; WINDOWS],
        }
    }

    /// The number of a string. It is monotonic (a larger string never has a smaller number) for strings
    /// that have the common prefix and use the bytes that were seen. A string with another prefix has the
    /// largest number, as far as the last eight bytes of the prefix show it: there growing numbers differ
    /// first.
    #[inline(always)]
    pub fn of(&self, key: &[u8]) -> u64 {
        let [at, bytes, mask] = &self.last;
        if (word(key, at.load_relaxed() as usize) ^ bytes.load_relaxed()) & mask.load_relaxed() != 0 {
            return u64::MAX;
        }
        let skip = self.skip.load_relaxed() as usize;
        let first = head(key, skip);
        let windows = self.windows.load_relaxed() as usize;
        if windows == 0 {
            return first;
        }
        let mut sum = self.sum(0, first);
        for window in 1..windows {
            sum = sum.wrapping_add(self.sum(window, head(key, skip + PLACES * window)));
        }
        sum
    }

    /// The values of the bytes of a window.
    #[inline(always)]
    fn sum(&self, window: usize, head: u64) -> u64 {
        let Some(worth) = self.worth[window % WINDOWS].get() else { return 0 };
        let mut sum = 0u64;
        for (place, byte) in worth.iter().zip(head.to_be_bytes()) {
            // While the words change, it may be too large.
            sum = sum.wrapping_add(place[usize::from(byte)].load_relaxed());
        }
        sum
    }

    /// The number of a fence, whose prefix may differ: the least or the largest number then.
    pub fn of_fence(&self, fence: &[u8]) -> u64 {
        let skip = (self.skip.load_relaxed() as usize).min(PREFIX_MAX);
        let prefix = self.prefix.iter().flat_map(|word| word.load_relaxed().to_le_bytes()).take(skip);
        let mut own = fence.iter().copied();
        for byte in prefix {
            match own.next() {
                Some(first) if first > byte => return u64::MAX,
                Some(first) if first == byte => {}
                _ => return 0,
            }
        }
        self.of(fence)
    }

    /// The numbers of a leaf's fences: keys of smaller ones than the high fence's are before it.
    pub fn of_fences(&self, low: &[u8], high: Option<&[u8]>) -> (u64, u64) {
        (self.of_fence(low), high.map_or(u64::MAX, |high| self.of_fence(high)))
    }

    /// Whether strings may begin alike with this many bytes.
    pub fn may_skip(prefix: &[u8]) -> bool {
        prefix.len() <= PREFIX_MAX
    }

    /// As much of a string as there can be to its number.
    pub fn part_of(key: &[u8]) -> &[u8] {
        &key[..key.len().min(PREFIX_MAX + PLACES * WINDOWS)]
    }

    /// From now on strings begin with these bytes, and go on with those that were seen; and there are this
    /// many numbers, if places are enough for that.
    pub fn set(&self, prefix: &[u8], seen: &Seen, enough: u64) {
        debug_assert!(
            enough <= 1 << 54,
            "with a place more, and a digit at either end, numbers are too large"
        );
        let words = self.prefix.iter().enumerate();
        words.for_each(|(at, to)| to.store_relaxed(word(prefix, 8 * at)));
        self.skip.store_relaxed(prefix.len() as u64);
        let (start, unused) = (prefix.len().saturating_sub(8), 8usize.saturating_sub(prefix.len()));
        let last = [start as u64, word(prefix, start), u64::MAX.checked_shr(8 * unused as u32).unwrap_or(0)];
        self.last.iter().zip(last).for_each(|(word, to)| word.store_relaxed(to));
        let (end, are_bytes) = seen.places(enough);
        if are_bytes {
            self.windows.store_relaxed(0);
            return;
        }
        let mut unit = 1u64;
        for place in (0..end.next_multiple_of(PLACES)).rev() {
            let worth = self.worth[place / PLACES].get_or_init(blank);
            let (digits, count) = if place < end { seen.digits(place) } else { ([0; 256], 1) };
            for (word, digit) in worth[place % PLACES].iter().zip(digits) {
                word.store_relaxed(unit.wrapping_mul(digit.into()));
            }
            unit = unit.wrapping_mul(count);
        }
        self.windows.store_relaxed(end.div_ceil(PLACES) as u64);
    }

    /// Bytes of memory outside the struct.
    pub fn bytes(&self) -> usize {
        self.worth.iter().filter(|worth| worth.get().is_some()).count() * size_of::<Worth>()
    }
}

/// Bytes without a value.
fn blank() -> Box<Worth> {
    Box::new([const { [const { Word::new(0) }; 256] }; PLACES])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of strings like these, which begin alike with this many bytes.
    fn numbers(strings: &[&[u8]], skip: usize, enough: u64) -> Numbers {
        let (numbers, mut seen) = (Numbers::none(), Seen::nothing());
        strings.iter().for_each(|string| seen.see(string, skip, true));
        numbers.set(&strings[0][..skip], &seen, enough);
        numbers
    }

    /// By how much a string's number is larger than that of another one.
    fn above(numbers: &Numbers, least: &[u8], string: &[u8]) -> u64 {
        numbers.of(string).wrapping_sub(numbers.of(least))
    }

    #[test]
    fn digits_in_any_notation_make_their_number() {
        let all: Vec<_> = (0..1000).map(|number| format!("user-{number:03}/x-{:02}", number % 100)).collect();
        let strings: Vec<_> = all.iter().map(|string| string.as_bytes()).collect();
        let decimal = numbers(&strings, 5, 1000);
        (0..1000).for_each(|at| assert_eq!(above(&decimal, strings[0], strings[at]), at as u64));
        // Bytes after a separator count, too; in another window if need be.
        let longer = numbers(&strings, 5, 100_000);
        let expected = |at: usize| (100 * at + at % 100) as u64;
        (0..1000).for_each(|at| assert_eq!(above(&longer, strings[0], strings[at]), expected(at), "{at}"));
        let hexadecimal: Vec<_> = (0..256).map(|number| format!("{number:02x}")).collect();
        let strings: Vec<_> = hexadecimal.iter().map(|string| string.as_bytes()).collect();
        let few = numbers(&strings, 0, 256);
        (0..256).for_each(|at| assert_eq!(above(&few, strings[0], strings[at]), at as u64));
        assert_eq!(few.bytes(), size_of::<Worth>());
    }

    #[test]
    fn what_was_not_seen_counts_as_the_next_larger() {
        let few = numbers(&[b"a1", b"a3", b"c5"], 0, 6);
        let of = |string: &[u8]| above(&few, b"a1", string);
        assert_eq!([b"a1", b"a2", b"a3", b"a5"].map(|string| of(string)), [0, 1, 1, 2]);
        assert_eq!([of(b"b1"), of(b"c1"), of(b"c9"), of(b"d")], [3, 3, 6, 6]);
    }

    #[test]
    fn what_comes_before_or_behind_all_that_was_seen_has_smaller_or_larger_numbers() {
        let few = numbers(&[b"key310", b"key359", b"key498"], 3, 200);
        let ascending = [&b"key100"[..], b"key299", b"key310", b"key359", b"key498", b"key510", b"key999"];
        let numbers = ascending.map(|string| few.of(string));
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers[1] < numbers[2] && numbers[4] < numbers[5], "{numbers:?}");
    }

    #[test]
    fn all_bytes_are_their_own_number() {
        let all: Vec<_> = (0..=255u8).map(|byte| [byte; 16]).collect();
        let strings: Vec<_> = all.iter().map(|string| &string[..]).collect();
        let bytes = numbers(&strings, 0, 1 << 40);
        assert_eq!(bytes.of(b"abcdefghij"), u64::from_be_bytes(*b"abcdefgh"));
        assert_eq!(bytes.of(b"ab"), u64::from_be_bytes(*b"ab\0\0\0\0\0\0"));
        assert_eq!(bytes.bytes(), 0);
        // A sample of bytes is enough, up to its largest.
        let some: Vec<_> = (0..=254u8).step_by(2).map(|byte| [byte; 2]).collect();
        let strings: Vec<_> = some.iter().map(|string| &string[..]).collect();
        assert_eq!(above(&numbers(&strings, 0, 1 << 16), &[0, 0], &[1, 3]), 255 + 3);
    }

    #[test]
    fn fences_that_begin_in_another_way_are_at_an_end() {
        let few = numbers(&[b"key0", b"key9"], 3, 10);
        assert_eq!([b"key/", b"key0", b"key9"].map(|string| few.of_fence(string)), [0, 1, 2]);
        let others: [&[u8]; 6] = [b"", b"ke", b"kex9", b"kez", b"l", b"key"];
        assert_eq!(others.map(|string| few.of_fence(string)), [0, 0, 0, u64::MAX, u64::MAX, 0]);
        let (first, second) = ([b'p'; 20], [[b'p'; 19], [b'q'; 19]].map(|half| half[..].to_vec()));
        let long: [&[u8]; 2] = [&[&first[..], b"1"].concat(), &[&first[..], b"2"].concat()];
        let far = numbers(&long, 20, 2);
        assert_eq!(long.map(|string| far.of(string)), [1, 2]);
        let others = second.map(|half| [&half[..], b"q1"].concat());
        assert_eq!(others.each_ref().map(|string| far.of(string)), [u64::MAX; 2]);
        assert_eq!(others.each_ref().map(|string| far.of_fence(string)), [u64::MAX; 2]);
    }
}
