//! Generates `include/latchless.h` from `src/exports`, or checks that it is up to date.
//!
//! ```text
//! cargo run -p latchless-capi --features header --example header             # checks
//! cargo run -p latchless-capi --features header --example header -- --write  # generates it
//! ```

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

/// In the order of the header.
const SOURCES: [&str; 4] = ["status.rs", "options.rs", "stats.rs", "exports/library.rs"];
const KEYS: [&str; 3] = ["u64", "i64", "f64"];
const PARTS: [&str; 5] = ["life.rs", "entries.rs", "order.rs", "batches.rs", "ranges.rs"];
const BYTES: [&str; 6] = ["life.rs", "entries.rs", "order.rs", "batches.rs", "ranges.rs", "cursors.rs"];

fn header(root: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join("src").join(source));
    }
    for key in KEYS {
        for part in PARTS {
            builder = builder.with_src(root.join("src/exports").join(key).join(part));
        }
    }
    for values in ["bytes", "kv"] {
        for part in BYTES {
            builder = builder.with_src(root.join("src/exports").join(values).join(part));
        }
    }
    let mut text = Vec::new();
    builder.generate()?.write(&mut text);
    Ok(String::from_utf8(text)?)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (header, path) = (header(root)?, root.join("include/latchless.h"));
    if env::args().any(|argument| argument == "--write") {
        fs::write(&path, header)?;
        return Ok(ExitCode::SUCCESS);
    }
    if fs::read_to_string(&path).unwrap_or_default() == header {
        println!("{} is up to date", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: {} is out of date: run this again with --write", path.display());
    Ok(ExitCode::FAILURE)
}
