//! `latchless-lab paper`, run as its users run it.

use std::path::Path;
use std::process::{Command, Output};

fn paper(args: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_latchless-lab");
    Command::new(binary).arg("paper").args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

fn succeeds(args: &[&str]) -> String {
    let output = paper(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "no progress unless on a terminal");
    text(&output.stdout)
}

fn refused(args: &[&str], code: i32) -> String {
    let output = paper(args);
    assert_eq!(output.status.code(), Some(code));
    assert_eq!(text(&output.stdout), "");
    text(&output.stderr)
}

fn rows(args: &[&str]) -> Vec<serde_json::Value> {
    let printed = succeeds(&[args, &["--scale", "small", "--format", "json"]].concat());
    printed.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn valgrind_counts_or_is_missing() {
    let rows = rows(&["cssl", "valgrind"]);
    let missing = |row: &serde_json::Value| row["unit"] == "valgrind isn't installed";
    let counts = |unit| rows.iter().any(|row| row["unit"] == unit && row["series"] == "cssl5, nine lanes");
    assert!(rows.iter().all(missing) || (counts("instructions") && counts("TLB misses")));
    assert!(rows.iter().all(|row| row["published"].is_null()), "they are compared with nothing");
}

#[test]
fn a_paper_s_name_selects_its_experiments() {
    let rows = rows(&["pb-tree", "spiderman", "fig-2", "fig-6"]);
    let has = |paper: &str, experiment: &str| {
        rows.iter().any(|row| row["paper"] == paper && row["experiment"] == experiment)
    };
    assert!(has("pb-tree", "fig-2") && has("spiderman", "fig-6"));
    assert!(rows.iter().all(|row| row["experiment"] == "fig-2" || row["experiment"] == "fig-6"));
    assert!(rows.iter().all(|row| row["paper"] != "olfit"), "it has figures of these numbers");
}

#[test]
fn a_json_row_has_every_field() {
    let rows = rows(&["pb-tree", "fig-7"]);
    assert!(!rows.is_empty());
    for row in &rows {
        for field in ["paper", "experiment", "panel", "series", "unit", "on", "cost_unit", "note", "command"]
        {
            assert!(row[field].is_string(), "{field} of {row}");
        }
        for field in ["x", "ours", "cost"] {
            assert!(row[field].is_number(), "{field} of {row}");
        }
        assert!(row["published"].is_null() || row["ratio"].is_number(), "{row}");
    }
    let p8 = rows.iter().find(|row| row["series"] == "p8" && row["panel"] == "warm").expect("p8 is there");
    assert_eq!(p8["published"], serde_json::json!([1.27, 1.47]));
    assert_eq!(p8["command"], "latchless-lab paper pb-tree fig-7 --on model --scale small");
    let baseline =
        rows.iter().filter(|row| row["series"] == "b-plus" && row["unit"] == "speedup over b-plus");
    assert!(baseline.clone().count() > 0 && baseline.clone().all(|row| row["ours"] == 1.0));
}

#[test]
fn a_probe_answers_for_valgrind() {
    assert_eq!(succeeds(&["--probe", "cssl5, nine lanes:dense:lookups:1000:7"]), "loaded\n7\n");
    assert!(refused(&["--probe", "nonsense"], 3).contains("nonsense"));
}

#[test]
fn table_3_is_the_paper_s() {
    for row in rows(&["table-3"]) {
        assert_eq!(row["ours"], row["published"], "{row}");
        assert_eq!(row["on"], "anywhere");
    }
}

#[test]
fn the_model_gives_the_same_numbers_every_time() {
    for names in [["pb-tree", "fig-10", "baselines"], ["olfit", "eq-1", "translation"]] {
        assert_eq!(rows(&names), rows(&names));
    }
}

/// The size of the process's environment moves everything that the allocator returns: 2,000 bytes are no
/// whole number of pages.
#[test]
fn the_model_gives_the_same_numbers_wherever_memory_lies() {
    let run = |more: &[&str]| {
        let names = ["olfit", "fig-8", "--scale", "small", "--format", "json"];
        succeeds(&[&names[..], more].concat())
    };
    assert_eq!(run(&[]), run(&["fig-8"; 125]));
}

#[test]
fn both_places_stand_side_by_side() {
    let rows = rows(&["fig-12", "--on", "both"]);
    for on in ["model", "native"] {
        assert!(rows.iter().any(|row| row["on"] == on), "{on}");
    }
}

#[test]
fn a_table_has_the_paper_s_number_and_the_command() {
    let printed = succeeds(&["pb-tree", "table-3", "eq-1", "--scale", "small"]);
    for part in ["pb-tree table-3: Levels", "paper", "ratio", "again: latchless-lab paper pb-tree table-3"] {
        assert!(printed.contains(part), "{part} in\n{printed}");
    }
}

#[test]
fn remarks_on_the_paper_s_sizes_say_so_at_the_small_scale() {
    let printed = succeeds(&["pb-tree", "fig-9", "--scale", "small"]);
    let head = "Remarks on the paper's sizes (--scale paper), not on those of this run:\n";
    assert!(printed.contains(&format!("{head}The paper reports one exception: at 10M keys")), "{printed}");
}

#[test]
fn csv_has_a_header_and_a_line_a_row() {
    let printed = succeeds(&["table-3", "--scale", "small", "--format", "csv"]);
    assert!(printed.starts_with("paper,experiment,panel,series,x,unit,on,ours,published,ratio"));
    assert_eq!(printed.lines().count(), 1 + 7 * 3);
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let message = refused(&["fig-99"], 2);
    assert!(message.contains("`fig-99` (did you mean fig-9"), "{message}");
    let message = refused(&["pb-tree", "nothing"], 2);
    assert!(message.contains("`nothing`") && message.contains("latchless-lab list experiment"), "{message}");
    let message = refused(&["olfitt"], 2);
    assert!(message.contains("did you mean olfit") && message.contains("pb-tree"), "{message}");
    refused(&["--scale", "huge"], 2);
    refused(&["--on", "paper"], 2);
}

#[test]
fn reports_and_results_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (report, results) = (path("page.html"), path("results"));
    let as_text = |path: &Path| path.to_str().expect("a plain path").to_string();
    succeeds(&[
        "table-3",
        "--scale",
        "small",
        "--report",
        &as_text(&report),
        "--results",
        &as_text(&results),
    ]);
    let page = std::fs::read_to_string(report).expect("the page is there");
    assert!(page.contains("<svg") && !page.contains("http"));
    assert!(results.join("pb-tree.md").is_file() && results.join("pb-tree/table-3.json").is_file());
}

#[test]
fn a_report_in_a_folder_is_a_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    let printed =
        succeeds(&["table-3", "eq-1", "--scale", "small", "--report", site.to_str().expect("a plain path")]);
    assert!(printed.contains("pb-tree table-3: Levels"), "the tables are printed as well");
    for name in ["index.html", "style.css", "summary.svg", "pb-tree.html", "index-lessons.html"] {
        assert!(site.join(name).is_file(), "{name}");
    }
    assert!(!site.join("cssl.html").exists(), "it wasn't run");
    let page = std::fs::read_to_string(site.join("pb-tree.html")).expect("the page is there");
    assert!(page.contains("Table 3. Levels of the trees") && !page.contains("fig-7"));
}

