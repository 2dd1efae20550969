//! A source file, and its lines by what they are.

/// A source file.
pub struct Source {
    /// Relative to the workspace.
    pub path: String,
    pub text: String,
    /// The line on which the unit tests of the file begin, if it has any.
    tests_from: usize,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let only_tests = path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/tests_");
        let begins = |line: &str| line.trim() == "mod tests {";
        let tests_from = if only_tests { 0 } else { text.lines().position(begins).unwrap_or(usize::MAX) };
        Self { path, text, tests_from }
    }

    /// Whether the whole file is of tests.
    pub fn is_of_tests(&self) -> bool {
        self.tests_from == 0
    }

    pub fn finding(&self, line: usize, what: impl std::fmt::Display) -> String {
        format!("{}:{}: {what}", self.path, line + 1)
    }

    /// Lines with their zero-based numbers, comments left out.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().filter(|(_, line)| !is_comment(line))
    }

    /// Lines of code without those of unit tests, with their zero-based numbers.
    pub fn tested_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().filter(|&(number, _)| number < self.tests_from)
    }

    /// Lines of comment with their zero-based numbers.
    pub fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().filter(|(_, line)| is_comment(line))
    }

    pub fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }

    /// The module, directly in this folder, that the file belongs to; none for the folder's own file.
    pub fn module_in(&self, folder: &str) -> Option<&str> {
        let inside = self.path.strip_prefix(folder)?;
        let first = inside.split('/').next()?;
        let first = first.strip_suffix(".rs").unwrap_or(first);
        (!["lib", "main", "mod"].contains(&first)).then_some(first)
    }

    /// Whether `super` is this folder's module in the file.
    pub fn is_directly_in(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|inside| match inside.split_once('/') {
            None => true,
            Some((_, rest)) => rest == "mod.rs",
        })
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The words of a line.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The identifiers that follow `before` in a line; empty where something else follows.
pub fn names_after<'a>(line: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(before).map(move |(at, _)| words(&line[at + before.len()..]).next().unwrap_or(""))
}

/// The name of the function whose definition starts on this line.
pub fn function_name(line: &str) -> Option<&str> {
    const BEFORE: [&str; 5] = ["const", "async", "unsafe", "extern", "\"C\""];
    let mut words =
        line.split_whitespace().skip_while(|word| BEFORE.contains(word) || word.starts_with("pub"));
    if words.next() != Some("fn") {
        return None;
    }
    words.next()?.split(['(', '<']).next()
}

/// Lines of the function that starts on the first of these, as rustfmt lays functions out: it ends
/// with the brace (or, without a body, the semicolon) that is as deep as its start.
pub fn function_lines(lines: &[&str]) -> usize {
    let indent = lines[0].len() - lines[0].trim_start().len();
    let as_deep = |line: &str| line.len() - line.trim_start().len() == indent && !line.trim().is_empty();
    let ends = |line: &&str| as_deep(line) && (line.ends_with('}') || line.ends_with(';'));
    lines.iter().position(ends).map_or(lines.len(), |last| last + 1)
}
