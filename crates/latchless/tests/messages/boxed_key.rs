//! A lookup in a boxed index takes a key of its kind: numbers by value, strings by reference.

fn main() {
    let numbers = latchless::BoxedIndex::<u32, String>::default();
    let pin = numbers.pin();
    let _ = numbers.get("seven", &pin);
    let _ = numbers.range("a".."b", &pin);
    let strings = latchless::bytes::BoxedBytesIndex::<String, String>::default();
    let _ = strings.get("seven".to_owned(), &pin);
    let _ = strings.get(&7, &pin);
}
