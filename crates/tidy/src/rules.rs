//! The rules. Each looks at one file and says what breaks it, but for dead files and idle errors, which take
//! all of them.

use crate::house::{
    COMMENT_CHARS_MAX, ERRORS, FILE_LINES_MAX, FROM_ELSEWHERE, FUNCTION_LINES_MAX, LIBRARIES, RETURN_ERRORS,
    ROOMS, Rooms, TEST_HELPERS, WITH_ORDERINGS, WITH_UNSAFE_CODE,
};
use crate::source::{Source, function_lines, function_name, names_after, words};
use std::collections::HashSet;

type Rule = fn(&Source) -> Vec<String>;

const RULES: [Rule; 9] = [
    imports_go_down,
    nothing_leaves_through_super,
    orderings_keep_to_their_places,
    unsafe_code_keeps_to_its_places,
    files_say_what_they_are_for,
    nothing_is_left_open,
    files_and_functions_are_short,
    comments_are_narrow,
    lints_are_silenced_with_a_reason,
];

/// What breaks a rule in this file.
pub fn findings(source: &Source) -> Vec<String> {
    RULES.iter().flat_map(|rule| rule(source)).collect()
}

fn imports_go_down(source: &Source) -> Vec<String> {
    let rooms = ROOMS.iter().filter(|rooms| source.path.starts_with(rooms.folder));
    rooms.flat_map(|rooms| imports_go_down_in(source, rooms)).collect()
}

fn imports_go_down_in(source: &Source, rooms: &Rooms) -> Vec<String> {
    let Some(own) = source.module_in(rooms.folder).filter(|&own| own != TEST_HELPERS) else {
        return Vec::new();
    };
    let floor = |name: &str| rooms.floors.iter().position(|floor| floor.contains(&name));
    if rooms.complete && floor(own).is_none() {
        return vec![source.finding(0, format!("{own} is on no floor: add it to the house"))];
    }
    // The folder's own path inside of its crate.
    let (_, inside) = rooms.folder.split_once("/src/").expect("a folder of sources");
    let from_root = format!("crate::{}", inside.replace('/', "::"));
    let directly = source.is_directly_in(rooms.folder);
    let mut findings = Vec::new();
    for (number, line) in source.tested_code() {
        // A macro's parameter is named where the macro is called.
        if names_after(line, &from_root).any(str::is_empty) && !line.contains(&format!("{from_root}$")) {
            findings.push(source.finding(number, "imports several modules at once: name each"));
        }
        let by_super = names_after(line, "super::").filter(|_| directly && !line.contains("super::super"));
        for name in names_after(line, &from_root).chain(by_super).filter(|&name| name != own) {
            let Some(other) = floor(name) else { continue };
            if floor(own).is_some_and(|own| other >= own) {
                findings.push(source.finding(number, format!("{own} imports {name}, which isn't below it")));
            }
        }
    }
    findings
}

fn nothing_leaves_through_super(source: &Source) -> Vec<String> {
    let found = source.tested_code().filter(|(_, line)| line.contains("super::super"));
    let what = "leaves its module through super::super: use crate::…";
    if source.is_in(&LIBRARIES) {
        found.map(|(number, _)| source.finding(number, what)).collect()
    } else {
        Vec::new()
    }
}

fn orderings_keep_to_their_places(source: &Source) -> Vec<String> {
    if !source.is_in(&LIBRARIES) || source.is_in(&WITH_ORDERINGS) {
        return Vec::new();
    }
    const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    let found = source.tested_code().filter(|(_, line)| words(line).any(|word| NAMES.contains(&word)));
    found.map(|(number, _)| source.finding(number, "a memory ordering outside of its places")).collect()
}

fn unsafe_code_keeps_to_its_places(source: &Source) -> Vec<String> {
    if !source.is_in(&LIBRARIES) || source.is_in(&WITH_UNSAFE_CODE) {
        return Vec::new();
    }
    let found = source.code().filter(|(_, line)| words(line).any(|word| word == "unsafe"));
    found.map(|(number, _)| source.finding(number, "unsafe code outside of its places")).collect()
}

fn files_say_what_they_are_for(source: &Source) -> Vec<String> {
    let says =
        source.text.lines().find(|line| !line.starts_with("#!")).is_some_and(|line| line.starts_with("//!"));
    if says { Vec::new() } else { vec![source.finding(0, "doesn't open with a //! line")] }
}

fn nothing_is_left_open(source: &Source) -> Vec<String> {
    // Put together here, so that this file doesn't find itself.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["todo", "!("], ["unimplemented", "!("], ["dbg", "!("]]
        .map(|m| m.concat());
    let lines = source.text.lines().enumerate();
    let open = lines.filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
    open.map(|(number, line)| source.finding(number, format!("left open: {}", line.trim()))).collect()
}

