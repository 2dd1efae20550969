//! What a question needs of a file, so that a reader may leave out the rest.

/// How a file's rows are wanted.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV comes whole and as it is"))]
pub struct Wanted<'a> {
    /// Whether the text's first line names the columns.
    pub header: bool,
    /// The columns that are needed, where that isn't all of them. Others may be left out if that
    /// saves work.
    pub columns: Option<[&'a str; 2]>,
}
