//! `Arc<str>` is stored as `String`.

fn main() {
    let _ = latchless::bytes::BytesIndex::<std::sync::Arc<str>, u64>::new();
}
