//! Shared by the tests of `latchless query`: runs of the binary on the sample file and on made-up ones.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// 10,376 variants; position 50,338,589 and six others occur twice.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/chr22_variants.csv")
}

/// The output and the exit status of a run.
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Outcome {
    /// The answer's lines of a run that went well.
    pub fn lines(&self) -> Vec<&str> {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out.lines().collect()
    }
}

pub fn command(file: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless"));
    command.arg("query").arg(file).args(arguments.split_whitespace());
    command
}

pub fn run(file: &Path, arguments: &str) -> Outcome {
    command(file, arguments).output().unwrap().into()
}

/// Runs it with arguments that may be empty or have blanks in them. See [`run`].
pub fn run_with(file: &Path, arguments: &[&str]) -> Outcome {
    command(file, "").args(arguments).output().unwrap().into()
}

/// Queries the sample, keyed by position, for CSV.
pub fn ask(arguments: &str) -> Outcome {
    run(&sample(), &format!("--key pos --format csv {arguments}"))
}

/// A file of that content, and the folder that it lives in.
pub fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// Runs on a file of that content and expects that the request is refused: exit code 2.
pub fn refused(content: impl AsRef<[u8]>, arguments: &str, message: &str) {
    let (_folder, path) = file(content);
    let outcome = run(&path, arguments);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{}", outcome.err);
    let shown = outcome.err.replace(path.to_str().unwrap(), "FILE");
    assert!(shown.contains(message), "{message:?} should be in {shown:?}");
}

/// Runs `latchless join` in a folder with these files, with arguments that a shell splits.
pub fn join(files: &[(&str, &str)], arguments: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    shell(folder.path(), &format!("latchless join {arguments}"))
}

/// Runs a line of the shell in a folder, where `latchless` is the program under test.
pub fn shell(folder: &Path, line: &str) -> Outcome {
    let program = Path::new(env!("CARGO_BIN_EXE_latchless"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    Command::new("sh")
        .arg("-c")
        .arg(line)
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .output()
        .unwrap()
        .into()
}
