#!/usr/bin/env bash
# Installs missing packages, builds, records a real program (an in-memory H2 database) with
# mode=merged, and shows its merged report.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh demo
# Object files stay in build/; copies in the compiler's cache would only take time.
# Large batches take less time, because everything is compiled once; scripts/test.sh has the same.
export CCACHE_DISABLE=1
JTRACE_BATCH=48 scripts/build.sh release jtrace_agent jtrace-post

java=$(command -v java || echo /usr/lib/jvm/java-17-openjdk-amd64/bin/java)
work=$(mktemp -d)
/usr/lib/jvm/java-17-openjdk-amd64/bin/javac --release 17 -d "$work" java-tests/workloads/H2W.java
trace=$work/h2.bin
echo
echo '$ java -agentpath:libjtrace.so=mode=merged -cp h2.jar:… H2W 2'
"$java" -agentpath:"$PWD/build/lib/libjtrace.so=mode=merged,out=$trace" \
  -cp "$work:/usr/share/java/h2.jar" H2W 2
echo
echo '$ jtrace-post trace.bin'
build/bin/jtrace-post "$trace"
echo
echo "The trace is $trace; try: build/bin/jtrace-post --help"
