//! The progress of a run, point by point.

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Points that are done.
    pub done: usize,
    /// Points in all.
    pub total: usize,
    /// The current work.
    pub doing: String,
}

/// Counts the points of a run, and reports its progress.
pub(super) struct Reporter<'a> {
    pub(super) done: usize,
    pub(super) total: usize,
    pub(super) progress: &'a mut dyn FnMut(Progress),
}

impl Reporter<'_> {
    /// Announces the next work, and its number of points.
    pub(super) fn next(&mut self, doing: String, points: usize) {
        (self.progress)(Progress { done: self.done, total: self.total, doing });
        self.done += points;
    }
}
