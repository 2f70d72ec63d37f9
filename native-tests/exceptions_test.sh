#!/usr/bin/env bash
# Exceptions of the process are libgcc_s's: no library that a product installs replaces it. Usage:
# exceptions_test.sh BUILD_FOLDER JAVA
set -euo pipefail
build=$1
java=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for product in "$build/lib/libjtrace.so" "$build/bin/jtrace-post" "$build/bin/jtrace"; do
  ldd "$product" | awk '$3 ~ /^\// {print $3}' >"$work/libraries"
  grep -q libstdc++ "$work/libraries"
  while IFS= read -r library; do
    [[ $library != */libgcc_s.so.1 ]] || continue
    if nm --dynamic --defined-only "$library" | grep ' _Unwind_' >&2; then
      echo "$product loads $library, which defines these" >&2
      exit 1
    fi
  done <"$work/libraries"
done

# The loader's choices, agent first: everything that the JVM loads is searched after it.
LD_PRELOAD=$build/lib/libjtrace.so LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/bindings \
  "$java" "-agentpath:$build/lib/libjtrace.so=out=$work/trace.bin" -version 2>/dev/null
grep -h '`_Unwind_' "$work"/bindings.* >"$work/unwinders"
grep -q 'binding file .*/libjtrace\.so ' "$work/unwinders"
if grep -v ' to [^ ]*/libgcc_s\.so\.1 ' "$work/unwinders" >&2; then
  echo "these are not bound to libgcc_s" >&2
  exit 1
fi
