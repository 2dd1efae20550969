//! Snapshots of byte strings: saving an index as an Arrow file, and opening one. The safety contract of all
//! unsafe functions here is at the head of the crate.

use crate::column::put;
use crate::datum::{Datum, check_key, check_value};
use crate::failure::Failure;
use crate::family::{Map, Strung};
use crate::files::{is_of_bytes, path};
use crate::handle::{Call, with_shared_index};
use crate::life;
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::c_char;
use engine::snapshot::strings::{self, Snapshot};

pub unsafe fn save<F: Strung>(call: Call<F>, to: *const c_char, entries: *mut usize) -> latchless_status {
    let serve = |index, _| {
        // SAFETY: as the caller promises.
        let saved = strings::save(F::hold(index), unsafe { path(to)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(entries, saved as usize) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

pub unsafe fn open<F: Map>(
    call: Call<F>,
    from: *const c_char,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut F::Index, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let file = Snapshot::open(unsafe { path(from)? })?;
        is_of_bytes(file.key_name())?;
        if !F::Value::is_in(&file) {
            return Err(Failure::OtherType { column: "value", found: file.value_name().into() });
        }
        let rows: Vec<_> = file.byte_rows().collect();
        let entry = |at: usize| (F::Key::of_file(rows[at].0), F::Value::of_file(rows[at].1));
        let check = |at| check_key::<F::Key>(entry(at).0).and(check_value::<F::Value>(entry(at).1));
        (0..rows.len()).try_for_each(check)?;
        Ok(F::map_mut(index).bulk_load_by(rows.len(), entry, parsed.fill, parsed.threads)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}
