//! Strings are keys of `BytesIndex`.

fn main() {
    let _ = latchless::Index::<String, u64>::new();
}
