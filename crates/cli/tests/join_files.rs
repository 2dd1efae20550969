//! `latchless join` over files of every kind: long, compressed, piped, in odd shapes.

mod common;

use common::{join, shell};
use std::fmt::Write;
use std::fs;

#[test]
fn a_file_of_many_pieces_is_joined_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (mut left, mut expected) = ("\u{feff}k,text\r\n".to_owned(), Vec::new());
    // Quotes, line ends in them and characters of several bytes fall on the ends of pieces, and one row is
    // longer than a piece.
    for row in 0..60_000 {
        let text = match row % 7 {
            0 => format!("\"a,\"\"\r\n{row}\""),
            1 => "é€𝄞".repeat(row % 11),
            2 if row == 30_011 => "x".repeat(3 << 20),
            _ => format!("plain {row}"),
        };
        writeln!(left, "{row},{text}\r").unwrap();
        if row % 1_000 == 14 {
            expected.push(format!("{row},{text},{row},v{row}"));
        }
    }
    let right: String = (0..60).map(|row| format!("{},v{}\n", row * 1_000 + 14, row * 1_000 + 14)).collect();
    fs::write(folder.path().join("l.csv"), &left).unwrap();
    fs::write(folder.path().join("r.csv"), format!("k,v\n{right}")).unwrap();
    let outcome = shell(folder.path(), "latchless join l.csv r.csv --on k --format csv");
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let found = outcome.out.strip_prefix("k,text,k_right,v\n").unwrap();
    assert_eq!(found, expected.iter().map(|row| format!("{row}\n")).collect::<String>());
    assert!(outcome.err.contains("\n60000,60,60,60,0,0,"), "{}", outcome.err);
    // A mistake at the end of the file is named by its line there.
    fs::write(folder.path().join("l.csv"), format!("{left}7,\"open\n")).unwrap();
    let lines = left.matches('\n').count();
    let broken = shell(folder.path(), "latchless join l.csv r.csv --on k --format csv");
    let message =
        format!("l.csv: a quoted field in the row that starts on line {} is never closed", lines + 1);
    assert!(broken.code == 2 && broken.err.contains(&message), "{}", broken.err);
    fs::write(folder.path().join("l.csv"), format!("{left}x,1\n")).unwrap();
    let bad = shell(folder.path(), "latchless join l.csv r.csv --on k --format csv");
    let message = format!("l.csv: line {}, column \"k\": \"x\" is not a number", lines + 1);
    assert!(bad.code == 2 && bad.err.contains(&message), "{}", bad.err);
    let mut bytes = left.into_bytes();
    bytes.extend(b"1,\xff\n");
    fs::write(folder.path().join("l.csv"), bytes).unwrap();
    let bad = shell(folder.path(), "latchless join l.csv r.csv --on k --format csv");
    assert!(
        bad.code == 2 && bad.err.contains(&format!("line {} of l.csv is not UTF-8", lines + 1)),
        "{}",
        bad.err
    );
}

#[test]
fn characters_may_be_cut_by_the_end_of_a_piece() {
    let text = "1,€€€€€€€€\n".repeat(1 << 17);
    assert!(text.len() > 3 << 20);
    for header in ["k,t\n", "k,tt\n", "k,ttt\n"] {
        let left = format!("{header}{text}");
        let outcome = join(&[("l.csv", &left), ("r.csv", "k\n1\n")], "l.csv r.csv --on k --format csv");
        assert_eq!(outcome.lines().len(), 1 + (1 << 17), "{header}");
        assert!(outcome.out.lines().skip(1).all(|line| line == "1,€€€€€€€€,1"), "{header}");
    }
}

#[test]
fn remarks_may_be_longer_than_a_piece() {
    let remarks: String = (0..120_000).map(|number| format!("# remark {number}\n")).collect();
    let gff = format!("{remarks}22\t.\t.\t5\t9\t.\t.\t.\ta\n{remarks}22\t.\t.\t6\t9\t.\t.\t.\tb\n{remarks}");
    assert!(remarks.len() > 1 << 20);
    let vcf = format!(
        "##fileformat=VCFv4.2\n#{remarks}#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n22\t5\t.\tA\tC\t.\t.\t.\n"
    );
    let files = [("a.gff", &gff[..]), ("b.vcf", &vcf), ("c.gff", "22\t.\t.\t5\t9\t.\t.\t.\tc\n")];
    let last = |arguments: &str| {
        let outcome = join(&files, &format!("{arguments} --format csv --overlap"));
        let lines: Vec<String> =
            outcome.lines().iter().map(|line| line[line.len() - 1..].to_owned()).collect();
        lines[1..].join(" ")
    };
    assert_eq!(
        (last("a.gff c.gff"), last("c.gff a.gff"), last("b.vcf a.gff")),
        ("c c".to_owned(), "a b".to_owned(), "a".to_owned())
    );
    let end = [("x.bed", "22\t1\t5\n# end"), ("y.bed", "# all"), ("z.bed", "22\t1\t5")];
    let count = |files: &str| join(&end, &format!("{files} --format csv --overlap")).lines().len();
    assert_eq!(
        (count("x.bed z.bed"), count("z.bed x.bed"), count("y.bed x.bed"), count("x.bed y.bed")),
        (2, 2, 0, 0)
    );
    let bad = format!("{gff}22\t.\t.\tx\t9\t.\t.\t.\ta\n");
    let outcome = join(&[("a.gff", &bad), ("c.gff", &gff)], "a.gff c.gff --overlap");
    let line = format!("a.gff: line {}, column \"start\"", bad.matches('\n').count());
    assert!(outcome.code == 2 && outcome.err.contains(&line), "{}", outcome.err);
}

