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
use crate::key::{ByteStrings, KeyType};
use crate::status::latchless_status;
use crate::whole::{Strings, Whole, Words};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use engine::BytesValue;
use engine::bytes::BytesCursor;
use engine::index::Scan;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The content of handles whose calls are served by the same functions. Cursors keep their index alive.
pub trait Family: Copy {
    type Index: Whole;
    type Cursor: Send;
}

impl Family for KeyType {
    type Index = Words;
    type Cursor = Scan<Arc<Words>>;
}

impl<V: BytesValue> Family for ByteStrings<V> {
    type Index = Strings<V>;
    type Cursor = BytesCursor<Arc<Strings<V>>>;
}

/// A cursor of any kind of words.
pub type Cursor = <KeyType as Family>::Cursor;

/// An opaque type of C's: a handle is a pointer to it.
pub trait Handle {
    /// Its name in C.
    const NAME: &'static str;
    /// The functions' description of its keys.
    type Keys: Family;
    /// The keys.
    const KEYS: Self::Keys;
    /// The upper seven bytes of its shell's word; the last byte is the state.
    const KIND: u64 = kind(Self::NAME);
}

/// A call of C's: by which function, and for which handle.
#[derive(Debug, Clone, Copy)]
pub struct Call<F = KeyType> {
    function: &'static str,
    handle: *const Shell,
    kind: u64,
    /// The function's description of the keys.
    pub keys: F,
}

impl<F: Family> Call<F> {
    /// A call of the function of this name, which takes handles of the type `H`.
    #[inline(always)]
    pub fn new<H: Handle<Keys = F>>(function: &'static str, handle: *const H) -> Self {
        Self { function, handle: handle.cast(), kind: H::KIND, keys: H::KEYS }
    }

    /// Serves a call that needs no handle.
    pub fn guard(self, serve: impl FnOnce() -> Served) -> latchless_status {
        guard(self.function, serve, || ())
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
    hash & !STATE
}

const STATE: u64 = 0xFF;
/// The states of a shell.
const READY: u64 = 1;
const IN_USE: u64 = 2;
const SPOILT: u64 = 3;
const FREED: u64 = 4;

/// The names of all kinds.
pub const NAMES: [&str; 10] = [
    "latchless_u64",
    "latchless_u64_cursor",
    "latchless_i64",
    "latchless_i64_cursor",
    "latchless_f64",
    "latchless_f64_cursor",
    "latchless_bytes",
    "latchless_bytes_cursor",
    "latchless_kv",
    "latchless_kv_cursor",
];

/// The target of a handle. On a cache line of its own, which isn't written while an index is used.
#[repr(C, align(64))]
#[derive(Debug)]
struct Shell {
    word: AtomicU64,
    content: AtomicPtr<()>,
}

/// How many freed shells wait before the first of them is used again.
const WAITING: usize = 1024;

/// The freed shells, the longest freed first.
static FREED_SHELLS: Mutex<VecDeque<&'static Shell>> = Mutex::new(VecDeque::new());

/// The freed shells; none if the lock stays taken for longer than any holder needs: its holder may not
/// exist in a forked process.
fn freed_shells<T>(with: impl FnOnce(&mut VecDeque<&'static Shell>) -> Option<T>) -> Option<T> {
    (0..100).find_map(|_| FREED_SHELLS.try_lock().ok()).and_then(|mut shells| with(&mut shells))
}

impl Shell {
    /// A shell for this content.
    fn wrap(kind: u64, content: *mut ()) -> Result<&'static Self, Failure> {
        let again = freed_shells(|shells| if shells.len() < WAITING { None } else { shells.pop_front() });
        let shell = match again {
            Some(shell) => shell,
            None => Self::allocate()?,
        };
        shell.content.store(content, Relaxed);
        shell.word.store(kind | READY, Release);
        Ok(shell)
    }

    fn allocate() -> Result<&'static Self, Failure> {
        let mut room = Vec::new();
        let refused = engine::Error::OutOfMemory { requested_bytes: size_of::<Self>() };
        room.try_reserve_exact(1).map_err(|_| refused)?;
        room.push(Self { word: AtomicU64::new(FREED), content: AtomicPtr::new(ptr::null_mut()) });
        Ok(&room.leak()[0])
    }

