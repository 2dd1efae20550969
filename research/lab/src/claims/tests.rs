//! Verdicts, and what a paper's file must not lack.

use super::judge::{Counts, Judged, Verdict};
use super::{PaperClaims, markdown};
use crate::experiment::Published;
use crate::on::On;
use crate::row::Row;
use std::path::Path;
use tempfile::TempDir;

const HEAD: &str = "\
name = \"p\"
claims_are_about_both = true
title = \"P: A, B (2001)\"
fair = \"All alike.\"
pages = \"[model](model/p.md)\"
figures = [
    { figure = \"Fig. 1\", experiment = \"fig-1\" },
    { figure = \"Fig. 2\", instead = \"a drawing\" },
]
";

/// Keeps rows as the runner does, and judges them by a paper's file.
pub(super) fn judged(more: &str, places: &[(On, &[Row])]) -> (Result<Judged, Vec<String>>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (on, rows) in places {
        let rows: Vec<String> = rows
            .iter()
            .map(|row| {
                let row = Row { on: *on, ..row.clone() }.beside(row.published);
                serde_json::to_string(&row.within("p", "fig-1", crate::experiment::Scale::Paper)).unwrap()
            })
            .collect();
        let path = folder.path().join(on.name()).join("p/fig-1.json");
        let text = format!("{{\"title\": \"t\", \"commit\": \"c\", \"rows\": [{}]}}", rows.join(","));
        crate::results::put(&path, &text).unwrap();
    }
    let paper: PaperClaims = toml::from_str(&format!("{HEAD}{more}")).unwrap();
    let judged = Judged::of(&[paper], folder.path()).map_err(|error| match error {
        crate::LabError::Claims { missing } => missing,
        other => vec![other.to_string()],
    });
    (judged, folder)
}

fn row(series: &str, ours: f64, published: Published) -> Row {
    Row { published: Some(published), ..Row::new(series, 1.0, "times", ours) }
}

/// The verdicts on one row on the model.
fn verdict(ours: f64, published: Published) -> Verdict {
    let reason = "[[off]]\nreason = \"measured\"\n";
    for more in [reason, ""] {
        let (judged, _folder) = judged(more, &[(On::Model, &[row("a", ours, published)])]);
        if let Ok(judged) = judged {
            return judged.papers[0].figures[0].claims[0].places[0].verdict.clone();
        }
    }
    panic!("neither with a reason nor without")
}

#[test]
fn an_order_holds_or_it_is_off_and_a_number_may_be_within_15_percent() {
    let off = Verdict::Off { reason: "measured".to_string(), left: None };
    assert_eq!(verdict(1.0, Published::AtLeast(1.0)), Verdict::Holds);
    assert_eq!(verdict(0.99, Published::AtLeast(1.0)), off);
    assert_eq!(verdict(1.01, Published::AtMost(1.0)), off);
    assert_eq!(verdict(1.0, Published::MoreThan(1.0)), off);
    assert_eq!(verdict(2.19, Published::About(2.0)), Verdict::Holds);
    assert_eq!(verdict(2.29, Published::About(2.0)), Verdict::Within);
    assert_eq!(verdict(2.31, Published::About(2.0)), off);
    assert_eq!(verdict(1.4, Published::Within(1.2, 1.5)), Verdict::Holds);
    assert_eq!(verdict(1.7, Published::Within(1.2, 1.5)), Verdict::Within);
    assert_eq!(verdict(1.8, Published::Within(1.2, 1.5)), off);
}

#[test]
fn what_is_off_needs_a_reason_that_is_measured_and_about_something() {
    let off: &[(On, &[Row])] = &[(On::Native, &[row("a", 3.0, Published::Exactly(1.0))])];
    let missing = |more: &str| judged(more, off).0.err().unwrap_or_default().join("\n");
    let without = "p fig-1, panel '', 'times', on native, {\"a\"}: ratio 3.00";
    assert_eq!(missing(""), without);
    assert_eq!(missing("[[off]]\nfigure = \"fig-1\"\non = \"native\"\nreason = \"measured\"\n"), "");
    let elsewhere = missing("[[off]]\non = \"model\"\nreason = \"measured\"\n");
    assert_eq!(elsewhere, format!("{without}\nnothing is off or beyond for this reason of p: measured…"));
    assert!(
        missing("[[off]]\nreason = \"it wasn't measured\"\n").starts_with("a guess, not a measured reason")
    );
    // A second reason for the same claim is about nothing.
    assert!(
        missing("[[off]]\nreason = \"one\"\n[[off]]\nreason = \"two\"\n").contains("this reason of p: two")
    );
    assert!(missing("[[off]]\nseries = [\"a\", \"b\"]\nreason = \"measured\"\n").is_empty());
    assert!(missing("[[off]]\nseries = \"b\"\nreason = \"measured\"\n").starts_with(without));
}

#[test]
fn a_figure_without_results_is_missing_and_a_misspelt_key_is_refused() {
    let (none, _folder) = judged("", &[]);
    assert_eq!(none.unwrap_err(), ["p fig-1: nothing is kept under results/"]);
    assert!(
        toml::from_str::<PaperClaims>(&format!("{HEAD}[[off]]\nfigures = \"a\"\nreason = \"b\"\n")).is_err()
    );
}

#[test]
fn native_results_are_compared_with_the_model_s_claims_and_counted_apart() {
    let on_model = [row("a", 2.0, Published::Exactly(2.0))];
    let natively = [row("a", 2.0, Published::Exactly(9.0))];
    let (judged, _folder) = judged("", &[(On::Model, &on_model), (On::Native, &natively)]);
    let counts = judged.unwrap().counts();
    let one = Counts { holds: 1, within: 0, off: 0 };
    assert_eq!((counts.model, counts.native), (one, one));
}

#[test]
fn a_comparison_that_is_not_the_paper_s_is_shown_and_not_counted() {
    let beyond = "[[beyond]]\nseries = \"b\"\nreason = \"our own\"\n";
    let rows = [row("a", 2.0, Published::Exactly(2.0)), row("b", 7.0, Published::Exactly(3.0))];
    let (judged, _folder) = judged(beyond, &[(On::Model, &rows)]);
    let judged = judged.unwrap();
    assert_eq!(judged.counts().model, Counts { holds: 1, within: 0, off: 0 });
    let page = markdown::page(&judged);
    assert!(page.contains(
        "| Fig. 1 | times: b | 1 | 3 | 7 |  | 2.33 | beyond: our own | `latchless-lab paper p fig-1"
    ));
    assert!(page.contains("| Fig. 2 | a drawing | | | | | | no number | |"), "{page}");
    assert!(
        page.contains(
            "On the paper's machine 1 of 1 claims hold, 0 are within 15 %, 0 are off. Pages: [model]"
        )
    );
}

#[test]
fn a_paper_s_section_names_the_machines_of_its_native_results() {
    let native = [row("a", 2.0, Published::Exactly(2.0))];
    let (_, folder) = judged("", &[(On::Native, &native)]);
    let rows = std::fs::read_to_string(folder.path().join("native/p/fig-1.json")).unwrap();
    let rows = rows.split_once("\"rows\"").unwrap().1;
    let head = |commit: &str, machine: &str| {
        format!(
            "{{\"title\": \"t\", \"commit\": \"{commit}\", {machine} \"kernel\": \"avx2\", \"rows\"{rows}"
        )
    };
    let line = "\"machine\": {\"line\": \"A (family 6), Linux 6\"},";
    for (name, text) in [
        ("fig-1", head("c1", line)),
        ("x", head("c1", line)),
        ("y", head("c2", line)),
        ("z", head("c1", "\"processor\": \"B\",")),
    ] {
        crate::results::put(&folder.path().join(format!("native/p/{name}.json")), &text).unwrap();
    }
    let paper: PaperClaims = toml::from_str(HEAD).unwrap();
    let page = markdown::page(&Judged::of(&[paper], folder.path()).unwrap());
    assert!(
        page.contains(
            "\n\nNative results: on A (family 6), Linux 6, with avx2: 2 experiments at c1, 1 experiment at c2; on B, \
             with avx2: 1 experiment at c1.\n\n"
        ),
        "{page}"
    );
}

#[test]
fn a_diagram_of_many_numbers_is_one_claim() {
    let numbers: Vec<Row> =
        (1..9).map(|n| row("a", f64::from(n), Published::Exactly(f64::from(n)))).collect();
    let (judged, _folder) = judged("", &[(On::Model, &numbers)]);
    let judged = judged.unwrap();
    let claims = &judged.papers[0].figures[0].claims;
    assert_eq!(claims.len(), 1);
    assert_eq!((claims[0].stated.as_str(), claims[0].places[0].ours().as_str()), ("8 numbers", "1 to 8"));
}

#[test]
fn the_kept_tables_are_those_of_the_kept_results() {
    let research = super::Research { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("..") };
    for (path, page) in research.pages().unwrap() {
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(page == kept, "run latchless-lab claims: {} is another page", path.display());
    }
}
