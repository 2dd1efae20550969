//! A value has the type of the index's values.

fn main() {
    let index = latchless::Index::<u128, u64>::default();
    let _ = index.insert(7, "seven");
}
