//! Values that are stored in the tree have no references.

fn main() {
    let index = latchless::Index::<u64, u64>::default();
    let pin = latchless::index::Pinned::new();
    let _ = index.get_ref(7, &pin);
}
