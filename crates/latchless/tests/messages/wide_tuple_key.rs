//! A tuple of more than 64 bits is a key of `BytesIndex`.

fn main() {
    let _ = latchless::Index::<(u32, u64), u64>::new();
}