#[test]
fn pipes_and_compressed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("l.csv"), "k;a\n1;x\n2;y\n").unwrap();
    fs::write(folder.path().join("r.bed"), "22\t1\t5\n").unwrap();
    let run = |line: &str| {
        let outcome = shell(folder.path(), line);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        outcome.out
    };
    let expected = "k,a,k_right,a_right\n1,x,1,x\n2,y,2,y\n";
    run("gzip -k l.csv && gzip -k r.bed && cat l.csv.gz l.csv.gz > two.csv.gz");
    for files in ["l.csv l.csv", "l.csv.gz l.csv", "l.csv l.csv.gz"] {
        assert_eq!(run(&format!("latchless join {files} --on k --format csv")), expected, "{files}");
    }
    assert_eq!(run("cat l.csv | latchless join - l.csv --on k --format csv"), expected);
    assert_eq!(run("zcat l.csv.gz | latchless join l.csv - --on k --format csv"), expected);
    assert_eq!(run("latchless join r.bed.gz r.bed --format csv --overlap").lines().count(), 2);
    // Two members; the second's header is a row, whose key is none.
    let two = shell(folder.path(), "latchless join two.csv.gz l.csv --on k --skip-bad");
    assert!(two.err.contains("\n1 row of LEFT has no key\n4 of 5 rows"), "{}", two.err);
    let cut =
        shell(folder.path(), "head -c 20 l.csv.gz > cut.csv.gz; latchless join cut.csv.gz l.csv --on k");
    assert!(cut.code == 2 && cut.err.contains("can't read cut.csv.gz"), "{}", cut.err);
    let head = shell(folder.path(), "latchless join l.csv l.csv --on k --format csv | head -n 1");
    assert_eq!((head.code, head.out.as_str()), (0, "k,a,k_right,a_right\n"));
}

#[test]
fn odd_files_are_refused_or_empty() {
    let good = ("r.csv", "k\n1\n");
    let of = |left: &str| join(&[("l.csv", left), good], "l.csv r.csv --on k --format csv");
    for left in ["k\n", "k", "k\r\n\r\n"] {
        let outcome = of(left);
        assert_eq!((outcome.code, outcome.out.as_str()), (0, ""), "{}", outcome.err);
    }
    let outcome = join(&[("l.csv", "k\n"), good], "r.csv l.csv --on k --format csv --how left");
    assert_eq!(outcome.lines(), ["k,k_right", "1,"]);
    for (left, message) in [
        ("", "l.csv is empty"),
        ("\u{feff}\n", "l.csv is empty"),
        ("\"k", "l.csv: a quoted field in the row that starts on line 1 is never closed"),
        ("k\n1,2\n", "l.csv: line 2 has 2 fields where the header has 1"),
        ("ARROW1\0\0", "l.csv is a saved index; give the file of its rows"),
        ("BZh91AY", "l.csv is compressed (bzip2)"),
        ("k\0\n\0x", "line 2 of l.csv is not UTF-16LE"),
    ] {
        let outcome = of(left);
        assert!(outcome.code == 2 && outcome.err.contains(message), "{left:?}: {}", outcome.err);
    }
    let index =
        "latchless query r.csv --key k --get 1 --save i.arrow -q && latchless join r.csv i.arrow --on k";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.csv"), "k\n1\n").unwrap();
    let outcome = shell(folder.path(), index);
    assert!(outcome.code == 2 && outcome.err.contains("i.arrow is a saved index"), "{}", outcome.err);
    let missing = join(&[good], "none.csv r.csv --on k");
    assert!(missing.code == 2 && missing.err.contains("can't read none.csv"), "{}", missing.err);
    let folder = join(&[good], ". r.csv --on k");
    assert!(folder.code == 2 && folder.err.contains("can't read ."), "{}", folder.err);
}

#[test]
fn a_full_disk_and_refused_memory_are_failures() {
    let many: String = (0..200_000).map(|row| format!("{row}\n")).collect();
    let many = format!("k\n{many}");
    let limit = join(&[("l.csv", "k\n1\n"), ("r.csv", &many)], "l.csv r.csv --on k --memory-limit 64k");
    assert_eq!(limit.code, 1, "{}", limit.err);
    if std::path::Path::new("/dev/full").exists() {
        let full = join(&[("r.csv", &many)], "r.csv r.csv --on k --format csv > /dev/full");
        assert!(full.code == 1 && full.err.contains("can't write the answer"), "{}", full.err);
    }
}
