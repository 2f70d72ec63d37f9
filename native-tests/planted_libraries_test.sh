#!/usr/bin/env bash
# Libraries that another user put into the current folder are not loaded.
# Usage: planted_libraries_test.sh BUILD_FOLDER JAVA
set -euo pipefail
build=$1
java=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for product in "$build/lib/libjtrace.so" "$build/bin/jtrace-post" "$build/bin/jtrace"; do
  readelf --dynamic --wide "$product" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
  test -s needed
  while IFS= read -r library; do
    # Libraries that the JVM or the shell has loaded are not searched again.
    [[ $library =~ ^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libz)\.so|^ld-linux ]] ||
      echo "planted" >"$library"
  done <needed
done
test -e libzstd.so.1
"$build/bin/jtrace-post" --help | grep -- --report >/dev/null
"$build/bin/jtrace" --help | grep "start JVM" >/dev/null
"$java" "-agentpath:$build/lib/libjtrace.so=out=$work/trace.bin" -version 2>/dev/null
test -s trace.bin
