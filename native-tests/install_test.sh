#!/usr/bin/env bash
# An installed tree runs from any folder with the libraries installed with it.
# Usage: install_test.sh BUILD_FOLDER
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"

for file in "$work/moved/bin/jtrace-post" "$work/moved/bin/jtrace" "$work"/moved/lib*/libjtrace.so; do
  # Other libraries must be those of every Linux with glibc.
  foreign=$(ldd "$file" | awk '/=>/ {print $3}' | grep -v "^$work/moved/" |
    grep -vE '/(libc|libm|libgcc_s|libpthread|libdl|librt)\.so' || true)
  if [[ -n "$foreign" ]]; then
    echo "$file takes libraries of the system:" $foreign >&2
    exit 1
  fi
done
"$work/moved/bin/jtrace-post" --help | grep -- --report >/dev/null
# The program contains the page.
printf '# jtrace-text 1 unit=us\n0\tmain\tenter\tA\n1\tmain\texit\tA\n' >"$work/trace.jtxt"
"$work/moved/bin/jtrace-post" --report=html "$work/trace.jtxt" | grep '</html>' >/dev/null
test -s "$work"/moved/share/doc/jtrace/NOTICE
"$work/moved/bin/jtrace" --help | grep "start JVM" >/dev/null
test -s "$work"/moved/share/java/jtrace-api.jar
test -s "$work"/moved/share/java/jtrace-junit5.jar
test -s "$work"/moved/share/java/jtrace-jmh.jar
# The headers need nothing else, and find the installed library.
cat >"$work/find.c" <<'END'
#include <jtrace_find.h>
int main(int count, char** words) {
  if (jtrace_find() != NULL || count != 2 || dlopen(words[1], RTLD_NOW) == NULL) return 1;
  const jtrace_api* const api = jtrace_find();
  return api == NULL || api->state() != JTRACE_E_NOT_RUNNING;
}
END
cc -std=c11 -Wall -Wextra -Werror -pedantic -I"$work/moved/include" -o "$work/find" "$work/find.c" -ldl
"$work/find" "$work"/moved/lib*/libjtrace.so
