//! A field that is no key, and a key in a word that isn't `Copy`.

use latchless::Key;

#[derive(Key, Debug, Clone)]
struct Timed {
    name: String,
    at: std::time::Instant,
}

#[derive(Key, Debug, Clone)]
struct NotCopy {
    account: u32,
}

fn main() {}
