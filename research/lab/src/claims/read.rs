//! Reading files, with errors that name them.

use crate::error::{LabError, Result};
use std::fs;
use std::path::Path;

/// Reads a text.
pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| unread(path, &error))
}

/// The error of a file that can't be read or isn't understood.
pub(super) fn unread(path: &Path, why: &dyn ToString) -> LabError {
    LabError::Read { path: path.display().to_string(), why: why.to_string() }
}
