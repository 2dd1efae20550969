//! A file's bytes: opened, unpacked if they are compressed, and with the first of them known.

use super::error::QueryError;
use super::unpacked::unpacked;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// How many of the first bytes are known; a compressed file and an encoding are recognized by fewer.
const BEGINS_BYTES: u64 = 512;

/// A file's bytes.
pub struct Input {
    /// The first of them, which `from` has, too.
    pub begins: Vec<u8>,
    /// All of them.
    pub from: Box<dyn BufRead>,
    /// How many there are; 0 if that is unknown.
    pub bytes: u64,
    /// Whether they are those of the file, and not unpacked.
    pub is_own: bool,
}

impl Input {
    /// The bytes of `file`, or of standard input for `-`.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`], [`QueryError::Packed`].
    pub fn open(file: &Path) -> Result<Self, QueryError> {
        let unreadable = |cause| QueryError::Unreadable { file: name(file), cause };
        let (raw, bytes): (Box<dyn BufRead>, u64) = if file == Path::new("-") {
            (Box::new(BufReader::new(io::stdin())), 0)
        } else {
            let open = File::open(file).map_err(unreadable)?;
            let about = open.metadata().map_err(unreadable)?;
            if about.is_dir() {
                return Err(unreadable(io::ErrorKind::IsADirectory.into()));
            }
            (Box::new(BufReader::new(open)), about.len())
        };
        let mut input = Self { begins: Vec::new(), from: raw, bytes, is_own: true };
        input.peek().map_err(unreadable)?;
        let begins = std::mem::take(&mut input.begins);
        match unpacked(&begins, input.from, || name(file))? {
            Ok(from) => {
                input = Self {
                    begins: Vec::new(),
                    from: Box::new(BufReader::new(from)),
                    bytes: 0,
                    is_own: false,
                };
                input.peek().map_err(unreadable)?;
                Ok(input)
            }
            Err(from) => Ok(Self { begins, from, bytes, is_own: true }),
        }
    }

    /// All bytes in memory, of `file`.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`].
    pub fn whole(mut self, file: &Path) -> Result<Vec<u8>, QueryError> {
        let mut all = Vec::new();
        let reserved = all.try_reserve_exact(usize::try_from(self.bytes).unwrap_or(0));
        let read = reserved.map_err(io::Error::from).and_then(|()| self.from.read_to_end(&mut all));
        read.map_err(|cause| QueryError::Unreadable { file: name(file), cause })?;
        Ok(all)
    }

    /// Reads the first bytes, and puts them back.
    fn peek(&mut self) -> io::Result<()> {
        self.from.by_ref().take(BEGINS_BYTES).read_to_end(&mut self.begins)?;
        let rest = std::mem::replace(&mut self.from, Box::new(io::empty()));
        self.from = Box::new(Cursor::new(self.begins.clone()).chain(rest));
        Ok(())
    }
}

/// The file's name in a message.
pub fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}
