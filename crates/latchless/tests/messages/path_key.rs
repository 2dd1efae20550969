//! A path is stored as `String` or `Vec<u8>`.

fn main() {
    let _ = latchless::Index::<std::path::PathBuf, u64>::new();
}
