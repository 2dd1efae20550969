//! The pages of the papers: each figure redrawn with what its text states and what was measured, the
//! verdicts, the structures as drawings, and what each paper taught the index. Static and offline: nothing
//! is fetched, and nothing depends on the day or the place.
//!
//! One generator makes a folder of pages or a single page, from the rows of a run or from kept results.

mod drawing;
mod figure;
mod foot;
mod html;
mod index;
mod lessons;
mod paper;
mod plot;
mod site;
mod summary;
mod text;
mod verdicts;

pub use site::Site;

use crate::claims::Research;
use crate::error::Result;
use crate::results;
use html::Entry;
use std::path::{Path, PathBuf};

/// Where pages are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One page.
    File(PathBuf),
    /// A folder of pages.
    Folder(PathBuf),
}

impl Target {
    /// Returns the target that a path means: a page if it ends in `.html`, else a folder.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("html") => Self::File(path.to_path_buf()),
            _ => Self::Folder(path.to_path_buf()),
        }
    }

    /// Finds out whether it can be written, before a run that takes long. Makes the folder, in one that is
    /// there.
    ///
    /// # Errors
    /// [`crate::LabError::Write`].
    pub fn prepare(&self) -> Result<()> {
        match self {
            Self::File(file) => results::prepare(file),
            Self::Folder(folder) => results::prepare_folder(folder),
        }
    }
}

impl Site {
    /// Writes it.
    ///
    /// # Errors
    /// [`crate::LabError::Write`].
    pub fn write(&self, target: &Target) -> Result<()> {
        self.files_of(target).iter().try_for_each(|(path, text)| results::put(path, text))
    }

    /// Checks that it is what is there.
    ///
    /// # Errors
    /// [`crate::LabError::Stale`].
    pub fn is_current(&self, target: &Target) -> Result<()> {
        let command = "latchless-lab paper all --kept research/results --report research/site";
        self.files_of(target).iter().try_for_each(|(path, text)| results::is_current(path, text, command))
    }

    /// Returns the files of a target.
    fn files_of(&self, target: &Target) -> Vec<(PathBuf, String)> {
        match target {
            Target::File(file) => vec![(file.clone(), self.page())],
            Target::Folder(folder) => {
                self.files().into_iter().map(|(name, text)| (folder.join(name), text)).collect()
            }
        }
    }

    /// Returns the files of the folder, by name.
    pub fn files(&self) -> Vec<(String, String)> {
        let entries = self.entries();
        let mut files = vec![
            ("index.html".to_string(), index::page(self, &entries)),
            ("style.css".to_string(), html::STYLE.to_string()),
            ("summary.svg".to_string(), summary::picture(self)),
            (lessons::FILE.to_string(), lessons::page(self.links, &entries)),
        ];
        files.extend(self.papers.iter().map(|shown| (shown.file(), paper::page(self, shown, &entries))));
        files
    }

    /// Returns everything as one page.
    pub fn page(&self) -> String {
        let mut page = html::open("Five papers about ordered indexes, rerun", "", &[]);
        page.push_str("<h1>Five papers about ordered indexes, rerun</h1>\n");
        if !self.is_comparable {
            page.push_str(figure::SMALL);
        }
        paper::key(&mut page);
        for shown in &self.papers {
            paper::contents(&mut page, self, shown, true);
        }
        html::close(&mut page);
        page
    }

    fn entries(&self) -> Vec<Entry> {
        let of = |file: &str, name: &str| Entry { file: file.to_string(), name: name.to_string() };
        let papers = self.papers.iter().map(|shown| of(&shown.file(), &shown.text.system));
        let mut entries = vec![of("index.html", "Five papers")];
        entries.extend(papers);
        entries.push(of(lessons::FILE, "What Index took"));
        entries
    }
}

/// Finds out whether what pages need besides rows can be read, before a run that takes long.
///
/// # Errors
/// [`crate::LabError::Read`].
pub fn readable() -> Result<Research> {
    let research = Research::find()?;
    research.papers()?;
    research.headlines()?;
    Ok(research)
}

#[cfg(test)]
mod tests;
