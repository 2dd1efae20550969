//! A duration is a value as `Nanos`.

fn main() {
    let _ = latchless::Index::<u64, std::time::Duration>::new();
}
