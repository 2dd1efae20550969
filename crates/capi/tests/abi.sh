#!/usr/bin/env bash
# Compares the binary interface that latchless.h declares with the kept one, tests/abi.txt: constants, types, and the
# parameters of functions, each on a line. abi.sh LIBRARY: the built library, which has to export these functions and no
# others. BLESS=1 keeps what is there now, unless something is gone or differs and LATCHLESS_ABI is that of before.
set -euo pipefail
capi=$(cd "$(dirname "$0")/.." && pwd)
header=$capi/include/latchless.h kept=$capi/tests/abi.txt
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

found=$(mktemp)
trap 'rm -f "$found"' EXIT
# The header's own lines as the compiler sees them, without bodies of functions, each declaration on one line.
cc -E -dD -std=c99 "$header" | awk -v header="$header" '
    /^# [0-9]+ "/ { inside = index($0, "\"" header "\"") > 0; next }
    !inside || /^#undef/ { next }
    /^#define/ { if (NF > 2) { $1 = $1; print } next }
    {
        text = text " " $0
        depth += gsub(/{/, "{") - gsub(/}/, "}")
        if (depth > 0 || $0 !~ /[;}][ \t]*$/) next
        if (text ~ /^ *static inline/) sub(/ *{.*/, ";", text)
        gsub(/[ \t]+/, " ", text)
        sub(/^ /, "", text)
        gsub(/\( /, "(", text)
        print text
        text = ""
    }' >"$found"
sed -n '/^typedef\|^#define\|^static/!s/.*\b\(latchless_[a-z0-9_]*\)(.*/\1/p' "$found" | sort >"$found.declared"
nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort >"$found.exported"
diff "$found.declared" "$found.exported" >&2 ||
    { rm -f "$found".*; fail "latchless.h declares other functions (<) than liblatchless.so exports (>)"; }
rm -f "$found".*

diff "$kept" "$found" >&2 && exit
# What programs were compiled for and isn't there any more. Structures and enumerations may get further members.
gone=$({ grep -vxFf "$found" "$kept" || true; } | while IFS= read -r line; do
    if [[ $line != *" } "* ]] || ! grep -qF -- "${line% \} *} " "$found"; then printf '%s\n' "$line"; fi
done)
version() { sed -n 's/^#define LATCHLESS_ABI //p' "$1"; }
if [ -n "$gone" ] && [ "$(version "$kept")" = "$(version "$found")" ]; then
    fail "programs compiled for the kept interface would break, so LATCHLESS_ABI has to change: $gone"
fi
[ -n "${BLESS:-}" ] || fail "the binary interface has changed: BLESS=1 keeps it in tests/abi.txt"
cp "$found" "$kept"
