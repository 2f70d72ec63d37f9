#!/usr/bin/env bash
# Makes what users download, in dist/: products that run on any Linux of x86-64 with a C library 2.31 or newer.
# Usage: scripts/release.sh [products|all]     default: all
#   products   jtrace-VERSION-linux-x86_64.tar.gz, and the debug files apart
#   all        and the .deb, the jars as a Maven repository with sources and Javadoc, the list of
#              components (SPDX), and SHA256SUMS
# Two builds of a commit are equal, byte for byte, on the same packages of Debian 12.
# Needs root (or sudo): the C library of Debian 11 comes by debootstrap (scripts/roots.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
[[ $what == products || $what == all ]] || {
  echo "release: unknown word '$what'; words: products, all" >&2
  exit 2
}
scripts/setup.sh release
version=$(sed -n 's/^project(jtrace VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=jtrace-$version-linux-x86_64
dist=$PWD/dist
# Times in archives: the commit's. Outside of a clone, the changelog's.
if [[ -e .git ]]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
else
  SOURCE_DATE_EPOCH=$(stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

scripts/roots.sh sysroot bullseye
scripts/release/dependencies.sh "$PWD/build/roots/bullseye"
echo "== building release products"
cmake --preset portable >/dev/null
cmake --build --preset portable -- --quiet
# Completion and manual pages; the install rules of cmake/JtraceInstall.cmake take them from there.
rm -rf build-portable/generated
scripts/release/shell.py build-portable/generated --build=build-portable \
  --java=/usr/lib/jvm/java-17-openjdk-amd64/bin/java
gzip -9 -n build-portable/generated/share/man/man1/*.1

rm -rf "$dist"
mkdir -p "$dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install build-portable --prefix "$work/$name" --component jtrace >/dev/null
mkdir -p "$work/debug/$name-debug"
for product in bin/jtrace bin/jtrace-post lib/libjtrace.so; do
  debug=$work/debug/$name-debug/$(basename "$product").debug
  objcopy --only-keep-debug --compress-debug-sections "$work/$name/$product" "$debug"
  # Not the section .comment either: it names the compiler's package.
  strip --strip-unneeded --remove-section=.comment "$work/$name/$product"
  (cd "$(dirname "$debug")" && objcopy --add-gnu-debuglink="$(basename "$debug")" "$work/$name/$product")
done

# pack FOLDER NAME FILE.tar.gz
pack() {
  tar --create --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --format=gnu "$2" | gzip -9 -n >"$3"
}
pack "$work" "$name" "$dist/$name.tar.gz"
pack "$work/debug" "$name-debug" "$dist/$name-debug.tar.gz"

if [[ $what == all ]]; then
  echo "== packing jars, the .deb and the list of components"
  scripts/release/jars.sh "$version" build-portable/jar "$dist/maven"
  (cd build-portable && cpack -G DEB -B "$work/deb" >"$work/cpack.log" 2>&1) || {
    tail -n 5 "$work/cpack.log" >&2
    echo "release: cpack cannot make the .deb" >&2
    exit 1
  }
  cp "$work"/deb/*.deb "$dist/"
  python3 scripts/release/components.py "$version" build/dependencies/versions >"$dist/jtrace-$version.spdx.json"
fi
# The README says how large the tarball is, to half a megabyte.
size=$(stat -c %s "$dist/$name.tar.gz" | awk '{printf "%.1f", int($1 / 5e5 + 0.5) / 2}')
sed -i "s/| the tarball ([0-9.]* MB)/| the tarball ($size MB)/" README.md
(cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >"$work/sums")
mv "$work/sums" "$dist/SHA256SUMS"
(cd "$dist" && stat -c '%s %n' -- *.* | awk '{printf "%9.2f MB  dist/%s\n", $1 / 1e6, $2}')
