#!/usr/bin/env bash
# Uses the library from programs that CMake builds, as the README shows: an installed one by find_package(), and the
# sources by FetchContent. tests/run.sh calls this with the folder to work in and the one that it has installed to.
set -euo pipefail
work=$1 prefix=$2
capi=$(cd "$(dirname "$0")/.." && pwd)
repository=$(cd "$capi/../.." && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$repository/target}
unset LD_LIBRARY_PATH
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The blocks of the README that are marked cmake: the first finds an installed library, the second fetches one.
awk -v to="$work" '/^```/ { inside = ($0 == "```cmake"); number += inside; next }
    inside { print >(to "/readme-" number ".cmake") }' "$capi/README.md"
[ -s "$work/readme-2.cmake" ] || fail "README.md shows no two blocks marked cmake"

# project NAME LANGUAGE: a folder with a program of a few lines, whose CMakeLists.txt ends with the standard input.
project() {
    mkdir -p "$work/$1"
    local extension=cpp
    [ "$2" = CXX ] || extension=c
    {
        printf 'cmake_minimum_required(VERSION 3.16)\nproject(program %s)\n' "$2"
        printf 'add_executable(program program.%s)\n' $extension
        cat
    } >"$work/$1/CMakeLists.txt"
    cat >"$work/$1/program.cpp" <<'END'
#include <cstdio>
#include <latchless.hpp>

int main() {
    latchless::index<std::string, std::string> titles;
    titles.insert("https://example.org/", "Example Domain");
    latchless::index<double, int> prices;
    prices.insert(1.5, 99);
    for (const auto &[item, price] : prices) std::printf("%.1f %d %s\n", item, price, titles.first()->value.c_str());
}
END
    cat >"$work/$1/program.c" <<'END'
#include <latchless.h>
#include <stdio.h>

int main(void) {
    latchless_index *prices;
    latchless_value price;
    const uint64_t item = latchless_key_from_f64(1.5);
    if (latchless_index_new(NULL, &prices) < 0 || latchless_index_insert(prices, item, 99, NULL) < 0) return 1;
    if (latchless_index_get(prices, item, &price) == LATCHLESS_OK) printf("1.5 %d Example Domain\n", (int)price);
    return latchless_index_free(prices);
}
END
}

# builds NAME OPTION…: configures and builds the program of a folder, and runs it.
builds() {
    local name=$1
    shift
    cmake -S "$work/$name" -B "$work/$name/build" "$@" >"$work/$name.log" 2>&1 &&
        cmake --build "$work/$name/build" >>"$work/$name.log" 2>&1 ||
        { cat "$work/$name.log" >&2; fail "the program $name doesn't build"; }
    [ "$("$work/$name/build/program")" = "1.5 99 Example Domain" ] || fail "the program $name prints something else"
}

project installed CXX <"$work/readme-1.cmake"
builds installed -DCMAKE_PREFIX_PATH="$prefix"
sed 's/latchless::latchless/latchless::static/' "$work/readme-1.cmake" | project static CXX
builds static -DCMAKE_PREFIX_PATH="$prefix"
if ldd "$work/static/build/program" | grep latchless; then fail "latchless::static links the shared library"; fi
project in-c C <"$work/readme-1.cmake"
builds in-c -DCMAKE_PREFIX_PATH="$prefix"

# A tree that was staged for a distribution, in its own folder of libraries, works from any place.
DESTDIR=$work/staged LIBDIR=lib/$(uname -m)-linux-gnu "$capi/install.sh" /usr >/dev/null
mv "$work/staged/usr" "$work/moved"
project moved CXX <"$work/readme-1.cmake"
builds moved -DCMAKE_PREFIX_PATH="$work/moved"
grep -qx "libdir=\${prefix}/lib/$(uname -m)-linux-gnu" "$work"/moved/lib/*/pkgconfig/latchless.pc ||
    fail "latchless.pc has another libdir than LIBDIR"

# Versions: those of one series, and none newer than the installed one.
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/latchless.pc")
for wanted in "${version%.*}" "$version" 99 0.99 "${version%.*}.99"; do
    sed "s/find_package(latchless/& $wanted/" "$work/readme-1.cmake" | project "version-$wanted" CXX
    if cmake -S "$work/version-$wanted" -B "$work/version-$wanted/build" -DCMAKE_PREFIX_PATH="$prefix" \
        >/dev/null 2>&1; then found=1; else found=0; fi
    [ $found = $([[ $wanted == *99 ]] && echo 0 || echo 1) ] ||
        fail "find_package(latchless $wanted) finds version $version: $found"
done

# The sources, by each generator that is here.
project fetched CXX <"$work/readme-2.cmake"
builds fetched -DFETCHCONTENT_SOURCE_DIR_LATCHLESS="$repository"
if command -v ninja >/dev/null; then
    sed 's/latchless::latchless/latchless::static/' "$work/readme-2.cmake" | project by-ninja C
    builds by-ninja -G Ninja -DFETCHCONTENT_SOURCE_DIR_LATCHLESS="$repository"
fi
