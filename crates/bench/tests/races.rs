//! `latchless-bench`, run as users run it: every workload on tiny numbers, and refusals.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_latchless-bench");
    Command::new(binary).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("readable output")
}

/// Results of a tiny race, one object an index.
fn race(args: &[&str]) -> Vec<Value> {
    let tiny = ["--records", "2000", "--ops", "1000", "--rounds", "2", "--format", "json"];
    let output = bench(&[&tiny[..], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Results of a tiny race, for flags that [`race`] would repeat.
fn last_of(args: &[&str]) -> Vec<Value> {
    let output = bench(&[&["--records", "2000", "--format", "json"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

fn refusal(args: &[&str], code: i32) -> String {
    let output = bench(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    said
}

/// Returns the checksum of all indexes, which must be equal.
fn checksum(results: &[Value]) -> &Value {
    assert!(results.iter().all(|result| result["checksum"] == results[0]["checksum"]), "{results:?}");
    &results[0]["checksum"]
}

const WORKLOADS: [&str; 24] = [
    "load",
    "get",
    "chain",
    "absent",
    "insert",
    "update",
    "remove",
    "scan",
    "range",
    "visit",
    "sum",
    "sum-range",
    "count",
    "mixed",
    "ycsb-a",
    "ycsb-b",
    "ycsb-c",
    "ycsb-d",
    "ycsb-e",
    "ycsb-f",
    "spiderman-a",
    "spiderman-b",
    "spiderman-c",
    "spiderman-d",
];

#[test]
fn every_workload_runs_on_every_index_and_they_agree() {
    for workload in WORKLOADS {
        for key in ["u32", "u64"] {
            let results = race(&["--workload", workload, "--index", "all", "--key", key]);
            checksum(&results);
            assert!(
                results.len() >= if cfg!(feature = "papers") { 20 } else { 4 },
                "{workload}: {}",
                results.len()
            );
            assert!(results.iter().all(|result| result["median_ns"].as_f64() > Some(0.0)), "{workload}");
        }
    }
}

#[test]
fn every_distribution_runs() {
    for name in ["uniform", "zipf:0.99", "zipf-ycsb:0.5", "sequential", "dense", "sparse"] {
        let results =
            race(&["--workload", "mixed", "--distribution", name, "--index", "btreemap,index-exclusive"]);
        assert_eq!(results[0]["distribution"], name);
        checksum(&results);
    }
}

#[test]
fn every_way_of_filling_gives_the_same_answers() {
    let filled = |load| race(&["--workload", "scan", "--load", load, "--index", "btreemap,index-exclusive"]);
    let (random, sorted, bulk) = (filled("random"), filled("sorted"), filled("bulk"));
    assert_eq!(checksum(&random), checksum(&sorted));
    assert_eq!(checksum(&random), checksum(&bulk));
}

#[test]
fn threads_and_batches_give_the_same_answers() {
    checksum(&race(&["--workload", "get", "--threads", "3", "--index", "all"]));
    // Of the published peers that take updates from many threads only scc has never answered wrongly:
    // crossbeam-skiplist, for one, lets a key be missing for a moment while it is replaced.
    let updated = if cfg!(feature = "rivals") { "btreemap,index,index-exclusive,scc" } else { "all" };
    for workload in ["insert", "mixed", "ycsb-a", "ycsb-e"] {
        checksum(&race(&["--workload", workload, "--threads", "3", "--index", updated]));
    }
    for workload in ["get", "insert", "update", "remove", "mixed", "ycsb-f", "scan"] {
        let one_by_one = race(&["--workload", workload]);
        for batch in ["1", "7", "auto"] {
            let batched = race(&["--workload", workload, "--batch", batch]);
            assert_eq!(checksum(&one_by_one), checksum(&batched), "{workload} in batches of {batch}");
        }
    }
    for workload in ["get", "insert", "update", "remove", "mixed", "ycsb-a", "ycsb-e", "ycsb-f"] {
        let threads = race(&["--threads", "2", "--batch", "16", "--workload", workload, "--index", updated]);
        checksum(&threads);
        assert_eq!(threads[0]["threads"], 2);
    }
}

#[test]
fn sorted_requests_ask_for_the_same_in_another_order() {
    for workload in ["get", "insert", "update", "remove"] {
        let ask = |more: &[&str]| {
            let sorted = [
                "--workload",
                workload,
                "--order",
                "sorted",
                "--index",
                "btreemap,index,index-exclusive,sorted-array",
            ];
            let results = race(&[&sorted[..], more].concat());
            assert_eq!(results[0]["order"], "sorted");
            checksum(&results).clone()
        };
        // Sorted batches of 50 differ from the whole sorted; a batch of everything doesn't. (Inserts of
        // new keys all have the same answer.)
        assert_eq!(ask(&[]), ask(&["--batch", "1000"]), "{workload}");
        if workload != "insert" {
            assert_ne!(ask(&[]), ask(&["--batch", "50"]), "{workload}");
        }
    }
}

#[test]
fn rounds_of_updates_go_on_where_the_last_ended_or_start_anew() {
    // 100 of 2000 keys a round: five rounds are one history; 1500 of them: each round starts from a fresh
    // index.
    for (ops, workload) in [("100", "insert"), ("100", "remove"), ("1500", "remove"), ("300", "mixed")] {
        for rounds in ["1", "2", "5", "17"] {
            let asked = [
                "--ops",
                ops,
                "--workload",
                workload,
                "--rounds",
                rounds,
                "--index",
                "btreemap,index,index-exclusive",
            ];
            checksum(&last_of(&asked));
        }
    }
    let with_rounds = |rounds| last_of(&["--workload", "remove", "--ops", "100", "--rounds", rounds]);
    assert_ne!(checksum(&with_rounds("1")), checksum(&with_rounds("2")), "each round has keys of its own");
}

#[test]
fn json_has_the_promised_fields_in_their_order() {
    let results = race(&["--index", "index-exclusive,btreemap", "--batch", "auto", "--seed", "7"]);
    let fields: Vec<_> = results[0].as_object().expect("an object").keys().map(String::as_str).collect();
    let promised = "index workload records ops threads batch distribution key median_ns min_ns max_ns \
                    ops_per_s bytes_per_key ratio checksum per order scan_length range_share \
                    keys pages misled leaf_fill p50_us p999_us p99999_us longest_us key_bytes";
    assert_eq!(fields, promised.split_whitespace().collect::<Vec<_>>());
    let first = &results[0];
    assert_eq!((first["index"].as_str(), first["workload"].as_str()), (Some("index-exclusive"), Some("get")));
    assert_eq!((first["records"].as_u64(), first["ops"].as_u64()), (Some(2000), Some(1000)));
    assert_eq!((first["key"].as_str(), first["per"].as_str()), (Some("u64"), Some("op")));
    assert_eq!(first["ratio"], 1.0);
    assert!(first["batch"].as_str().is_some_and(|batch| batch.starts_with("auto:")));
    let spread = ["min_ns", "median_ns", "max_ns"].map(|field| first[field].as_f64().expect("a number"));
    assert!(spread.is_sorted(), "{spread:?}");
    for result in &results {
        let bytes = result["bytes_per_key"].as_f64().expect("a number");
        assert!((16.0..400.0).contains(&bytes), "{result}");
    }
}

#[test]
fn units_are_named() {
    assert_eq!(race(&["--workload", "scan"])[0]["per"], "entry");
    for range in ["range", "visit", "sum", "sum-range", "count"] {
        assert_eq!(race(&["--workload", range])[0]["per"], "entry", "{range}");
    }
    assert_eq!(race(&["--workload", "load"])[0]["per"], "key");
    assert_eq!(race(&["--workload", "ycsb-e"])[0]["per"], "op");
}

#[test]
fn seeds_decide_the_answers() {
    let with = |seed| race(&["--seed", seed, "--index", "btreemap"]);
    assert_eq!(with("1")[0]["checksum"], with("1")[0]["checksum"]);
    assert_ne!(with("1")[0]["checksum"], with("2")[0]["checksum"]);
}

#[test]
fn a_table_names_the_machine_and_csv_has_a_header() {
    let table = bench(&["--records", "1k", "--ops", "1_000", "--rounds", "1"]);
    assert!(text(&table.stderr).contains("search kernels"), "{}", text(&table.stderr));
    assert!(text(&table.stdout).contains("ns/op") && text(&table.stdout).contains("btreemap"));
    let csv = bench(&["--records", "1k", "--ops", "1k", "--rounds", "1", "--format", "csv"]);
    assert!(text(&csv.stdout).starts_with("index,workload,records,"));
}

#[test]
fn a_report_opens_offline() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    race(&["--report", file.to_str().expect("a readable path")]);
    let page = std::fs::read_to_string(&file).expect("a report");
    assert!(page.contains("<svg") && page.contains("btreemap") && page.contains("ns/op"));
    for loads in ["<script", "<link", "src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(loads), "the page loads something: {loads}");
    }
}

#[test]
fn kernels_and_pages_can_be_chosen() {
    let plain = race(&["--index", "index-exclusive", "--kernel", "scalar", "--no-huge-pages"]);
    assert_eq!(checksum(&plain), checksum(&race(&["--index", "index-exclusive"])));
}

#[test]
fn what_cannot_be_served_is_refused_with_what_could_be() {
    let unknown = refusal(&["--index", "btreemap,nobody"], 2);
    assert!(
        unknown.contains("`nobody`") && unknown.contains("`latchless-bench list index` shows all"),
        "{unknown}"
    );
    let unknown = refusal(&["--workload", "ycsb-g"], 2);
    assert!(unknown.contains("spiderman-d"), "{unknown}");
    assert!(refusal(&["--distribution", "normal"], 2).contains("sparse"));
    assert!(refusal(&["--distribution", "zipf:9"], 2).contains("in 0 to 5"));
    assert!(refusal(&["--distribution", "zipf-ycsb:1"], 2).contains("between 0 and 1"));
    assert!(refusal(&["--distribution", "zipf:x"], 2).contains("not a skew"));
    assert!(refusal(&["--records", "0"], 2).contains("records must be at least 1"));
    assert!(refusal(&["--ops", "0"], 2).contains("operations must be at least 1"));
    assert!(refusal(&["--threads", "0"], 2).contains("threads must be at least 1"));
    assert!(refusal(&["--scan-length", "0"], 2).contains("scan length must be at least 1"));
    assert!(refusal(&["--records", "many"], 2).contains("not a number"));
    assert!(refusal(&["--batch", "0"], 2).contains("a batch is"));
    assert!(refusal(&["--kernel", "gpu"], 2).contains("scalar"));
    refusal(&["--rounds", "0"], 2);
    refusal(&["--key", "u128"], 2);
    let few = refusal(&["--workload", "remove", "--records", "10", "--ops", "11"], 2);
    assert!(few.contains("need as many records"), "{few}");
    let batches = refusal(&["--workload", "scan", "--threads", "2", "--batch", "8"], 2);
    assert!(batches.contains("one thread"), "{batches}");
    for workload in ["chain", "range", "visit", "sum", "sum-range", "count", "load"] {
        let batches = refusal(&["--workload", workload, "--batch", "8"], 2);
        assert!(batches.contains(workload) && batches.contains("leave out --batch"), "{batches}");
    }
    for workload in ["chain", "scan", "mixed", "load"] {
        let order = refusal(&["--workload", workload, "--order", "sorted"], 2);
        assert!(order.contains("gets, inserts, updates or removals"), "{order}");
    }
    assert!(refusal(&["--range-share", "0"], 2).contains("above 0 and at most 1"));
    assert!(refusal(&["--range-share", "1.5"], 2).contains("not 1.5"));
    let unwritable = refusal(&["--records", "10", "--ops", "10", "--report", "/nowhere/report.html"], 1);
    assert!(unwritable.contains("/nowhere/report.html"), "{unwritable}");
}

#[test]
fn a_mistyped_name_gets_the_nearest_ones_and_not_all() {
    for (given, meant) in
        [("BTreMap", "btreemap"), ("sorted-arrray", "sorted-array"), ("index-exlusive", "index-exclusive")]
    {
        let said = refusal(&["--index", given], 2);
        let list = said.split("did you mean ").nth(1).expect("a suggestion");
        assert!(list.starts_with(meant), "{said}");
        assert!(said.lines().count() == 1 && said.len() < 240, "{said}");
    }
    for (flag, given, meant) in [
        ("--workload", "ycsb_a", "(did you mean ycsb-a"),
        ("--distribution", "zip:0.5", "(did you mean zipf:θ"),
        ("--kernel", "scaler", "(did you mean scalar"),
    ] {
        let said = refusal(&[flag, given], 2);
        assert!(said.contains(meant), "{said}");
    }
    let said = refusal(&["--suite", "flagship", "--row", "get-many-sort"], 2);
    assert!(said.contains("(did you mean get-many-sorted") && said.len() < 160, "{said}");
}

#[test]
fn memory_limits_are_written_as_other_counts_are() {
    race(&["--index", "index", "--memory-limit", "64M"]);
    assert!(refusal(&["--index", "index", "--memory-limit", "10k"], 1).contains("limit of 10000 bytes"));
}

#[test]
fn a_rival_races_or_says_how_to_get_it() {
    let listed =
        Command::new(env!("CARGO_BIN_EXE_latchless-bench")).args(["list", "--format", "csv"]).output();
    let listed = text(&listed.expect("the binary runs").stdout);
    let line = listed.lines().find(|line| line.starts_with("index,scc,")).expect("scc is listed");
    if line.contains("--features rivals") {
        let said = refusal(&["--index", "btreemap,scc"], 2);
        assert!(said.contains("`scc`") && said.contains("--features rivals"), "{said}");
        let said = refusal(&["--index", "mastree"], 2);
        assert!(said.contains("masstree") && said.contains("not in this build: --features rivals"), "{said}");
    } else {
        let results = race(&["--index", "btreemap,scc"]);
        checksum(&results);
        assert_eq!(results[1]["index"], "scc");
    }
}

/// A tiny suite: all of its rows, as programs read them.
fn suite(args: &[&str]) -> Vec<Value> {
    let tiny =
        ["--suite", "flagship", "--records", "2000", "--ops", "400", "--rounds", "1", "--format", "json"];
    let output = bench(&[&tiny[..], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn the_suite_runs_every_row() {
    let rows = suite(&[]);
    assert!(rows.len() > 45, "{} rows", rows.len());
    for row in &rows {
        assert!(row["command"].as_str().is_some_and(|command| command.contains("--workload")), "{row}");
        assert!(row["ours"].as_f64() > Some(0.0) && row["ratio"].as_f64() > Some(0.0), "{row}");
    }
    let row = |name: &str| rows.iter().find(|row| row["workload"] == name).expect("a row of that name");
    assert_eq!((row("get")["unit"].as_str(), row("sum-48")["unit"].as_str()), (Some("ns"), Some("ns/entry")));
    assert_eq!(row("bytes-random")["unit"], "B");
    // Ranges are raced through iterators; operations that only the index has are marked.
    assert_eq!(
        (row("range-48")["note"].as_str(), row("range-48")["unit"].as_str()),
        (Some(""), Some("ns/entry"))
    );
    for pushed in ["sum-48", "sum-1000", "sum-100k", "sum-range", "exclusive-sum-48"] {
        assert_eq!(row(pushed)["note"], "pushed down; peers loop", "{pushed}");
    }
    assert_eq!(row("get")["best"].is_number(), cfg!(feature = "rivals"));
}

#[test]
fn single_operations_are_timed_in_every_row_of_the_suite_pauses() {
    let tiny =
        ["--suite", "pauses", "--records", "2000", "--ops", "400", "--rounds", "1", "--format", "json"];
    let output = bench(&[&tiny[..], &["--prefault"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let rows: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(rows.len(), 18);
    for three in rows.chunks(3) {
        let [most, nearly_all, longest] = three else { panic!("three rows for each race") };
        let of = |row: &Value, whose: &str| row[whose].as_f64().expect("a time");
        for whose in ["ours", "btreemap"] {
            assert!(0.0 < of(most, whose) && of(most, whose) <= of(nearly_all, whose), "{three:?}");
            assert!(of(nearly_all, whose) <= 1.001 * of(longest, whose), "{three:?}");
        }
        assert!(three.iter().all(|row| row["unit"] == "µs"), "{three:?}");
        let command = longest["command"].as_str().expect("a command");
        assert!(command.contains("--pauses ") && command.contains("--prefault"), "{command}");
    }
}

#[test]
fn times_of_single_operations_are_shown_where_they_were_asked_for() {
    let timed = race(&["--workload", "mixed", "--threads", "2", "--pauses", "remove"]);
    assert!(timed.iter().all(|result| result["p50_us"].as_f64() <= result["longest_us"].as_f64()));
    assert!(timed.iter().all(|result| result["longest_us"].as_f64() > Some(0.0)));
    checksum(&timed);
    assert!(race(&["--workload", "get"]).iter().all(|result| result["longest_us"].is_null()));
    let table = bench(&["--workload", "get", "--pauses", "get", "--records", "1k", "--ops", "1k"]);
    assert!(text(&table.stdout).contains("longest"), "{}", text(&table.stdout));
    assert!(refusal(&["--workload", "get", "--pauses", "insert"], 2).contains("--pauses"));
    assert!(refusal(&["--workload", "load", "--pauses", "insert"], 2).contains("--pauses"));
    assert!(refusal(&["--workload", "insert", "--batch", "8", "--pauses", "insert"], 2).contains("--batch"));
    assert!(refusal(&["--suite", "pauses", "--keys", "dense"], 2).contains("--suite keys"));
}

#[test]
fn a_row_of_the_suite_brings_the_race_that_has_its_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("suite.md");
    let only = ["--row", "count,bytes-loaded", "--index", "all", "--no-huge-pages", "--key", "u32"];
    let rows = suite(&[&only[..], &["--report", file.to_str().expect("a readable path")]].concat());
    let names: Vec<_> = rows.iter().map(|row| row["workload"].as_str().expect("a name")).collect();
    assert_eq!(names, ["count", "bytes-loaded"]);
    let command = rows[0]["command"].as_str().expect("a command");
    assert!(command.contains("--key u32") && command.contains("--no-huge-pages"), "{command}");
    let page = std::fs::read_to_string(&file).expect("a page");
    for part in ["| workload |", "### count", "### load", "`latchless-bench --workload count"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("goal") && !page.contains("reached"), "{page}");
    let table =
        bench(&["--suite", "flagship", "--row", "get", "--records", "1k", "--ops", "1k", "--rounds", "1"]);
    assert!(text(&table.stdout).contains("× btreemap"), "{}", text(&table.stdout));
}

#[test]
fn suites_refuse_what_each_row_says_itself() {
    assert!(refusal(&["--suite", "flagship", "--workload", "get"], 2).contains("--workload"));
    assert!(refusal(&["--suite", "flagship", "--row", "nobody"], 2).contains("get-many-sorted"));
    assert!(refusal(&["--suite", "flagship", "--index", "nobody"], 2).contains("`nobody`"));
    assert!(refusal(&["--row", "get"], 2).contains("--suite"));
}

#[test]
fn help_teaches() {
    let help = text(&bench(&["--help"]).stdout);
    for taught in ["Examples:", "--features rivals", "RwLock", "ratio", "Exit codes"] {
        assert!(help.contains(taught), "{taught}");
    }
}
