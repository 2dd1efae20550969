//! The house: which rooms there are, which are below which, and what only some places may do.

/// A folder whose modules are on floors, lowest first. Modules on one floor don't import each other; one
/// that is on no floor is above all of them.
pub struct Rooms {
    /// Below the workspace.
    pub folder: &'static str,
    pub floors: &'static [&'static [&'static str]],
    /// Whether each module must be on a floor.
    pub complete: bool,
}

/// Imports between crates are kept by Cargo; these are the ones inside of a crate.
pub const ROOMS: [Rooms; 11] = [
    Rooms {
        folder: "crates/capi/src/",
        floors: &[
            &["key", "message", "status", "whole"],
            &["failure"],
            &["border", "column", "movement", "near", "rows_cursor"],
            &["place"],
            &["strings"],
            &["datum", "options"],
            &["family"],
            &["handle"],
            &["budget", "stats"],
            &["life", "entries", "ranges"],
            &["batches", "cursors", "files"],
            &["bytes"],
            &["multi"],
            &["exports"],
        ],
        complete: false,
    },
    Rooms {
        folder: "crates/capi/src/bytes/",
        floors: &[&["cursors", "files", "gathered", "ranges"]],
        complete: true,
    },
    Rooms {
        folder: "crates/core/src/",
        floors: &[&["sync"], &["base"], &["mem"], &["latch"], &["search"], &["batch", "bulk", "tuner"]],
        complete: true,
    },
    Rooms {
        folder: "crates/latchless/src/",
        floors: &[
            &["frozen", "node"],
            &["blink"],
            &["tree", "slot_map"],
            &["byte_tree"],
            &["index"],
            &["bytes"],
            &["intervals", "set", "versions"],
            &["table"],
            &["reads"],
            &["serial", "snapshot"],
        ],
        complete: true,
    },
    Rooms {
        folder: "research/papers/src/",
        floors: &[&["error"], &["common"], &["pb_tree", "olfit", "cssl", "pi", "spiderman"], &["extremes"]],
        complete: true,
    },
    Rooms {
        folder: "research/papers/src/common/",
        floors: &[
            &["catalogue", "epochs", "ordered", "runs", "words", "pages"],
            &["operation", "units", "scan"],
            &["walk"],
            &["interleave"],
        ],
        complete: true,
    },
    Rooms {
        folder: "research/papers/src/pb_tree/",
        floors: &[&["window"], &["arena"], &["node"], &["jump_array", "path"], &["tree"]],
        complete: false,
    },
    Rooms {
        folder: "research/papers/src/olfit/",
        floors: &[&["shared_latch", "node"], &["tree"]],
        complete: false,
    },
    Rooms {
        folder: "research/papers/src/cssl/",
        floors: &[&["link", "pointer", "drift", "marks"], &["guarded"], &["lanes", "list"]],
        complete: false,
    },
    Rooms {
        folder: "research/papers/src/pi/",
        floors: &[&["crew"], &["mem"], &["routed"], &["segments"], &["batch"]],
        complete: false,
    },
    Rooms {
        folder: "research/papers/src/spiderman/",
        floors: &[&["latches", "page", "prefetch"], &["tree", "trie"]],
        complete: false,
    },
];

/// The crates that these lists are about: programs count with atomics, and call the system, as they like.
pub const LIBRARIES: [&str; 4] =
    ["crates/capi/src/", "crates/core/src/", "crates/latchless/src/", "research/papers/src/"];

/// Where memory orderings may be named; everything else goes through named operations.
pub const WITH_ORDERINGS: [&str; 10] = [
    "crates/capi/src/handle.rs",
    "crates/capi/src/shell.rs",
    "crates/core/src/latch/",
    "crates/core/src/sync/",
    "crates/latchless/src/slot_map/life.rs",
    "research/papers/src/common/epochs.rs",
    "research/papers/src/cssl/link.rs",
    "research/papers/src/cssl/pointer.rs",
    "research/papers/src/olfit/shared_latch.rs",
    "crates/latchless/src/intervals/interval_index.rs",
];

/// Where unsafe code may be; the rest is safe code on top of what these promise.
pub const WITH_UNSAFE_CODE: [&str; 24] = [
    "crates/capi/src/",
    "crates/core/src/latch/",
    "crates/core/src/mem/",
    "crates/core/src/search/",
    "crates/core/src/sync/",
    "crates/latchless/src/blink/arena.rs",
    "crates/latchless/src/frozen.rs",
    "crates/latchless/src/node/chunk.rs",
    "crates/latchless/src/node/lines/",
    "crates/latchless/src/slot_map/",
    "crates/latchless/src/snapshot/bytes.rs",
    "crates/latchless/src/snapshot/mapped.rs",
    "crates/latchless/src/snapshot/rows.rs",
    "research/papers/src/common/runs/",
    "research/papers/src/common/units/",
    "research/papers/src/common/words.rs",
    "research/papers/src/cssl/guarded.rs",
    "research/papers/src/cssl/link.rs",
    "research/papers/src/cssl/pointer.rs",
    "research/papers/src/olfit/shared_latch.rs",
    "research/papers/src/pb_tree/arena/",
    "research/papers/src/pb_tree/window.rs",
    "research/papers/src/pi/crew.rs",
    "research/papers/src/pi/mem/",
];

/// The product's errors, the crates whose operations return them, and those that come from elsewhere: from
/// adapters that drive other maps through the trait of all indexes.
pub const ERRORS: &str = "crates/core/src/base/error.rs";
pub const RETURN_ERRORS: [&str; 2] = ["crates/core/src/", "crates/latchless/src/"];
pub const FROM_ELSEWHERE: [&str; 1] = ["Unsupported"];

/// What tests share, which any module may import.
pub const TEST_HELPERS: &str = "testing";
/// The most lines in a file.
pub const FILE_LINES_MAX: usize = 500;
/// The most lines in a function.
pub const FUNCTION_LINES_MAX: usize = 70;
/// The most characters in a line of comment; rustfmt keeps code to less.
pub const COMMENT_CHARS_MAX: usize = 110;

/// Every place that these lists name.
pub fn places() -> impl Iterator<Item = &'static str> {
    let folders = ROOMS.iter().map(|rooms| rooms.folder);
    folders.chain(LIBRARIES).chain(WITH_ORDERINGS).chain(WITH_UNSAFE_CODE)
}
