//! Where the lines of a text that was made here are in the files that it was made of.

use super::error::QueryError;

/// The places of a text's lines in its files.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// In the order of the text.
    parts: Vec<Part>,
    /// The names of the files, if messages have to say them.
    names: Vec<String>,
}

/// Lines of the text that follow each other in a file, too.
#[derive(Debug, Clone, Copy)]
struct Part {
    in_text: u64,
    in_file: u64,
    /// The number of its name.
    file: usize,
}

impl Lines {
    /// From this line of the text on, its lines are those of its file from another line on.
    pub fn push(&mut self, in_text: u64, in_file: u64) {
        let file = self.names.len().saturating_sub(1);
        let (before, _) = self.place(in_text);
        if before != in_file {
            self.parts.push(Part { in_text, in_file, file });
        }
    }

    /// Appends the lines of another file, whose text after its first lines begins at this line. `lines`: the
    /// places of its own text; `first`: the line of that text that is there.
    pub fn append(&mut self, in_text: u64, name: String, lines: &Self, first: u64) {
        self.names.push(name);
        let file = self.names.len() - 1;
        self.parts.push(Part { in_text, in_file: lines.place(first).0, file });
        let later = lines.parts.iter().filter(|part| part.in_text > first);
        self.parts.extend(later.map(|part| Part { in_text: part.in_text - first + in_text, file, ..*part }));
    }

    /// The line that a line of the text is in its file, and the file's name, if messages have to say it.
    pub fn place(&self, line: u64) -> (u64, Option<&str>) {
        let before = self.parts.partition_point(|part| part.in_text <= line);
        let Some(part) = before.checked_sub(1).map(|at| self.parts[at]) else { return (line, None) };
        (line - part.in_text + part.in_file, self.names.get(part.file).map(String::as_str))
    }

    /// Says in which file and on which of its lines a cell is that an error is about.
    pub fn locate(&self, error: QueryError) -> QueryError {
        match error {
            QueryError::Key { line, column, complaint } => {
                let (line, name) = self.place(line);
                let error = QueryError::Key { line, column, complaint };
                match name {
                    Some(name) => error.in_file(name.to_owned()),
                    None => error,
                }
            }
            QueryError::In { file, cause } => self.locate(*cause).in_file(file),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_files_that_they_are_of() {
        let mut json = Lines::default();
        // A header, a row of line 1, a row of line 3 with a line end inside, and one of line 4.
        json.push(2, 1);
        json.push(3, 3);
        json.push(5, 4);
        json.push(6, 5);
        assert_eq!([1, 2, 3, 5, 7].map(|line| json.place(line).0), [1, 1, 3, 4, 6]);
        assert_eq!(json.parts.len(), 3);
        let mut all = Lines::default();
        all.append(1, "a".to_owned(), &Lines::default(), 1);
        all.append(10, "b".to_owned(), &json, 2);
        all.append(20, "c".to_owned(), &Lines::default(), 2);
        let expected = [(9, "a"), (1, "b"), (3, "b"), (4, "b"), (2, "c"), (3, "c")];
        let found = [9, 10, 11, 13, 20, 21].map(|line| all.place(line));
        assert_eq!(found, expected.map(|(line, name)| (line, Some(name))));
    }
}
