//! Parts of composite keys as bytes: on the stack while they are few, and closed where another part follows.
//! `parts.rs` says what closing is for.
//!
//! # Runs of zeros
//! Two parts may differ first within a run of zeros. One that ends in its run is less than one that goes on,
//! and of two that end, the shorter one is less; of two that go on, the one with the longer run is less,
//! because the other one has a higher byte there. So the byte after `00` is
//! * n, if n < 127 zeros and the end come (so `00 00` is the end alone);
//! * 256 - n, if n < 128 zeros and another byte come;
//! * 127 or 128 for a longer run, whose rest after 127 zeros is encoded in the same way.
//!
//! So eight zero bytes at the end take six bytes less closed than open, and a single zero one byte more.
//!
//! # A length in the end
//! The byte that ends a part may also say which of nine lengths the next part has: then it is 9n plus a
//! number below 9, if n < 14 zeros and the end come, and 126 for 14 zeros of a longer run that goes on to the
//! end.
//! [`versioned.rs`](super::versioned) uses that.

use super::bytes_key::BytesKey;

/// The maximum length in bytes of a composite key that is built without an allocation.
const STACK_BYTES: usize = 128;
/// The number of zeros after which a longer run is encoded anew.
const RUN: usize = 127;
/// After `00`: [`RUN`] zeros, and a run of zeros before another byte.
const BEFORE_BYTE: u8 = RUN as u8 + 1;

/// What the byte after the last `00` of a closed part says besides the number of zeros there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    /// It says one of so many numbers.
    numbers: u8,
}

impl Ending {
    /// Nothing.
    pub(super) const PLAIN: Self = Self { numbers: 1 };
    /// A number below nine.
    pub(super) const NUMBERED: Self = Self { numbers: 9 };

    /// The number of zeros after which a longer run that ends the part is encoded again.
    const fn run(self) -> u8 {
        RUN as u8 / self.numbers
    }

    /// After `00`: as many zeros, and a run of zeros that ends the part. All bytes that end a part are less.
    const fn to_end(self) -> u8 {
        self.run() * self.numbers
    }

    /// Returns how many zeros this byte after `00` ends a part with, and the number; if it ends one.
    #[inline(always)]
    pub(super) const fn read(self, mark: u8) -> Option<(u8, u8)> {
        if mark < self.to_end() { Some((mark / self.numbers, mark % self.numbers)) } else { None }
    }
}

/// A key's bytes under construction: on the stack, and on the heap once they are too many.
pub(super) struct Buffer {
    stack: [u8; STACK_BYTES],
    /// The number of bytes on the stack, while the heap is empty.
    length: usize,
    /// All bytes, if they don't fit on the stack.
    heap: Vec<u8>,
}

impl Buffer {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { stack: [0; STACK_BYTES], length: 0, heap: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        if self.heap.is_empty() { &mut self.stack[..self.length] } else { &mut self.heap }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if self.heap.is_empty() && end <= STACK_BYTES {
            self.stack[self.length..end].copy_from_slice(bytes);
            self.length = end;
        } else {
            self.push_to_heap(bytes);
        }
    }

    #[cold]
    fn push_to_heap(&mut self, bytes: &[u8]) {
        if self.heap.is_empty() {
            self.heap.reserve(2 * (self.length + bytes.len()));
            self.heap.extend_from_slice(&self.stack[..self.length]);
        }
        self.heap.extend_from_slice(bytes);
    }

    /// Pushes a key of varying length in closed form, so that another part may follow. The end says `number`.
    /// Without zeros, the end is less than every byte that can follow there, so shorter parts sort first.
    #[inline]
    pub(super) fn push_closed(&mut self, bytes: &[u8], ending: Ending, number: u8) {
        debug_assert!(number < ending.numbers);
        if zero_in(bytes).is_some() {
            self.push_runs(bytes, ending, number);
        } else {
            self.push(bytes);
            self.push(&[0, number]);
        }
    }

