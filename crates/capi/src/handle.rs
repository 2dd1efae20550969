//! Handles: C's references to an index or a cursor.
//!
//! A handle points to a shell: a word with its kind and state, and a pointer to the content. Freeing frees
//! the content; the shell stays readable for ever. So a handle that is freed twice, or used afterwards,
//! meets a shell that says so, not unrelated memory. A shell is reused only when 1,024 others have been
//! freed after it; a handle that old may be taken for the new one.
//!
//! # Thread safety
//! Freeing is one atomic exchange, so of two threads that free a handle, one gets the error that it was
//! freed. But the content is freed at once: no thread may be using it. The caller must ensure that, as for
//! any `free`. A cursor that is in use says so, and refuses a second thread.

use crate::border::{Served, guard, refuse};
use crate::failure::{Failure, Fault};
use crate::family::{Family, Map, MapOf};
use crate::key::{KeyKind, ValueKind, WordKeys};
use crate::shell::{FREED, Shell};
use crate::status::latchless_status;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::Arc;

/// The name of an opaque type of C's: a handle is a pointer to it.
pub trait Named {
    /// Its name in C.
    const NAME: &'static str;
    /// The upper seven bytes of its shell's word.
    const KIND: u64 = kind(Self::NAME);
}

/// An opaque type of C's whose handles have such content.
pub trait Handle<F: Family>: Named {}

/// A call of C's: by which function, and for which handle.
#[derive(Debug, Clone, Copy)]
pub struct Call<F = WordKeys> {
    function: &'static str,
    handle: *const Shell,
    kind: u64,
    family: PhantomData<F>,
}

impl<F: Family> Call<F> {
    /// A call of the function of this name, which takes handles of the type `H`.
    #[inline(always)]
    pub fn new<H: Handle<F>>(function: &'static str, handle: *const H) -> Self {
        Self { function, handle: handle.cast(), kind: H::KIND, family: PhantomData }
    }

    /// Serves a call that needs no handle.
    pub fn guard(self, serve: impl FnOnce() -> Served) -> latchless_status {
        guard(self.function, serve, || ())
    }

    /// The word of a shell in this state, whose other bits are those of `word`.
    #[inline(always)]
    fn word(self, word: u64, state: u64) -> u64 {
        let content = F::CONTENT.map_or(word & CONTENT, |content| content << CONTENT_SHIFT);
        self.kind | content | state
    }
}

/// The content of a handle, as a pointer.
pub trait Content {
    /// Gives up the owned content for a pointer to it.
    fn into_pointer(self) -> *mut ();
    /// Owns it again.
    ///
    /// # Safety
    /// The pointer is from `into_pointer`, and isn't used again.
    unsafe fn from_pointer(pointer: *mut ()) -> Self;
}

impl<T> Content for Arc<T> {
    fn into_pointer(self) -> *mut () {
        Arc::into_raw(self).cast_mut().cast()
    }

    unsafe fn from_pointer(pointer: *mut ()) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Arc::from_raw(pointer.cast()) }
    }
}

impl<T> Content for Box<T> {
    fn into_pointer(self) -> *mut () {
        Box::into_raw(self).cast()
    }

    unsafe fn from_pointer(pointer: *mut ()) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Box::from_raw(pointer.cast()) }
    }
}

