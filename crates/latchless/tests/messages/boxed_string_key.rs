//! Strings are keys of `BoxedBytesIndex`.

fn main() {
    let _ = latchless::BoxedIndex::<String, u64>::new();
}
