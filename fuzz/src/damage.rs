//! Changes of a file's bytes.

use arbitrary::Arbitrary;

/// A change of a file. Places are counted from the end.
#[derive(Debug, Arbitrary)]
pub enum Change {
    /// Another byte.
    Byte(u16, u8),
    /// Another word of four bytes.
    Word(u16, u32),
    /// The end is missing.
    Cut(u16),
    /// Zeros in place of bytes, as of a page that wasn't written.
    Zeros(u16, u16),
    /// More bytes.
    Append(Vec<u8>),
    /// Bytes from one place to another.
    Copy(u16, u16, u8),
}

impl Change {
    /// Changes the file.
    pub fn apply(&self, file: &mut Vec<u8>) {
        let place = |from_end: u16| file.len().checked_sub(1 + usize::from(from_end));
        match *self {
            Self::Byte(at, byte) => {
                if let Some(at) = place(at) {
                    file[at] = byte;
                }
            }
            Self::Word(at, word) => {
                if let Some(four) = place(at).and_then(|at| file.get_mut(at..at + 4)) {
                    four.copy_from_slice(&word.to_le_bytes());
                }
            }
            Self::Cut(bytes) => file.truncate(file.len().saturating_sub(bytes.into())),
            Self::Zeros(at, count) => {
                if let Some(at) = place(at) {
                    let end = file.len().min(at + usize::from(count));
                    file[at..end].fill(0);
                }
            }
            Self::Append(ref bytes) => file.extend(bytes),
            Self::Copy(from, to, count) => {
                if let (Some(from), Some(to)) = (place(from), place(to)) {
                    let count = usize::from(count).min(file.len() - from.max(to));
                    file.copy_within(from..from + count, to);
                }
            }
        }
    }
}

/// Whether a checksum of 32 bits finds these changes, whatever is in the file: the end is missing, or there
/// are zeros, or one byte differs. With other changes a file may have sums that fit.
pub fn is_accidental(changes: &[Change]) -> bool {
    match changes {
        [Change::Byte(..)] => true,
        changes => changes.iter().all(|change| matches!(change, Change::Cut(_) | Change::Zeros(..))),
    }
}
