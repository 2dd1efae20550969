//! What a line of the shell may go on with: commands, options and their values, and names of columns.

use super::command::COMMANDS;
use crate::query::args::Ask;
use crate::rows::line;
use clap::{Args, Command};

/// Options whose argument is columns, several of them separated by commas.
const OF_COLUMNS: [&str; 4] = ["\\key", "--key", "--value", "--select"];

/// The words that lines are made of.
#[derive(Debug)]
pub struct Words {
    columns: Vec<String>,
    parser: Command,
}

impl Words {
    /// Those of questions about these columns.
    pub fn new(columns: Vec<String>) -> Self {
        Self { columns, parser: Ask::augment_args(Command::new("question")) }
    }

    /// What the last word before a place may become: the byte that it begins at, and the words.
    pub fn complete(&self, line: &str, place: usize) -> (usize, Vec<String>) {
        let before = &line[..place];
        let start = before.rfind([' ', '\t']).map_or(0, |blank| blank + 1);
        let (word, previous) = (&before[start..], before[..start].split_ascii_whitespace().next_back());
        let beginning = |all: Vec<String>| all.into_iter().filter(|one| one.starts_with(word)).collect();
        match previous {
            _ if word.starts_with("--") => (start, beginning(self.options())),
            None => (start, beginning(COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect())),
            Some(option) if OF_COLUMNS.contains(&option) => {
                let start = start + word.rfind(',').map_or(0, |comma| comma + 1);
                (start, self.columns_like(&before[start..]))
            }
            Some("--where" | "and") => (start, self.columns_like(word)),
            Some(option) => (start, beginning(self.values(option))),
        }
    }

    /// The names of the columns that begin so, in capitals or not, as they are written in a line.
    fn columns_like(&self, begins: &str) -> Vec<String> {
        let begins = begins.to_lowercase();
        let there = self.columns.iter().filter(|name| name.to_lowercase().starts_with(&begins));
        there.filter_map(|name| written(name)).collect()
    }

    fn options(&self) -> Vec<String> {
        let long = self.parser.get_arguments().filter_map(|option| option.get_long());
        long.chain(["help"]).map(|name| format!("--{name}")).collect()
    }

    /// The values of an option that takes one of a few.
    fn values(&self, option: &str) -> Vec<String> {
        let is_it =
            |known: &&clap::Arg| known.get_long().is_some_and(|name| option.strip_prefix("--") == Some(name));
        let values = self.parser.get_arguments().find(is_it).map(clap::Arg::get_possible_values);
        values.unwrap_or_default().iter().map(|value| value.get_name().to_owned()).collect()
    }
}

/// A column's name as a line has it, if that is possible.
fn written(name: &str) -> Option<String> {
    let field = line::line(b',', [name]);
    shlex::try_quote(field.trim_end_matches('\n')).ok().map(|word| word.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_by_what_is_before_them() {
        let names = ["pos", "Position", "a b", "a,b"];
        let words = Words::new(names.map(str::to_owned).to_vec());
        let complete = |line: &str| words.complete(line, line.len());
        let all = ["pos", "Position", "'a b'", "'\"a,b\"'"];
        assert_eq!(complete("\\k"), (0, vec!["\\key".to_owned()]));
        assert_eq!(complete("").1.len(), COMMANDS.len());
        for (line, start, expected) in [
            ("\\key ", 5, &all[..]),
            ("--key p", 6, &["pos", "Position"]),
            ("--get 5 --select pos,POSI", 21, &["Position"]),
            ("--where pos = 1 and a", 20, &["'a b'", "'\"a,b\"'"]),
            ("--format c", 9, &["csv"]),
            ("--get 5 --quan", 8, &["--quantile"]),
            ("--h", 0, &["--help"]),
            ("--get p", 6, &[]),
        ] {
            assert_eq!(
                complete(line),
                (start, expected.iter().map(|&word| word.to_owned()).collect()),
                "{line}"
            );
        }
        // Only what is before the place counts.
        assert_eq!(words.complete("--key p --get 5", 7).1.len(), 2);
        assert!(complete("--key-type i").1.contains(&"i64".to_owned()));
    }
}
