#!/usr/bin/env bash
# Builds liblatchless and installs it with its headers, for C and C++, for pkg-config and for CMake.
#
#   crates/capi/install.sh PREFIX     for example ~/.local or /usr/local
#
# Needs cargo (https://rustup.rs) and a C compiler, on Linux. Environment variables:
#
#   LIBDIR             the folder of libraries in PREFIX, such as lib64 or lib/x86_64-linux-gnu; otherwise lib
#   DESTDIR            is put before all paths that are written to, for packages of distributions
#   CARGO_TARGET_DIR   the folder to build in; otherwise target
set -euo pipefail
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

if [ $# != 1 ] || [[ $1 == -* ]]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" | sed '/^set /d'
    [[ ${1:-} == -h || ${1:-} == --help ]]
    exit
fi
[ "$(uname -s)" = Linux ] ||
    fail "this installs on Linux only; elsewhere cargo build -p latchless-capi --profile capi builds the library"
command -v cargo >/dev/null || PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
command -v cargo >/dev/null ||
    fail "cargo isn't installed, or isn't in PATH: https://rustup.rs installs it"

destdir=${DESTDIR:-}
libdir=${LIBDIR:-lib}
mkdir -p "$destdir$1"
prefix=$(cd "$destdir$1" && pwd)
prefix=${prefix#"$destdir"}
# A folder in PREFIX is given to pkg-config in terms of it, so that the tree can be moved.
libdir=${libdir#"$prefix/"}
case $libdir in
/*) in_pc=$libdir ;;
*) in_pc="\${prefix}/$libdir" libdir=$prefix/$libdir ;;
esac
source=$(cd "$(dirname "$0")" && pwd)
cd "$source/../.."

cargo build --locked -p latchless-capi --lib --profile capi
built=${CARGO_TARGET_DIR:-target}/capi
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
abi=$(sed -n 's/^pub const LATCHLESS_ABI: u32 = \([0-9]*\);/\1/p' "$source/src/exports/library.rs")
private=$(sed -n 's/^Libs.private: //p' "$source/latchless.pc.in")

# fill TEMPLATE FILE: installs a file with the names of this installation in it.
fill() {
    sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$in_pc|" -e "s|@VERSION@|$version|" -e "s|@ABI@|$abi|" \
        -e "s|@PRIVATE@|${private// /;}|" -e "s|@LIB@|\${CMAKE_CURRENT_LIST_DIR}/../..|" \
        -e "s|@INCLUDE@|\${CMAKE_CURRENT_LIST_DIR}/../../$up/include|" -e "s| @SCOPE@||" \
        -e "s|@POINTER_BYTES@|$(($(getconf LONG_BIT) / 8))|" "$source/$1" >"$2"
    chmod 644 "$2"
}
up=$(realpath -m --relative-to="$libdir" "$prefix")
include=$destdir$prefix/include lib=$destdir$libdir
install -d "$include" "$lib/pkgconfig" "$lib/cmake/latchless"
install -m 644 "$source"/include/latchless{.h,.hpp,_types.hpp} "$include/"
install -m 644 "$built/liblatchless.a" "$lib/"
install -m 755 "$built/liblatchless.so" "$lib/liblatchless.so.$abi.$version"
ln -sf "liblatchless.so.$abi.$version" "$lib/liblatchless.so.$abi"
ln -sf "liblatchless.so.$abi" "$lib/liblatchless.so"
fill latchless.pc.in "$lib/pkgconfig/latchless.pc"
fill cmake/latchlessConfig.cmake.in "$lib/cmake/latchless/latchlessConfig.cmake"
fill cmake/latchlessConfigVersion.cmake.in "$lib/cmake/latchless/latchlessConfigVersion.cmake"
echo "liblatchless $version is in $prefix"
