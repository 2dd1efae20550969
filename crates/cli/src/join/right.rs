//! The columns of RIGHT that a join looks at: their types, and the cells of all rows.

use super::args::Args;
use crate::rows::column::{self, Column, Reading};
use crate::rows::error::QueryError;
use crate::rows::form::Forms;
use crate::rows::guess::{Plan, Skip};
use crate::rows::meant::Meant;
use crate::rows::progress::Progress;
use crate::rows::source::Text;
use crate::rows::table::Table;

/// The plans to find the types of columns.
///
/// # Errors
/// [`QueryError::KeyTypes`], [`QueryError::NoSuchForm`].
pub fn plans(args: &Args, text: &Text, columns: &[usize]) -> Result<Vec<(usize, Plan)>, QueryError> {
    let kinds = text.about.kinds.as_deref().unwrap_or_default();
    let plan = |(&column, named)| {
        let said = kinds.get(column).copied().flatten();
        let open = || args.key_types.open(Meant::Anything, Forms::all(), args.skip_bad);
        (column, args.key_types.plan(named, said, open))
    };
    Ok(columns.iter().zip(args.key_types.named(columns.len())?).map(plan).collect())
}

/// Reads columns, without the rows that have no key.
///
/// # Errors
/// Those of [`column::read`].
pub fn read(
    args: &Args,
    table: &Table,
    columns: Vec<(usize, Plan)>,
    progress: &Progress,
) -> Result<Column, QueryError> {
    let skip = Skip { bad: args.skip_bad, empty: true };
    column::read(table, &Reading { columns, skip }, progress)
}
