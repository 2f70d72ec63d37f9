#!/usr/bin/env bash
# Checks of a release beyond those of its build: it runs alone on other systems, exceptions work inside of it, and
# it shares no function with other libraries of its process.
# Usage: scripts/release/check.sh [TARBALL]      default: the one in dist/; needs root
set -euo pipefail
cd "$(dirname "$0")/../.."
tarball=${1:-$(ls dist/jtrace-*-linux-x86_64.tar.gz)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly jdk=/usr/lib/jvm/java-17-openjdk-amd64/bin
tar xzf "$tarball" -C "$work"
mv "$work"/jtrace-* "$work/jtrace"
library=$work/jtrace/lib/libjtrace.so

fail() {
  echo "release check: $1" >&2
  exit 1
}

# The tarball alone: a report of a jar in a system without any package of jtrace's.
runs_in() {
  local root=build/roots/$1 java=$2
  scripts/roots.sh make "$1" "${java##*/}" >/dev/null
  rm -rf "$root/opt/jtrace-check"
  mkdir -p "$root/opt/jtrace-check"
  tar xzf "$tarball" -C "$root/opt/jtrace-check" --strip-components=1
  cp "$work/program.jar" "$root/opt/jtrace-check/"
  local version=${java#openjdk-}
  scripts/roots.sh run "$1" sh -c "cd /opt/jtrace-check && bin/jtrace run --report=flat -- \
    /usr/lib/jvm/java-${version%%-*}-openjdk-amd64/bin/java -jar program.jar 15 1" >"$work/out" 2>"$work/err" ||
    fail "jtrace run fails in $1: $(tail -n 1 "$work/err")"
  # fib(15): 1,973 calls.
  grep -q '1,973 .*Fib\.fib(int)' "$work/out" || fail "no report in $1: $(head -n 3 "$work/out")"
  echo "runs alone in $1 with ${java}"
}

# An exception of the C++ library inside the agent is caught inside of it.
catches_in_bullseye() {
  local root=$PWD/build/roots/bullseye
  gcc -shared -fPIC --sysroot="$root" "-B$root/usr/lib/x86_64-linux-gnu" -o "$root/opt/jtrace-check/failing.so" \
    java-tests/release/failing_threads.c -ldl
  scripts/roots.sh run bullseye env LD_PRELOAD=/opt/jtrace-check/failing.so \
    /usr/lib/jvm/java-17-openjdk-amd64/bin/java \
    -agentpath:/opt/jtrace-check/lib/libjtrace.so=out=/tmp/failing.bin \
    -jar /opt/jtrace-check/program.jar 15 1 >"$work/out" 2>"$work/err" || fail "the program ends: $(cat "$work/err")"
  grep -q '^jtrace: .*no memory or no thread for the recording' "$work/err" ||
    fail "nothing says that threads failed: $(cat "$work/err")"
  echo "catches exceptions in bullseye: $(grep '^jtrace: ' "$work/err" | head -n 1)"
}

# Symbols between the agent and other libraries than the C library, by the loader's log $1.
no_foreign_bindings() {
  # "binding file A [0] to B [0]: normal symbol `S' [V]"
  grep -h 'binding file' "$1".* | sed -n "s/.*binding file \([^ ]*\) .* to \([^ ]*\) .*symbol .\([^']*\)'.*/\1 \2 \3/p" |
    grep libjtrace.so | sort -u >"$work/bindings"
  test -s "$work/bindings" || fail "the loader's log does not name libjtrace.so"
  grep -v -E '^[^ ]*libjtrace\.so [^ ]*/(libc|libm|libpthread|libdl|librt|ld-linux-x86-64)\.so[.0-9]* ' \
    "$work/bindings" | grep -v -E ' [^ ]*libjtrace\.so (Agent_On(Load|Attach|Unload)|jtrace_get_api)$' >"$work/foreign" ||
    return 0
  fail "bound across: $(head -n 3 "$work/foreign" | tr '\n' ';')"
}

beside_other_libraries() {
  g++ -O1 -shared -fPIC -I"$jdk/../include" -I"$jdk/../include/linux" -o "$work/libown.so" \
    java-tests/release/own_libraries.cc $(pkg-config --cflags --libs protobuf absl_strings absl_flat_hash_map \
      absl_synchronization)
  "$jdk/javac" --release 11 -d "$work" java-tests/release/OwnLibraries.java
  local program=("$jdk/java" -cp "$work" OwnLibraries "$work/libown.so")

  LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/loader" "$jdk/java" "-agentpath:$library=out=$work/load.bin" \
    "${program[@]:1}" 1000 >"$work/out" 2>"$work/err" || fail "at load: $(tail -n 3 "$work/err")"
  grep -qx 'all caught' "$work/out" || fail "at load: $(cat "$work/out")"
  no_foreign_bindings "$work/loader"

  LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/later" "${program[@]}" 6000 >"$work/out" 2>"$work/err" &
  local pid=$!
  until grep -qx ready "$work/out"; do
    kill -0 "$pid" 2>/dev/null || fail "the program ends: $(tail -n 3 "$work/err")"
    sleep 0.1
  done
  "$work/jtrace/bin/jtrace" start "$pid" --probes "out=$work/attach.bin" >/dev/null || fail "jtrace start fails"
  wait "$pid" || fail "by attach: $(tail -n 3 "$work/err")"
  grep -qx 'all caught' "$work/out" || fail "by attach: $(cat "$work/out")"
  no_foreign_bindings "$work/later"
  "$work/jtrace/bin/jtrace-post" --report=flat "$work/attach.bin" >"$work/flat"
  grep -q 'OwnLibraries.use(int)' "$work/flat" ||
    fail "the trace lacks the native method"
  echo "shares nothing with protobuf, Abseil and libstdc++ of a native library, at load and by attach"
}

"$jdk/javac" --release 11 -d "$work/classes" java-tests/workloads/Fib.java
"$jdk/jar" --create --file "$work/program.jar" --main-class Fib -C "$work/classes" .
runs_in bullseye openjdk-17-jre-headless
runs_in trixie openjdk-21-jre-headless
runs_in sid openjdk-26-jre-headless
catches_in_bullseye
beside_other_libraries
