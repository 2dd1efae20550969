#!/usr/bin/env bash
# Compiles and runs each program in C and C++ of the book: book.sh FOLDER, where pkg-config finds the library.
# A block marked `c` or `cpp` is a whole program, which returns 0.
set -euo pipefail
work=$1
book=$(cd "$(dirname "$0")/../../../docs" && pwd)
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
awk -v to="$work" '
    /^```/ { inside = !inside && ($0 == "```c" || $0 == "```cpp")
             if (inside) { page = FILENAME; sub(/.*\//, "", page); sub(/\.md$/, "", page)
                           file = to "/" page "-" FNR "." substr($0, 4) }
             next }
    inside { print >file }' "$book"/*.md
flags=$(pkg-config --cflags latchless)
libs=$(pkg-config --libs latchless)
count=0
for source in "$work"/*.c "$work"/*.cpp; do
    [ -e "$source" ] || continue
    case $source in
    *.c) cc -std=c99 -Wall -Wextra -Werror -pedantic $flags "$source" -o "$source.out" $libs ;;
    *) c++ -std=c++17 -Wall -Wextra -Werror -pedantic $flags "$source" -o "$source.out" $libs ;;
    esac || fail "$(basename "$source") of the book doesn't compile"
    "$source.out" || fail "$(basename "$source") of the book fails"
    count=$((count + 1))
done
[ "$count" -ge 3 ] || fail "the book has $count programs in C and C++"
# Its blocks for CMake are those of the README, which cmake.sh builds.
cmake_of() { awk '/^```/ { inside = !inside && $0 == "```cmake"; next } inside' "$1" | sed 's/(prices /(program /'; }
diff <(cmake_of "$book/getting-started.md") <(cmake_of "$book/../crates/capi/README.md") ||
    fail "the book's CMake differs from the one of crates/capi/README.md"
echo "$count programs of the book run"
