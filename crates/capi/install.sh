#!/usr/bin/env bash
# Builds liblatchless and installs it, its headers and its pkg-config file.
#
#   crates/capi/install.sh PREFIX     for example ~/.local or /usr/local
#
# DESTDIR is put before the paths to write to, for packagers. CARGO_TARGET_DIR says where to build.
set -euo pipefail

if [ $# != 1 ] || [[ $1 == -* ]]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" | sed '/^set /d'
    [[ ${1:-} == -h || ${1:-} == --help ]]
    exit
fi
mkdir -p "${DESTDIR:-}$1"
prefix=$(cd "${DESTDIR:-}$1" && pwd)
prefix=${prefix#"${DESTDIR:-}"}
source=$(cd "$(dirname "$0")" && pwd)
cd "$source/../.."

if [ "$(uname -s)" != Linux ]; then
    echo "error: this installs on Linux only; elsewhere cargo build -p latchless-capi --profile capi builds the library" >&2
    exit 1
fi
cargo build -p latchless-capi --lib --profile capi
built=${CARGO_TARGET_DIR:-target}/capi
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
abi=$(sed -n 's/^pub const LATCHLESS_ABI: u32 = \([0-9]*\);/\1/p' "$source/src/exports/library.rs")
# What a program needs besides if it links liblatchless.a: `rustc --print native-static-libs` says so.
private="-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc"

to=${DESTDIR:-}$prefix
install -d "$to/include" "$to/lib/pkgconfig"
install -m 644 "$source"/include/latchless.h "$source"/include/latchless{,_bytes,_kv}.hpp "$to/include/"
install -m 644 "$built/liblatchless.a" "$to/lib/"
install -m 755 "$built/liblatchless.so" "$to/lib/liblatchless.so.$abi.$version"
ln -sf "liblatchless.so.$abi.$version" "$to/lib/liblatchless.so.$abi"
ln -sf "liblatchless.so.$abi" "$to/lib/liblatchless.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@PRIVATE@|$private|" \
    "$source/latchless.pc.in" >"$to/lib/pkgconfig/latchless.pc"
echo "liblatchless $version is in $prefix"
