//! Slices of keys and values need words: a string has none.

fn main() {
    let index = latchless::Index::<String, u64>::default();
    let _ = index.scan_chunks("seven".., |_, _| core::ops::ControlFlow::Continue(()));
}
