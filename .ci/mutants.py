#!/usr/bin/env python3
"""Mutation testing: plants one mistake at a time in a copy of the library and asks the tests to find it.

  .ci/mutants.py                  every mutant of .ci/mutants.toml
  .ci/mutants.py NAME...          the mutants whose name contains one of these words
  .ci/mutants.py --list           their names, without a build
  .ci/mutants.py --report FILE    writes the table to a file, too

All mutants are compiled into one build of each harness; the environment variable LATCHLESS_MUTANT chooses the
one that is active. The sources stay clean: the copy below target/mutants/source gets, at each place that the
list names, `if mutant(N) { mistake } else { original }`.

A mutant is killed when a test fails, aborts or runs into its time limit. The list explains each mutant that is
expected to survive. The outcome is an error when another one survives, when an explained one is killed (then its
explanation is wrong), or when fewer than 95 of 100 mutants are killed.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / ".ci" / "mutants.toml"
BUILD = ROOT / "target" / "mutants"
COPY = BUILD / "source"
# Where the switch is, and where tests run.
SWITCHED, TESTED = pathlib.Path("crates/core"), pathlib.Path("crates/latchless")
KILLED_PERCENT_MIN = 95

# Appended to the lowest crate of the copy.
SWITCH = """
/// Whether the mistake of this number is the one that LATCHLESS_MUTANT chooses.
#[doc(hidden)]
pub fn mutant(number: usize) -> bool {
    static CHOSEN: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("LATCHLESS_MUTANT").map_or(0, |chosen| chosen.parse().expect("a number")))
        == number
}
"""


def fail(message):
    sys.exit(f"error: {message}")


def read_list():
    """The mutants, numbered from 1, and the harnesses in the order in which they are run."""
    with LIST.open("rb") as file:
        data = tomllib.load(file)
    mutants = data["mutant"]
    for number, mutant in enumerate(mutants, 1):
        mutant["number"] = number
    names = [mutant["name"] for mutant in mutants]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        fail(f"two mutants are called {', '.join(sorted(twice))}")
    return mutants, data["harness"]


def place_of(mutant, text):
    """Where in the text of its file the mutant's snippet begins and ends."""
    found = [match.start() for match in re.finditer(re.escape(mutant["find"]), text)]
    if "nth" in mutant and mutant["nth"] <= len(found):
        found = [found[mutant["nth"] - 1]]
    if len(found) != 1:
        fail(f"{mutant['name']}: {mutant['file']} has its snippet {len(found)} times, not once: {mutant['find']!r}")
    for code in (mutant["find"], mutant["with"]):
        # Such a switch wouldn't compile, and no other mutant would be tried.
        if any(code.count(left) != code.count(right) for left, right in ("()", "[]", "{}")):
            fail(f"{mutant['name']}: brackets that are open at one end: {code!r}")
    return found[0], found[0] + len(mutant["find"])


def mutated(snippet, mutants):
    """Rust code that does what the snippet does, or what the chosen one of these mutants does."""
    statement = snippet.rstrip().endswith((";", "}"))
    own = mutants[0]["file"].startswith("crates/core/")
    switch = "crate::mutant" if own else "latchless_core::mutant"
    branches = "".join(f"if {switch}({m['number']}) {{ {m['with']} }} else " for m in mutants)
    code = f"{branches}{{ {snippet} }}"
    return code if statement else f"({code})"


def plant(mutants):
    """Copies the workspace and plants every mutant in the copy."""
    COPY.mkdir(parents=True, exist_ok=True)
    tracked = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    ).splitlines()
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    missing = set(by_file) - set(tracked)
    if missing:
        fail(f"the list names files that don't exist: {', '.join(sorted(missing))}")
    switch, log = str(SWITCHED / "src" / "lib.rs"), "crates/log/Cargo.toml"
    kept = set()
    for name in tracked:
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            continue
        kept.add(target)
        content = source.read_bytes()
        if name in by_file:
            content = planted(content.decode(), by_file[name]).encode()
        if name == switch:
            content += SWITCH.encode()
        if name == log:
            # The one crate with mutants that reaches the switch by others alone.
            content = content.replace(b"[dependencies]\n", b"[dependencies]\nlatchless-core.workspace = true\n", 1)
        # Unchanged files keep their time, so that a second build is short.
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
    for target in COPY.rglob("*"):
        if target.is_file() and target not in kept:
            target.unlink()


