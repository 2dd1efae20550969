//! The message of a thread's last failure. It is a fixed array, so that a failure for lack of memory needs
//! none, and so that it can be read and written until the very end of a thread.

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::fmt::{self, Write};

/// With the zero at the end.
const ROOM: usize = 512;

thread_local! {
    static LAST: UnsafeCell<[u8; ROOM]> = const { UnsafeCell::new([0; ROOM]) };
}

/// Text that is cut where the room ends.
struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let mut room = (ROOM - 1 - self.len).min(more.len());
        while !more.is_char_boundary(room) {
            room -= 1;
        }
        for (place, &byte) in self.bytes[self.len..].iter_mut().zip(&more.as_bytes()[..room]) {
            // A zero, which a damaged file may have in a name, would end the text.
            *place = if byte == 0 { b'?' } else { byte };
        }
        self.len += room;
        if room == more.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Replaces the thread's message.
pub fn set(message: fmt::Arguments<'_>) {
    let mut text = Text { bytes: [0; ROOM], len: 0 };
    // An error means that it was truncated, which can't be helped.
    let _cut = text.write_fmt(message);
    // SAFETY: it is the thread's own, and no reference to it exists: C has a pointer that it may read
    // between calls.
    LAST.with(|last| unsafe { *last.get() = text.bytes });
}

/// The thread's message, which ends with a zero.
pub fn get() -> *const c_char {
    LAST.with(|last| last.get().cast())
}
