//! What a line of the shell says.

use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;

/// The commands, and what each does.
pub const COMMANDS: [(&str, &str); 5] = [
    ("\\key", "\\key COLUMN: questions without --key are about this column; \\key alone says which it is"),
    ("\\columns", "\\columns: the columns"),
    ("\\timing", "\\timing [on|off]: whether the statistics of each answer are printed"),
    ("\\help", "\\help: these commands; --help: the options of questions"),
    ("\\quit", "\\quit: the end"),
];

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing is in it, or a remark.
    Nothing,
    /// Name the column that questions are about, or say which it is.
    Key(Option<String>),
    /// Print the columns.
    Columns,
    /// Turn the statistics on or off, or from the one to the other.
    Timing(Option<bool>),
    /// Print the commands.
    Help,
    /// End.
    Quit,
    /// A question, in words.
    Question(Vec<String>),
}

impl Line {
    /// What a line says.
    ///
    /// # Errors
    /// A quote that is never closed; a command that there isn't, or one with other words after it.
    pub fn parse(line: &str) -> Result<Self, Failure> {
        // A backslash would take away the one of the command's name.
        let (name, after) = match line.trim_start().strip_prefix('\\') {
            Some(command) => command.split_once(char::is_whitespace).unwrap_or((command.trim_end(), "")),
            None => ("", line),
        };
        let words =
            shlex::split(after).ok_or_else(|| Failure::usage("a quote or a backslash is without its end"))?;
        if !line.trim_start().starts_with('\\') {
            return Ok(if words.is_empty() { Self::Nothing } else { Self::Question(words) });
        }
        match (name, &words[..]) {
            ("key" | "k", []) => Ok(Self::Key(None)),
            ("key" | "k", [column]) => Ok(Self::Key(Some(column.clone()))),
            ("columns" | "c", []) => Ok(Self::Columns),
            ("timing" | "t", []) => Ok(Self::Timing(None)),
            ("timing" | "t", [to]) if to == "on" || to == "off" => Ok(Self::Timing(Some(to == "on"))),
            ("help" | "h" | "?", []) => Ok(Self::Help),
            ("quit" | "q", []) => Ok(Self::Quit),
            _ => Err(refused(name)),
        }
    }
}

/// The error of a command that isn't known, or isn't so.
fn refused(name: &str) -> Failure {
    let name = format!("\\{name}");
    match COMMANDS.iter().find(|(command, _)| command.starts_with(&name) && name.len() > 1) {
        Some((_, usage)) => Failure::usage(format!("{name} is used otherwise: {usage}")),
        None => {
            let names = COMMANDS.iter().map(|&(name, _)| name);
            let like = did_you_mean(&name, names.clone());
            let all = names.collect::<Vec<_>>().join(", ");
            Failure::usage(format!("there is no command {name:?}{like}; there are {all}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_questions_or_commands() {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        for (line, expected) in [
            ("", Line::Nothing),
            ("  # a remark", Line::Nothing),
            ("\\key ref,pos", Line::Key(Some("ref,pos".to_owned()))),
            (" \\k '\"a,b\"'  ", Line::Key(Some("\"a,b\"".to_owned()))),
            ("\\key", Line::Key(None)),
            ("\\columns ", Line::Columns),
            ("\\timing", Line::Timing(None)),
            ("\\timing off", Line::Timing(Some(false))),
            ("\\t on", Line::Timing(Some(true))),
            ("\\?", Line::Help),
            ("\\q", Line::Quit),
            ("--get 5 \"a b\" 'c d' e\\ f", Line::Question(owned(&["--get", "5", "a b", "c d", "e f"]))),
        ] {
            assert_eq!(Line::parse(line).unwrap(), expected, "{line}");
        }
        for (line, expected) in [
            ("--get 'a", "without its end"),
            ("\\clumns", "no command \"\\\\clumns\" (did you mean \\columns?)"),
            ("\\key a b", "\\key is used otherwise: \\key COLUMN"),
            ("\\timing 5", "\\timing [on|off]"),
            ("\\", "there is no command"),
        ] {
            let message = Line::parse(line).unwrap_err().to_string();
            assert!(message.contains(expected), "{line}: {message}");
        }
    }
}