def planted(text, mutants):
    places = {}
    for mutant in mutants:
        places.setdefault(place_of(mutant, text), []).append(mutant)
    ordered = sorted(places)
    for (_, end), (start, _) in zip(ordered, ordered[1:]):
        if start < end:
            fail(f"snippets overlap in {mutants[0]['file']}: {text[start:end]!r}")
    for start, end in reversed(ordered):
        text = text[:start] + mutated(text[start:end], places[start, end]) + text[end:]
    return text


def build(harnesses):
    """Builds each harness once; gives each the executables that cargo names."""
    for harness in harnesses:
        environment = dict(os.environ, RUSTFLAGS=harness.get("rustflags", ""), CARGO_INCREMENTAL="0")
        command = ["cargo", *harness["cargo"].split(), "--no-run", "--target-dir", str(BUILD / harness["name"])]
        print("+", f"RUSTFLAGS='{harness.get('rustflags', '')}'", " ".join(command), flush=True)
        done = subprocess.run(command, cwd=COPY, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        harness["executables"] = re.findall(r"Executable .*\((.*)\)", done.stderr)
        if not harness["executables"]:
            fail(f"the harness {harness['name']} has no tests")


def end(child):
    """Ends a child with all that it has started, unless it has ended by itself."""
    try:
        child.wait(timeout=1)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run_tests(harness, number):
    """None if every test of the harness passes, else what happened."""
    environment = dict(os.environ, LATCHLESS_MUTANT=str(number), RUST_BACKTRACE="0", **harness.get("environment", {}))
    for executable in harness["executables"]:
        command = [executable, *harness.get("arguments", "").split()]
        child = subprocess.Popen(
            command, cwd=COPY / TESTED, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )
        late = threading.Event()
        timer = threading.Timer(harness["seconds"], lambda: (late.set(), end(child)))
        timer.start()
        try:
            # The first test that fails has killed the mutant; the others needn't end.
            failed = next(filter(None, (re.match(r"test (\S+) .*FAILED", line) for line in child.stdout)), None)
        finally:
            timer.cancel()
            end(child)
        if failed:
            return failed[1]
        if late.is_set():
            return f"runs longer than {harness['seconds']} s"
        if child.returncode < 0:
            return f"killed by {signal.Signals(-child.returncode).name}"
        if child.returncode != 0:
            return f"exit code {child.returncode}"
    return None


def can_find(harness, mutant):
    """Whether the harness is one of those that are to find the mutant."""
    named = mutant.get("harnesses")
    return harness["name"] in named if named else not harness.get("only_if_named")


def judge(mutant, harnesses):
    """The harness that kills the mutant and how, and the seconds that it took."""
    started = time.monotonic()
    for harness in harnesses:
        if not can_find(harness, mutant):
            continue
        killer = run_tests(harness, mutant["number"])
        if killer:
            return harness["name"], killer, time.monotonic() - started
    return None, "", time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    mutants, harnesses = read_list()
    chosen = [m for m in mutants if not arguments.names or any(word in m["name"] for word in arguments.names)]
    if not chosen:
        fail(f"no mutant has a name with {' or '.join(arguments.names)}; --list shows them")
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant['file']}: {mutant['name']}")
        return
    plant(mutants)
    harnesses = [harness for harness in harnesses if any(can_find(harness, mutant) for mutant in chosen)]
    build(harnesses)
    for harness in harnesses:
        wrong = run_tests(harness, 0)
        if wrong:
            fail(f"without a mutant the harness {harness['name']} fails: {wrong}")
    rows, unexpected, killed = [], [], 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, (harness, killer, seconds) in zip(chosen, pool.map(lambda m: judge(m, harnesses), chosen)):
            reason = mutant.get("survives", "")
            outcome = f"{harness}: {killer}" if harness else f"survives: {reason or 'NOT EXPLAINED'}"
            print(f"{'killed  ' if harness else 'SURVIVES'} {seconds:5.1f} s  {mutant['name']} ({outcome})", flush=True)
            rows.append((mutant["name"], mutant["file"], outcome))
            killed += harness is not None
            if bool(harness) == bool(reason):
                unexpected.append(mutant["name"])
    percent = 100 * killed / len(chosen)
    print(f"\n{killed} of {len(chosen)} mutants killed: {percent:.1f} %")
    if arguments.report:
        table = "".join(f"| {name} | `{file}` | {outcome} |\n" for name, file, outcome in rows)
        arguments.report.write_text(f"| mutant | file | killed by |\n|---|---|---|\n{table}")
    if unexpected:
        print("not as the list says: " + "; ".join(unexpected))
    wrong = len(unexpected) + (not arguments.names and percent < KILLED_PERCENT_MIN)
    print(f"{len(chosen) - len(unexpected)} passed, {len(unexpected)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
