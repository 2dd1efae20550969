//! The keys of a file: little-endian 64-bit numbers, with or without their count before them, or text.

use crate::ask::Ask;
use crate::error::Error;
use rand::RngExt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The bytes of a file that decide whether it is text.
const GLANCE_BYTES: usize = 4096;
/// The longest line of a text: more than any number needs.
const LINE_BYTES_MAX: u64 = 64;

/// As many keys of the file as are wanted.
pub fn draw(path: &Path, ask: Ask) -> Result<Vec<u64>, Error> {
    let keys = read(path)?;
    let ascending = keys.is_sorted();
    let keys = without_repeats(keys, ascending);
    let (wanted, there) = (ask.total(), keys.len());
    if wanted > there {
        let set = format!("file:{}", path.display());
        return Err(Error::TooFewKeys { set, wanted: wanted as u64, there: there as u64 });
    }
    let keys = some_of(keys, ask);
    Ok(if ascending { ask.shuffled(keys) } else { keys })
}

/// Each key where it comes first.
fn without_repeats(mut keys: Vec<u64>, ascending: bool) -> Vec<u64> {
    if ascending {
        keys.dedup();
        return keys;
    }
    let mut places: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let repeats: Vec<u64> =
        places.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).collect();
    drop(places);
    let mut repeated = vec![false; if repeats.is_empty() { 0 } else { keys.len() }];
    repeats.into_iter().for_each(|place| repeated[place as usize] = true);
    let mut place = 0;
    keys.retain(|_| {
        place += 1;
        !repeated.get(place - 1).copied().unwrap_or(false)
    });
    keys
}

/// A random choice of as many as are wanted, in their order.
fn some_of(mut keys: Vec<u64>, ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let (mut left, mut wanted) = (keys.len(), ask.total());
    keys.retain(|_| {
        let taken = random.random_range(0..left) < wanted;
        (left, wanted) = (left - 1, wanted - usize::from(taken));
        taken
    });
    keys
}

/// Every number of the file, in its order.
fn read(path: &Path) -> Result<Vec<u64>, Error> {
    let unreadable = |error: std::io::Error| Error::FileUnreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let mut file = BufReader::with_capacity(1 << 20, file);
    let start = file.fill_buf().map_err(unreadable)?;
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if start[..start.len().min(GLANCE_BYTES)].iter().all(is_text) {
        lines(path, file, unreadable)
    } else {
        numbers(path, file, bytes, unreadable)
    }
}

/// One number per line; empty lines are allowed.
fn lines(
    path: &Path,
    mut file: impl BufRead,
    unreadable: impl Fn(std::io::Error) -> Error,
) -> Result<Vec<u64>, Error> {
    let (mut keys, mut line) = (Vec::new(), Vec::new());
    for number in 1u64.. {
        line.clear();
        if file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(&unreadable)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(line.trim_ascii());
        if text.is_empty() {
            continue;
        }
        let key = text.parse().map_err(|_| Error::FileLine {
            path: path.display().to_string(),
            line: number,
            found: text.into_owned(),
        })?;
        keys.push(key);
    }
    Ok(keys)
}

/// Eight bytes per number. A first number that is how many follow isn't a key.
fn numbers(
    path: &Path,
    mut file: impl Read,
    bytes: u64,
    unreadable: impl Fn(std::io::Error) -> Error,
) -> Result<Vec<u64>, Error> {
    let whole = bytes / 8 * 8;
    if whole != bytes {
        let (path, left) = (path.display().to_string(), bytes - whole);
        return Err(Error::FileBytes { path, position: whole, left });
    }
    let mut keys = Vec::with_capacity((bytes / 8) as usize);
    let mut piece = vec![0; 1 << 16];
    for at in (0..bytes).step_by(piece.len()) {
        let piece = &mut piece[..(1 << 16).min(bytes - at) as usize];
        file.read_exact(piece).map_err(&unreadable)?;
        keys.extend(piece.as_chunks::<8>().0.iter().copied().map(u64::from_le_bytes));
    }
    if keys.first() == Some(&(keys.len() as u64 - 1)) {
        keys.remove(0);
    }
    Ok(keys)
}
