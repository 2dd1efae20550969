//! `latchless join --overlap`: intervals that share a point, in CSV, BED, GFF and VCF.

mod common;

use common::join;
use proptest::prelude::*;
use std::fmt::Write;

/// The lines of a join of two files for CSV, without the header.
fn rows(left: (&str, &str), right: (&str, &str), arguments: &str) -> Vec<String> {
    let outcome = join(&[left, right], &format!("{} {} --format csv {arguments}", left.0, right.0));
    outcome.lines().into_iter().skip(1).map(str::to_owned).collect()
}

fn refused(left: (&str, &str), right: (&str, &str), arguments: &str, message: &str) {
    let outcome = join(&[left, right], &format!("{} {} {arguments}", left.0, right.0));
    assert_eq!(outcome.code, 2, "{}{}", outcome.out, outcome.err);
    assert!(outcome.err.contains(message), "{message:?} should be in {:?}", outcome.err);
}

const GENES: &str = "\
##gff-version 3
#a remark
22\thand\tgene\t11\t20\t.\t+\t.\tID=\"g1\"
22\thand\tgene\t15\t40\t.\t-\t.\tID=g2;x=\"

X\thand\tgene\t11\t20\t.\t+\t.\tID=g3
";
const STRETCHES: &str =
    "browser position 22:1-50\ntrack name=a\n22\t0\t10\ts1\n22\t10\t15\ts2\n22\t40\t50\ts3\n";
const VARIANTS: &str = "\
##fileformat=VCFv4.2
##contig=<ID=22>
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
22\t10\tv1\tAC\tA\t.\t.\tAF=0.5
22\t10\tv2\tA\tC\t.\t.\t.
22\t21\tv3\tA\t<DEL>\t.\t.\tSVTYPE=DEL;END=60
X\t20\tv4\tA\tG\t.\t.\t.
";

#[test]
fn files_with_known_columns_need_no_names() {
    let of = |left: (&str, &str), right: (&str, &str)| {
        let outcome = join(&[left, right], &format!("{} {} --format json --overlap", left.0, right.0));
        let names = |row: &&str| {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let name = ["name", "ID", "attributes"].iter().filter_map(|name| row[name].as_str());
            name.map(|name| name.trim_start_matches("ID=").trim_matches('"')[..2].to_owned())
                .collect::<String>()
        };
        outcome.lines().iter().map(names).collect::<Vec<String>>().join(" ")
    };
    let (bed, gff, vcf) = (("a.bed", STRETCHES), ("b.gff3", GENES), ("c.vcf", VARIANTS));
    // BED counts from 0 and GFF from 1: s2 is the bases 11 to 15, and s3 41 to 50.
    assert_eq!(of(bed, gff), "s2g1 s2g2");
    assert_eq!(of(gff, bed), "s2g1 s2g2");
    // A variant has the bases that it replaces.
    assert_eq!(of(vcf, gff), "v1g1 v3g2 v4g3");
    assert_eq!(of(vcf, bed), "s1v1 s2v1 s1v2 s3v3");
    assert_eq!(of(bed, vcf), "s1v1 s1v2 s2v1 s3v3");
}

