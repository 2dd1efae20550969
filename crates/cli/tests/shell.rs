//! `latchless shell`: lines from a pipe, and from a terminal.

mod common;

use common::{Outcome, sample};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The program, and the lines that it reads.
fn lines(file: &Path, arguments: &str, lines: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless"));
    command.arg("shell").arg(file).args(arguments.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn questions_have_the_answers_that_they_have_alone() {
    for question in [
        "--get 50338589 1",
        "--between 50400000 50410000 --where 'ref = A' --limit 3",
        "--key id --prefix rs7410 --limit 5 --format json",
        "--key ref,pos --get TC",
        "--key id --get rs7410291 --select id,alt --format csv",
        "--count 50400000 50500000",
        "--quantile 0.5",
        "--count-by --key 'ref,alt' --limit 3",
    ] {
        let shell = lines(&sample(), "--key pos", &format!("{question}\n"));
        let key = if question.contains("--key") { "" } else { "--key pos" };
        let line = format!("latchless query {} {question} {key}", sample().display());
        let alone = common::shell(Path::new("/"), &line);
        assert_eq!(shell.lines(), alone.lines(), "{question}");
    }
}

#[test]
fn an_index_is_built_once_whatever_questions_are_about() {
    let script = "\\timing on\n--count-by --limit 1\n--get 50338589\n--floor 50400000\n--get 5.5\n--get x\n--get x --key id\n\
                  --prefix rs1 --key id\n--get x --key id\n--get 50338589 --where 'ref = A'\n--nth 1";
    let outcome = lines(&sample(), "--key pos --format csv", script);
    let build = outcome.err.lines().filter(|line| line.ends_with(",0,0,0") && !line.starts_with("found"));
    let times: Vec<Vec<&str>> = build.map(|line| line.split(',').collect()).collect();
    // Of the columns, the last but five are the times of reading, of parsing, of building and of the
    // question.
    let built: Vec<bool> = times.iter().map(|fields| fields[fields.len() - 5] != "0").collect();
    let expected = [true, false, false, false, true, false, false, true, false];
    assert_eq!(built, expected, "{}", outcome.err);
    assert_eq!(outcome.code, 2, "x is no number");
}

#[test]
fn errors_name_their_line_and_the_session_goes_on() {
    let script = "\\kye\n\n# a remark\n--get\n--get 1 --nosuch\n\\key nosuch\n--floor 3 --limit 1\n--get 'a\n--get x\n\
                  --save f --get 1\n--get-from -\n--get-from nosuch\n--nth 1 --value id\n\\quit\n--nth 2";
    let outcome = lines(&sample(), "--key pos --format csv", script);
    assert_eq!((outcome.code, &outcome.out[..]), (2, "pos,id\n50300078,rs7410291\n"), "{}", outcome.err);
    for message in [
        "error: line 1 of standard input: there is no command \"\\\\kye\" (did you mean \\key?)",
        "error: line 4 of standard input: a value is required for '--get <K>...'",
        "error: line 5 of standard input: unexpected argument '--nosuch' found",
        "error: line 6 of standard input: there is no column \"nosuch\" for \\key",
        "error: line 7 of standard input: --limit goes with --between",
        "error: line 8 of standard input: a quote or a backslash is without its end",
        "error: line 9 of standard input: --get: \"x\" is not a number",
        "error: line 10 of standard input: --save goes with latchless query",
        "error: line 11 of standard input: --get-from can't be standard input",
        "error: line 12 of standard input: can't read nosuch",
    ] {
        assert!(outcome.err.contains(message), "{message} should be in {}", outcome.err);
    }
    assert_eq!(outcome.err.matches("error:").count(), 10, "{}", outcome.err);
    assert!(lines(&sample(), "", "--get 1").err.contains("no column to ask about"));
    assert!(lines(Path::new("-"), "", "").err.contains("FILE can't be standard input"));
    let missing = lines(&sample(), "--key nosuch", "");
    assert!(missing.code == 2 && missing.err.contains("there is no column \"nosuch\""), "{}", missing.err);
}

#[test]
fn commands_say_what_they_are_asked() {
    let outcome = lines(&sample(), "--format csv", "\\key\n\\key id\n\\k\n\\columns\n\\help\n--help\n");
    let out = outcome.lines().join("\n");
    let begins =
        "no key yet: \\key COLUMN\nid\nnumber,column\n1,chrom\n2,pos\n3,id\n4,ref\n5,alt\n\\key COLUMN:";
    assert!(out.starts_with(begins), "{out}");
    assert!(out.contains("--quantile") && out.contains("\\timing [on|off]"), "{out}");
    assert_eq!(outcome.err, "");
    let timed =
        lines(&sample(), "--key pos", "\\timing\n--nth 1\n\\timing\n--nth 2\n\\timing off\n--nth 3\n");
    assert_eq!(timed.err.matches("distinct u64 keys").count(), 1, "{}", timed.err);
}

/// Lines are written before the prompt is there, so that a build that edits them may lose some.
#[cfg(all(target_os = "linux", not(feature = "line-editing")))]
#[test]
fn a_terminal_has_a_prompt() {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::ptr::null_mut;

    let size = libc::winsize { ws_row: 24, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: the three pointers that aren't null are to variables of this function.
    let opened = unsafe { libc::openpty(&mut ours, &mut theirs, null_mut(), null_mut(), &size) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the call above has opened both for us alone.
    let (mut ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless"));
    command.arg("shell").arg(sample()).args(["--key", "pos"]).env("XDG_DATA_HOME", folder.path());
    command.env("TERM", "xterm").stdin(theirs.try_clone().unwrap()).stdout(theirs).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(command);
    ours.write_all(b"--get 50338589\r\\nosuch\r\\quit\r").unwrap();
    let mut printed = Vec::new();
    // A terminal whose last user has gone is read as an error.
    let _ = ours.read_to_end(&mut printed);
    assert!(child.wait().unwrap().success());
    let printed = String::from_utf8(printed).unwrap();
    assert!(printed.contains("latchless> ") && printed.contains("rs"), "{printed}");
}
