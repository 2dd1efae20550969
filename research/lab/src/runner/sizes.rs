//! Sizes that the command line chooses.

/// Sizes that differ from an experiment's own, where it is done at any size.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sizes {
    /// Records that a tree holds before its transactions begin.
    pub records: Option<usize>,
    /// Seconds that each way of serving them is timed for, natively.
    pub seconds: Option<f64>,
}

impl Sizes {
    /// Returns them as flags of the command line.
    pub(super) fn flags(self) -> String {
        let records = self.records.map(|records| format!(" --records {records}"));
        let seconds = self.seconds.map(|seconds| format!(" --seconds {seconds}"));
        [records, seconds].into_iter().flatten().collect()
    }
}