#[test]
fn points_and_regions_name_intervals() {
    let (bed, points) = (("a.bed", STRETCHES), ("p.csv", "chrom,pos\n22,10\n22,11\n22,50\n22,\nX,5\n"));
    let stretch = |rows: Vec<String>| {
        rows.iter().map(|row| row.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // As GFF counts, from 1.
    assert_eq!(stretch(rows(points, bed, "--overlap pos --by chrom --closed=left")), ["s1", "s2", "s3"]);
    // As BED counts, from 0.
    assert_eq!(stretch(rows(points, bed, "--overlap pos --by chrom")), ["s2", "s2"]);
    let regions = ("r.csv", "region,n\n22:1-10,a\n\"22:11-1,100\",b\n22:5,c\n22,d\n22:41-,e\nX:1-5,f\n,g\n");
    let expected = ["s1", "s2", "s3", "s1", "s1", "s2", "s3", "s3"];
    assert_eq!(stretch(rows(regions, bed, "--overlap region")), expected);
    let of = rows(bed, regions, "--overlap =region");
    assert_eq!(stretch(of), ["a", "c", "d", "b", "d", "b", "d", "e"]);
    assert_eq!(rows(regions, points, "--overlap region=pos --by =chrom --closed").len(), 8);
    refused(
        ("r.csv", "region\n22:1-\n22:x\n"),
        bed,
        "--overlap region",
        "r.csv: line 3, column \"region\": \"22:x\" is not a region, as",
    );
    refused(
        ("r.csv", "region\nchr\n"),
        ("p.csv", "c,p\nx,0.5\n"),
        "--overlap region=p --by =c",
        "are of type f64",
    );
}

#[test]
fn intervals_are_half_open_unless_they_are_closed() {
    let (left, right) = (("l.csv", "a,b\n0,5\n5,5\n5,9\n"), ("r.csv", "n,c,d\nx,5,7\ny,9,9\nz,0,0\n"));
    let of = |arguments: &str| {
        let rows = rows(left, right, &format!("--overlap a,b=c,d {arguments}"));
        rows.iter()
            .map(|row| row.split(',').filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(""))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(of(""), "59x57");
    assert_eq!(of("--closed"), "05x57 05z00 55x57 59x57 59y99");
    // Half-open ones count from 0: 0..5 has the points 1 to 5.
    assert_eq!(of("--closed=right"), "05x57 59x57 59y99");
    let times = ("t.csv", "from,to\n2024-01-01 10:00,2024-01-01 11:00\n2024-01-01 11:00,2024-01-01 12:00\n");
    let other = ("u.csv", "at\n2024-01-01 11:00\n");
    assert_eq!(rows(times, other, "--overlap from,to=at").len(), 1);
    assert_eq!(rows(times, other, "--overlap from,to=at --closed=left").len(), 2);
}

#[test]
fn bad_ends_are_refused_by_their_lines() {
    let good = ("r.csv", "c,d\n5,7\n");
    refused(
        ("l.csv", "a,b\n1,2\n5,4\n"),
        good,
        "--overlap a,b=c,d",
        "l.csv: line 3, column \"b\": the interval from \"5\" to \"4\" ends before",
    );
    refused(
        good,
        ("l.csv", "a,b\n1,2\n5,4\n"),
        "--overlap c,d=a,b",
        "l.csv: line 3, column \"b\": the interval from",
    );
    refused(
        ("l.csv", "a,b\n1,x\n"),
        good,
        "--overlap a,b=c,d",
        "l.csv: line 2, column \"b\": \"x\" is not a number",
    );
    refused(
        ("l.csv", "a,b\n1,2\n"),
        ("r.csv", "c,d\nx,7\n"),
        "--overlap a,b=c,d",
        "r.csv: the ends of intervals are numbers",
    );
    refused(good, good, "--overlap c,d,d", "--overlap takes one or two columns of each file, not 3");
    refused(good, good, "--overlap c,d --by c=", "--by has 1 columns of LEFT and 0 of RIGHT");
    refused(
        good,
        ("r.bed", "1\t2\n"),
        "--overlap c,d --by c",
        "r.bed: line 1 has 2 fields where the header has 3",
    );
    refused(("l.vcf", "1\t2\n"), good, "--overlap", "l.vcf: no line begins with #CHROM");
    let skipped =
        join(&[("l.csv", "a,b\n5,4\nx,1\n,1\n5,6\n"), good], "l.csv r.csv --overlap a,b=c,d --skip-bad");
    assert!(skipped.err.starts_with("3 rows of LEFT have no key\n1 of 4 rows"), "{}", skipped.err);
}

#[test]
fn numbers_as_names_of_groups_are_names() {
    let genes = ("g.gff", "22\t.\t.\t1\t9\t.\t.\t.\t.\n");
    assert_eq!(rows(("l.csv", "c,p\nX,5\n22,5\n22.0,5\n"), genes, "--overlap p --by c --closed").len(), 1);
    // Without a format the groups have the types of their cells.
    let (left, right) = (("l.csv", "c,p\n22.0,5\n"), ("r.csv", "c,p\n22,5\n"));
    assert_eq!(rows(left, right, "--overlap p --by c").len(), 1);
    assert_eq!(rows(left, right, "--overlap p --by c --key-type text,u64").len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn overlaps_are_those_of_all_pairs(
        left in prop::collection::vec((0u8..3, 0i64..60, 0i64..9), 0..40),
        right in prop::collection::vec((0u8..3, 0i64..60, prop_oneof![0i64..3, 0i64..40]), 0..40),
        closed in prop::array::uniform2(any::<bool>()),
    ) {
        let text = |rows: &[(u8, i64, i64)]| {
            let mut text = "g,a,b\n".to_owned();
            rows.iter().for_each(|(group, from, length)| writeln!(text, "{group},{from},{}", from + length).unwrap());
            text
        };
        let side = ["", "--closed=left", "--closed=right", "--closed"][usize::from(closed[0]) + 2 * usize::from(closed[1])];
        let points = |&(_, from, length): &(u8, i64, i64), is_closed: bool| {
            if is_closed { from..=from + length } else { from + 1..=from + length }
        };
        let mut expected = Vec::new();
        for a in &left {
            for b in right.iter().filter(|b| b.0 == a.0) {
                let (one, other) = (points(a, closed[0]), points(b, closed[1]));
                if one.into_iter().any(|point| other.contains(&point)) {
                    expected.push(format!("{},{},{},{},{},{}", a.0, a.1, a.1 + a.2, b.0, b.1, b.1 + b.2));
                }
            }
        }
        let (l, r) = (text(&left), text(&right));
        prop_assert_eq!(rows(("l.csv", &l), ("r.csv", &r), &format!("--overlap a,b --by g {side}")), expected);
    }
}
