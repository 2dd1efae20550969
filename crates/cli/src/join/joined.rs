//! Joined rows on standard output, and the statistics.

use super::args::{Args, How};
use super::matcher::Matcher;
use crate::rows::error::QueryError;
use crate::rows::kind::Kind;
use crate::rows::print::{Heading, Printer};
use crate::rows::ragged::Ragged;
use crate::rows::report::{self, grouped, nanoseconds};
use crate::rows::source;
use crate::rows::stream::Stream;
use crate::rows::table::{Fetch, Table, Walk};
use latchless_terminal::output::Format;
use latchless_terminal::say;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A join in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    /// Rows of LEFT.
    pub left: usize,
    /// Rows of LEFT with a partner.
    pub matched: usize,
    /// Rows printed.
    pub printed: usize,
    /// Rows of LEFT and of RIGHT with fewer or more fields than there are columns.
    pub ragged: [Ragged; 2],
    /// Getting RIGHT into memory.
    pub read: Duration,
    /// Reading RIGHT's keys and building the index.
    pub build: Duration,
    /// Reading LEFT, looking its rows up, and printing them.
    pub join: Duration,
}

/// The names of the printed columns: LEFT's, and RIGHT's, which are made different from them.
///
/// # Errors
/// [`QueryError::AmbiguousColumn`] if JSON can't distinguish two of them.
pub fn names(args: &Args, left: &Table, right: &Table) -> Result<Vec<String>, QueryError> {
    let mut names: Vec<String> = left.columns().map(str::to_owned).collect();
    let lefts = names.len();
    for name in right.columns() {
        let mut name = name.to_owned();
        while !args.suffix.is_empty() && names[..lefts].contains(&name) {
            name.push_str(&args.suffix);
        }
        names.push(name);
    }
    if args.format == Format::Json {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(QueryError::AmbiguousColumn { option: "--format json", name: pair[0].clone() });
        }
    }
    Ok(names)
}

/// Rows on their way to standard output.
pub struct Joined<'t> {
    args: &'t Args,
    names: &'t [String],
    kinds: Vec<Option<Kind>>,
    is_named: bool,
    rights: usize,
    fetch: Fetch<'t>,
    matcher: Box<dyn Matcher + 't>,
    /// Made for the first row: without one, nothing is printed.
    printer: Option<Printer<'t>>,
    summary: Summary,
    start: Instant,
    partners: Vec<u32>,
}

impl<'t> Joined<'t> {
    /// No rows yet.
    pub fn new(
        args: &'t Args,
        names: &'t [String],
        left: &Table,
        right: &'t Table,
        matcher: Box<dyn Matcher + 't>,
        summary: Summary,
    ) -> Self {
        let lefts = left.columns().count();
        let mut kinds = vec![None; names.len()];
        for (of_side, offset) in matcher.kinds().iter().zip([0, lefts]) {
            of_side.iter().for_each(|&(column, kind)| kinds[offset + column] = Some(kind));
        }
        Self {
            args,
            names,
            kinds,
            is_named: left.is_named() || right.is_named(),
            rights: names.len() - lefts,
            fetch: right.fetch(),
            matcher,
            printer: None,
            summary,
            start: Instant::now(),
            partners: Vec::new(),
        }
    }

    /// Joins the rows of a piece of LEFT. Returns where the next piece begins.
    ///
    /// # Errors
    /// Those of the walk and of [`Matcher`]; [`QueryError::Output`].
    pub fn piece(&mut self, piece: &Table) -> Result<u64, QueryError> {
        let name = || source::name(&self.args.left);
        let mut walk = piece.walk()?;
        let mut taken = 0;
        while walk.advance().map_err(|error| error.in_file(name()))? {
            self.matcher.take(&walk).map_err(|error| error.in_file(name()))?;
            taken += 1;
        }
        let rest = walk.rest();
        self.summary.ragged[0].add(piece.ragged());
        self.matcher.look()?;
        let mut walk = piece.walk()?;
        for row in 0..taken {
            walk.advance()?;
            self.row(&walk, row)?;
        }
        self.matcher.clear();
        self.summary.left += taken;
        Ok(rest)
    }

