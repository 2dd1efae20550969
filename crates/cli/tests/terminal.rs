//! The program with its output connected to a terminal, a pipe, or nothing at all.

mod common;

use common::{Outcome, file, run, sample};
use std::path::Path;
use std::process::Command;

fn latchless() -> &'static str {
    env!("CARGO_BIN_EXE_latchless")
}

/// Many rows in no order.
fn many(rows: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let row = |number: u64| format!("{number},{},rs{number},A,G\n", number * 7919 % rows);
    file(std::iter::once("id,pos,name,ref,alt\n".to_owned()).chain((0..rows).map(row)).collect::<String>())
}

#[test]
fn escape_sequences_in_cells_do_not_reach_a_table() {
    let (_folder, path) = file("k,v\u{1b}[2J\n1,a\u{1b}]0;title\u{7}\n2,\"two\nlines\"\n3,\u{9b}31m\n");
    let table = run(&path, "--key k --between 0 9");
    let control = |character: char| character.is_control() && character != '\n';
    assert!(!table.out.contains(control), "{:?}", table.out);
    for shown in ["v␛[2J", "a␛]0;title␇", "two␊lines", "\\u{9b}31m"] {
        assert!(table.out.contains(shown), "{shown}: {}", table.out);
    }
    assert_eq!(table.lines().len(), 7, "one line a row");
    let raw = run(&path, "--key k --get 1 --format csv");
    assert_eq!(raw.lines(), ["k,v\u{1b}[2J", "1,a\u{1b}]0;title\u{7}"]);
    assert!(run(&path, "--key k --get 1 --format json").out.contains("a\\u001b]0;title\\u0007"));
}

#[test]
fn a_table_is_whole_where_no_terminal_limits_it() {
    let mut wide = vec![format!("k,{}", vec!["column"; 99].join(","))];
    wide.push(format!("1,{}", vec!["a long cell that nobody cuts"; 99].join(",")));
    let (_folder, path) = file(wide.join("\n"));
    let answer = common::command(&path, "--key k --get 1").env("COLUMNS", "70").output().unwrap();
    let answer: Outcome = answer.into();
    assert_eq!(answer.out.matches("a long cell that nobody cuts").count(), 99);
}

#[test]
fn quiet_leaves_nothing_on_standard_error_but_errors() {
    let question = "--key pos --get 50338589 7";
    for format in ["table", "json", "csv"] {
        let loud = run(&sample(), &format!("{question} --format {format}"));
        let quiet = run(&sample(), &format!("{question} --format {format} --quiet"));
        assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
        assert_eq!(quiet.out, loud.out);
        assert!(!loud.err.is_empty());
    }
    let failed = run(&sample(), "--quiet --key nosuch --get 1");
    assert_eq!(failed.code, 2);
    assert!(failed.err.starts_with("error: there is no column"), "{}", failed.err);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::ptr::null_mut;

    /// The output of a run on a terminal of this many columns.
    fn on_terminal(columns: u16, arguments: &[&str], variable: Option<&str>) -> Vec<String> {
        let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let (mut ours, mut theirs) = (-1, -1);
        // SAFETY: the three pointers that aren't null are to variables of this function.
        let opened = unsafe { libc::openpty(&mut ours, &mut theirs, null_mut(), null_mut(), &size) };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the call above has opened both for us alone.
        let (mut ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        let mut command = Command::new(latchless());
        command.args(arguments).env_remove("COLUMNS").envs(variable.map(|value| ("COLUMNS", value)));
        let mut child = command.stdout(theirs).stderr(std::process::Stdio::null()).spawn().unwrap();
        // The command holds the terminal's other end, too.
        drop(command);
        let mut printed = Vec::new();
        // A terminal whose last user has gone is read as an error.
        let _ = ours.read_to_end(&mut printed);
        assert!(child.wait().unwrap().success());
        String::from_utf8(printed).unwrap().lines().map(str::to_owned).collect()
    }

    fn longest(lines: &[String]) -> usize {
        lines.iter().map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn tables_keep_to_the_terminal_s_width() {
        let names = (0..300).map(|column| format!("column{column}")).collect::<Vec<_>>().join(",");
        let cells = (0..300).map(|column| column.to_string()).collect::<Vec<_>>().join(",");
        let (_folder, path) = file(format!("{names}\n{cells}\n"));
        let path = path.to_str().unwrap();
        let lines = on_terminal(70, &["query", path, "--key", "column250", "--get", "250"], None);
        assert!((60..=70).contains(&longest(&lines)), "{lines:?}");
        assert!(lines[3].contains("250") && lines[3].contains('…'), "{lines:?}");

        let (_folder, path) = file(format!("k,v\n1,{}\n", "long ".repeat(50)));
        let question = ["query", path.to_str().unwrap(), "--key", "k", "--get", "1"];
        let lines = on_terminal(70, &question, None);
        assert_eq!((lines.len(), longest(&lines)), (5, 70), "{lines:?}");
        assert_eq!(longest(&on_terminal(70, &question, Some("50"))), 50);
        assert_eq!(longest(&on_terminal(70, &question, Some("0"))), 70);
    }

    #[test]
    fn a_closed_standard_output_is_an_error() {
        let sample = sample();
        let sample = sample.to_str().unwrap();
        for arguments in [
            &["query", sample, "--key", "pos", "--get", "50338589"][..],
            &["query", sample, "--key", "pos", "--count", "0", "1", "--format", "csv"],
        ] {
            let shell = |redirect: &str| -> Outcome {
                let script = format!("\"$0\" \"$@\" {redirect}");
                Command::new("sh").args(["-c", &script, latchless()]).args(arguments).output().unwrap().into()
            };
            let closed = shell(">&-");
            assert_eq!(closed.code, 1, "{arguments:?}: {}", closed.err);
            assert!(closed.err.contains("error: standard output is closed"), "{}", closed.err);
            // Thrown away on purpose, in either way of opening it, is no error.
            for thrown in ["> /dev/null", "1<> /dev/null"] {
                assert_eq!(shell(thrown).code, 0, "{arguments:?}");
            }
        }
        let full = Path::new("/dev/full");
        let answer = common::command(Path::new(sample), "--key pos --between 0 99999999")
            .stdout(File::options().write(true).open(full).unwrap())
            .output()
            .unwrap();
        assert_eq!(answer.status.code(), Some(1));
    }

    /// The most memory that any process which this one has waited for took, in bytes.
    fn peak_bytes() -> u64 {
        // SAFETY: all of its fields are numbers, which may be zero.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a variable of this function.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) }, 0);
        usage.ru_maxrss as u64 * 1024
    }

    #[test]
    fn a_long_table_takes_no_more_memory_than_its_file() {
        let rows = 100_000;
        let (_folder, path) = many(rows);
        let answer = run(&path, "--key pos --between 0 100000000");
        assert_eq!(answer.lines().len() as u64, rows + 4);
        // A table in memory took more than 2 kB a row.
        let peak = peak_bytes();
        assert!(peak < 90_000_000, "{peak} bytes");
    }
}
