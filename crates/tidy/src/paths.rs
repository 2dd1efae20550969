//! What a file names: its imports, and the paths of its code. Tests are left out.
//!
//! Reads tokens, not syntax: enough for paths, whose first name says whether they lead into the crate.

use std::collections::HashSet;

/// A path as it is written, with the module in which it is, by its names inside of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub module: Vec<String>,
    pub path: Vec<String>,
}

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub named: Named,
    /// The name that it has here; none for a glob.
    pub alias: Option<String>,
    /// Whether other modules may use it from here.
    pub is_shown: bool,
}

/// A file's imports, the paths of the rest of its code, and the names that it defines.
#[derive(Debug, Default)]
pub struct Names {
    pub imports: Vec<Import>,
    pub paths: Vec<Named>,
    pub defined: HashSet<String>,
    /// Identifiers outside of imports.
    pub words: HashSet<String>,
    /// Modules that are compiled for tests alone.
    pub of_tests: Vec<Vec<String>>,
}

impl Names {
    /// Reads the file of a module.
    pub fn read(module: &[String], text: &str) -> Self {
        let mut reader = Reader {
            tokens: tokens(text),
            at: 0,
            module: module.to_vec(),
            inside: Vec::new(),
            found: Self::default(),
        };
        reader.read();
        reader.found
    }
}

/// The tokens of a text that paths are made of, without comments and literals: words, `::`, and single
/// characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => string_len(rest),
            '\'' => character_len(rest),
            ':' if rest.starts_with("::") => 2,
            word if is_word(word) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(len);
        let hashes = after.len() - after.trim_start_matches('#').len();
        if matches!(token, "r" | "br" | "cr") && after[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &after[hashes + 1..];
            rest = body.find(&end).map_or("", |at| &body[at + end.len()..]);
            continue;
        }
        let is_left_out = token.starts_with("//") || token.starts_with("/*") || first.is_whitespace();
        if !is_left_out && (first != '"' && (first != '\'' || len == 1)) {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The length of the string literal at the start.
fn string_len(text: &str) -> usize {
    let mut escaped = true;
    let end = text.char_indices().find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of the character literal at the start; one for the sign of a lifetime.
fn character_len(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            text[escaped + 1..].find('\'').map_or(text.len(), |at| escaped + at + 2)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Reads tokens one after the other.
struct Reader<'t> {
    tokens: Vec<&'t str>,
    at: usize,
    module: Vec<String>,
    /// For each open brace, whether it is that of a module.
    inside: Vec<bool>,
    found: Names,
}

impl Reader<'_> {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).copied().unwrap_or("")
    }

    fn read(&mut self) {
        while self.at < self.tokens.len() {
            match self.token(0) {
                "#" if self.token(1) == "[" => self.attribute(),
                "use" => self.import(),
                "mod" if self.token(2) == "{" => {
                    let name = self.token(1).to_owned();
                    self.found.defined.insert(name.clone());
                    self.module.push(name);
                    self.inside.push(true);
                    self.at += 3;
                }
                "{" => {
                    self.inside.push(false);
                    self.at += 1;
                }
                "}" => {
                    if self.inside.pop() == Some(true) {
                        self.module.pop();
                    }
                    self.at += 1;
                }
                _ => self.word(),
            }
        }
    }

    /// Passes over an attribute, and over the item behind it if that is compiled for tests alone.
    fn attribute(&mut self) {
        let start = self.at;
        self.at += 1;
        self.pass_brackets();
        let attribute = &self.tokens[start..self.at];
        let is_without = attribute.windows(3).any(|three| three == ["not", "(", "test"]);
        let is_of_tests = attribute.get(2) == Some(&"cfg") && attribute.contains(&"test") && !is_without;
        if !is_of_tests {
            return;
        }
        while self.token(0) == "#" {
            self.at += 1;
            self.pass_brackets();
        }
        while self.at < self.tokens.len() && !["{", ";"].contains(&self.token(0)) {
            if self.token(0) == "mod" {
                let module = self.module.iter().cloned().chain([self.token(1).to_owned()]);
                self.found.of_tests.push(module.collect());
            }
            match self.token(0) {
                "(" | "[" => self.pass_brackets(),
                _ => self.at += 1,
            }
        }
        match self.token(0) {
            "{" => self.pass_brackets(),
            _ => self.at += 1,
        }
    }

    /// Passes over the bracket here and all within.
    fn pass_brackets(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.token(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn import(&mut self) {
        let before = self.at.checked_sub(1).map_or("", |before| self.tokens[before]);
        let is_shown = before == "pub" || before == ")";
        self.at += 1;
        self.tree(&[], is_shown);
    }

    /// Reads a tree of imports, up to what ends it.
    fn tree(&mut self, prefix: &[String], is_shown: bool) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        loop {
            match self.token(0) {
                "::" => {}
                "{" => {
                    while self.at < self.tokens.len() && self.token(0) != "}" {
                        self.at += 1;
                        if self.token(0) != "}" {
                            self.tree(&path, is_shown);
                        }
                    }
                    self.at += 1;
                    return;
                }
                "*" => {
                    self.at += 1;
                    self.add(path, None, is_shown);
                    return;
                }
                "as" => {
                    alias = Some(self.token(1).to_owned());
                    self.at += 1;
                }
                "," | "}" | ";" | "" => break,
                "self" if !path.is_empty() => {}
                word => path.push(word.to_owned()),
            }
            self.at += 1;
        }
        let alias = alias.or_else(|| path.last().cloned());
        self.add(path, alias, is_shown);
    }

    fn add(&mut self, path: Vec<String>, alias: Option<String>, is_shown: bool) {
        let named = Named { module: self.module.clone(), path };
        self.found.imports.push(Import { named, alias, is_shown });
    }

    /// Reads a token of other code, and the path that it may begin.
    fn word(&mut self) {
        const DEFINE: [&str; 9] =
            ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];
        let word = self.token(0).to_owned();
        if DEFINE.contains(&word.as_str()) {
            let name = usize::from(self.token(1) == "!") + 1;
            self.found.defined.insert(self.token(name).to_owned());
        }
        let is_name = |token: &str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        // `pub(in crate::tree)` says who may see, not what is used.
        let is_inside = |before: &[&str]| before.ends_with(&["::"]) || before.ends_with(&["(", "in"]);
        let begins = is_name(&word) && self.token(1) == "::" && !is_inside(&self.tokens[..self.at]);
        self.at += 1;
        if !begins {
            self.found.words.insert(word);
            return;
        }
        let mut path = vec![word.clone()];
        while self.token(0) == "::" && is_name(self.token(1)) {
            path.push(self.token(1).to_owned());
            self.at += 2;
        }
        self.found.words.insert(word);
        if path.len() > 1 {
            self.found.paths.push(Named { module: self.module.clone(), path });
        }
    }
}

