//! The bytes of a file: in memory of their own, or where the system has the file.

use super::error::{Error, Result};
use super::gather_file;
use core::ops::Deref;
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

/// The bytes of a file.
#[derive(Debug)]
pub enum Bytes {
    /// Read.
    Own(Vec<u8>),
    /// Mapped.
    Mapped(Mmap),
}

impl Bytes {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        gather_file(path).map(Self::Own)
    }

    /// Maps a file.
    ///
    /// # Safety
    /// No process changes the file in place or cuts it short while this exists.
    pub unsafe fn map(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|cause| Error::io("open")(cause).about(path))?;
        // The length of what is no file may be anything, and no mapping of nothing is made.
        let is_mappable = file.metadata().is_ok_and(|about| about.is_file() && about.len() > 0);
        if !is_mappable {
            return Self::read(path);
        }
        // SAFETY: the caller's contract.
        let mapped = unsafe { Mmap::map(&file) };
        mapped.map(Self::Mapped).map_err(|cause| Error::io("map")(cause).about(path))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Mapped(mapped) => mapped,
        }
    }
}
