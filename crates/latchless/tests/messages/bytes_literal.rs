//! A lookup in an index of `Vec<u8>` takes slices.

fn main() {
    let index = latchless::bytes::BytesIndex::<Vec<u8>, u64>::default();
    let _ = index.get(b"key");
}
