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

use super::bytes_key::BytesKey;

/// The maximum length in bytes of a composite key that is built without an allocation.
const STACK_BYTES: usize = 128;
/// The number of zeros after which a longer run is encoded anew.
const RUN: usize = 127;
/// After `00`: [`RUN`] zeros, and a run of zeros that ends the part.
const TO_END: u8 = RUN as u8;
/// After `00`: [`RUN`] zeros, and a run of zeros before another byte.
const BEFORE_BYTE: u8 = TO_END + 1;
/// The end of a closed part without zeros. It is less than every byte that can follow there, so shorter parts
/// sort first.
const END: [u8; 2] = [0, 0];

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

    /// Pushes a key of varying length in closed form, so that another part may follow.
    #[inline]
    fn push_closed(&mut self, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.push_runs(bytes);
        } else {
            self.push(bytes);
            self.push(&END);
        }
    }

    /// Pushes a key with zeros in closed form.
    fn push_runs(&mut self, mut bytes: &[u8]) {
        loop {
            let before = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            self.push(&bytes[..before]);
            let zeros = bytes[before..].iter().take_while(|&&byte| byte == 0).count();
            bytes = &bytes[before + zeros..];
            let mut left = zeros;
            // The rest of a long run before another byte has at least one zero.
            while left >= RUN + usize::from(!bytes.is_empty()) {
                self.push(&[0, if bytes.is_empty() { TO_END } else { BEFORE_BYTE }]);
                left -= RUN;
            }
            let left = u8::try_from(left).expect("the rest of a run is short");
            if bytes.is_empty() {
                return self.push(&[0, left]);
            }
            self.push(&[0, left.wrapping_neg()]);
        }
    }

    /// Pushes a part so that another one may follow.
    #[inline(always)]
    pub(super) fn push_part<K, Q: BytesKey<K>>(&mut self, part: &Q) {
        part.with_bytes(|bytes| match Q::FIXED {
            Some(_) => self.push(bytes),
            None => self.push_closed(bytes),
        });
    }

    #[inline(always)]
    pub(super) fn invert(&mut self) {
        for byte in self.bytes() {
            *byte = !*byte;
        }
    }
}

/// Removes a closed part from the bytes of several and unescapes it. `None` if the bytes don't begin with
/// one.
pub(super) fn open(bytes: &mut &[u8]) -> Option<Buffer> {
    let mut open = Buffer::new();
    // What an unfinished run is followed by.
    let mut run = None;
    loop {
        let zero = bytes.iter().position(|&byte| byte == 0)?;
        let (before, marked) = bytes.split_at(zero);
        let (&[_, mark], rest) = marked.split_first_chunk()?;
        let (zeros, kind) = match mark {
            ..=TO_END => (usize::from(mark), TO_END),
            BEFORE_BYTE.. => (usize::from(mark.wrapping_neg()).min(RUN), BEFORE_BYTE),
        };
        // A run goes on at once and in its kind, and a byte other than zero follows where one has to.
        let is_after_run = run.is_some_and(|run| run != kind || zero > 0);
        let is_unfinished = mark == TO_END || mark == BEFORE_BYTE;
        let lacks_byte = mark > BEFORE_BYTE && rest.first().is_none_or(|&next| next == 0);
        if is_after_run || lacks_byte {
            return None;
        }
        *bytes = rest;
        open.push(before);
        open.push(&[0; RUN][..zeros]);
        if mark < TO_END {
            return Some(open);
        }
        run = is_unfinished.then_some(kind);
    }
}
