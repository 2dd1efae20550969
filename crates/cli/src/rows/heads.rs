//! Heads of files whose columns have known names: BED, GFF and VCF.

use super::dialect::Dialect;
use csv::StringRecord;

/// What the line of a VCF file begins with that names its columns.
const VCF: &str = "#CHROM";

/// The names of this many columns: the known ones, then numbers.
pub fn names(known: &[&str], columns: usize) -> StringRecord {
    let numbers = (known.len() + 1..).map(|number| number.to_string());
    known.iter().map(|&name| name.to_owned()).chain(numbers).take(columns).collect()
}

/// Where the rows of a VCF file begin: after the line that names the columns.
pub fn vcf(text: &str) -> Option<usize> {
    let start = if text.starts_with(VCF) { 0 } else { text.find(&format!("\n{VCF}"))? + 1 };
    Some(text[start..].find('\n').map_or(text.len(), |end| start + end + 1))
}

/// The names of a VCF file's columns. `head`: the file up to its rows.
pub fn vcf_names(head: &str) -> StringRecord {
    let line = head.lines().next_back().unwrap_or_default();
    line.trim_start_matches('#').split('\t').collect()
}

/// Where the rows of a BED file begin: after remarks, and after lines for a browser.
pub fn bed(text: &str, dialect: Dialect) -> usize {
    let mut start = 0;
    loop {
        start += dialect.gap(&text.as_bytes()[start..]);
        let line = &text[start..];
        let is_for_a_browser = ["track", "browser"].iter().any(|word| {
            line.strip_prefix(word).is_some_and(|after| after.starts_with([' ', '\t', '\n', '\r']))
        });
        if !is_for_a_browser {
            return start;
        }
        start += line.find('\n').map_or(line.len(), |end| end + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::{BED, Names};
    use super::*;

    #[test]
    fn rows_begin_after_the_head() {
        assert_eq!(vcf("##a\n#CHROM\tPOS\n1\t2\n"), Some(15));
        assert_eq!(vcf("#CHROM\tPOS"), Some(10));
        assert_eq!(vcf("##a\n1\t2\n"), None);
        assert_eq!(vcf_names("##a\n#CHROM\tPOS\r\n"), vec!["CHROM", "POS"]);
        let dialect = Dialect { delimiter: b'\t', names: Names::Bed, is_ragged: false };
        let bed = |text| bed(text, dialect);
        assert_eq!(bed("browser position chr1\n#x\ntrack name=a\nchr1\t1\t2\n"), 38);
        assert_eq!(bed("track1\t1\t2\n"), 0);
    }

    #[test]
    fn columns_beyond_the_known_ones_have_numbers() {
        assert_eq!(names(&BED, 3), vec!["chrom", "start", "end"]);
        assert_eq!(names(&["a"], 3), vec!["a", "2", "3"]);
    }
}
