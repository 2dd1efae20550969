//! The lines of earlier sessions, in the user's folder for data.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// The most lines that are taken from earlier sessions.
const LINES_MAX: usize = 1000;

/// A file of lines; `None` if the user has no folder for data.
#[derive(Debug)]
pub struct History {
    file: Option<PathBuf>,
}

impl History {
    /// The file of the user.
    pub fn of_user() -> Self {
        Self { file: data_folder().map(|folder| folder.join("latchless").join("history")) }
    }

    /// The last lines; none if there is no file.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let bytes = match fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        Ok(lines[lines.len().saturating_sub(LINES_MAX)..].iter().map(|&line| line.to_owned()).collect())
    }

    /// Appends a line. Sessions that run at the same time may do so, too.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append(&self, line: &str) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        open(file)?.write_all(format!("{line}\n").as_bytes())
    }
}

/// Opens the file, which only its owner may read.
fn open(file: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// The user's folder for data of programs.
fn data_folder() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || folder("HOME");
    if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        folder("XDG_DATA_HOME").or_else(|| Some(home()?.join("Library/Application Support")))
    } else {
        folder("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_and_only_the_last_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let history = History { file: Some(folder.path().join("a/b/history")) };
        assert_eq!(history.lines().unwrap(), [""; 0]);
        for line in 0..LINES_MAX + 5 {
            history.append(&line.to_string()).unwrap();
        }
        let lines = history.lines().unwrap();
        assert_eq!((lines.len(), &lines[0][..], &lines[LINES_MAX - 1][..]), (LINES_MAX, "5", "1004"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(history.file.unwrap()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(History { file: Some(folder.path().to_owned()) }.lines().is_err());
        assert_eq!(History { file: None }.lines().unwrap(), [""; 0]);
    }
}
