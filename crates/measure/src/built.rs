//! What this program was built from: the compiler with its settings, and the sources' commit.

use std::path::Path;
use std::process::{Command, Stdio};

/// The compiler's version.
pub const COMPILER: &str = env!("LATCHLESS_BUILD_VERSION");
/// The target's name.
pub const TARGET: &str = env!("LATCHLESS_BUILD_TARGET");
/// The processor for which code was generated. Searches choose their vectors when they run.
pub const TARGET_CPU: &str = env!("LATCHLESS_BUILD_CPU");
/// The processor features that all code may use, separated by commas.
pub const FEATURES: &str = env!("LATCHLESS_BUILD_FEATURES");
/// The profile, its optimization level, and the settings that the environment changed.
pub const PROFILE: &str = env!("LATCHLESS_BUILD_PROFILE");

/// Files that measurements write; sources that differ in these alone are the commit's.
const WRITTEN: [&str; 2] = [":(top,exclude,glob)**/results/**", ":(top,exclude)research/site"];

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The abbreviated hash; `unknown` outside of a repository.
    pub name: String,
    /// Whether tracked files have changed since, other than kept results.
    pub is_dirty: bool,
}

impl Commit {
    /// Returns the commit of the working folder's sources.
    pub fn here() -> Self {
        Self::of(Path::new("."))
    }

    fn of(folder: &Path) -> Self {
        let git = |arguments: &[&str]| {
            let output =
                Command::new("git").arg("-C").arg(folder).args(arguments).stderr(Stdio::null()).output();
            let text = output.ok().filter(|output| output.status.success())?.stdout;
            Some(String::from_utf8(text).ok()?.trim().to_owned())
        };
        let Some(name) = git(&["rev-parse", "--short", "HEAD"]) else {
            return Self { name: "unknown".to_owned(), is_dirty: false };
        };
        let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--", ":(top)"];
        status.extend(WRITTEN);
        Self { name, is_dirty: git(&status).is_none_or(|changed| !changed.is_empty()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sources_are_dirty_by_changes_but_for_kept_results() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &str| {
            let named = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
            let arguments = named.into_iter().chain(arguments.split(' '));
            let output = Command::new("git").arg("-C").arg(folder.path()).args(arguments).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        assert_eq!(Commit::of(folder.path()), Commit { name: "unknown".to_owned(), is_dirty: false });
        git("init -q");
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("src/a.rs", "a");
        put("research/results/a.json", "{}");
        git("add .");
        git("commit -q -m first");
        let clean = Commit::of(folder.path());
        assert!(clean.name.len() >= 4 && !clean.is_dirty, "{clean:?}");
        put("research/results/a.json", "{1}");
        put("notes.txt", "untracked");
        assert_eq!(Commit::of(folder.path()), clean);
        put("src/a.rs", "b");
        assert_eq!(Commit::of(folder.path()), Commit { is_dirty: true, ..clean });
    }

    #[test]
    fn the_build_is_known() {
        assert!(COMPILER.starts_with("rustc 1."), "{COMPILER}");
        assert!(PROFILE.contains("opt-level"), "{PROFILE}");
        assert!(!TARGET.is_empty() && !TARGET_CPU.is_empty());
        assert!(!cfg!(target_arch = "x86_64") || FEATURES.contains("sse2"), "{FEATURES}");
    }
}
