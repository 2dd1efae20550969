//! A custom key says its form.

#[derive(Debug, Clone, Copy)]
struct Account(u64);

impl latchless::Key for Account {
    type Bits = u64;
    fn encode(self) -> u64 {
        self.0
    }
    fn decode(bits: u64) -> Self {
        Self(bits)
    }
}

fn main() {
    let _ = latchless::Index::<Account, u64>::new();
}
