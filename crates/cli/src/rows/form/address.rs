//! IP addresses: those of version 4 first, each kind in the order of its numbers.

use std::net::IpAddr;

/// Appends the bytes of an address, in the addresses' order.
pub fn push(text: &str, key: &mut Vec<u8>) -> Option<()> {
    match text.parse().ok()? {
        IpAddr::V4(address) => {
            key.push(4);
            key.extend_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            key.push(6);
            key.extend_from_slice(&address.octets());
        }
    }
    Some(())
}
