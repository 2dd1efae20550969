//! Ranks need words: a string has none.

fn main() {
    let index = latchless::Index::<String, u64>::default();
    let _ = index.rank("seven");
}
