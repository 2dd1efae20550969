//! Runs every block of Rust in the book.
#![allow(unused, reason = "a reader's example names what it shows, whether it uses it or not")]

use std::error::Error;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

/// The folder in which the examples write their files, empty at the start.
static FOLDER: LazyLock<()> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the examples' files");
    env::set_current_dir(&folder).expect("the folder is there");
});

/// Runs an example in that folder.
fn run(example: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    LazyLock::force(&FOLDER);
    example().expect("the example runs");
}

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