/// A hash of a name (FNV-1a) without the last byte: memory that isn't a shell has it by chance one time in
/// 2^56.
const fn kind(name: &str) -> u64 {
    let (mut hash, mut at) = (0xCBF2_9CE4_8422_2325, 0);
    while at < name.len() {
        hash = (hash ^ name.as_bytes()[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    hash & !(CONTENT | STATE)
}

/// The bits of a shell's word that have the state, and those that have the kind of the content.
const STATE: u64 = 0x0F;
const CONTENT: u64 = 0xF0;
const CONTENT_SHIFT: u32 = CONTENT.trailing_zeros();
/// The states of a shell.
const READY: u64 = 1;
const IN_USE: u64 = 2;
const SPOILT: u64 = 3;

/// The names of all kinds.
pub const NAMES: [&str; 7] = [
    "latchless_index",
    "latchless_index_cursor",
    "latchless_bytes",
    "latchless_bytes_cursor",
    "latchless_multi",
    "latchless_multi_cursor",
    "latchless_budget",
];

impl Shell {
    /// A shell for this content, with this word.
    fn wrap(word: u64, content: *mut ()) -> Result<&'static Self, Failure> {
        let shell = match Self::freed_long_ago() {
            Some(shell) => shell,
            None => Self::allocate()?,
        };
        shell.content.store(content, Relaxed);
        shell.word.store(word, Release);
        Ok(shell)
    }

    /// Takes the content out; only one thread gets it.
    fn empty(&'static self, call: Call<impl Family>, seen: u64) -> Result<*mut (), Fault> {
        if seen != call.word(seen, READY) && seen != call.word(seen, SPOILT) {
            return Err(Self::fault(call.kind, seen));
        }
        let taken = self.word.compare_exchange(seen, call.word(seen, FREED), AcqRel, Acquire);
        taken.map_err(|now| Self::fault(call.kind, now))?;
        let content = self.content.swap(ptr::null_mut(), Relaxed);
        self.remember();
        Ok(content)
    }

    fn spoil(&self, word: u64) {
        self.word.store(word & !STATE | SPOILT, Release);
    }

    /// Why this word, of some kind, isn't that of a shell that can be used as `wanted`.
    #[cold]
    fn fault(wanted: u64, word: u64) -> Fault {
        let (found, wanted) = (name_of(word).unwrap_or_default(), name_of(wanted).unwrap_or_default());
        match word & STATE {
            FREED => Fault::Freed { kind: found },
            _ if found != wanted => Fault::OtherKind { found, wanted },
            IN_USE => Fault::Busy { kind: found },
            _ => Fault::Spoilt { kind: found },
        }
    }
}

/// The kind of handles whose shells have this word.
fn name_of(word: u64) -> Option<&'static str> {
    NAMES.into_iter().find(|name| kind(name) == word & !(CONTENT | STATE))
}

/// The shell under a handle of any kind, and its word.
///
/// # Safety
/// The handle is NULL, or a word can be read there.
#[inline(always)]
unsafe fn shell<F: Family>(call: Call<F>) -> Result<(&'static Shell, u64), Fault> {
    if call.handle.is_null() {
        return Err(Fault::Null);
    }
    let unknown = Fault::Unknown { address: call.handle.addr() };
    if !call.handle.is_aligned() {
        return Err(unknown);
    }
    // SAFETY: it is aligned, and the caller promises the word.
    let word = unsafe { &*call.handle.cast::<AtomicU64>() }.load(Acquire);
    if word & !(CONTENT | STATE) != call.kind && name_of(word).is_none() {
        return Err(unknown);
    }
    // SAFETY: such a word is in shells only, except with a probability of 2^-53, and a shell stays one for
    // ever.
    Ok((unsafe { &*call.handle }, word))
}

/// The kind of values of a handle of byte strings, whatever its state; words if it is no handle.
///
/// # Safety
/// The handle is NULL, or a word can be read there.
#[inline(always)]
pub unsafe fn value_kind<H>(handle: *const H) -> ValueKind {
    let shell = handle.cast::<Shell>();
    if shell.is_null() || !shell.is_aligned() {
        return ValueKind::LATCHLESS_VALUE_WORD;
    }
    // SAFETY: it is aligned, and the caller promises the word.
    let word = unsafe { &*shell.cast::<AtomicU64>() }.load(Acquire);
    if (word & CONTENT) >> CONTENT_SHIFT == ValueKind::LATCHLESS_VALUE_BYTES as u64 {
        ValueKind::LATCHLESS_VALUE_BYTES
    } else {
        ValueKind::LATCHLESS_VALUE_WORD
    }
}

/// Makes a handle of a thing, and writes it to the caller's place.
///
/// # Safety
/// A pointer can be written to `to`, and this is the content of handles of this word.
unsafe fn hand_out<C: Content>(word: u64, content: C, to: *mut *mut ()) -> Result<(), Failure> {
    let content = content.into_pointer();
    match Shell::wrap(word, content) {
        Ok(shell) => {
            // SAFETY: as the caller promises.
            unsafe { to.write_unaligned(ptr::from_ref(shell).cast_mut().cast()) }
            Ok(())
        }
        Err(failure) => {
            // SAFETY: it was made a pointer just now.
            drop(unsafe { C::from_pointer(content) });
            Err(failure)
        }
    }
}

/// Makes an index's handle, of the kind that the call is for.
///
/// # Safety
/// A pointer can be written to `to`.
pub unsafe fn hand_out_index<F: Family>(
    call: Call<F>,
    (index, content): (F::Index, u64),
    to: *mut *mut (),
) -> Result<(), Failure> {
    // SAFETY: as the caller promises, and handles of indexes own these.
    unsafe { hand_out(call.word(content << CONTENT_SHIFT, READY), Arc::new(index), to) }
}

/// Makes a cursor's handle, of the type `H`.
///
/// # Safety
/// A pointer can be written to `to`.
pub unsafe fn hand_out_cursor<F: Family, H: Handle<F>>(
    cursor: F::Cursor,
    to: *mut *mut (),
) -> Result<(), Failure> {
    let call = Call::<F>::new::<H>("", ptr::null());
    // SAFETY: as the caller promises, and handles of cursors own these.
    unsafe { hand_out(call.word(0, READY), Box::new(cursor), to) }
}

/// The shell under the handle of an index that can be used, and its word.
///
/// # Safety
/// The handle is NULL, or a word can be read there.
#[inline(always)]
unsafe fn ready<F: Family>(call: Call<F>) -> Result<(&'static Shell, u64), Fault> {
    // SAFETY: as the caller promises.
    let (shell, word) = unsafe { shell(call)? };
    if word == call.word(word, READY) { Ok((shell, word)) } else { Err(Shell::fault(call.kind, word)) }
}

/// A copy of what a handle has.
///
/// # Safety
/// The handle is NULL, or a word can be read there; nothing frees it meanwhile.
pub unsafe fn copy_of<F: Family<Index: Clone>>(call: Call<F>) -> Result<F::Index, Fault> {
    // SAFETY: as the caller promises.
    let (shell, _) = unsafe { ready(call)? };
    let content = shell.content.load(Relaxed).cast::<F::Index>();
    // SAFETY: the shell is of this kind and has its content, which stays there until the handle is freed.
    Ok(unsafe { &*content }.clone())
}

/// Serves a call for an index, whose handle owns an `Arc` of it as this pointer, and has this word.
///
/// # Safety
/// The handle is NULL, or a word can be read there; nothing frees it meanwhile.
#[inline(always)]
unsafe fn with_owned<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(*const F::Index, u64) -> Served,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let (shell, word) = match unsafe { ready(call) } {
        Ok(found) => found,
        Err(fault) => return refuse(call.function, fault),
    };
    let content = shell.content.load(Relaxed).cast::<F::Index>();
    guard(call.function, || serve(content, word), || shell.spoil(word))
}

