//! What can't be a value, each with its place.

use latchless::Value;

#[derive(Value)]
union Both {
    a: u32,
    b: f32,
}

#[derive(Value, Debug, Clone, Copy)]
struct Misspelled {
    #[value(boxed)]
    number: u32,
}

#[derive(Value, Debug, Clone)]
#[value(words)]
struct TooWide([u64; 8], u8);

#[derive(Value, Debug, Clone)]
#[value(words)]
enum Fields {
    A(u8),
}

#[derive(Value, Debug)]
struct NotClone(Vec<u64>);

fn main() {}
