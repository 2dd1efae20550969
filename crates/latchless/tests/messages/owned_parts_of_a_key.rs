//! The strings of a key are passed borrowed.

fn main() {
    let index = latchless::Index::<(u64, String), u64>::default();
    let _ = index.get((7, "seven".to_owned()));
    let _ = index.get("seven".to_owned());
}