/// Serves a call for an index.
///
/// # Safety
/// The handle is NULL, or a word can be read there; nothing frees it meanwhile.
#[inline(always)]
pub unsafe fn with_index<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(&F::Index) -> Served,
) -> latchless_status {
    // SAFETY: the shell is that of an index and has its content, which stays there until the handle is freed.
    let serve = |index: *const F::Index, _| serve(unsafe { &*index });
    // SAFETY: as the caller promises.
    unsafe { with_owned(call, serve) }
}

/// Serves a call for an index with one value a key; keys that are words are of this kind.
///
/// # Safety
/// The contract of [`with_index`].
#[inline(always)]
pub unsafe fn with_map<F: Map>(
    call: Call<F>,
    serve: impl FnOnce(&MapOf<F>, KeyKind) -> Served,
) -> latchless_status {
    // SAFETY: the shell is that of an index and has its content, which stays there until the handle is freed.
    let serve = |index: *const F::Index, word| serve(F::map(unsafe { &*index }), key_kind(word));
    // SAFETY: as the caller promises.
    unsafe { with_owned(call, serve) }
}

/// The kind of keys in the word of an index's shell, which has one.
#[inline(always)]
fn key_kind(word: u64) -> KeyKind {
    KeyKind::ALL[((word & CONTENT) >> CONTENT_SHIFT) as usize % KeyKind::ALL.len()]
}

