//! A time is a key as `Nanos`.

fn main() {
    let _ = latchless::Index::<std::time::SystemTime, u64>::new();
}
