//! Values of any type go into a `BoxedBytesIndex`.

fn main() {
    let _ = latchless::bytes::BytesIndex::<String, Vec<String>>::new();
}
