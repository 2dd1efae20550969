//! Values of any type are stored in a `BoxedIndex`.

fn main() {
    let _ = latchless::Index::<u64, String>::new();
}
