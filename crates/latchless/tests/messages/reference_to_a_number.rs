//! Numbers are passed by value.

fn main() {
    let index = latchless::Index::<u64, String>::default();
    let _ = index.get(&7);
}
