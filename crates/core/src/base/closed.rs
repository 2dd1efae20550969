//! Parts of composite keys as bytes: on the stack while they are few, and closed where another part follows.
//! `parts.rs` says what closing is for.

use super::bytes_key::BytesKey;

/// The maximum length in bytes of a composite key that is built without an allocation.
const STACK_BYTES: usize = 128;
/// The encoding of a zero byte in a closed part.
const ZERO: [u8; 2] = [0, 0xff];
/// The terminator of a closed part. It is less than every byte that can follow there, so shorter parts sort
/// first.
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
            for run in bytes.split_inclusive(|&byte| byte == 0) {
                match run.split_last() {
                    Some((0, before)) => {
                        self.push(before);
                        self.push(&ZERO);
                    }
                    _ => self.push(run),
                }
            }
        } else {
            self.push(bytes);
        }
        self.push(&END);
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
    loop {
        let zero = bytes.iter().position(|&byte| byte == 0)?;
        let (before, marked) = bytes.split_at(zero);
        let (mark, rest) = marked.split_at_checked(END.len())?;
        *bytes = rest;
        open.push(before);
        if mark == END {
            return Some(open);
        }
        if mark != ZERO {
            return None;
        }
        open.push(&[0]);
    }
}
