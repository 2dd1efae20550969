//! A custom type implements a form, or is stored in a `BoxedBytesIndex`.

struct Order {
    price: u64,
}

fn main() {
    let orders = latchless::bytes::BytesIndex::<String, Order>::new();
    let _ = Order { price: 7 }.price;
    drop(orders);
}
