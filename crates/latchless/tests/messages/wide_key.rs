//! Numbers of 128 bits are keys of `BytesIndex`.

fn main() {
    let _ = latchless::Index::<u128, u64>::new();
}