    /// Pushes a key with zeros in closed form.
    fn push_runs(&mut self, mut bytes: &[u8], ending: Ending, number: u8) {
        loop {
            let before = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            self.push(&bytes[..before]);
            let zeros = bytes[before..].iter().take_while(|&&byte| byte == 0).count();
            bytes = &bytes[before + zeros..];
            // The rest of a long run before another byte has at least one zero.
            let (run, least, goes_on) = if bytes.is_empty() {
                (ending.run().into(), 0, ending.to_end())
            } else {
                (RUN, 1, BEFORE_BYTE)
            };
            let mut left = zeros;
            while left >= run + least {
                self.push(&[0, goes_on]);
                left -= run;
            }
            let left = u8::try_from(left).expect("the rest of a run is short");
            if bytes.is_empty() {
                return self.push(&[0, left * ending.numbers + number]);
            }
            self.push(&[0, left.wrapping_neg()]);
        }
    }

    /// Pushes a part so that another one may follow.
    #[inline(always)]
    pub(super) fn push_part<K, Q: BytesKey<K>>(&mut self, part: &Q) {
        part.with_bytes(|bytes| match Q::FIXED {
            Some(_) => self.push(bytes),
            None => self.push_closed(bytes, Ending::PLAIN, 0),
        });
    }

    #[inline(always)]
    pub(super) fn invert(&mut self) {
        for byte in self.bytes() {
            *byte = !*byte;
        }
    }
}

/// Returns the place of the first zero.
#[inline]
pub(super) fn zero_in(bytes: &[u8]) -> Option<usize> {
    const LOWEST: u64 = u64::MAX / 0xFF;
    // The highest bit of the first zero byte, and perhaps of bytes after it.
    let zeros = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        word.wrapping_sub(LOWEST) & !word & LOWEST << 7
    };
    let (words, end) = bytes.as_chunks::<8>();
    let (pairs, _) = words.as_chunks::<2>();
    // Two words at once.
    let from = pairs.iter().take_while(|[one, other]| zeros(one) | zeros(other) == 0).count() * 2;
    for (at, word) in words.iter().enumerate().skip(from) {
        let zeros = zeros(word);
        if zeros != 0 {
            return Some(8 * at + zeros.trailing_zeros() as usize / 8);
        }
    }
    Some(8 * words.len() + end.iter().position(|&byte| byte == 0)?)
}

/// Removes a closed part from the bytes of several and unescapes it. Returns it with the number that its end
/// says. `None` if the bytes don't begin with one.
pub(super) fn open(bytes: &mut &[u8], ending: Ending) -> Option<(Buffer, u8)> {
    let mut open = Buffer::new();
    // What an unfinished run is followed by.
    let mut run = None;
    loop {
        let zero = zero_in(bytes)?;
        let (before, marked) = bytes.split_at(zero);
        let (&[_, mark], rest) = marked.split_first_chunk()?;
        let end = ending.read(mark);
        let (zeros, kind) = match end {
            Some((zeros, _)) => (zeros.into(), ending.to_end()),
            None if mark == ending.to_end() => (ending.run().into(), mark),
            None if mark >= BEFORE_BYTE => (usize::from(mark.wrapping_neg()).min(RUN), BEFORE_BYTE),
            None => return None,
        };
        // A run goes on at once and in its kind, and a byte other than zero follows where one has to.
        let is_after_run = run.is_some_and(|run| run != kind || zero > 0);
        let is_unfinished = mark == ending.to_end() || mark == BEFORE_BYTE;
        let lacks_byte = mark > BEFORE_BYTE && rest.first().is_none_or(|&next| next == 0);
        if is_after_run || lacks_byte {
            return None;
        }
        *bytes = rest;
        open.push(before);
        open.push(&[0; RUN][..zeros]);
        if let Some((_, number)) = end {
            return Some((open, number));
        }
        run = is_unfinished.then_some(kind);
    }
}
