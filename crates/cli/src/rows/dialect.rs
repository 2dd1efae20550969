//! Notations of rows as text: what separates fields, and which line names the columns.
//!
//! A file's name or its first line says which one it has; everything else is CSV. BED, GFF and VCF have tabs,
//! no quotes, lines of remarks that begin with `#`, and columns of known names.

use super::delimiter;
use super::how::How;
use std::path::Path;

/// Endings that a compressed file has after the ending of its content.
const PACKED: [&str; 4] = [".gz", ".bgz", ".zst", ".zstd"];

/// The columns of BED; a file has the first of them, at least three.
pub const BED: [&str; 12] = [
    "chrom",
    "start",
    "end",
    "name",
    "score",
    "strand",
    "thick_start",
    "thick_end",
    "rgb",
    "blocks",
    "block_sizes",
    "block_starts",
];

/// The fewest columns of BED.
pub const BED_MIN: usize = 3;

/// The columns of GFF and GTF.
pub const GFF: [&str; 9] =
    ["seqid", "source", "type", "start", "end", "score", "strand", "phase", "attributes"];

/// Where the names of columns come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// The first line.
    FirstLine,
    /// Their numbers.
    Numbers,
    /// The definition of BED.
    Bed,
    /// The definition of GFF and GTF.
    Gff,
    /// The line of VCF that begins with `#CHROM`.
    Vcf,
}

/// A notation of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The separator of fields.
    pub delimiter: u8,
    /// The names of columns.
    pub names: Names,
    /// Whether rows may have fewer or more fields than there are columns.
    pub is_ragged: bool,
}

impl Dialect {
    /// CSV. `is_named`: whether its first line names the columns.
    pub fn csv(delimiter: u8, is_named: bool) -> Self {
        let names = if is_named { Names::FirstLine } else { Names::Numbers };
        Self { delimiter, names, is_ragged: false }
    }

    /// The notation of a file that begins with this text.
    pub fn of(file: &Path, text: &str, how: How) -> Self {
        let ending = ending(file);
        let names = match ending.as_str() {
            "bed" => Names::Bed,
            "gff" | "gff3" | "gtf" => Names::Gff,
            "vcf" => Names::Vcf,
            _ if text.starts_with("##fileformat=VCF") => Names::Vcf,
            _ if text.starts_with("##gff-version") => Names::Gff,
            _ => {
                let found = || if ending == "tsv" { b'\t' } else { delimiter::detected(text) };
                let csv = Self::csv(how.delimiter.unwrap_or_else(found), how.is_named);
                return Self { is_ragged: how.is_ragged, ..csv };
            }
        };
        Self { delimiter: b'\t', names, is_ragged: how.is_ragged }
    }

    /// What is said about a separator that no argument named, unless it is the usual one. `given`: the
    /// argument.
    pub fn note(self, given: Option<u8>, file: &str) -> Option<String> {
        let is_guess = given.is_none() && self.has_quotes() && self.delimiter != b',';
        let written = || delimiter::written(self.delimiter);
        is_guess.then(|| {
            format!("{file}: fields are taken to be separated by {}; --delimiter says otherwise", written())
        })
    }

    /// Whether a field may be in quotes, with delimiters and line ends inside.
    pub fn has_quotes(self) -> bool {
        matches!(self.names, Names::FirstLine | Names::Numbers)
    }

    /// The first byte of a line of remarks.
    pub fn remark(self) -> Option<u8> {
        (!self.has_quotes()).then_some(b'#')
    }

    /// How many bytes of a text are before its next row: empty lines and remarks.
    pub fn gap(self, text: &[u8]) -> usize {
        let mut gap = 0;
        loop {
            gap += text[gap..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            if text.get(gap).is_none_or(|&first| Some(first) != self.remark()) {
                return gap;
            }
            gap += text[gap..].iter().take_while(|&&byte| byte != b'\n').count();
        }
    }
}

/// What the name of a file's content ends with, in small letters: `csv` for `rows.CSV.gz`.
pub fn ending(file: &Path) -> String {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
    let packed = PACKED.into_iter().find_map(|ending| name.strip_suffix(ending));
    packed.unwrap_or(&name).rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_first_line_says_it() {
        let how = How { is_named: true, ..How::default() };
        let of = |file: &str, text| Dialect::of(Path::new(file), text, how);
        let tabs = |names| Dialect { delimiter: b'\t', names, is_ragged: false };
        for (file, text, expected) in [
            ("a.csv", "a;b\n", Dialect::csv(b';', true)),
            ("a.TSV", "a,b\n", Dialect::csv(b'\t', true)),
            ("a.tsv.gz", "a,b\n", Dialect::csv(b'\t', true)),
            ("genes.bed", "1,2\n", tabs(Names::Bed)),
            ("genes.BED.gz", "1\t2\t3\n", tabs(Names::Bed)),
            ("genes.gtf.zst", "", tabs(Names::Gff)),
            ("-", "##fileformat=VCFv4.2\n", tabs(Names::Vcf)),
            ("-", "##gff-version 3\n", tabs(Names::Gff)),
            ("bed", "a,b\n", Dialect::csv(b',', true)),
        ] {
            assert_eq!(of(file, text), expected, "{file} {text}");
        }
        let semicolons = How { delimiter: Some(b';'), is_ragged: true, ..How::default() };
        let ragged = Dialect { is_ragged: true, ..Dialect::csv(b';', false) };
        assert_eq!(Dialect::of(Path::new("a.tsv"), "a;b", semicolons), ragged);
    }

    #[test]
    fn gaps_are_empty_lines_and_remarks() {
        let bed = Dialect { delimiter: b'\t', names: Names::Bed, is_ragged: false };
        for (text, expected) in [("", 0), ("a", 0), ("\n\na", 2), ("#x\r\n#y\na#", 7), ("#x", 2), ("#x\n", 3)]
        {
            assert_eq!(bed.gap(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(Dialect::csv(b',', true).gap(b"\n#x\n"), 1);
    }
}