    /// Takes the content out; only one thread gets it.
    fn empty(&'static self, kind: u64, seen: u64) -> Result<*mut (), Fault> {
        if seen != kind | READY && seen != kind | SPOILT {
            return Err(Self::fault(kind, seen));
        }
        let taken = self.word.compare_exchange(seen, kind | FREED, AcqRel, Acquire);
        taken.map_err(|now| Self::fault(kind, now))?;
        let content = self.content.swap(ptr::null_mut(), Relaxed);
        // Where there is no room to remember it, the shell is never used again.
        freed_shells(|shells| {
            if shells.len() == shells.capacity() {
                shells.try_reserve(WAITING).ok()?;
            }
            shells.push_back(self);
            Some(())
        });
        Ok(content)
    }

    fn spoil(&self, kind: u64) {
        self.word.store(kind | SPOILT, Release);
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
    NAMES.into_iter().find(|name| kind(name) == word & !STATE)
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
    if word & !STATE != call.kind && name_of(word).is_none() {
        return Err(unknown);
    }
    // SAFETY: such a word is in shells only, except with a probability of 2^-53, and a shell stays one for
    // ever.
    Ok((unsafe { &*call.handle }, word))
}

/// Makes a handle of a thing, and writes it to the caller's place.
///
/// # Safety
/// A pointer can be written to `to`.
pub unsafe fn hand_out<C: Content>(kind: u64, content: C, to: *mut *mut ()) -> Result<(), Failure> {
    let content = content.into_pointer();
    match Shell::wrap(kind, content) {
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
/// The contract of [`hand_out`].
pub unsafe fn hand_out_index<F: Family>(
    call: Call<F>,
    index: F::Index,
    to: *mut *mut (),
) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    unsafe { hand_out(call.kind, Arc::new(index), to) }
}

/// Serves a call for an index, whose handle owns an `Arc` of it as this pointer.
///
/// # Safety
/// The handle is NULL, or a word can be read there; nothing frees it meanwhile.
#[inline(always)]
unsafe fn with_owned<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(*const F::Index) -> Served,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let (shell, word) = match unsafe { shell(call) } {
        Ok(found) => found,
        Err(fault) => return refuse(call.function, fault),
    };
    if word != call.kind | READY {
        return refuse(call.function, Shell::fault(call.kind, word));
    }
    let content = shell.content.load(Relaxed).cast::<F::Index>();
    guard(call.function, || serve(content), || shell.spoil(call.kind))
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
    let serve = |index: *const F::Index| serve(unsafe { &*index });
    // SAFETY: as the caller promises.
    unsafe { with_owned(call, serve) }
}

/// Serves a call that keeps the index alive: one that makes a cursor.
///
/// # Safety
/// The contract of [`with_index`].
pub unsafe fn with_shared_index<F: Family>(
    call: Call<F>,
    serve: impl FnOnce(Arc<F::Index>) -> Served,
) -> latchless_status {
    let serve = |index: *const F::Index| {
        // SAFETY: the content of an index's handle is the pointer of an `Arc`, which the handle owns. It
        // leads to the counts as well, which a reference to the index wouldn't.
        let owned = unsafe {
            Arc::increment_strong_count(index);
            Arc::from_raw(index)
        };
        serve(owned)
    };
    // SAFETY: as the caller promises.
    unsafe { with_owned(call, serve) }
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
    let shell = match unsafe { shell(call) } {
        Ok((shell, _)) => shell,
        Err(fault) => return refuse(call.function, fault),
    };
    let taken = shell.word.compare_exchange(call.kind | READY, call.kind | IN_USE, AcqRel, Acquire);
    if let Err(word) = taken {
        return refuse(call.function, Shell::fault(call.kind, word));
    }
    let content = shell.content.load(Relaxed).cast::<F::Cursor>();
    let serve = || {
        // SAFETY: the shell is that of a cursor and has its content; no other call has it, because only one
        // finds the shell ready.
        let served = serve(unsafe { &mut *content });
        shell.word.store(call.kind | READY, Release);
        served
    };
    guard(call.function, serve, || shell.spoil(call.kind))
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
        let content = shell.empty(call.kind, word)?;
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
