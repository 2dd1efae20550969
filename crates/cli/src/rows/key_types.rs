//! The types of keys and how they are written, on the command line.

use super::error::QueryError;
use super::form::{Form, Forms, Order};
use super::guess::Plan;
use super::kind::{Kind, Named};
use super::meant::Meant;
use clap::Args;

/// Options of the types of keys.
#[derive(Debug, Clone, Default, Args)]
pub struct KeyTypes {
    /// The type of the keys; of several columns one type for all, or one for each, as u32,text. Without it
    /// the type is inferred from the cells.
    ///
    /// Floats are in the order of their numbers, NaN after infinity.
    #[arg(long, value_name = "TYPE", value_enum, value_delimiter = ',')]
    pub key_type: Vec<Named>,

    /// In which order dates have their parts, if their cells leave that open.
    #[arg(long, value_name = "ORDER", value_enum)]
    date_format: Option<Order>,

    /// Keys that are numbers have a comma before their fraction, and perhaps full stops between thousands.
    #[arg(long)]
    decimal_comma: bool,
}

impl KeyTypes {
    /// The type that was named for each of this many columns.
    ///
    /// # Errors
    /// [`QueryError::KeyTypes`]; [`QueryError::NoSuchForm`] if an option is about none of them.
    pub fn named(&self, columns: usize) -> Result<Vec<Option<Named>>, QueryError> {
        let is_there = |form: &dyn Fn(Form) -> bool| {
            let forms = self.key_type.iter().filter_map(|named| named.forms(None, true));
            self.key_type.is_empty() || forms.flat_map(Forms::iter).any(form)
        };
        if self.decimal_comma && !is_there(&|form| matches!(form, Form::Decimal(_))) {
            return Err(QueryError::NoSuchForm { option: "--decimal-comma", types: "--key-type decimal" });
        }
        if self.date_format.is_some() && !is_there(&|form| form.order().is_some()) {
            let types = "--key-type date, timestamp or timestamptz";
            return Err(QueryError::NoSuchForm { option: "--date-format", types });
        }
        match *self.key_type {
            [] => Ok(vec![None; columns]),
            [all] => Ok(vec![Some(all); columns]),
            ref each if each.len() == columns => Ok(each.iter().copied().map(Some).collect()),
            ref each => Err(QueryError::KeyTypes { found: each.len(), columns }),
        }
    }

    /// The plan to find the type of a column. `named`: the type that an option names; `said`: the one
    /// according to the file; `open`: the plan if there is neither.
    pub fn plan(&self, named: Option<Named>, said: Option<Kind>, open: impl FnOnce() -> Plan) -> Plan {
        Plan::new(named, said, (self.date_format, self.decimal_comma), open)
    }

    /// The plan for a column that only the question describes, and which may have these forms. `skip_bad`:
    /// see [`Plan::open`].
    pub fn open(&self, meant: Meant, forms: Forms, skip_bad: bool) -> Plan {
        let allowed = forms.allowed(self.date_format, self.decimal_comma);
        Plan::open(meant, allowed, self.decimal_comma, skip_bad)
    }
}