fn files_and_functions_are_short(source: &Source) -> Vec<String> {
    let mut findings = Vec::new();
    let lines: Vec<&str> = source.text.lines().collect();
    if lines.len() > FILE_LINES_MAX {
        findings.push(source.finding(0, format!("{} lines, over {FILE_LINES_MAX}", lines.len())));
    }
    for (start, name) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, function_name(line)?))) {
        // No further than the limit: a file is looked at in a time that grows with its length.
        let end = lines.len().min(start + FUNCTION_LINES_MAX + 1);
        if function_lines(&lines[start..end]) > FUNCTION_LINES_MAX {
            findings.push(source.finding(start, format!("{name} has over {FUNCTION_LINES_MAX} lines")));
        }
    }
    findings
}

fn comments_are_narrow(source: &Source) -> Vec<String> {
    // Tables and links can't be broken.
    let breakable = |line: &str| !line.contains("| ") && !line.contains("](");
    let long = |line: &str| line.chars().count() > COMMENT_CHARS_MAX && breakable(line);
    let found = source.comments().filter(|(_, line)| long(line));
    found
        .map(|(number, _)| source.finding(number, format!("comment over {COMMENT_CHARS_MAX} characters")))
        .collect()
}

fn lints_are_silenced_with_a_reason(source: &Source) -> Vec<String> {
    let silenced = |line: &str| ["#[", "#!["].iter().any(|open| line.contains(&[open, "allow("].concat()));
    let found = source.code().filter(|(_, line)| silenced(line) && !line.contains("reason = "));
    found.map(|(number, _)| source.finding(number, "silences a lint without a reason")).collect()
}

/// Files that no other file names, so that the compiler never sees them.
pub fn dead_files(sources: &[Source]) -> Vec<String> {
    let mut named = HashSet::new();
    for source in sources {
        let (folder, file) = source.path.rsplit_once('/').expect("a file in a folder");
        let stem = file.strip_suffix(".rs").expect("a Rust file");
        let is_root = ["lib", "main", "mod"].contains(&stem) || source.starts_a_target();
        let below = if is_root { folder.to_owned() } else { format!("{folder}/{stem}") };
        for (_, line) in source.code() {
            if let Some(name) = names_after(line, "mod ").next().filter(|_| line.trim_end().ends_with(';')) {
                named.insert(format!("{below}/{name}.rs"));
                named.insert(format!("{below}/{name}/mod.rs"));
            }
            if let Some((_, path)) = line.split_once("#[path = \"") {
                named.insert(format!("{folder}/{}", path.split('"').next().unwrap_or_default()));
            }
        }
    }
    let dead = sources.iter().filter(|source| !source.starts_a_target() && !named.contains(&source.path));
    dead.map(|source| source.finding(0, "no mod names this file")).collect()
}

/// Errors of the product that none of its operations returns.
pub fn idle_errors(sources: &[Source]) -> Vec<String> {
    let mut returned: HashSet<&str> = FROM_ELSEWHERE.into();
    for source in sources.iter().filter(|source| source.is_in(&RETURN_ERRORS) && source.path != ERRORS) {
        let lines = source.tested_code();
        returned.extend(
            lines.flat_map(|(_, line)| names_after(line, "Error::").chain(names_after(line, "Self::"))),
        );
    }
    let Some(errors) = sources.iter().find(|source| source.path == ERRORS) else { return Vec::new() };
    let of_the_enum = errors.code().skip_while(|(_, line)| !line.starts_with("pub enum Error"));
    let variants = of_the_enum.skip(1).take_while(|(_, line)| *line != "}").filter_map(|(number, line)| {
        let name = line.strip_prefix("    ").and_then(|line| words(line).next())?;
        name.starts_with(char::is_uppercase).then_some((number, name))
    });
    let idle = variants.filter(|(_, name)| !returned.contains(name));
    idle.map(|(number, name)| errors.finding(number, format!("no operation returns {name}"))).collect()
}

impl Source {
    /// Whether the file is compiled by itself: by Cargo, or by the test of what the compiler says.
    fn starts_a_target(&self) -> bool {
        let parts: Vec<&str> = self.path.rsplitn(3, '/').collect();
        let [file, folder, above] = parts[..] else { return true };
        let by_name = ["lib.rs", "main.rs", "build.rs"].contains(&file);
        by_name
            || ["tests", "examples", "benches", "fuzz_targets", "bin"].contains(&folder)
                && !above.contains("/src")
            || folder.ends_with("messages") && above.ends_with("/tests")
    }
}
