//! A value of a custom type is stored in an `Arc`.

struct Order {
    price: u64,
}

fn main() {
    let orders = latchless::Index::<String, Order>::new();
    let _ = Order { price: 7 }.price;
    drop(orders);
}