/// Serves a call that keeps the index alive: one that makes a cursor. Keys that are words are of this kind.
///
/// # Safety
/// The contract of [`with_index`].
pub unsafe fn with_shared_index<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(Arc<F::Index>, KeyKind) -> Served,
) -> latchless_status {
    let serve = |index: *const F::Index, word| {
        // SAFETY: the content of an index's handle is the pointer of an `Arc`, which the handle owns. It
        // leads to the counts as well, which a reference to the index wouldn't.
        let owned = unsafe {
            Arc::increment_strong_count(index);
            Arc::from_raw(index)
        };
        serve(owned, key_kind(word))
    };
    // SAFETY: as the caller promises.
    unsafe { with_owned(call, serve) }
}

/// Serves a call that has an index for itself: unless a cursor keeps it, too. A call that begins meanwhile is
/// refused.
///
/// # Safety
/// The handle is NULL, or a word can be read there; no other thread is using it.
pub unsafe fn with_whole_index<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(&mut F::Index) -> Served,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let (shell, ready) = match unsafe { ready(call) } {
        Ok(found) => found,
        Err(fault) => return refuse(call.function, fault),
    };
    let taken = shell.word.compare_exchange(ready, call.word(ready, IN_USE), AcqRel, Acquire);
    if let Err(word) = taken {
        return refuse(call.function, Shell::fault(call.kind, word));
    }
    let content = shell.content.load(Relaxed).cast::<F::Index>();
    let serve = || {
        // SAFETY: the content of an index's handle is the pointer of an `Arc`. The handle goes on to own it,
        // because this one isn't dropped.
        let mut owned = ManuallyDrop::new(unsafe { Arc::from_raw(content.cast_const()) });
        let served = match Arc::get_mut(&mut owned) {
            Some(index) => serve(index),
            None => Err(Fault::Kept { kind: name_of(call.kind).unwrap_or_default() }.into()),
        };
        shell.word.store(ready, Release);
        served
    };
    guard(call.function, serve, || shell.spoil(ready))
}

/// Serves a call for a cursor, if no other call is being served for it.
///
/// # Safety
/// The contract of [`with_index`].
pub unsafe fn with_cursor<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(&mut F::Cursor) -> Served,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let (shell, word) = match unsafe { shell(call) } {
        Ok(found) => found,
        Err(fault) => return refuse(call.function, fault),
    };
    let ready = call.word(word, READY);
    let taken = shell.word.compare_exchange(ready, call.word(word, IN_USE), AcqRel, Acquire);
    if let Err(word) = taken {
        return refuse(call.function, Shell::fault(call.kind, word));
    }
    let content = shell.content.load(Relaxed).cast::<F::Cursor>();
    let serve = || {
        // SAFETY: the shell is that of a cursor and has its content; no other call has it, because only one
        // finds the shell ready.
        let served = serve(unsafe { &mut *content });
        shell.word.store(ready, Release);
        served
    };
    guard(call.function, serve, || shell.spoil(ready))
}

/// Frees the content of a handle. NULL has none.
///
/// # Safety
/// The handle is NULL, or a word can be read there; no other thread is using it. Handles of the call's kind
/// own a `C`.
unsafe fn free<C: Content>(call: Call<impl Family>) -> latchless_status {
    if call.handle.is_null() {
        return latchless_status::LATCHLESS_OK;
    }
    call.guard(|| {
        // SAFETY: as the caller promises.
        let (shell, word) = unsafe { shell(call)? };
        let content = shell.empty(call, word)?;
        // SAFETY: the shell is of this kind, and had its content until now.
        drop(unsafe { C::from_pointer(content) });
        Ok(latchless_status::LATCHLESS_OK)
    })
}

/// Frees an index.
///
/// # Safety
/// The handle is NULL, or a word can be read there; no other thread is using it.
pub unsafe fn free_index<F: Family>(call: Call<F>) -> latchless_status {
    // SAFETY: as the caller promises; handles of indexes own these.
    unsafe { free::<Arc<F::Index>>(call) }
}

/// Frees a cursor.
///
/// # Safety
/// The contract of [`free_index`].
pub unsafe fn free_cursor<F: Family>(call: Call<F>) -> latchless_status {
    // SAFETY: as the caller promises; handles of cursors own these.
    unsafe { free::<Box<F::Cursor>>(call) }
}
