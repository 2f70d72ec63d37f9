#!/usr/bin/env bash
# An installed tree runs from any folder with the libraries it brought along.
# Usage: install_test.sh BUILD_FOLDER
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"

for file in "$work/moved/bin/jtrace-post" "$work/moved/bin/jtrace" "$work"/moved/lib*/libjtrace.so; do
  # What comes from elsewhere must be what every Linux with glibc has.
  foreign=$(ldd "$file" | awk '/=>/ {print $3}' | grep -v "^$work/moved/" |
    grep -vE '/(libc|libm|libgcc_s|libpthread|libdl|librt)\.so' || true)
  if [[ -n "$foreign" ]]; then
    echo "$file takes libraries of the system:" $foreign >&2
    exit 1
  fi
done
"$work/moved/bin/jtrace-post" --help | grep -q -- --report
"$work/moved/bin/jtrace" --help | grep -q "start JVM"