#[test]
fn the_site_of_kept_results_is_made_and_checked_by_one_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    let site = site.to_str().expect("a plain path");
    succeeds(&["all", "--kept", "../results", "--report", site]);
    succeeds(&["all", "--kept", "../results", "--report", site, "--check"]);
    std::fs::write(folder.path().join("site/pi.html"), "another").expect("it can be written");
    let message = refused(&["all", "--kept", "../results", "--report", site, "--check"], 1);
    assert!(message.contains("pi.html") && message.contains("paper all --kept"), "{message}");
    refused(&["all", "--kept", "../results"], 2);
}

#[test]
fn a_folder_above_a_target_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    for (option, name) in
        [("--report", "missing/site"), ("--report", "missing/page.html"), ("--results", "missing/results")]
    {
        let path = folder.path().join(name);
        let message = refused(&["pb-tree", "eq-1", option, path.to_str().expect("a plain path")], 1);
        assert!(message.contains("missing"), "{message}");
        assert!(!folder.path().join("missing").exists());
    }
}

#[test]
fn a_report_that_cannot_be_written_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let below = file.path().join("page.html");
    let message = refused(&["pb-tree", "eq-1", "--report", below.to_str().expect("a plain path")], 1);
    assert!(message.contains("page.html"), "{message}");
}
