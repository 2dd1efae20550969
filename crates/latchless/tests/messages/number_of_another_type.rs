//! A number asks an index whose keys are of its own type.

fn main() {
    let index = latchless::bytes::BytesIndex::<u16, u64>::default();
    let _ = index.get(&2000u64);
}
