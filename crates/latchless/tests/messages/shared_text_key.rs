//! `Arc<str>` is stored as `String`.

fn main() {
    let _ = latchless::Index::<std::sync::Arc<str>, u64>::new();
}
