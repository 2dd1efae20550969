//! The nearest of texts: by which distance?

fn main() {
    let index = latchless::Index::<String, u64>::default();
    let _ = index.nearest("seven");
}
