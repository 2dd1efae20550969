//! `latchless completions` and `latchless man`.

mod common;

use common::shell;
use std::path::Path;

fn run(line: &str) -> common::Outcome {
    shell(Path::new("/"), line)
}

#[test]
fn completions_know_commands_options_and_values() {
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = run(&format!("latchless completions {name}"));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        // The last two don't complete values.
        let words = ["join", "query", "get-from", "nearest", "backward", "timestamptz"];
        for word in &words[..if matches!(name, "powershell" | "elvish") { 4 } else { words.len() }] {
            assert!(outcome.out.contains(word), "{name} {word}");
        }
    }
    let parsed = run("latchless completions bash | bash -n");
    assert!(parsed.code == 0 && parsed.err.is_empty(), "{}", parsed.err);
    assert_eq!(run("latchless completions csh").code, 2);
}

#[test]
fn pages_are_about_the_program_or_a_command() {
    let page = |line: &str| {
        let outcome = run(line);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        outcome.out
    };
    let all = page("latchless man");
    assert!(all.contains(".TH latchless 1") && all.contains("latchless\\-join(1)"), "{all}");
    let join = page("latchless man join");
    assert!(join.contains(".TH latchless-join 1"), "{join}");
    for text in ["\\-\\-tolerance", "half\\-open", "The last calibration of the instrument"] {
        assert!(join.contains(text), "{text} should be in {join}");
    }
    let none = run("latchless man jion");
    assert!(
        none.code == 2 && none.err.contains("no command \"jion\"; there are query, join, shell, log"),
        "{}",
        none.err
    );
    assert_eq!(run("latchless man query | head -n 1").code, 0);
}
