//! A module for Redis with a type of its own: a map whose fields are in the order of their bytes.
//!
//! Redis has hashes, whose fields are in no order, and sorted sets, whose members have no values. Here
//! ranges and prefixes of fields come with their values. [`map`] is such a map, [`stored`] keeps it in the
//! server's files, [`charge`] its memory in the server's accounting, [`commands`] are the clients', and
//! [`pool`] has threads for long answers. README.md lists the commands.

mod charge;
mod commands;
mod map;
mod pool;
mod stored;

use commands::*;
use redis_module::redis_module;
use stored::MAP;

redis_module! {
    name: "latchless",
    version: 1,
    // Not Redis's allocator, which doesn't guarantee alignment to cache lines: `charge` reports the maps'
    // size to Redis.
    allocator: (std::alloc::System, std::alloc::System),
    data_types: [MAP],
    commands: [
        ["ll.set", set, "write deny-oom fast", 1, 1, 1, ""],
        ["ll.get", get, "readonly fast", 1, 1, 1, ""],
        ["ll.del", del, "write fast", 1, 1, 1, ""],
        ["ll.len", len, "readonly fast", 1, 1, 1, ""],
        ["ll.floor", floor, "readonly fast", 1, 1, 1, ""],
        ["ll.ceiling", ceiling, "readonly fast", 1, 1, 1, ""],
        ["ll.range", range, "readonly", 1, 1, 1, ""],
        ["ll.prefix", prefix, "readonly", 1, 1, 1, ""],
        ["ll.count", count, "readonly", 1, 1, 1, ""],
        ["ll.delrange", delrange, "write", 1, 1, 1, ""],
    ],
}
