#!/usr/bin/env bash
# Installs the library into a folder of the build, and uses it from there as programs do: compiles the tests in C and
# C++, runs them plainly and under the sanitizers, and follows the README. `.ci/run c` calls this.
set -euo pipefail
capi=$(cd "$(dirname "$0")/.." && pwd)
cd "$capi/../.."
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

work=$(realpath -m "${CARGO_TARGET_DIR:-target}")/c
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work/files" "$work/cmake"
"$capi/install.sh" "$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
library=$prefix/lib/liblatchless.so

# The library exports the functions of the header, and nothing else; both are as they were kept.
"$capi/tests/abi.sh" "$library"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$work/exported"
nm --defined-only "$prefix/lib/liblatchless.a" 2>/dev/null | awk '$2 == "T" && $3 ~ /^latchless_/ { print $3 }' |
    sort -u | diff - "$work/exported" >&2 || fail "liblatchless.a has other functions than liblatchless.so"
readelf -d "$library" | grep -q 'SONAME.*\[liblatchless.so.1\]' || fail "liblatchless.so has another SONAME"

# Programs may include the headers with any of these warnings as errors.
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror"
strict_cpp="$strict -Wold-style-cast"
flags=$(pkg-config --cflags latchless)
libs=$(pkg-config --libs latchless)

# The headers alone, in each standard, with each compiler that is here.
for compiler in cc clang; do
    command -v "$compiler" >/dev/null || continue
    for standard in c99 c11 c17 c2x; do
        echo '#include <latchless.h>' | "$compiler" -std=$standard $strict $flags -fsyntax-only -x c -
    done
done
for compiler in c++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in c++17 c++20 c++2b; do
        echo '#include <latchless.hpp>' | "$compiler" -std=$standard $strict_cpp $flags -fsyntax-only -x c++ -
    done
done
# The templates of C++, in the newest standard, with each compiler.
for compiler in c++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for source in "$capi"/tests/cpp/*.cpp; do
        "$compiler" -std=c++2b $strict_cpp $flags -fsyntax-only "$source"
    done
done

# Everything in the headers is documented.
# Doxygen before 1.9.6 doesn't report values of enumerations.
undocumented=$(awk '/^    LATCHLESS_[A-Z0-9_]+ = / && before !~ /\/\/\// { print $1 } { before = $0 }' \
    "$capi/include/latchless.h")
[ -z "$undocumented" ] || fail "latchless.h doesn't document $undocumented"
if command -v doxygen >/dev/null; then
    (cd "$capi" && (cat Doxyfile && echo "OUTPUT_DIRECTORY=$work/doc") | doxygen -) ||
        fail "the headers' documentation has gaps"
else
    echo "doxygen isn't here: the headers' documentation isn't checked"
fi

# run_tests NAME FLAG…: compiles all tests with these flags, and runs them.
run_tests() {
    local name=$1 source program
    shift
    echo "tests, $name:"
    for source in "$capi"/tests/c/*.c "$capi"/tests/cpp/*.cpp; do
        program=$work/$name-$(basename "$source")
        case $source in
        *.c) cc -std=c99 $strict "$@" $flags "$source" -o "$program" $libs -lpthread -lm ;;
        *) c++ -std=c++17 $strict_cpp "$@" $flags "$source" -o "$program" $libs -lpthread ;;
        esac
        "$program" "$work/files/of-$(basename "$source")" || fail "$source ($name) failed"
    done
}
mkdir -p "$work/files/of-misuse.c"
run_tests plain -O2
ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
    run_tests sanitized -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all

# The archive: what pkg-config says of it is enough.
cc -std=c99 $strict $flags "$capi/tests/c/misuse.c" -o "$work/static" \
    "$prefix/lib/liblatchless.a" $(pkg-config --libs --static latchless | sed 's/-llatchless//') -lm
env -u LD_LIBRARY_PATH "$work/static" "$work/files/of-misuse.c"

# The README's programs, the first one by the README's command.
awk -v to="$work" '/^```/ { inside = ($0 == "```c"); number += inside; next }
    inside { print >(to "/" (number == 1 ? "prices" : "titles") ".c") }' "$capi/README.md"
awk -v to="$work" '/^```/ { inside = ($0 == "```cpp"); next } inside { print >(to "/readme.cpp") }' "$capi/README.md"
for program in prices.c titles.c readme.cpp; do
    [ -s "$work/$program" ] || fail "README.md shows no two programs in blocks marked c, and one marked cpp"
done
command=$(sed -n 's/^\(cc .*prices\.c.*\)$/\1/p' "$capi/README.md" | head -n 1)
[ -n "$command" ] || fail "README.md shows no command that compiles prices.c"
echo "$command"
(cd "$work" && bash -euo pipefail -c "$command")
cc -std=c99 $strict $flags "$work/titles.c" -o "$work/titles" $libs
[ "$("$work/titles")" = $'https://example.org/ is Example Domain\nMoved' ] ||
    fail "titles.c of the README shows something else"
c++ -std=c++17 $strict_cpp $flags "$work/readme.cpp" -o "$work/readme" $libs
[ "$("$work/readme")" = $'4.95\ntea\ntea: 4.95\n2: 4.95\n9\nUlm: 0\nUlm: 2' ] || fail "readme.cpp of the README shows something else"

"$capi/tests/book.sh" "$work/book"

# Programs that CMake builds.
if command -v cmake >/dev/null; then
    "$capi/tests/cmake.sh" "$work/cmake" "$prefix"
else
    echo "cmake isn't here: the CMake targets aren't tested"
fi

# What install.sh says where there is no cargo.
mkdir -p "$work/bin"
ln -sf "$(command -v uname)" "$work/bin/"
said=$(env -i PATH="$work/bin" HOME=/nowhere "$BASH" "$capi/install.sh" "$work/none" 2>&1) && fail "install.sh needs no cargo"
[[ $said == *"https://rustup.rs"* ]] || fail "install.sh doesn't say where cargo comes from: $said"

# The example: all contestants join alike.
abseil=$(pkg-config --cflags --libs absl_btree 2>/dev/null) || abseil=-DWITHOUT_ABSEIL
c++ -std=c++17 -O2 $strict_cpp $flags "$capi/examples/join/join.cpp" -o "$work/join" $libs $abseil
"$work/join" 20000 20000 1
echo "the C library is as it should be"
