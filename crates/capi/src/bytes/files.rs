//! Snapshots of byte strings: saving an index as an Arrow file, and opening one. The safety contract of all
//! unsafe functions here is at the head of the crate.

use crate::column::put;
use crate::datum::Value;
use crate::failure::Failure;
use crate::files::path;
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::life;
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::whole::Strings;
use core::ffi::c_char;
use engine::snapshot;
use engine::snapshot::strings::{self, Snapshot};

pub unsafe fn save<V: Value>(
    call: Call<ByteStrings<V>>,
    to: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let saved = strings::save(index, unsafe { path(to)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(entries, saved as usize) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn open<V: Value>(
    call: Call<ByteStrings<V>>,
    from: *const c_char,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Strings<V>, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let file = Snapshot::open(unsafe { path(from)? })?;
        if !["bytes", "text"].contains(&file.key_name()) {
            let (found, asked) = (file.key_name().to_owned(), "bytes".to_owned());
            return Err(snapshot::Error::OtherKeyType { found, asked }.into());
        }
        if !V::is_in(&file) {
            return Err(Failure::OtherType { column: "value", found: file.value_name().into() });
        }
        Ok(index.bulk_load(V::rows(&file), parsed.fill)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}
