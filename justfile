# One word a task. Nothing here that `.ci/run STEP` or plain cargo doesn't do as well: `just` is a
# convenience, not a requirement.

# The tasks.
default:
    @just --list --unsorted

# All tests, as the README says.
test:
    cargo test --workspace

# Formatting and lints.
lint:
    .ci/run fmt lint

# The documentation of all crates; warnings are errors.
doc:
    .ci/run doc

# Undefined behaviour: the tests of the rooms with unsafe code, interpreted.
miri:
    .ci/run miri

# Every schedule of the latch and of what is built on it.
loom:
    .ci/run loom

# The tree itself, with tests that choose at each step which thread goes on.
shuttle:
    .ci/run shuttle

# The concurrent tests with disturbed schedules.
disturb:
    .ci/run disturb

# Data races: the concurrent tests under ThreadSanitizer.
tsan:
    .ci/run tsan

# The concurrent tests a hundred times as long: 10^8 checked operations per index. About an hour.
stress effort="100":
    LATCHLESS_EFFORT={{effort}} cargo test --release -p latchless --test concurrent

# The long campaigns of everything that looks for races: hours.
campaign:
    LATCHLESS_EFFORT=100 cargo test --release -p latchless --test concurrent
    LATCHLESS_EFFORT=20 .ci/run disturb tsan
    LOOM_MAX_PREEMPTIONS=4 .ci/run loom
    MIRI_SEEDS=64 .ci/run miri
    FUZZ_SECONDS=3600 .ci/run fuzz

# Memory errors: all tests of the libraries under AddressSanitizer.
asan:
    .ci/run asan

# Each fuzz target for some seconds.
fuzz seconds="60":
    FUZZ_SECONDS={{seconds}} .ci/run fuzz

# The NEON kernel on an emulated processor.
neon:
    .ci/run neon

# The Python package: its wheel, and its tests on every interpreter that is there.
python:
    .ci/run python

# The C library: its header, its tests in C and C++.
c:
    .ci/run c

# The rules of the house: imports, lengths, unsafe code, orderings.
tidy:
    cargo test -p latchless-tidy

# Mistakes that the tests must find: `just mutants`, or `just mutants latch merge`.
mutants *names:
    .ci/mutants.py {{names}}

# Everything that guards quality.
ci:
    .ci/run

# Race the indexes: `just bench --workload scan --records 1000000`.
bench *arguments:
    cargo run --release -p latchless-bench -- {{arguments}}

# What `Index` has to show, row by row: `just suite 10M crates/bench/results/flagship.md`. Takes hours.
suite records="1M" report="flagship.md":
    cargo run --release -p latchless-bench --features rivals -- --suite flagship --records {{records}} --report {{report}}

# The README's chart, from the kept results.
chart:
    python3 crates/bench/chart.py

# Rerun the papers' experiments: `just paper pb-tree table-3`.
paper *arguments:
    cargo run --release -p latchless-lab -- paper {{arguments}}

# The search kernels' figures: docs/internals/search-kernels.md.
kernels:
    cargo run --release -p latchless-core --example search_kernels
