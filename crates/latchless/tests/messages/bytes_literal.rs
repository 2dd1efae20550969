//! An index of `Vec<u8>` is asked by slices.

fn main() {
    let index = latchless::bytes::BytesIndex::<Vec<u8>, u64>::default();
    let _ = index.get(b"key");
}
