#!/usr/bin/env python3
"""Races two builds of `witness` (crates/latchless/examples/witness.rs) and counts their instructions.

    python3 crates/bench/compare.py BEFORE AFTER [--records 4000000] [--rounds 9] [--count] > results/...

Times are nanoseconds per operation, medians of rounds in which the two programs alternate. With --count, also
instructions per operation by valgrind's callgrind (which doesn't support AVX-512), with 400,000 entries.
"""

import argparse
import re
import statistics
import subprocess

OPERATIONS = ["get", "chain", "get-many", "insert", "insert-many", "update", "remove", "range-48", "range-1000"]
COUNTED_RECORDS = 400_000


def time(program, operation, records):
    """Returns nanoseconds per operation, and the number of operations."""
    out = subprocess.run([program, operation, str(records)], check=True, capture_output=True, text=True).stdout
    nanoseconds, operations = out.split()
    return float(nanoseconds), int(operations)


def count(program, operation):
    """Returns the instructions of a whole run, and the number of operations."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, operation, str(COUNTED_RECORDS)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1)), int(run.stdout.split()[1])


def counts(program):
    """Returns the instructions per operation, by operation."""
    filling, _ = count(program, "none")
    runs = {operation: count(program, operation) for operation in OPERATIONS}
    return {operation: (total - filling) / done for operation, (total, done) in runs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    programs = [options.before, options.after]
    counted = [counts(program) for program in programs] if options.count else None
    print("| operation | before | after | after / before |" + (" instructions before | after | ratio |" if counted else ""))
    print("|---|---:|---:|---:|" + ("---:|---:|---:|" if counted else ""))
    for operation in OPERATIONS:
        times = [[], []]
        for turn in range(options.rounds):
            # Each comes first in every second round.
            for which in [0, 1] if turn % 2 == 0 else [1, 0]:
                times[which].append(time(programs[which], operation, options.records)[0])
        before, after = map(statistics.median, times)
        row = f"| {operation} | {before:.1f} ns | {after:.1f} ns | {after / before:.2f} |"
        if counted:
            before, after = counted[0][operation], counted[1][operation]
            row += f" {before:.0f} | {after:.0f} | {after / before:.2f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
