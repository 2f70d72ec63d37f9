#!/usr/bin/env bash
# Checks of what scripts/release.sh made, beyond those of its build: it runs alone on this system and on others,
# exceptions work inside of it, and it shares no function with other libraries of its process.
# Usage: scripts/release/check.sh [all]      all: also in trixie and sid, not only in bullseye; needs root
set -euo pipefail
cd "$(dirname "$0")/../.."
systems=${1-}
tarball=$(ls dist/jtrace-*-linux-x86_64.tar.gz)
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

# What try.sh needs besides a JVM, in the folder $1.
prepare() {
  rm -rf "$1"
  mkdir -p "$1/jtrace" "$1/maven"
  tar xzf "$tarball" -C "$1/jtrace" --strip-components=1
  cp "$work"/tried.jar "$work"/classes/UsesApi.class java-tests/release/Tried.java scripts/release/try.sh \
    native-tests/golden/fig18a.jtxt native-tests/golden/fig26.csv "$1/"
  cp "$(maven_jar jtrace-api)" "$1/maven/jtrace-api.jar"
}

# The jar of the Maven repository beside the tarball.
maven_jar() {
  ls "$(dirname "$tarball")"/maven/jtrace/"$1"/*/"$1"-*[0-9].jar
}

# Probed without jtrace: perf_event_open of the clock of this thread, the kernel's time included.
no_kernel() {
  python3 -c '
import ctypes, struct, sys
attributes = struct.pack("<II", 1, 112).ljust(112, b"\0")
sys.exit(ctypes.CDLL(None).syscall(298, attributes, 0, -1, -1, 0) < 0)' && return
  echo "not verified: frames of the kernel; perf events are refused here" >&2
  echo no-kernel
}

# In a system without any package of jtrace's.
runs_in() {
  local root=build/roots/$1 java=$2
  scripts/roots.sh make "$1" "${java##*/}" >/dev/null
  prepare "$root/opt/jtrace-check"
  local version=${java#openjdk-}
  scripts/roots.sh run "$1" sh /opt/jtrace-check/try.sh /opt/jtrace-check \
    "/usr/lib/jvm/java-${version%%-*}-openjdk-amd64/bin/java" $(no_kernel)
  echo "runs alone in $1 with ${java}"
}

runs_here() {
  prepare "$work/here"
  env -i PATH=/usr/bin:/bin HOME="$work" sh "$work/here/try.sh" "$work/here" "$jdk/java" $(no_kernel)
  echo "runs alone here"
}

# The sample project's tests, compiled and run with the jars of the Maven repository.
limits_tests() {
  local path
  path=$(maven_jar jtrace-api):$(maven_jar jtrace-junit5):/usr/share/java/junit-platform-console-standalone.jar
  path=$path:/usr/share/java/apiguardian-api.jar
  "$jdk/javac" -d "$work/sample" -cp "$path" java-tests/sample/src/sample/{Cart,CartTest}.java
  "$jdk/java" "-agentpath:$library=out=$work/sample.bin,metrics=alloc.bytes" -cp "$path:$work/sample" \
    org.junit.platform.console.ConsoleLauncher --select-class=sample.CartTest --disable-banner >"$work/out" 2>&1 ||
    fail "the sample's tests: $(cat "$work/out")"
  grep -q '4 tests successful' "$work/out" || fail "the sample's tests: $(cat "$work/out")"
  echo "limits JUnit tests with the Maven repository's jars"
}

# An exception of the C++ library inside the agent is caught inside of it.
catches_in_bullseye() {
  local root=$PWD/build/roots/bullseye
  gcc -shared -fPIC --sysroot="$root" "-B$root/usr/lib/x86_64-linux-gnu" -o "$root/opt/jtrace-check/failing.so" \
    java-tests/release/failing_threads.c -ldl
  scripts/roots.sh run bullseye env LD_PRELOAD=/opt/jtrace-check/failing.so \
    /usr/lib/jvm/java-17-openjdk-amd64/bin/java \
    -agentpath:/opt/jtrace-check/jtrace/lib/libjtrace.so=out=/tmp/failing.bin \
    -jar /opt/jtrace-check/tried.jar fib 15 >"$work/out" 2>"$work/err" || fail "the program ends: $(cat "$work/err")"
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

  rm "$work/out" # "ready" is to come from this run
  LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/later" "${program[@]}" 6000 >"$work/out" 2>"$work/err" &
  local pid=$!
  until grep -qsx ready "$work/out"; do
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

"$jdk/javac" -g --release 11 -d "$work/classes" java-tests/release/Tried.java
"$jdk/jar" --create --file "$work/tried.jar" --main-class Tried -C "$work/classes" .
"$jdk/javac" --release 17 -d "$work/classes" -cp "$(maven_jar jtrace-api)" java-tests/release/UsesApi.java
! git diff HEAD -- README.md | grep -q '^+.* the tarball (' ||
  fail "the tarball's size in README.md, which scripts/release.sh has written, is not committed"
runs_here
limits_tests
beside_other_libraries
runs_in bullseye openjdk-17-jre-headless
catches_in_bullseye
if [[ $systems == all ]]; then
  runs_in trixie openjdk-21-jre-headless
  runs_in sid openjdk-26-jre-headless
fi
