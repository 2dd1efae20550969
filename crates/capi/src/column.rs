//! The caller's memory: arrays that are read or written, and places for single answers. No reference to it
//! is ever made, so arrays may have any alignment, and may overlap: a read then sees the bytes that were
//! written through the other array.

use crate::failure::Failure;
use crate::key::KeyKind;
use core::mem::MaybeUninit;
use core::ops::{Range, RangeInclusive};
use core::ptr;

/// Requests of a batch that are served together.
pub const CHUNK: usize = 1024;

/// A batch in pieces.
pub fn chunks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(CHUNK).map(move |start| start..count.min(start + CHUNK))
}

/// Whether an array of this many elements can be at a place.
fn check<T>(argument: &'static str, at: *const T, count: usize) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    if at.is_null() {
        return Err(Failure::NullColumn { argument, count });
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    match bytes.and_then(|bytes| at.addr().checked_add(bytes)) {
        Some(_) => Ok(()),
        None => Err(Failure::TooLong { argument, count }),
    }
}

/// An array of the caller's that is read.
#[derive(Debug, Clone, Copy)]
pub struct Source<T> {
    at: *const T,
    len: usize,
}

// SAFETY: it is only read, by several threads of a load, and the caller promises that no thread writes it.
unsafe impl<T: Sync> Sync for Source<T> {}

/// An array of the caller's that is written; none if the caller omits it.
#[derive(Debug, Clone, Copy)]
pub struct Target<T> {
    at: *mut T,
    len: usize,
}

impl<T: Copy> Source<T> {
    /// The array under the name `argument`.
    ///
    /// # Safety
    /// If `at` isn't NULL, this many elements can be read there as long as the result is used.
    pub unsafe fn new(argument: &'static str, at: *const T, len: usize) -> Result<Self, Failure> {
        check(argument, at, len).map(|()| Self { at, len })
    }

    /// An element.
    #[inline(always)]
    pub fn get(self, at: usize) -> T {
        assert!(at < self.len, "position {at} of {}", self.len);
        // SAFETY: it is one of the elements that `new` was promised.
        unsafe { self.at.add(at).read_unaligned() }
    }

    /// Where an element is.
    #[inline(always)]
    pub fn address(self, at: usize) -> *const T {
        assert!(at < self.len, "position {at} of {}", self.len);
        self.at.wrapping_add(at)
    }

    /// Some elements.
    pub fn copy_to(self, from: Range<usize>, to: &mut [T]) {
        assert!(from.start <= from.end && from.end <= self.len && to.len() == from.len());
        // SAFETY: they are among the elements that `new` was promised, and `to` is exclusively ours. Bytes
        // are copied, because the array may have any alignment.
        unsafe {
            let source = self.at.wrapping_add(from.start).cast::<u8>();
            ptr::copy_nonoverlapping(source, to.as_mut_ptr().cast::<u8>(), size_of_val(to));
        }
    }
}

impl<T: Copy> Target<T> {
    /// The array under the name `argument`.
    ///
    /// # Safety
    /// If `at` isn't NULL, this many elements can be written there as long as the result is used.
    pub unsafe fn new(argument: &'static str, at: *mut T, len: usize) -> Result<Self, Failure> {
        check(argument, at, len).map(|()| Self { at, len })
    }

    /// The array under the name `argument`; none if the caller omits it by NULL.
    ///
    /// # Safety
    /// The contract of [`Target::new`].
    pub unsafe fn if_any(argument: &'static str, at: *mut T, len: usize) -> Result<Self, Failure> {
        if at.is_null() {
            Ok(Self { at, len: 0 })
        } else {
            check(argument, at, len).map(|()| Self { at, len })
        }
    }

    /// Whether the caller wants it.
    pub fn is_asked_for(self) -> bool {
        !self.at.is_null()
    }

