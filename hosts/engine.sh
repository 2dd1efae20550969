# What the scripts of the hosts share: they source it, with `here`, `engine` and `version` set.

root=$(cd "$here/../.." && pwd)
work=$root/target/hosts/$engine
source=$work/source
export CARGO_TARGET_DIR=$work/target

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The source of the release, as cargo has unpacked it. The script goes there.
obtain() {
    local unpacked
    cargo fetch -q --locked --manifest-path "$here/engine/Cargo.toml"
    unpacked=$(cargo metadata --locked --format-version 1 --manifest-path "$here/engine/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$engine-$version/Cargo.toml\"" | cut -d'"' -f4)
    [ -f "$unpacked" ] || fail "cargo doesn't say where $engine $version is"
    rm -rf "$source"
    mkdir -p "$work"
    cp -r "$(dirname "$unpacked")" "$source"
    chmod -R u+w "$source"
    cd "$source"
}

# apply PATCH…: changes the source. Git takes it for a part of our repository unless told where to stop looking for
# one, and then skips the patch without an error.
apply() {
    GIT_CEILING_DIRECTORIES=$work git apply "$@"
    GIT_CEILING_DIRECTORIES=$work git apply --reverse --check "$@"
}

# suite NAME OPTION…: runs tests with cargo's options and writes how each ended to NAME.tests.
suite() {
    local name=$1
    shift
    printf '\n==> %s %s, %s\n' "$engine" "$version" "$name"
    cargo test -q "$@" --no-run
    # Failing tests are no failure here; they are compared below.
    cargo test "$@" --no-fail-fast 2>&1 | tee "$work/$name.log" || true
    awk '
        $1 == "Running" { part = $2 == "unittests" ? $3 : $2 }
        $1 == "Doc-tests" { part = "documentation" }
        /^test result: / { said += $4 + $6 + $8 }
        match($0, /^test .* \.\.\. (ok|FAILED|ignored)/) {
            line = substr($0, 6, RLENGTH - 5)
            end = match(line, / \.\.\. [a-zA-Z]+$/)
            print part " " substr(line, 1, end - 1) "\t" substr(line, end + 5)
            seen++
        }
        END {
            if (seen && seen == said) exit
            printf "error: the runner counts %d tests, and lists %d\n", said, seen >"/dev/stderr"
            exit 1
        }
    ' "$work/$name.log" | sort >"$work/$name.tests"
}

# outcome NAME WORD: how many tests ended so.
outcome() { awk -F'\t' -v word="$2" '$2 == word { count++ } END { print count + 0 }' "$work/$1.tests"; }

passed() { awk -F'\t' '$2 == "ok" { print $1 }' "$work/$1.tests"; }

summary() { echo "$1: $(outcome "$1" ok) passed, $(outcome "$1" FAILED) failed, $(outcome "$1" ignored) ignored"; }

# compare: what the engine's own memtable passed, if its tests ran too, must pass here, and otherwise everything.
compare() {
    local broken
    printf '\n%s %s\n' "$engine" "$version"
    if [ -n "${HOST_WHOLE:-}" ]; then
        summary own
        broken=$(comm -23 <(passed own) <(passed latchless))
    else
        broken=$(awk -F'\t' '$2 == "FAILED" { print $1 }' "$work/latchless.tests")
    fi
    summary latchless
    [ -z "$broken" ] || fail "these tests fail with the index:"$'\n'"$broken"
}
