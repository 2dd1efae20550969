//! Snapshots: saving an index as an Arrow file, and opening one. The safety contract of all unsafe
//! functions here is at the head of the crate.

use crate::column::put;
use crate::datum::is_value;
use crate::failure::Failure;
use crate::handle::{Call, with_map};
use crate::key::KeyKind;
use crate::life;
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::whole::Words;
use core::ffi::{CStr, c_char};
use engine::snapshot;
use engine::snapshot::{DataType, Layout, Snapshot};
use std::path::PathBuf;

/// The path that C means: on Unix its bytes, elsewhere UTF-8.
pub unsafe fn path(path: *const c_char) -> Result<PathBuf, Failure> {
    if path.is_null() {
        return Err(Failure::Null { argument: "path" });
    }
    // SAFETY: as the caller promises, a text that ends with a zero.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    #[cfg(unix)]
    let path = {
        use std::os::unix::ffi::OsStrExt;
        std::ffi::OsStr::from_bytes(bytes).into()
    };
    #[cfg(not(unix))]
    let path = String::from_utf8_lossy(bytes).into_owned().into();
    Ok(path)
}

/// Refuses a file unless its keys are byte strings or texts.
pub fn is_of_bytes(name: &str) -> Result<(), Failure> {
    if ["bytes", "text"].contains(&name) {
        return Ok(());
    }
    Err(snapshot::Error::OtherKeyType { found: name.to_owned(), asked: "bytes".to_owned() }.into())
}

pub unsafe fn save(call: Call, to: *const c_char, entries: *mut usize) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        // SAFETY: as the caller promises.
        let to = unsafe { path(to)? };
        let layout = Layout::new(kind.data_type(), DataType::UInt64);
        let saved = layout.save(index, to, |word, value| (kind.decode(word), value))?;
        // SAFETY: as the caller promises.
        unsafe { put(entries, saved as usize) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn open(
    call: Call,
    from: *const c_char,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Words, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let file = Snapshot::open(unsafe { path(from)? })?;
        if !parsed.keys.is_in(file.key_type()) {
            return Err(Failure::OtherType { column: "key", found: file.key_type().to_string() });
        }
        if !is_value(file.value_type()) {
            return Err(Failure::OtherType { column: "value", found: file.value_type().to_string() });
        }
        load(&file, index, parsed)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

fn load(file: &Snapshot, index: &mut Words, parsed: &Parsed) -> Result<(), Failure> {
    let keys = parsed.keys;
    let word = move |cell| keys.encode(cell);
    if !parsed.keys.has(u64::MAX) {
        // A maliciously made file may have keys that no index has.
        let nan = (0..file.len()).find(|&at| !parsed.keys.has(word(file.row(at).0)));
        nan.map_or(Ok(()), |at| Err(Failure::NanInFile { at }))?;
    }
    Ok(file.load_by(index, parsed.fill, parsed.threads, |key, value| (word(key), value))?)
}
