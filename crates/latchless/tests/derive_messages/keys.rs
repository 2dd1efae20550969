//! What can't be a key, each with its place.

use latchless::Key;

#[derive(Key)]
union Both {
    a: u32,
    b: f32,
}

#[derive(Key)]
enum Either {
    Number(u64),
    Name(String),
}

#[derive(Key)]
enum Never {}

#[derive(Key)]
struct Nothing;

#[derive(Key, Debug, Clone, Copy)]
struct Misspelled {
    #[key(descending)]
    number: u32,
}

#[derive(Key, Debug, Clone, Copy)]
#[key(words)]
struct WrongForm {
    number: u32,
}

#[derive(Key, Debug, Clone, Copy)]
enum Descending {
    #[key(desc)]
    A,
}

#[derive(Key, Debug, Clone)]
struct Borrowed<'a> {
    name: &'a str,
}

#[derive(Key, Debug, Clone, Copy)]
#[key(word)]
struct TooWide {
    a: u64,
    b: u32,
}

fn main() {}