    /// Writes an element.
    #[inline(always)]
    pub fn put(self, at: usize, element: T) {
        assert!(at < self.len, "position {at} of {}", self.len);
        // SAFETY: it is one of the elements that `new` was promised.
        unsafe { self.at.add(at).write_unaligned(element) }
    }

    /// Writes some elements, unless the caller omits the array.
    pub fn copy_from(self, to: usize, elements: &[T]) {
        if !self.is_asked_for() {
            return;
        }
        assert!(to <= self.len && elements.len() <= self.len - to);
        // SAFETY: they are among the elements that `new` was promised, and `elements` is exclusively ours.
        // Bytes are copied, because the array may have any alignment.
        unsafe {
            let target = self.at.wrapping_add(to).cast::<u8>();
            ptr::copy_nonoverlapping(elements.as_ptr().cast::<u8>(), target, size_of_val(elements));
        }
    }
}

/// A mandatory place for one answer.
///
/// # Safety
/// The contract of [`Target::new`].
pub unsafe fn place<T: Copy>(argument: &'static str, at: *mut T) -> Result<Target<T>, Failure> {
    if at.is_null() {
        return Err(Failure::Null { argument });
    }
    // SAFETY: as the caller promises.
    unsafe { Target::new(argument, at, 1) }
}

/// Writes one answer, unless the caller omits it.
///
/// # Safety
/// The contract of [`Target::new`].
#[inline(always)]
pub unsafe fn put<T: Copy>(at: *mut T, answer: T) {
    if !at.is_null() {
        // SAFETY: as the caller promises.
        unsafe { at.write_unaligned(answer) }
    }
}

/// A range of words, of which each end is a key or the end of all words.
#[inline(always)]
pub fn words(kind: KeyKind, low: u64, high: u64) -> Result<RangeInclusive<u64>, Failure> {
    let nan = [("low", low), ("high", high)].into_iter().find(|end| !kind.ends_at(end.1));
    nan.map_or(Ok(()), |(argument, _)| Err(Failure::Nan { argument }))?;
    if low <= high { Ok(low..=high) } else { Err(Failure::Inverted) }
}

/// The keys of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    argument: &'static str,
    kind: KeyKind,
    words: Source<u64>,
}

impl Keys {
    /// The array under the name `argument`, in which each word is a key.
    ///
    /// # Safety
    /// The contract of [`Source::new`].
    pub unsafe fn new(
        argument: &'static str,
        kind: KeyKind,
        words: *const u64,
        count: usize,
    ) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let words = unsafe { Source::new(argument, words, count)? };
        let no_key = (0..count).find(|&at| !kind.has(words.get(at)));
        no_key.map_or(Ok(Self { argument, kind, words }), |at| Err(Failure::NanAt { argument, at }))
    }

    /// A key.
    #[inline(always)]
    pub fn get(self, at: usize) -> Result<u64, Failure> {
        let word = self.words.get(at);
        if self.kind.has(word) { Ok(word) } else { Err(Failure::NanAt { argument: self.argument, at }) }
    }

    /// Some keys.
    #[inline]
    pub fn read<'a>(self, chunk: &Range<usize>, room: &'a mut Scratch<u64>) -> &'a [u64] {
        let words = room.zeros(chunk.len());
        self.words.copy_to(chunk.clone(), words);
        words
    }
}

/// Room for a chunk, of which only the requested part is written.
pub struct Scratch<T>([MaybeUninit<T>; CHUNK]);

impl<T: Copy + Default> Scratch<T> {
    /// Room that nothing has been written to.
    #[inline(always)]
    pub fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; CHUNK])
    }

    /// The first elements, all of them zero.
    #[inline(always)]
    pub fn zeros(&mut self, len: usize) -> &mut [T] {
        let elements = &mut self.0[..len];
        elements.iter_mut().for_each(|element| *element = MaybeUninit::new(T::default()));
        // SAFETY: all of them were written just now.
        unsafe { &mut *(ptr::from_mut(elements) as *mut [T]) }
    }
}