#[test]
fn imports_and_paths_are_read_and_tests_are_not() {
    let text = r##"
        //! use crate::comment::A;
        use super::*;
        pub(crate) use crate::{edit::{self, Edit as E}, get::Get};
        pub(in crate::deep) struct S<'a>(&'a str);
        mod inner { use super::S; fn f() { super::g('{', '\'', "use crate::no::X; \" {", r#"crate::raw::"y""#); } }
        #[cfg(test)]
        #[path = "t.rs"]
        mod tests;
        #[cfg(all(test, unix))]
        mod more { use crate::tested::X; }
        fn g() -> crate::a::B { x.y::<crate::c::D>(); for i in crate::many() {} }
    "##;
    let module = ["tree".to_owned()];
    let names = Names::read(&module, text);
    let imports = names.imports.iter().map(|import| {
        let name = import.alias.as_deref().unwrap_or("*");
        format!(
            "{} {} {name} {}",
            import.named.module.join("."),
            import.named.path.join("::"),
            import.is_shown
        )
    });
    let expected = [
        "tree super * false",
        "tree crate::edit edit true",
        "tree crate::edit::Edit E true",
        "tree crate::get::Get Get true",
        "tree.inner super::S S false",
    ];
    assert_eq!(imports.collect::<Vec<_>>(), expected);
    let paths = names.paths.iter().map(|named| named.path.join("::"));
    assert_eq!(paths.collect::<Vec<_>>(), ["super::g", "crate::a::B", "crate::c::D", "crate::many"]);
    assert!(["S", "inner", "f", "g"].iter().all(|name| names.defined.contains(*name)));
    assert_eq!(names.of_tests, [["tree", "tests"], ["tree", "more"]]);
}
