//! Values of any type are stored in an `Arc`.

fn main() {
    let _ = latchless::Index::<String, Vec<String>>::new();
}
