//! Values of any type go into a `BoxedIndex`.

fn main() {
    let _ = latchless::Index::<u64, String>::new();
}
