//! Values of any type are stored in a `BoxedBytesIndex`.

fn main() {
    let _ = latchless::bytes::BytesIndex::<String, Vec<String>>::new();
}
