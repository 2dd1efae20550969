//! The type of maps in Redis: how it is saved, loaded, copied, measured and freed.
//!
//! A value of the type is a boxed `Arc<Map>`: a thread that reads a long range keeps the map, even if its
//! key is deleted meanwhile. A snapshot is written by a forked child, which sees the map as of the fork:
//! the server's main thread forks, and no other one changes maps.

use crate::map::Map;
use redis_module::native_types::RedisType;
use redis_module::raw;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The value of a key.
pub type Stored = Arc<Map>;

/// The version of the format below.
const ENCODING: c_int = 1;

pub static MAP: RedisType = RedisType::new(
    "latchless",
    ENCODING,
    raw::RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION as u64,
        rdb_load: Some(load),
        rdb_save: Some(save),
        aof_rewrite: Some(rewrite),
        free: Some(free),
        mem_usage: Some(mem_usage),
        digest: None,
        aux_load: None,
        aux_save: None,
        aux_save_triggers: 0,
        free_effort: Some(free_effort),
        unlink: None,
        copy: Some(copy),
        defrag: None,
        mem_usage2: None,
        free_effort2: None,
        unlink2: None,
        copy2: None,
        aux_save2: None,
    },
);

/// The map under a pointer that Redis keeps.
///
/// # Safety
/// The pointer is from [`boxed`], and isn't freed while the result is used.
unsafe fn map<'a>(value: *const c_void) -> &'a Stored {
    // SAFETY: as the caller promises.
    unsafe { &*value.cast::<Stored>() }
}

fn boxed(map: Map) -> *mut c_void {
    Box::into_raw(Box::new(Arc::new(map))).cast()
}

/// How many entries there are, then each field and its value.
unsafe extern "C" fn save(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: Redis passes the value of a key.
    let map = unsafe { map(value) };
    raw::save_unsigned(io, map.len() as u64);
    map.each(|field, value| {
        raw::save_slice(io, field);
        raw::save_slice(io, value);
    });
}

unsafe extern "C" fn load(io: *mut raw::RedisModuleIO, encoding: c_int) -> *mut c_void {
    let loaded = || -> Option<Map> {
        let map = (encoding == ENCODING).then(Map::new)?.ok()?;
        for _ in 0..raw::load_unsigned(io).ok()? {
            let (field, value) = (raw::load_string_buffer(io).ok()?, raw::load_string_buffer(io).ok()?);
            map.set(field.as_ref(), value.as_ref()).ok()?;
        }
        Some(map)
    };
    loaded().map_or(std::ptr::null_mut(), boxed)
}

/// The commands that make the map again.
unsafe extern "C" fn rewrite(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: set when the module was loaded.
    let Some(emit) = (unsafe { raw::RedisModule_EmitAOF }) else { return };
    // SAFETY: Redis passes the value of a key.
    unsafe { map(value) }.each(|field, value| {
        let (field, value) = ((field.as_ptr(), field.len()), (value.as_ptr(), value.len()));
        // SAFETY: "sbb" is a string of Redis's, and two buffers with their lengths.
        unsafe { emit(io, c"ll.set".as_ptr(), c"sbb".as_ptr(), key, field.0, field.1, value.0, value.1) }
    });
}

unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: from `boxed`, and Redis forgets it.
    drop(unsafe { Box::from_raw(value.cast::<Stored>()) });
}

unsafe extern "C" fn mem_usage(value: *const c_void) -> usize {
    // SAFETY: Redis passes the value of a key.
    unsafe { map(value) }.bytes()
}

/// So that `UNLINK` frees a large map on another thread.
unsafe extern "C" fn free_effort(_: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: Redis passes the value of a key.
    unsafe { map(value) }.len()
}

unsafe extern "C" fn copy(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    let copied = || -> Option<Map> {
        let copy = Map::new().ok()?;
        let mut outcome = Ok(true);
        // SAFETY: Redis passes the value of a key.
        unsafe { map(value) }.each(|field, value| {
            if outcome.is_ok() {
                outcome = copy.set(field, value);
            }
        });
        outcome.ok().map(|_| copy)
    };
    copied().map_or(std::ptr::null_mut(), boxed)
}
