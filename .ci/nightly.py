#!/usr/bin/env python3
"""The long forms of what guards quality: runs them and writes into their list how each ended.

  .ci/run nightly              every row of docs/internals/nightly.md
  .ci/run nightly NAME...      these rows
  .ci/run nightly --list       their names, and how each ended last

The list is the table of that page: a name, what it is, a command, and the commit, the day, the seconds and the outcome
of its last run. A run that fails is written down as well. A work tree with changes has no commit to name, so it is
refused.
"""

import datetime
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "internals" / "nightly.md"
COLUMNS = ["name", "what", "command", "commit", "day", "seconds", "outcome"]
# The last line of each test runner; .ci/run adds these up.
CLOSING = re.compile(r"^\d+ passed, \d+ failed(, \d+ skipped)?$", re.MULTILINE)


def fail(message):
    sys.exit(f"error: {message}")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def cells(line):
    """The cells of a row of the table, or None where a line is none."""
    if not line.startswith("| "):
        return None
    row = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(row) != len(COLUMNS):
        fail(f"{PAGE.name} has a row of {len(row)} cells instead of {len(COLUMNS)}: {line.strip()}")
    return dict(zip(COLUMNS, row, strict=True))


def rows():
    """All rows by name, in the order of the page."""
    found = [cells(line) for line in PAGE.read_text().splitlines()]
    return {row["name"]: row for row in found if row and row["name"] not in ("name", "") and set(row["name"]) != {"-"}}


def write_down(changed):
    """Replaces the row of that name."""
    text = "| " + " | ".join(changed[column] for column in COLUMNS) + " |"
    lines = PAGE.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if (cells(line) or {}).get("name") == changed["name"])
    lines[at] = text
    PAGE.write_text("\n".join(lines) + "\n")


def run(row):
    """Runs the command of a row, shows what it prints, and writes down how it ended."""
    print(f"\n==> {row['name']}: {row['command']}", flush=True)
    started, said = time.monotonic(), []
    process = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", row["command"].strip("`")],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )
    for line in process.stdout:
        print(line, end="", flush=True)
        said.append(line)
    passed = process.wait() == 0
    closing = CLOSING.findall("".join(said)) and [found.group() for found in CLOSING.finditer("".join(said))][-1]
    row["commit"], row["day"] = git("rev-parse", "--short=8", "HEAD"), datetime.date.today().isoformat()
    row["seconds"] = str(round(time.monotonic() - started))
    row["outcome"] = ("passed" if passed else "FAILED") + (f": {closing}" if closing else "")
    write_down(row)
    return passed


def main():
    known = rows()
    if sys.argv[1:] == ["--list"]:
        for row in known.values():
            print(f"{row['name']:12} {row['commit'] or 'never run':10} {row['outcome']}")
        return
    unknown = [name for name in sys.argv[1:] if name not in known]
    if unknown:
        fail(f"there is no row {unknown[0]}, only: {' '.join(known)}")
    changed = [line for line in git("status", "--porcelain", "--untracked-files=no").splitlines() if PAGE.name not in line]
    if changed:
        fail(f"commit first, so that a result has a commit: {changed[0]}")
    failed = [name for name in sys.argv[1:] or known if not run(known[name])]
    print(f"\n{len(sys.argv[1:] or known) - len(failed)} passed, {len(failed)} failed")
    if failed:
        fail(f"these failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
