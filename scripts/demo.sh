#!/usr/bin/env bash
# Installs what is missing, builds, records a real program (an in-memory H2 database) under
# mode=merged, and shows its merged report.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release jtrace_agent jtrace-post jtrace jtrace_java_tests

java=$(command -v java || echo /usr/lib/jvm/java-17-openjdk-amd64/bin/java)
trace=$(mktemp -d)/h2.bin
echo
echo '$ java -agentpath:libjtrace.so=mode=merged -cp h2.jar:… H2W 3'
"$java" -agentpath:"$PWD/build/lib/libjtrace.so=mode=merged,out=$trace" \
  -cp build/java-tests/classes:/usr/share/java/h2.jar H2W 3
echo
echo '$ jtrace-post trace.bin'
build/bin/jtrace-post "$trace"
echo
echo "The trace is $trace; try: build/bin/jtrace-post --help"
