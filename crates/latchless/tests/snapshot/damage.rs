//! Every file that is truncated, extended or has a flipped bit is rejected.

use super::{bytes_of, squares};
use latchless::Index;
use latchless::snapshot::{self, Error};

/// Opens the bytes, which mustn't be an index, and returns the error.
fn refused(bytes: &[u8], what: impl FnOnce() -> String) -> Error {
    match snapshot::read::<u64, u32>(bytes) {
        Ok(index) => panic!("{} made an index of {} entries", what(), index.len()),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            error
        }
    }
}

#[test]
fn every_truncation() {
    let bytes = bytes_of(&squares(20));
    for end in 0..bytes.len() {
        refused(&bytes[..end], || format!("{end} of {} bytes", bytes.len()));
    }
    assert!(matches!(refused(&[], || "nothing".into()), Error::NotArrow));
    assert!(matches!(refused(&bytes[..bytes.len() - 1], || "all but a byte".into()), Error::NoEnd));
}

#[test]
fn every_flipped_bit() {
    let mut flips = 0;
    for len in [0, 1, 20, 60] {
        let bytes = bytes_of(&squares(len));
        flips += 8 * bytes.len();
        let mut flipped = bytes.clone();
        for bit in 0..bytes.len() * 8 {
            flipped[bit / 8] ^= 1 << (bit % 8);
            refused(&flipped, || format!("bit {} of byte {}", bit % 8, bit / 8));
            flipped[bit / 8] = bytes[bit / 8];
        }
    }
    assert!(flips > 30_000, "{flips}");
}

#[test]
fn every_byte_set_to_an_end_of_its_range() {
    let bytes = bytes_of(&squares(5));
    let mut changed = bytes.clone();
    for at in 0..bytes.len() {
        for value in [0, 0x7f, 0x80, 0xff].into_iter().filter(|&value| value != bytes[at]) {
            changed[at] = value;
            refused(&changed, || format!("{value:#x} at byte {at}"));
        }
        changed[at] = bytes[at];
    }
}

#[test]
fn samples_of_a_large_file() {
    let bytes = bytes_of(&squares(300_000));
    let mut changed = bytes.clone();
    // A step that is prime to the length's factors reaches all parts of the file.
    let places = (0..150).map(|sample| sample * 104_729_003 % (8 * bytes.len()));
    for bit in places {
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = refused(&changed, || format!("bit {bit}"));
        assert!(matches!(
            error,
            Error::Checksum { .. } | Error::Damaged { .. } | Error::NotArrow | Error::NoEnd
        ));
        changed[bit / 8] = bytes[bit / 8];
        refused(&bytes[..bit / 8], || format!("{} bytes", bit / 8));
    }
    assert!(bytes == changed);
}

#[test]
fn what_is_appended_or_swapped() {
    let bytes = bytes_of(&squares(100));
    for more in [&b"\0"[..], b"ARROW1", b"\0\0\0\0ARROW1", &bytes] {
        refused(&[&bytes, more].concat(), || format!("{} bytes more", more.len()));
    }
    // Two parts of equal length, swapped.
    let mut swapped = bytes.clone();
    let (before, after) = swapped.split_at_mut(bytes.len() / 2);
    before[512..600].swap_with_slice(&mut after[..88]);
    assert!(swapped != bytes);
    refused(&swapped, || "two parts in each other's place".into());
}

#[test]
fn no_arrow_file_at_all() {
    for other in
        [&b"PAR1\0\0\0\0PAR1"[..], b"key,value\n1,2\n", b"ARROW1", b"ARROW1\0\0", b"ARROW1\0\0\0\0\0\0ARROW1"]
    {
        refused(other, || format!("{other:?}"));
    }
    let mut huge_footer = b"ARROW1\0\0".to_vec();
    huge_footer.extend(u32::MAX.to_le_bytes());
    huge_footer.extend(b"ARROW1");
    assert!(matches!(refused(&huge_footer, || "a huge footer".into()), Error::Damaged { at: 8, .. }));
    let index: Index<u64, u32> = squares(4);
    assert!(snapshot::read::<u64, u32>(&bytes_of(&index)[..]).is_ok());
}
