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
const SOURCES: [&str; 21] = [
    "status.rs",
    "key.rs",
    "near.rs",
    "strings.rs",
    "movement.rs",
    "options.rs",
    "stats.rs",
    "exports/library.rs",
    "exports/budget.rs",
    "exports/index/life.rs",
    "exports/index/entries.rs",
    "exports/index/order.rs",
    "exports/index/batches.rs",
    "exports/index/ranges.rs",
    "exports/bytes/life.rs",
    "exports/bytes/entries.rs",
    "exports/bytes/order.rs",
    "exports/bytes/batches.rs",
    "exports/bytes/ranges.rs",
    "exports/bytes/cursors.rs",
    "exports/multi.rs",
];

/// The most columns of a line.
const WIDTH: usize = 118;

fn header(root: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join("src").join(source));
    }
    let mut text = Vec::new();
    builder.generate()?.write(&mut text);
    Ok(filled(&String::from_utf8(text)?))
}

/// The header with the parameters of functions side by side, as many as there is room for: cbindgen
/// writes one a line.
fn filled(text: &str) -> String {
    let (mut filled, mut indent) = (String::new(), None);
    for line in text.lines() {
        let is_of_function = indent.is_some() || line.contains('(') && !line.starts_with(['/', ' ']);
        // The types' names are enough there, without their tags.
        let short = line.replace("enum latchless_", "latchless_").replace("struct latchless_", "latchless_");
        let line = if is_of_function { &short } else { line };
        let start = filled.rfind('\n').map_or(0, |at| at + 1);
        match indent {
            Some(indent) => {
                let is_room = filled.len() - start + 1 + line.trim_start().len() <= WIDTH;
                let space = if is_room { " ".to_owned() } else { format!("\n{}", " ".repeat(indent)) };
                filled.push_str(&(space + line.trim_start()));
            }
            None => filled.push_str(line),
        }
        let start = filled.rfind('\n').map_or(0, |at| at + 1);
        let is_function =
            line.contains('(') && line.ends_with(',') && !line.trim_start().starts_with(['/', '*']);
        indent = match indent {
            Some(indent) if line.ends_with(',') => Some(indent),
            None if is_function => filled[start..].find('(').map(|at| at + 1),
            _ => None,
        };
        if indent.is_none() {
            filled.push('\n');
        }
    }
    filled
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
