//! A lookup by number takes the type of the keys.

fn main() {
    let index = latchless::Index::<u16, u64>::default();
    let _ = index.get(2000u64);
    let wide = latchless::Index::<u128, u64>::default();
    let _ = wide.get(2000u64);
}