    /// Prints a row of LEFT with its partners.
    fn row(&mut self, left: &Walk, row: usize) -> Result<(), QueryError> {
        self.partners.clear();
        self.matcher.partners(row, &mut self.partners)?;
        let is_alone = self.partners.is_empty();
        self.summary.matched += usize::from(!is_alone);
        if is_alone && self.args.how == How::Inner {
            return Ok(());
        }
        let printer = match &mut self.printer {
            Some(printer) => printer,
            none => {
                let heading = |(name, &kind): (&'t String, &Option<Kind>)| Heading { name, kind };
                let headings = self.names.iter().zip(&self.kinds).map(heading).collect();
                none.insert(Printer::new(self.args.format, headings, self.is_named)?)
            }
        };
        let (lefts, rights) = (self.names.len() - self.rights, self.rights);
        if is_alone {
            let fields = left.fields();
            let missing = std::iter::repeat_n(self.args.missing.as_deref(), rights);
            printer.row((0..lefts).map(|column| fields.value(column)).chain(missing))?;
            self.summary.printed += 1;
        }
        for &partner in &self.partners {
            let own = left.fields();
            let other = self.fetch.row(self.matcher.starts()[partner as usize])?;
            let others = (0..rights).map(|column| other.value(column));
            printer.row((0..lefts).map(|column| own.value(column)).chain(others))?;
            self.summary.printed += 1;
        }
        Ok(())
    }

    /// Prints the rest, and the statistics. `left`: the rows of LEFT, all of which were joined.
    ///
    /// # Errors
    /// [`QueryError::Output`].
    pub fn finish(mut self, left: &Stream) -> Result<(), QueryError> {
        let hidden = self.printer.take().map_or(Ok(0), Printer::finish)?;
        if hidden > 0 {
            let all = self.names.len();
            say::note(format_args!(
                "the terminal has no room for {hidden} of {all} columns; --format csv shows them"
            ));
        }
        self.summary.join = self.start.elapsed();
        let mut of_left = left.ragged();
        of_left.add(self.summary.ragged[0]);
        self.summary.ragged[0] = of_left.in_lines(|line| left.line(line));
        report::print(self.args.format, &self.fields(), || self.text());
        Ok(())
    }

    fn fields(&self) -> [(&'static str, Value); 14] {
        let Summary { left, matched, printed, ragged, read, build, join } = self.summary;
        let [left_empty, right_empty] = self.matcher.without_key();
        [
            ("left", json!(left)),
            ("matched", json!(matched)),
            ("right", json!(self.matcher.starts().len() + right_empty)),
            ("printed", json!(printed)),
            ("left_without_key", json!(left_empty)),
            ("right_without_key", json!(right_empty)),
            ("left_short", json!(ragged[0].short)),
            ("left_long", json!(ragged[0].long)),
            ("right_short", json!(ragged[1].short)),
            ("right_long", json!(ragged[1].long)),
            ("index_bytes", json!(self.matcher.index_bytes())),
            ("read_ns", nanoseconds(read)),
            ("build_ns", nanoseconds(build)),
            ("join_ns", nanoseconds(join)),
        ]
    }

    fn text(&self) -> String {
        let Summary { left, matched, printed, ragged, read, build, join } = self.summary;
        let empty = self.matcher.without_key();
        let right = self.matcher.starts().len() + empty[1];
        let mut text = String::new();
        for (rows, name) in empty.into_iter().zip(["LEFT", "RIGHT"]) {
            match rows {
                0 => {}
                1 => text.push_str(&format!("1 row of {name} has no key\n")),
                rows => text.push_str(&format!("{} rows of {name} have no key\n", grouped(rows))),
            }
        }
        for (ragged, name) in ragged.iter().zip(["LEFT", "RIGHT"]) {
            text.push_str(&ragged.text(|line| format!("line {line} of {name}")));
        }
        format!(
            "{text}{} of {} rows of LEFT have a partner among {} of RIGHT; {} rows\n\
             read {read:.1?}, build {build:.1?}, join {join:.1?}",
            grouped(matched),
            grouped(left),
            grouped(right),
            grouped(printed)
        )
    }
}
