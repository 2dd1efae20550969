//! Keys and values as texts for people: numbers as such, strings with the escapes of Rust's, and bytes that
//! are no text as `0x…`.

use latchless::BytesKey;
use latchless::snapshot::{DataType, strings};

/// The text of a key.
pub fn of_key<K: BytesKey + 'static>(key: &K) -> String {
    K::with_bytes(key, |bytes| of_key_bytes(bytes, &K::type_name(), strings::key_type::<K>()))
}

/// The same of a key's bytes, of the type of this name: those of a number are big-endian.
pub fn of_key_bytes(key: &[u8], name: &str, of: DataType) -> String {
    match name {
        "u8" | "u16" | "u32" | "u64" if key.len() <= 8 => {
            key.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte)).to_string()
        }
        _ => of_cell(key, of),
    }
}

/// The text of a cell.
pub fn of_cell(cell: &[u8], of: DataType) -> String {
    use DataType::{Binary, FixedSizeBinary, Float32, Float64, UInt8, UInt16, UInt32, UInt64, Utf8};
    let mut low = [0; 8];
    let bytes = cell.len().min(8);
    low[..bytes].copy_from_slice(&cell[..bytes]);
    let number = u64::from_le_bytes(low);
    match of {
        Binary | Utf8 | FixedSizeBinary(_) => match str::from_utf8(cell) {
            Ok(text) if of == Utf8 || !text.contains(char::is_control) => text.escape_debug().to_string(),
            _ => cell.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}")),
        },
        UInt8 | UInt16 | UInt32 | UInt64 => number.to_string(),
        Float32 => f32::from_bits(number as u32).to_string(),
        Float64 => f64::from_bits(number).to_string(),
        // Signed ones: the sign is the topmost bit of the cell.
        _ => {
            let above = 64 - 8 * bytes as u32;
            ((number << above).cast_signed() >> above).to_string()
        }
    }
}
