//! A type of one's own says how it is stored, or goes into a `BoxedBytesIndex`.

struct Order {
    price: u64,
}

fn main() {
    let orders = latchless::bytes::BytesIndex::<String, Order>::new();
    let _ = Order { price: 7 }.price;
    drop(orders);
}
